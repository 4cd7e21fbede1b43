import Testing
import Wire

/// The A rows: whose tokens are taken, and for whom.
@Suite(.timeLimit(.minutes(10)))
struct AudienceTests {
  @Test func `A02 another issuer is taken only when the settings list it`() async throws {
    let change = [member("iss", "https://account.apple.com")]
    try await withService { service in
      try expect(
        await service.trySignIn(Mint.credential { $0.claims = change }), is: .token("issuer_not_allowed"))
    }
    let issuers = "https://appleid.apple.com, https://account.apple.com"
    try await withService(["BRAMLEY_APPLE_ISSUERS": issuers]) { service in
      _ = try await service.signIn(Mint.credential { $0.claims = change })
      _ = try await service.signIn(Mint.credential())
    }
  }

  @Test func `A04 the bundle id and the Services ID both work, and are one person`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let app = try await service.signIn(Mint.credential { $0.subject = subject })
      let nonce = Mint.nonce()
      let token = try Mint.token { order in
        order.subject = subject
        order.audience = Client.web
        order.nonce = nonce
      }
      let web = try await service.signIn(Credential(idToken: token, rawNonce: nonce))
      #expect(web.localID == app.localID)
      #expect(!web.isNewUser)
    }
  }

  @Test(arguments: [Client.app, Client.second, Client.third])
  func `A05 each id of a comma list works`(_ client: String) async throws {
    try await withService { service in
      _ = try await service.signIn(Mint.credential { $0.audience = client })
    }
  }

  @Test func `A07 the request cannot name an audience`() async throws {
    try await withService { service in
      let credential = try Mint.credential { $0.audience = "com.attacker.app" }
      let widening = ["audience": #""com.attacker.app""#, "clientId": #""com.attacker.app""#]
      try expect(await service.trySignIn(credential, widening), is: .token("audience_not_allowed"))
    }
  }

  @Test func `attack 2 A10 a token of another app is refused`() async throws {
    try await withService { service in
      for audience in ["com.other.app", "com.example.APP", "com.example.app ", ""] {
        let credential = try Mint.credential { $0.claims = [member("aud", audience)] }
        try expect(await service.trySignIn(credential), is: .token("audience_not_allowed"))
      }
    }
  }

  @Test func `A10 an expired token is refused`() async throws {
    try await withService { service in
      let credential = try Mint.credential { order in
        order.issuedAt = now() - 7200
        order.lifetime = 600
      }
      try expect(await service.trySignIn(credential), is: .token("token_expired"))
    }
  }

  @Test func `attack 1 attack 17 A10 a token of another issuer is refused`() async throws {
    try await withService { service in
      for issuer in [
        "https://appleid.apple.com.evil.example", "https://appleid.apple.com/", "appleid.apple.com",
      ] {
        let credential = try Mint.credential { $0.claims = [member("iss", issuer)] }
        try expect(await service.trySignIn(credential), is: .token("issuer_not_allowed"))
      }
    }
  }

  @Test func `an audience of one in an array works, and of two is refused`() async throws {
    try await withService { service in
      _ = try await service.signIn(Mint.credential { $0.claims = [("aud", .array([.text(Client.app)]))] })
      let two = try Mint.credential { $0.claims = [("aud", .array([.text(Client.app), .text(Client.web)]))] }
      try expect(await service.trySignIn(two), is: .token("audience_not_allowed"))
    }
  }

  @Test(arguments: ["iss", "aud", "sub", "iat", "exp"])
  func `a token without a claim that is needed is refused`(_ claim: String) async throws {
    try await withService { service in
      let reason = ["iss": "issuer_not_allowed", "aud": "audience_not_allowed"][claim] ?? "claim_invalid"
      let credential = try Mint.credential { $0.claims = [(claim, .null)] }
      try expect(await service.trySignIn(credential), is: .token(reason))
    }
  }
}
