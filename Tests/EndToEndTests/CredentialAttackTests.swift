import Foundation
import TestProcesses
import Testing
import Wire

/// Attacks with true tokens: stolen, used again, used for something else.
@Suite(.timeLimit(.minutes(2)))
struct CredentialAttackTests {
  @Test func `attack 3 every way in asks whom the token is for`() async throws {
    try await withService { service in
      let session = try await service.signIn(Mint.credential())
      for audience in ["com.other.app", "*", "bramley", service.baseURL] {
        let credential = try Mint.credential { $0.audience = audience }
        let answers = [
          try await service.trySignIn(credential),
          try await service.trySignIn(credential, bearer: session.idToken),
          try await service.trySignIn(credential, ["autoCreate": "false"]),
          try await service.trySignIn(
            credential, ["providerId": #""apple.com""#, "audience": "\"\(audience)\""]),
          try await service.send(.signIn(credential.body() + " ")),
        ]
        for answer in answers { try expect(answer, is: .token("audience_not_allowed")) }
      }
    }
  }

  @Test func `attack 2 a service that knows no client lets nobody in, and does not start`() async throws {
    try await withStage { stage in
      for ids in ["", " , ", ":nonce=raw"] {
        let child = try stage.launch(["BRAMLEY_APPLE_CLIENT_IDS": ids])
        #expect(try await child.ended() == .exit(78))
        #expect(child.errorText.contains("BRAMLEY_APPLE_CLIENT_IDS"))
      }
    }
  }

  @Test func `attack 19 a thief who copies the nonce out of the token is refused`() async throws {
    try await withService { service in
      let stolen = try Mint.credential()
      let claim = sha256Hex(stolen.rawNonce)
      try expect(
        await service.trySignIn(Credential(idToken: stolen.idToken, rawNonce: claim)),
        is: .nonce("nonce_is_already_hashed"))
      for (client, nonce) in [(Client.challenge, "n"), (Client.webChallenge, "n")] {
        let token = try Mint.token { order in
          order.audience = client
          order.nonce = client == Client.challenge ? sha256Hex(nonce) : nonce
        }
        try expect(
          await service.trySignIn(Credential(idToken: token, rawNonce: nonce)),
          is: .nonce("challenge_required"))
      }
    }
  }

  @Test func `attack 20 a token is good once, at this node and another, and after a restart`() async throws {
    try await withStage { stage in
      let (first, second) = (try await stage.start(), try await stage.start())
      let credential = try Mint.credential()
      let body = credential.body()
      async let one = inParallel(20, port: first.port) { _ in .signIn(body) }
      async let two = inParallel(20, port: second.port) { _ in .signIn(body) }
      let sessions = try (await one + two).map { try SignedIn($0) }
      #expect(Set(sessions.map(\.sessionID)).count == 1)
      #expect(Set(sessions.map(\.refreshToken)).count == 1)
      _ = try await first.refresh(sessions[0].refreshToken)
      for service in [first, second] {
        try expect(await service.trySignIn(credential), is: .nonce("credential_already_used"))
      }
      try await first.stop()
      try await second.kill()
      let third = try await stage.start()
      try expect(await third.trySignIn(credential), is: .nonce("credential_already_used"))
      #expect(try await stage.sql("SELECT count(*) FROM sessions") == "1")
    }
  }

  @Test func `attack 21 attack 22 two hundred redemptions at once have one successor`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let token = try await service.signIn(Mint.credential()).refreshToken
      let answers = try await inParallel(200, port: service.port) { _ in .refresh(token) }
      let successors = Set(try answers.map { try $0.json.text("refresh_token") ?? "\($0)" })
      #expect(successors.count == 1)
      let next = try await service.refresh(try #require(successors.first))
      #expect(next != token)
      #expect(try await stage.sql("SELECT count(*) FROM sessions") == "1")
      _ = try await service.refresh(next)
    }
  }

  @Test func `attack 23 a rotated token is found out after a kill too`() async throws {
    try await withStage { stage in
      let first = try await stage.start()
      let stolen = try await first.signIn(Mint.credential()).refreshToken
      var token = stolen
      for _ in 0..<3 { token = try await first.refresh(token) }
      try await first.kill()
      let second = try await stage.start()
      try expect(await second.tryRefresh(stolen), is: .session("refresh_token_reused"))
      #expect(
        try await second.tryRefresh(token).json.object("error")?.text("message")?.hasPrefix("TOKEN_EXPIRED")
          == true)
    }
  }

  @Test func `attack 25 attack 34 attack 35 no address leads to somebody else's account`() async throws {
    try await withService { service in
      let victim = try await service.signIn(Mint.credential { $0.email = "victim@example.com" })
      // The address in the body, with and without Apple's own.
      let claims = [
        "email": #""victim@example.com""#, "emailVerified": "true", "localId": "\"\(victim.localID)\"",
        "user": #"{"email":"victim@example.com"}"#,
      ]
      let bare = try await service.trySignIn(Mint.credential(), claims)
      #expect(try SignedIn(bare).localID != victim.localID)
      #expect(try bare.json.text("email") == nil)
      // The address in another person's token, verified or not.
      for verified in [JSONValue.flag(true), .flag(false), .text("true")] {
        let other = try await service.signIn(
          Mint.credential { order in
            order.email = "victim@example.com"
            order.claims = [("email_verified", verified)]
          })
        #expect(other.localID != victim.localID)
      }
    }
  }

  @Test func `attack 26 an account is found by its subject, whatever else changes`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let first = try await service.signIn(
        Mint.credential { order in
          order.subject = subject
          order.email = "one@example.com"
        })
      let second = try await service.signIn(
        Mint.credential { order in
          order.subject = subject
          order.email = "two@privaterelay.appleid.com"
          order.audience = Client.second
        })
      #expect(second.localID == first.localID)
      let alike = try await service.signIn(Mint.credential { $0.subject = subject.uppercased() })
      #expect(alike.localID != first.localID)
    }
  }

  @Test func `attack 31 a refresh token that is cut, lengthened or mixed is none`() async throws {
    try await withService { service in
      let token = try await service.signIn(Mint.credential()).refreshToken
      let other = try await service.signIn(Mint.credential()).refreshToken
      var wrong = [
        token + "A", token + "AAAA", "A" + token, token + ".", token + "=", token + "%20", token + token,
        String(token.prefix(token.count / 2) + other.suffix(other.count - other.count / 2)),
        token.uppercased(),
      ]
      for count in [1, 2, 3, 4, 8, 16, 32, 43, token.count - 1] {
        wrong.append(String(token.dropLast(count)))
      }
      for text in wrong where text != token && !text.isEmpty {
        let answer = try await service.tryRefresh(text)
        #expect(answer.isRefused("invalid_refresh_token", "refresh_token_unknown"), "\(text) \(answer)")
      }
      _ = try await service.refresh(token)
      _ = try await service.refresh(other)
    }
  }

  @Test func `attack 38 G08 no token of one kind is taken for one of another`() async throws {
    try await withService { service in
      let apple = try Mint.credential()
      let session = try await service.signIn(apple)
      let nonce = try #require(try await service.send(.post("/v1/nonces", json: "{}")).json.text("nonce"))
      let elsewhere = try await foreignSession()
      let invalid = Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid")
      for bearer in [session.refreshToken, apple.idToken, nonce, elsewhere.idToken, elsewhere.refreshToken] {
        try expect(await service.trySignIn(Mint.credential(), bearer: bearer), is: invalid)
      }
      for text in [session.refreshToken, session.idToken, nonce, elsewhere.idToken] {
        let answer = try await service.trySignIn(Credential(idToken: text, rawNonce: "n"))
        #expect(
          answer.isRefused("token_malformed", "algorithm_not_allowed", "issuer_not_allowed"), "\(answer)")
      }
      for text in [session.idToken, apple.idToken, nonce] {
        try expect(await service.tryRefresh(text), is: Refusal(400, "INVALID_REFRESH_TOKEN"))
      }
      try expect(await service.tryRefresh(elsewhere.refreshToken), is: .session("refresh_token_unknown"))
      // None of that was a sign-in or a rotation.
      _ = try await service.refresh(session.refreshToken)
    }
  }

  /// A session of another installation with the same settings.
  private func foreignSession() async throws -> SignedIn {
    try await withStageResult { stage in
      let service = try await stage.start()
      return try await service.signIn(Mint.credential())
    }
  }

  private func withStageResult<R: Sendable>(_ body: @escaping @Sendable (Stage) async throws -> R)
    async throws -> R
  {
    let result = Watched<R?>(nil)
    try await withStage { stage in
      let value = try await body(stage)
      result.update { $0 = value }
    }
    return try #require(result.read { $0 })
  }

  @Test func `attack 40 no refusal repeats what it was given`() async throws {
    try await withService(["BRAMLEY_API_KEYS": "the-right-key"]) { service in
      let credential = try Mint.credential { order in
        order.email = "leak@example.com"
        order.breaksSignature = true
      }
      let secrets = [
        credential.idToken, credential.rawNonce, sha256Hex(credential.rawNonce), "leak@example.com",
        "Lovelace",
        "the-right-key", "the-wrong-key", "code-of-apple", "bearer-of-nobody",
      ]
      let body = credential.body([
        "fullName": #"{"givenName":"Lovelace"}"#, "authorizationCode": #""code-of-apple""#, "device": "7",
      ])
      let fine = credential.body([
        "fullName": #"{"givenName":"Lovelace"}"#, "authorizationCode": #""code-of-apple""#,
      ])
      let key: [(name: String, value: String)] = [("X-API-Key", "the-right-key")]
      var answers: [HTTPAnswer] = []
      for text in [
        body, fine, String(fine.dropLast(3)), fine + "x", fine.replacing("rawNonce", with: "idToken"),
      ] {
        for headers in [
          key, [("X-API-Key", "the-wrong-key")], key + [("Authorization", "Bearer bearer-of-nobody")],
        ] {
          answers.append(try await service.send(.post("/v1/signInWithIdp", json: text, headers: headers)))
        }
      }
      answers.append(
        try await service.send(.post("/v1/\(credential.rawNonce.replacing(" ", with: "_"))", json: fine)))
      answers.append(try await service.get("/metrics"))
      for answer in answers {
        #expect(answer.status != 200 || answer["Content-Type"]?.hasPrefix("text/plain") == true)
        let text = String(decoding: answer.body, as: UTF8.self) + answer.headers.map { $0.value }.joined()
        for secret in secrets { #expect(!text.contains(secret), "\(secret) in \(answer)") }
      }
    }
  }
}
