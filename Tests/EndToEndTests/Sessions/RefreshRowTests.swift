import Testing
import Wire

/// What logged people out at random elsewhere.
@Suite(.timeLimit(.minutes(10)))
struct RefreshRowTests {
  private func tokens(_ answers: [HTTPAnswer]) throws -> (refresh: Set<String>, access: [String]) {
    var (refresh, access): (Set<String>, [String]) = ([], [])
    for answer in answers {
      try #require(answer.status == 200, "\(answer)")
      refresh.insert(try #require(try answer.json.text("refresh_token")))
      access.append(try #require(try answer.json.text("id_token")))
    }
    return (refresh, access)
  }

  @Test
  func `R01 R08 R10 two hundred refreshes of one token at once end in one successor that every caller holds`()
    async throws
  {
    try await withStage { stage in
      let issuer = ["BRAMLEY_ISSUER": "https://auth.example.com"]
      let (one, two) = (try await stage.start(issuer), try await stage.start(issuer))
      let person = try await one.signIn(Mint.credential())
      let request = HTTPRequest.refresh(person.refreshToken)
      async let first = inParallel(100, port: one.port) { _ in request }
      async let second = inParallel(100, port: two.port) { _ in request }
      let (refresh, access) = try tokens(try await first + second)
      #expect(refresh.count == 1)
      #expect(try await stage.sql("SELECT count(*) FROM sessions") == "1")
      #expect(try await stage.sql("SELECT counter FROM sessions") == "1")
      // Every session token is good, and the one successor goes on.
      for token in access.prefix(20) {
        let answer = try await two.send(
          HTTPRequest(path: "/v1/verify", headers: [("Authorization", "Bearer \(token)")]))
        #expect(answer.status == 200)
      }
      _ = try await two.refresh(try #require(refresh.first))
    }
  }

  @Test func `R14 the second of two refreshes, a moment later, gets the same successor`() async throws {
    try await withService { service in
      let person = try await service.signIn(Mint.credential())
      let first = try await service.refresh(person.refreshToken)
      let second = try await service.refresh(person.refreshToken)
      #expect(first == second)
      _ = try await service.refresh(second)
      let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      #expect(metrics.contains("bramley_refresh_token_reuses_total 0"))
    }
  }

  @Test func `R13 what is final says so, and what is too often is told how long to wait`() async throws {
    try await withService(["BRAMLEY_RATE_REFRESH": "3/h"]) { service in
      let person = try await service.signIn(Mint.credential())
      _ = try await service.send(
        HTTPRequest(
          method: "POST", path: "/v1/signOut", headers: [("Authorization", "Bearer \(person.idToken)")]))
      for _ in 0..<3 {
        try expect(await service.tryRefresh(person.refreshToken), is: .session("session_ended"))
      }
      let answer = try await service.tryRefresh(person.refreshToken)
      try expect(answer, is: Refusal(429, "TOO_MANY_ATTEMPTS_TRY_LATER"))
      #expect(answer["Retry-After"].flatMap { Int($0) } ?? 0 > 0)
    }
  }

  @Test func `R16 a token is good from any address`() async throws {
    try await withService(["BRAMLEY_TRUSTED_PROXIES": "127.0.0.1"]) { service in
      let person = try await service.signIn(Mint.credential())
      var token = person.refreshToken
      for address in ["192.0.2.1", "198.51.100.7", "2001:db8::1"] {
        var request = HTTPRequest.refresh(token)
        request.headers.append(("X-Forwarded-For", address))
        let answer = try await service.send(request)
        token = try #require(try answer.json.text("refresh_token"), "\(answer)")
      }
    }
  }

  @Test func `R20 nothing in the database lets anybody in`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let person = try await service.signIn(Mint.credential())
      let row = try await stage.sql(
        "SELECT hex(id) || ' ' || account || ' ' || hex(master_key) || ' ' || counter FROM sessions")
      let digest = try await stage.sql("SELECT hex(digest) FROM spent_credentials")
      for text in row.split(separator: " ").map(String.init) + [digest, person.sessionID] {
        let answer = try await service.tryRefresh(text)
        try expect(answer, is: Refusal(400, "INVALID_REFRESH_TOKEN"))
      }
      let whole = try await stage.sql(
        "SELECT count(*) FROM sessions WHERE instr(hex(id), '\(person.refreshToken)')")
      #expect(whole == "0")
    }
  }
}
