import Foundation
import MockApple
import Testing
import Wire

extension Mint {
  /// The `payload` of a notification by order.
  static func notification(_ change: (inout NotificationOrder) -> Void = { _ in }) throws -> String {
    var order = NotificationOrder()
    order.token.audience = Client.app
    change(&order)
    let apple = try #require(apple)
    return try #require(try apple.notification(order, id: "notification \(number())"))
  }

  /// Seconds since 1970.
  static var now: Int64 { Int64(time(nil)) }
}

extension HTTPRequest {
  /// A notification as Apple sends it.
  static func notification(_ payload: String) -> HTTPRequest {
    .post("/v1/apple/notifications", json: #"{"payload":"\#(payload)"}"#)
  }
}

extension Service {
  /// Sends a notification about a person; what came back may be a refusal.
  func tryNotify(
    _ type: String = "consent-revoked", of subject: String,
    _ change: (inout NotificationOrder) -> Void = { _ in }
  ) async throws -> HTTPAnswer {
    let payload = try Mint.notification { order in
      order.type = type
      order.subject = subject
      change(&order)
    }
    return try await send(.notification(payload))
  }

  /// Sends a notification about a person, which is to be taken.
  func notify(
    _ type: String = "consent-revoked", of subject: String, at location: SourceLocation = #_sourceLocation,
    _ change: (inout NotificationOrder) -> Void = { _ in }
  ) async throws {
    let answer = try await tryNotify(type, of: subject, change)
    #expect(answer.status == 200, "\(answer)", sourceLocation: location)
    #expect(answer.body == Array("{}".utf8), sourceLocation: location)
  }

  /// Signs a person in.
  func signIn(
    subject: String, email: String? = nil, _ members: [String: String] = [:]
  ) async throws -> SignedIn {
    try await signIn(
      Mint.credential {
        $0.subject = subject
        $0.email = email
      }, members)
  }

  /// The account of a bearer as it is shown to him.
  func account(_ idToken: String) async throws -> JSONObject {
    let answer = try await get("/v1/account", headers: [("Authorization", "Bearer \(idToken)")])
    try #require(answer.status == 200, "\(answer)")
    return try answer.json
  }
}

extension Stage {
  /// Everything that is in the database, but for what nobody decided: which probe was made, who has a lease, and how far
  /// the audit is chained.
  func content() async throws -> String {
    let script = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1], timeout=20)
      for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
        if table in ("pulse", "leases", "audit_seals"):
          continue
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] != "digest" or table != "audit"]
        for row in database.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1, 2").fetchall():
          print(table, row)
      """
    let finished = try await run(Program.python, ["-c", script, database])
    try #require(finished.status == 0, "\(finished.errors)")
    return finished.output
  }
}
