import Foundation
import MockApple
import TestProcesses
import Testing
import Wire

/// The developer team that the stand-in knows.
enum Team {
  /// With which a service may exchange codes and revoke tokens.
  static let settings = [
    "BRAMLEY_APPLE_TEAM_ID": MockTeam.id, "BRAMLEY_APPLE_KEY_ID": MockTeam.keyID.text,
    "BRAMLEY_APPLE_PRIVATE_KEY": MockTeam.pem.replacingOccurrences(of: "\n", with: "\\n"),
    // So that sessions of one service are good at the next one, on another port.
    "BRAMLEY_ISSUER": "https://auth.example.com",
  ]
}

/// What came to the stand-in's token endpoints.
struct AppleCallCounts: Sendable {
  let json: JSONObject

  /// - Parameter call: `exchange`, `refresh`, `revoke` or `other`.
  func count(_ call: String, _ outcome: String = "ok") -> Int64 { json.object(call)?.integer(outcome) ?? 0 }

  /// Calls of a kind, whatever came of them.
  func total(_ call: String) -> Int64 {
    (json.object(call)?.names ?? []).filter { $0 != "unknown" }.reduce(0) { $0 + count(call, $1) }
  }

  /// The most that were under way at a time.
  var peak: Int64 { json.integer("peak") ?? 0 }
}

extension MockAppleProgram {
  func calls() async throws -> AppleCallCounts {
    AppleCallCounts(json: try await exchange(HTTPRequest(path: "/calls"), port: port).json)
  }

  /// Makes the token endpoints behave in a way of the stand-in's own list.
  func behave(tokens: String, milliseconds: Int = 3000, oneIn: Int? = nil) async throws {
    let measure = oneIn.map { #","oneIn":\#($0)"# } ?? ""
    let order = #"{"tokens":"\#(tokens)","milliseconds":\#(milliseconds)\#(measure)}"#
    let answer = try await exchange(.post("/behaviour", json: order), port: port)
    try #require(answer.status == 200, "\(answer)")
  }

  /// Takes a person's consent back, as in the settings of a device.
  func withdraw(_ subject: String, client: String = Client.app) async throws {
    let order = #"{"subject":"\#(subject)","clientId":"\#(client)"}"#
    let answer = try await exchange(.post("/withdraw", json: order), port: port)
    try #require(answer.status == 200, "\(answer)")
  }

  /// Waits for calls to have come.
  func waits(
    _ what: Comment, at location: SourceLocation = #_sourceLocation,
    until isSo: (AppleCallCounts) -> Bool
  ) async throws {
    try await eventually(what, at: location) { isSo(try await calls()) }
  }
}

/// Asks until it is so; with a generous end for slow machines.
func eventually(
  _ what: Comment, within patience: Duration = .seconds(40), at location: SourceLocation = #_sourceLocation,
  _ isSo: () async throws -> Bool
) async throws {
  let begun = ContinuousClock.now
  while try await !isSo() {
    try #require(ContinuousClock.now - begun < patience, what, sourceLocation: location)
  }
}

extension Stage {
  /// How many calls to Apple wait.
  func queued() async throws -> Int { try #require(Int(try await sql("SELECT count(*) FROM apple_work"))) }

  /// How many refresh tokens of Apple's are kept.
  func grants() async throws -> Int { try #require(Int(try await sql("SELECT count(*) FROM apple_grants"))) }

  /// What the audit says was done, with its detail.
  func audited(_ action: String) async throws -> [String] {
    let lines = try await command("audit", "list", "--limit", "1000", "--json").json.objects("entries")
    return lines.filter { $0.text("action") == action }.map { $0.text("detail") ?? "" }
  }

  /// Every byte of the database, its log included.
  func databaseBytes() throws -> Data {
    try [database, database + "-wal"].reduce(into: Data()) { bytes, path in
      if FileManager.default.fileExists(atPath: path) {
        bytes += try Data(contentsOf: URL(fileURLWithPath: path))
      }
    }
  }
}

/// Gives a test a stand-in of its own and a service that has the key for it.
func withAppleSide(
  _ changes: [String: String] = [:], _ body: (MockAppleProgram, Stage, Service) async throws -> Void
) async throws {
  let apple = try await MockAppleProgram.start()
  try await withStage(appleURL: apple.baseURL) { stage in
    try await body(apple, stage, try await stage.start(Team.settings.merging(changes) { $1 }))
  }
  try await apple.kill()
}

extension Service {
  /// Signs in with a code; the body's other members are those of a credential.
  @discardableResult
  func signIn(
    with code: String, _ credential: Credential, _ members: [String: String] = [:],
    at location: SourceLocation = #_sourceLocation
  ) async throws -> SignedIn {
    try await signIn(
      credential, members.merging(["authorizationCode": #""\#(code)""#]) { $1 }, at: location)
  }

  /// What `GET /v1/account` calls the state of the consent.
  func credentialState(_ idToken: String) async throws -> String? {
    try await get("/v1/account", headers: [("Authorization", "Bearer \(idToken)")]).json.text(
      "credentialState")
  }

  func deleteAccount(_ idToken: String) async throws -> HTTPAnswer {
    try await send(
      HTTPRequest(method: "DELETE", path: "/v1/account", headers: [("Authorization", "Bearer \(idToken)")]))
  }
}
