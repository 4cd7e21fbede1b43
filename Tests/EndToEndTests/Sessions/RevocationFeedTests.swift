import Glibc
import TestProcesses
import Testing
import Wire

/// `GET /v1/revocations`, for verifiers that want to know at once and do not ask for each request.
@Suite(.timeLimit(.minutes(3)))
struct RevocationFeedTests {
  private static let admin = "an-administrators-token"
  private static let settings = ["BRAMLEY_SERVICE_KEYS": "a-service-key", "BRAMLEY_ADMIN_TOKEN": admin]

  private func request(_ query: String) -> HTTPRequest {
    HTTPRequest(path: "/v1/revocations\(query)", headers: [("X-API-Key", "a-service-key")])
  }

  private func feed(_ service: Service, since cursor: String, wait: Int = 0) async throws -> JSONObject {
    let answer = try await service.send(request("?since=\(cursor)&wait=\(wait)"))
    try #require(answer.status == 200, "\(answer)")
    return try answer.json
  }

  private func signOut(_ service: Service, _ token: String) async throws {
    let answer = try await service.send(
      HTTPRequest(method: "POST", path: "/v1/signOut", headers: [("Authorization", "Bearer \(token)")]))
    try #require(answer.status == 200, "\(answer)")
  }

  @Test func `what ended is told once, by id and expiry only`() async throws {
    try await withService(Self.settings) { service in
      let (a, b) = (try await service.signIn(Mint.credential()), try await service.signIn(Mint.credential()))
      let first = try await feed(service, since: "0")
      #expect(first.objects("revocations").isEmpty)
      let cursor = try #require(first.text("cursor"))
      try await signOut(service, a.idToken)
      let disabled = try await service.post(
        FirebasePath.toolkit + "/v1/projects/bramley/accounts:update",
        [("localId", quoted(b.localID)), ("disableUser", "true")], bearer: Self.admin)
      #expect(disabled.status == 200)
      let second = try await feed(service, since: cursor)
      let entries = second.objects("revocations")
      #expect(entries.map(\.names) == [["sid", "exp"], ["sub", "iat", "exp"]])
      #expect(entries.first?.text("sid") == a.sessionID)
      #expect(entries.last?.text("sub") == b.localID)
      let exp = try await service.read(a.idToken).claims.integer("exp") ?? 0
      #expect(entries[0].integer("exp") ?? 0 >= exp)
      // As much later as the clock of another node may be ahead that issued a token just before.
      let bound = entries[1].integer("iat") ?? 0
      #expect((now() + 40...now() + 60).contains(bound))
      #expect(entries[1].integer("exp") == bound + 3600)
      let next = try #require(second.text("cursor"))
      #expect(next != cursor)
      #expect(try await feed(service, since: next).objects("revocations").isEmpty)
      #expect(try await feed(service, since: "0").objects("revocations").count == 2)
      // A place that was never given out: the database is another one, so from the beginning.
      #expect(try await feed(service, since: "99999999").objects("revocations").count == 2)
    }
  }

  @Test func `who waits is answered when there is news, and at a stop`() async throws {
    try await withService(Self.settings) { service in
      let person = try await service.signIn(Mint.credential())
      let cursor = try #require(try await feed(service, since: "0").text("cursor"))
      async let waiting = feed(service, since: cursor, wait: 30)
      try await signOut(service, person.idToken)
      let entries = try await waiting.objects("revocations")
      #expect(entries.first?.text("sid") == person.sessionID)
      let next = try #require(try await feed(service, since: cursor).text("cursor"))
      // Nothing comes for the one that waits while the service stops; it is answered all the same.
      let port = service.port
      let asked = request("?since=\(next)&wait=30")
      async let last = onThread {
        let connection = try HTTPConnection(port: port)
        return try connection.exchange(asked)
      }
      try await signOutLater(service)
      service.process.send(signal: SIGTERM)
      let answer = try await last
      #expect([200, 503].contains(answer.status), "\(answer)")
      #expect(try await service.process.ended() == .exit(0))
    }
  }

  /// Gives a request that was begun time to arrive: any answer proves that the service still serves.
  private func signOutLater(_ service: Service) async throws {
    for _ in 0..<20 { _ = try await service.get("/livez") }
  }

  @Test func `an account that is enabled again is told of, to those who wait too`() async throws {
    try await withService(Self.settings) { service in
      let person = try await service.signIn(Mint.credential())
      func disable(_ isDisabled: Bool) async throws {
        let answer = try await service.post(
          FirebasePath.toolkit + "/v1/projects/bramley/accounts:update",
          [("localId", quoted(person.localID)), ("disableUser", "\(isDisabled)")], bearer: Self.admin)
        try #require(answer.status == 200, "\(answer)")
      }
      try await disable(true)
      let cursor = try #require(try await feed(service, since: "0").text("cursor"))
      async let waiting = feed(service, since: cursor, wait: 30)
      try await disable(false)
      let entries = try await waiting.objects("revocations")
      #expect(entries.map(\.names) == [["sub", "iat", "exp"]])
      #expect(entries.first?.text("sub") == person.localID)
      #expect(entries.first?.integer("iat") == 0)
    }
  }

  @Test(arguments: [
    (
      damage: "ALTER TABLE revocations RENAME TO elsewhere",
      mending: "ALTER TABLE elsewhere RENAME TO revocations"
    ),
    (
      damage: "INSERT INTO revocations (kind, account, at) VALUES ('restored', 'two words', 1)",
      mending: "DELETE FROM revocations"
    ),
  ])
  func `revocations that cannot be read are an outage, and no fault of the program`(
    _ trouble: (damage: String, mending: String)
  ) async throws {
    try await withStage { stage in
      let service = try await stage.start(Self.settings)
      let person = try await service.signIn(Mint.credential())
      // From where it begins to follow on.
      try await service.waits("nothing is followed") { try await service.admits(person.idToken) }
      try await stage.sql(trouble.damage)
      try expect(await service.send(request("?since=0")), is: .outage("storage_unavailable"))
      try await service.waits("what cannot be looked at is believed") {
        try await service.get("/v1/verify", headers: [("Authorization", "Bearer \(person.idToken)")]).status
          == 503
      }
      try await service.waits("who cannot follow is ready") {
        try await service.get("/readyz").status == 503
      }
      try await stage.sql(trouble.mending)
      try await service.waits("what can be looked at again is not believed") {
        try await service.admits(person.idToken)
      }
      _ = try await feed(service, since: "0")
      try await service.waits("who can follow again is not ready") {
        try await service.get("/readyz").status == 200
      }
    }
  }

  @Test func `bad queries are refused`() async throws {
    try await withService(Self.settings) { (service) async throws in
      for query in ["?since=-1", "?since=x", "?wait=31", "?wait=1.5", "?since=99999999999999999999"] {
        #expect(try await service.send(request(query)).reason == "field_invalid", "\(query)")
      }
      #expect(try await service.send(request("?since=1&since=2")).reason == "duplicate_member")
    }
  }

  @Test func `what no living token needs is forgotten`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Self.settings)
      let person = try await service.signIn(Mint.credential())
      try await signOut(service, person.idToken)
      let cursor = try #require(try await feed(service, since: "0").text("cursor"))
      try await service.stop()
      // The places go on where they were.
      try await stage.sql("DELETE FROM revocations")
      let later = try await stage.start(Self.settings)
      #expect(try await feed(later, since: "0").text("cursor") == cursor)
      let second = try await later.signIn(Mint.credential())
      try await signOut(later, second.idToken)
      #expect(try await feed(later, since: cursor).objects("revocations").count == 1)
    }
  }
}
