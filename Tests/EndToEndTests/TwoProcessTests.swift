import Testing
import Wire

/// Two services on one file: as one (R11, C01 across processes).
@Suite(.timeLimit(.minutes(10)))
struct TwoProcessTests {
  @Test func `R11 refreshes at once through two processes converge on one token`() async throws {
    try await withStage { stage in
      let services = [try await stage.start(), try await stage.start()]
      var token = try await services[0].signIn(Mint.credential()).refreshToken
      for _ in 0..<3 {
        let request = HTTPRequest.refresh(token)
        async let first = inParallel(8, port: services[0].port) { _ in request }
        async let second = inParallel(8, port: services[1].port) { _ in request }
        let answers = try await first + second
        let successors = try answers.map { try $0.json.text("refresh_token") ?? "\($0)" }
        #expect(Set(successors).count == 1)
        token = successors[0]
      }
      try expect(await services[1].tryRefresh("x"), is: Refusal(400, "INVALID_REFRESH_TOKEN"))
    }
  }

  @Test func `C01 first sign-ins at once through two processes make one account`() async throws {
    try await withStage { stage in
      let services = [try await stage.start(), try await stage.start()]
      let subject = Mint.subject()
      let bodies = try (0..<20).map { _ in try Mint.credential { $0.subject = subject }.body() }
      async let first = inParallel(10, port: services[0].port) { .signIn(bodies[$0]) }
      async let second = inParallel(10, port: services[1].port) { .signIn(bodies[10 + $0]) }
      let sessions = try await (first + second).map { try SignedIn($0) }
      #expect(Set(sessions.map(\.localID)).count == 1)
      #expect(sessions.count(where: \.isNewUser) == 1)
      #expect(try await stage.command("users", "list", "--json").json.objects("users").count == 1)
    }
  }

  @Test func `attack 20 N13 one token through two processes at once is one session`() async throws {
    try await withStage { stage in
      let services = [try await stage.start(), try await stage.start()]
      let body = try Mint.credential().body()
      async let first = inParallel(8, port: services[0].port) { _ in .signIn(body) }
      async let second = inParallel(8, port: services[1].port) { _ in .signIn(body) }
      let sessions = try await (first + second).map { try SignedIn($0) }
      #expect(Set(sessions.map(\.sessionID)).count == 1)
      #expect(Set(sessions.map(\.refreshToken)).count == 1)
    }
  }
}
