import TestProcesses
import Testing
import Wire

/// Clients that have to bring a nonce of ours.
@Suite(.timeLimit(.minutes(2)))
struct ChallengeTests {
  /// A credential for a nonce, by the rule of the client.
  private func credential(_ client: String, nonce: String) throws -> Credential {
    let token = try Mint.token { order in
      order.audience = client
      if client == Client.webChallenge { order.nonce = nonce } else { order.rawNonce = nonce }
    }
    return Credential(idToken: token, rawNonce: nonce)
  }

  private func challenge(_ service: Service) async throws -> String {
    try #require(try await service.send(.post("/v1/nonces", [], type: nil)).json.text("nonce"))
  }

  @Test(arguments: [Client.challenge, Client.webChallenge])
  func `a nonce of the app's own is not enough`(_ client: String) async throws {
    try await withService { service in
      try expect(
        await service.trySignIn(credential(client, nonce: Mint.nonce())), is: .nonce("challenge_required"))
    }
  }

  @Test(arguments: [Client.challenge, Client.webChallenge])
  func `a nonce of ours signs in, and the retry gets the same session`(_ client: String) async throws {
    try await withService { service in
      let credential = try credential(client, nonce: try await challenge(service))
      let first = try await service.signIn(credential)
      let second = try await service.signIn(credential)
      #expect(second == first || second.sessionID == first.sessionID)
      #expect(second.refreshToken == first.refreshToken)
    }
  }

  @Test(arguments: [Client.challenge, Client.webChallenge])
  func `a nonce of ours works once, whoever brings it`(_ client: String) async throws {
    try await withService { service in
      let nonce = try await challenge(service)
      _ = try await service.signIn(credential(client, nonce: nonce))
      try expect(
        await service.trySignIn(credential(client, nonce: nonce)), is: .nonce("credential_already_used"))
    }
  }

  @Test func `a nonce of another server, or a changed one, is none of ours`() async throws {
    let foreign = Watched("")
    try await withService { service in
      let nonce = try await challenge(service)
      foreign.update { $0 = nonce }
    }
    try await withService { service in
      for nonce in [foreign.read { $0 }, try await challenge(service) + "A", "bch1.", "bch1.AAAA"] {
        try expect(
          await service.trySignIn(credential(Client.challenge, nonce: nonce)),
          is: .nonce("challenge_required"))
        // For a client that demands none it is an ordinary nonce.
        _ = try await service.signIn(credential(Client.app, nonce: nonce))
      }
    }
  }

  @Test func `the claim of a challenge client still follows its rule`() async throws {
    try await withService { service in
      let nonce = try await challenge(service)
      let raw = try Mint.token { order in
        order.audience = Client.challenge
        order.nonce = nonce
      }
      try expect(
        await service.trySignIn(Credential(idToken: raw, rawNonce: nonce)),
        is: .nonce("nonce_claim_not_hashed"))
      let hashed = try Mint.token { order in
        order.audience = Client.webChallenge
        order.rawNonce = nonce
      }
      try expect(
        await service.trySignIn(Credential(idToken: hashed, rawNonce: nonce)),
        is: .nonce("nonce_claim_is_hashed"))
    }
  }

  @Test func `a challenge outlives a restart`() async throws {
    try await withStage { stage in
      let first = try await stage.start()
      let nonce = try await challenge(first)
      try await first.stop()
      let second = try await stage.start()
      _ = try await second.signIn(credential(Client.challenge, nonce: nonce))
    }
  }
}
