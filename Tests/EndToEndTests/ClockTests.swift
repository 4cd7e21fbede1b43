import TestProcesses
import Testing
import Wire

/// What only time brings about: a service whose clock is ahead, on the database of one whose clock was right.
@Suite(.timeLimit(.minutes(10)))
struct ClockTests {
  /// Settings that make tokens outlive their service.
  private let settings = ["BRAMLEY_PUBLIC_URL": "https://auth.example.com"]

  /// Signs in now, and goes on with a service that many seconds later.
  private func later(
    _ seconds: Int, _ changes: [String: String] = [:],
    _ body: (Stage, SignedIn, Credential, Service) async throws -> Void
  ) async throws {
    try await withStage { stage in
      let settings = settings.merging(changes) { $1 }
      let before = try await stage.start(settings)
      let credential = try Mint.credential()
      let session = try await before.signIn(credential)
      try await before.stop()
      try await body(stage, session, credential, try await stage.start(settings, secondsAhead: seconds))
    }
  }

  @Test func `a session that was not refreshed for too long is idle`() async throws {
    try await later(4000, ["BRAMLEY_SESSION_IDLE_TTL": "3600"]) { _, session, _, service in
      try expect(await service.tryRefresh(session.refreshToken), is: .session("session_idle"))
    }
  }

  @Test
  func `a token of a session that may not be idle for long ends with it, also where tokens are asked about`()
    async throws
  {
    try await later(700, ["BRAMLEY_SESSION_IDLE_TTL": "600"]) { _, session, _, service in
      let claims = try await service.read(session.idToken).claims
      #expect(try claims.optionalInteger("exp") == (claims.optionalInteger("iat") ?? 0) + 600)
      let answer = try await service.get(
        "/v1/verify", headers: [("Authorization", "Bearer \(session.idToken)")])
      try expect(answer, is: .session("session_token_expired", 401))
    }
  }

  @Test func `a session ends at its greatest age, and its last token with it`() async throws {
    try await withStage { stage in
      let settings = ["BRAMLEY_SESSION_MAX_TTL": "7200"]
      let before = try await stage.start(settings)
      let first = try await before.signIn(Mint.credential()).refreshToken
      try await before.stop()
      let near = try await stage.start(settings, secondsAhead: 5400)
      let answer = try await near.tryRefresh(first)
      #expect(answer.status == 200, "\(answer)")
      let rest = Int(try answer.json.text("expires_in") ?? "") ?? 0
      #expect((1700...1800).contains(rest))
      let token = try #require(try answer.json.text("refresh_token"))
      try await near.stop()
      let beyond = try await stage.start(settings, secondsAhead: 7300)
      try expect(await beyond.tryRefresh(token), is: .session("session_over_age"))
    }
  }

  @Test func `a session token that has expired is told from a bad one`() async throws {
    try await later(4000) { _, session, _, service in
      let credential = try Mint.credential { $0.issuedAt = now() + 4000 }
      let answer = try await service.trySignIn(credential, bearer: session.idToken)
      try expect(answer, is: .session("session_token_expired", 401))
      _ = try await service.refresh(session.refreshToken)
    }
  }

  @Test func `linking needs a sign-in that is recent`() async throws {
    try await later(400) { _, session, _, service in
      let credential = try Mint.credential { $0.issuedAt = now() + 400 }
      try expect(
        await service.trySignIn(credential, bearer: session.idToken),
        is: Refusal(400, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"))
    }
  }

  @Test func `N13 beyond the retry window the same request is a duplicate`() async throws {
    try await later(130) { _, _, credential, service in
      try expect(await service.trySignIn(credential), is: .nonce("credential_already_used"))
    }
  }

  @Test func `N13 within the retry window a token that grew too old is answered again`() async throws {
    let settings = ["BRAMLEY_APPLE_MAX_TOKEN_AGE": "10"]
    try await later(60, settings) { _, session, credential, service in
      #expect(try await service.signIn(credential).refreshToken == session.refreshToken)
      try expect(await service.trySignIn(Mint.credential()), is: .token("token_too_old"))
    }
  }

  @Test func `a challenge expires`() async throws {
    try await withStage { stage in
      let before = try await stage.start()
      let nonce = try #require(try await before.send(.post("/v1/nonces", [], type: nil)).json.text("nonce"))
      try await before.stop()
      let service = try await stage.start(secondsAhead: 310)
      for client in [Client.challenge, Client.app] {
        let token = try Mint.token { order in
          order.audience = client
          order.rawNonce = nonce
          order.issuedAt = now() + 310
        }
        let answer = try await service.trySignIn(Credential(idToken: token, rawNonce: nonce))
        try expect(answer, is: .nonce("challenge_expired"))
      }
    }
  }

  @Test func `a late repeat is answered, and remarked`() async throws {
    try await withStage { stage in
      let before = try await stage.start()
      let first = try await before.signIn(Mint.credential()).refreshToken
      let second = try await before.refresh(first)
      try await before.stop()
      let service = try await stage.start(secondsAhead: 200)
      #expect(try await service.refresh(first) == second)
      try await service.stop()
      #expect(service.process.outputLines.contains { $0.contains("lateRepeat") })
    }
  }

  @Test func `attack 39 T10 a clock that goes back loses no session`() async throws {
    try await withStage { stage in
      let ahead = try await stage.start(settings, secondsAhead: 1800)
      let session = try await ahead.signIn(Mint.credential())
      let second = try await ahead.refresh(session.refreshToken)
      try await ahead.stop()
      let service = try await stage.start(settings)
      #expect(try await service.refresh(session.refreshToken) == second)
      _ = try await service.refresh(second)
      _ = try await service.signIn(Mint.credential())
    }
  }
}
