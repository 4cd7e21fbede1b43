import API
import Domain
import HTTPServer
import TestSupport
import Testing
import Wire

@Suite struct ActivityRecordTests {
  /// The first second of a minute.
  private let noon = UnixTime(1_800_000_000)
  private var record = ActivityRecord(since: UnixTime(1_800_000_000))

  private mutating func take(
    _ signIns: [String: Int64], _ refreshes: [String: Int64] = [:], after seconds: Int64
  ) {
    record.take(ActivityCounts(signIns: signIns, refreshes: refreshes), at: noon + seconds)
  }

  private var shown: [[Int64]] {
    record.minutes.map { [$0.start.since(noon), $0.counts.signIns["returning"] ?? 0] }
  }

  @Test mutating func `what totals rise by is of the minute in which it is seen`() {
    take(["returning": 2], after: 3)
    take(["returning": 3], after: 59)
    take(["returning": 3], after: 60)
    take(["returning": 7], after: 125)
    #expect(shown == [[0, 3], [120, 4]])
  }

  @Test mutating func `outcomes and kinds are kept apart`() {
    take(["returning": 1, "nonce_mismatch": 2], ["refreshed": 5], after: 0)
    take(["returning": 1, "nonce_mismatch": 3, "new_account": 1], ["refreshed": 5], after: 60)
    #expect(
      record.minutes.map(\.counts) == [
        ActivityCounts(signIns: ["returning": 1, "nonce_mismatch": 2], refreshes: ["refreshed": 5]),
        ActivityCounts(signIns: ["nonce_mismatch": 1, "new_account": 1]),
      ])
  }

  @Test mutating func `sixty minutes are kept, and older ones forgotten`() {
    for minute in Int64(1)...100 { take(["returning": minute], after: minute * 60) }
    #expect(record.minutes.count == 60)
    #expect(shown.first == [41 * 60, 1])
    take(["returning": 100], after: 99 * 60 + 3600)
    #expect(shown == [[100 * 60, 1]])
    take(["returning": 100], after: 100 * 60 + 3600)
    #expect(shown.isEmpty)
  }

  @Test mutating func `a clock that is set back loses nothing and leaves nothing ahead`() {
    take(["returning": 1], after: 0)
    take(["returning": 3], after: 600)
    take(["returning": 4], after: 300)
    #expect(shown == [[0, 1], [300, 3]])
    take(["returning": 4], after: -60)
    #expect(shown == [[-60, 4]])
  }

  @Test mutating func `a clock that leaps ahead begins anew`() {
    take(["returning": 1], after: 0)
    take(["returning": 2], after: 1_000_000)
    #expect(record.minutes.map(\.counts.signIns) == [["returning": 1]])
  }
}

extension JSONObject {
  /// The objects of an array.
  fileprivate func objects(_ name: String) -> [JSONObject] {
    guard case .array(let values) = self[name] else { return [] }
    return values.compactMap { if case .object(let object) = $0 { object } else { nil } }
  }
}

/// What administrators read of a node.
@Suite struct NodeOverviewTests {
  private static let tokens = ["ada": "a token of sixteen"]

  private func read(_ path: String, of bench: Bench) async throws -> JSONObject {
    let answer = try await bench.send(
      "GET", "/v1/admin/" + path, headers: ["Authorization": "Bearer a token of sixteen"])
    try #require(answer.status == 200)
    return try answer.object()
  }

  @Test func `activity counts sign-ins, refreshes and refusals by the minute`() async throws {
    let bench = try await Bench(adminTokens: Self.tokens)
    let start = bench.clock.now
    #expect(try await read("activity", of: bench).objects("minutes").isEmpty)
    let session = try await bench.signIn().object()
    _ = try await bench.signIn(["rawNonce": #""another""#])
    let token = try #require(session.text("refreshToken"))
    _ = try await bench.post("/v1/token", #"{"grant_type":"refresh_token","refresh_token":"\#(token)"}"#)
    _ = try await bench.post("/v1/token", #"{"grant_type":"refresh_token","refresh_token":"x"}"#)
    let first = try #require(try await read("activity", of: bench).objects("minutes").first)
    #expect(try first.optionalInteger("at") == start.seconds - start.seconds % 60)
    #expect(try first.optionalInteger("newAccounts") == 1)
    #expect(try first.optionalInteger("returning") == 0)
    #expect(try first.optionalInteger("refreshes") == 1)
    #expect(try first.optionalObject("refusedSignIns")?.optionalInteger("nonce_mismatch") == 1)
    #expect(try first.optionalObject("refusedRefreshes")?.names == ["invalid_refresh_token"])
    bench.clock.advance(60)
    _ = try await bench.signIn(["rawNonce": #""another""#])
    let both = try await read("activity", of: bench)
    #expect(
      try both.objects("minutes").map { try $0.optionalInteger("at") }
        == [0, 60].map { start.seconds - start.seconds % 60 + $0 })
    #expect(try both.optionalInteger("since") == start.seconds)
    #expect(try both.optionalInteger("now") == start.seconds + 60)
  }

  @Test func `activity says what is missing, and is there all the same`() async throws {
    let bench = try await Bench(
      readiness: Readiness(database: false, signingKey: true, appleKeys: false, isShuttingDown: false),
      adminTokens: Self.tokens)
    let checks = try #require(try await read("activity", of: bench).optionalObject("checks"))
    #expect(try checks.optionalFlag("database") == false)
    #expect(try checks.optionalFlag("signingKey") == true)
    #expect(try checks.optionalFlag("appleKeys") == false)
  }

  @Test func `queues that are empty say so`() async throws {
    let bench = try await Bench(adminTokens: Self.tokens)
    let queues = try await read("queues", of: bench)
    #expect(try queues.optionalObject("apple")?.optionalFlag("hasKey") == false)
    #expect(
      try queues.optionalObject("apple")?.objects("calls").map { try $0.optionalInteger("waiting") } == [
        0, 0, 0,
      ])
    #expect(try queues.optionalObject("webhooks")?.optionalInteger("givenUp") == 0)
  }

  @Test(arguments: ["/console", "/console.js", "/console.css"])
  func `the console is there where there are administrators, for everybody who comes so far`(_ path: String)
    async throws
  {
    #expect(try await Bench().send("GET", path).reason == "not_found")
    let bench = try await Bench(adminTokens: Self.tokens)
    for headers: Headers in [[:], ["Authorization": "Bearer nonsense"]] {
      let page = try await bench.send("GET", path, headers: headers)
      #expect(page.status == 200)
      #expect(page.headers.all("X-Content-Type-Options") == ["nosniff"])
      let policy = page.headers.first("Content-Security-Policy") ?? ""
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
      #expect(!policy.contains("unsafe"))
      #expect(page.headers.first("Cache-Control") == "no-store")
    }
    #expect(try await bench.send("POST", path).status == 405)
  }
}
