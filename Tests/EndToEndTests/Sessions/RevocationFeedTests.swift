import Glibc
import TestProcesses
import Testing
import Wire

/// `GET /v1/revocations`, for verifiers that want to know at once and do not ask for each request.
@Suite(.timeLimit(.minutes(10)))
struct RevocationFeedTests {
  private static let admin = "an-administrators-token"
  private static let settings = ["BRAMLEY_SERVICE_KEYS": "a-service-key", "BRAMLEY_ADMIN_TOKEN": admin]
  /// Of services that take each other's tokens, on whatever port they listen.
  private static let lasting = settings.merging(["BRAMLEY_ISSUER": "https://auth.example.com"]) { $1 }

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
      // By whatever setting of the leeway.
      #expect(entries[1].integer("exp") == bound - 60 + 300 + 3600)
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
      damage: "INSERT INTO revocations (kind, account, at, until) VALUES ('restored', 'two words', 1, 1)",
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

  @Test func `what no living token needs is forgotten, and who follows misses nothing`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Self.settings)
      let (a, b) = (try await service.signIn(Mint.credential()), try await service.signIn(Mint.credential()))
      try await signOut(service, a.idToken)
      try await signOut(service, b.idToken)
      let cursor = try #require(try await feed(service, since: "0").text("cursor"))
      try await service.stop()
      // As a sweep does: the last one stays.
      try await stage.sql("DELETE FROM revocations WHERE position = 1")
      let later = try await stage.start(Self.settings)
      #expect(try await feed(later, since: cursor).objects("revocations").isEmpty)
      let told = try await feed(later, since: "0").objects("revocations")
      #expect(told.map { $0.text("sid") } == [b.sessionID])
      #expect(try await feed(later, since: "0").text("cursor") == cursor)
    }
  }

  @Test func `an entry outlives every token that it means, whatever the lifetime is by now`() async throws {
    try await withStage { stage in
      let long = Self.lasting.merging(["BRAMLEY_SESSION_TTL": "86400"]) { $1 }
      let short = Self.lasting.merging(["BRAMLEY_SESSION_TTL": "600"]) { $1 }
      let before = try await stage.start(long)
      let person = try await before.signIn(Mint.credential())
      let end = try await before.read(person.idToken).claims.integer("exp") ?? 0
      try await before.stop()
      let service = try await stage.start(short)
      try await signOut(service, person.idToken)
      let told = try #require(
        try await feed(service, since: "0").objects("revocations").first?.integer("exp"))
      #expect(told >= end)
      // Every node says the same, and forgets no sooner.
      let beside = try await stage.start(long)
      #expect(try await feed(beside, since: "0").objects("revocations").first?.integer("exp") == told)
    }
  }

  @Test func `an account whose id is given out again is told of as good again`() async throws {
    let forge = try CustomTokenForge(.es256)
    try await withService(Self.settings.merging(["BRAMLEY_CUSTOM_TOKEN_KEYS": try forge.pem]) { $1 }) {
      service in
      func signIn() async throws -> String {
        let answer = try await service.send(
          .post(
            "/v1/accounts:signInWithCustomToken",
            json: json([("token", quoted(try forge.token("bob"))), ("returnSecureToken", "true")])))
        return try #require(try answer.json.text("idToken"))
      }
      let first = try await signIn()
      let deleted = try await service.send(
        HTTPRequest(
          method: "DELETE", path: "/v1/admin/users/bob", headers: [("Authorization", "Bearer \(Self.admin)")])
      )
      #expect(deleted.status == 200)
      let second = try await signIn()
      let entries = try await feed(service, since: "0").objects("revocations")
      #expect(entries.map(\.names) == [["sid", "exp"], ["sub", "iat", "exp"], ["sub", "iat", "exp"]])
      #expect(entries[2].text("sub") == "bob")
      #expect(entries[2].integer("iat") == 0)
      #expect(entries[2].integer("exp") ?? 0 >= entries[1].integer("exp") ?? 0)
      #expect(try await service.admits(second))
      #expect(try await !service.admits(first))
    }
  }

  @Test func `a follower of a database that was put back is told everything`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Self.lasting)
      var people: [SignedIn] = []
      for _ in 0..<4 { people.append(try await service.signIn(Mint.credential())) }
      try await signOut(service, people[0].idToken)
      let early = try #require(try await feed(service, since: "0").text("cursor"))
      try await stage.sql("VACUUM INTO '\(stage.folder)/copy.db'")
      try await signOut(service, people[1].idToken)
      // Nobody puts a database back within a second.
      try await stage.sql("UPDATE revocations SET at = at - 60 WHERE position = 2")
      let late = try #require(try await feed(service, since: early).text("cursor"))
      try await service.stop()
      for suffix in ["", "-wal", "-shm"] { unlink(stage.database + suffix) }
      try #require(rename(stage.folder + "/copy.db", stage.database) == 0)
      let again = try await stage.start(Self.lasting)
      try await signOut(again, people[2].idToken)
      try await signOut(again, people[3].idToken)
      func told(since cursor: String) async throws -> [String?] {
        try await feed(again, since: cursor).objects("revocations").map { $0.text("sid") }
      }
      // What both have in common goes on.
      #expect(try await told(since: early) == people[2...].map(\.sessionID))
      #expect(try await told(since: late) == [people[0], people[2], people[3]].map(\.sessionID))
    }
  }
}
