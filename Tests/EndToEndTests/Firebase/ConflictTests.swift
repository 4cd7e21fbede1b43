import MockApple
import Testing
import Wire

/// Links and what becomes of them: conflicts, pending tokens, and addresses that somebody holds.
@Suite(.timeLimit(.minutes(10)))
struct ConflictTests {
  private static let pendingInvalid = Refusal(400, "INVALID_PENDING_TOKEN")
  private static let linked = Refusal(400, "FEDERATED_USER_ID_ALREADY_LINKED")

  /// A person who is known, and a stranger's session that wants the same identity.
  private func conflict(
    _ service: Service, _ members: [(String, String)] = [], as client: FirebaseClient = .javaScript
  ) async throws -> (subject: String, localID: String, credential: Credential, answer: HTTPAnswer) {
    let subject = Mint.subject()
    let known = try await service.signIn(Mint.credential { $0.subject = subject })
    let guest = try await service.signIn(Mint.credential())
    let credential = try Mint.credential {
      $0.subject = subject
      $0.email = "ada@example.com"
    }
    let answer = try await service.firebaseSignIn(
      client.postBody(credential), as: client, [("idToken", quoted(guest.idToken))] + members)
    return (subject, known.localID, credential, answer)
  }

  @Test func `row 6 a conflict is 200 with a pending token where that is asked for`() async throws {
    try await withService { service in
      let (subject, _, credential, answer) = try await conflict(
        service, [("returnIdpCredential", "true")], as: .ios)
      #expect(answer.status == 200)
      let body = try answer.json
      #expect(body.text("errorMessage") == "FEDERATED_USER_ID_ALREADY_LINKED")
      #expect(body.text("providerId") == "apple.com")
      #expect(body.text("federatedId") == subject)
      #expect(body.text("email") == "ada@example.com")
      #expect(body.text("oauthIdToken") == credential.idToken)
      #expect(body.text("pendingToken") != nil)
      for name in ["idToken", "refreshToken", "needConfirmation", "mfaPendingCredential"] {
        #expect(body[name] == nil)
      }
    }
  }

  @Test func `row 6 otherwise it is 400 with the same fields beside the error`() async throws {
    try await withService { service in
      for members in [[], [("returnIdpCredential", "false")]] {
        let (subject, _, credential, answer) = try await conflict(service, members)
        try expect(answer, is: Self.linked)
        let body = try answer.json
        #expect(body.text("federatedId") == subject)
        #expect(body.text("oauthIdToken") == credential.idToken)
        #expect(body.text("pendingToken") != nil)
      }
    }
  }

  @Test func `row 7 trap 24 JavaScript comes back with the pending token alone`() async throws {
    try await withService { service in
      let (_, localID, credential, answer) = try await conflict(service)
      let pending = ("pendingToken", quoted(try #require(try answer.json.text("pendingToken"))))
      let signedIn = try SignedIn(await service.firebaseSignIn(nil, [pending]))
      #expect(signedIn.localID == localID)
      #expect(!signedIn.isNewUser)
      _ = try await service.refresh(signedIn.refreshToken)
      // Either one again: the pending token is used, and the credential with it.
      try expect(await service.firebaseSignIn(nil, [pending]), is: Self.pendingInvalid)
      try expect(
        await service.firebaseSignIn(FirebaseClient.javaScript.postBody(credential)),
        is: .nonce("credential_already_used"))
    }
  }

  @Test func `row 7 trap 11 trap 24 iOS comes back with the token, the pending token and no nonce`()
    async throws
  {
    try await withService { service in
      let (_, localID, credential, answer) = try await conflict(
        service, [("returnIdpCredential", "true")], as: .ios)
      let pending = ("pendingToken", quoted(try #require(try answer.json.text("pendingToken"))))
      let postBody = FirebaseClient.ios.postBody(credential, nonce: false)
      let back = try await service.firebaseSignIn(postBody, as: .ios, [pending])
      #expect(try SignedIn(back).localID == localID)
      #expect(try back.json.text("oauthIdToken") == credential.idToken)
      try expect(
        await service.firebaseSignIn(postBody, as: .ios, [pending]), is: Self.pendingInvalid)
    }
  }

  @Test func `using the credential uses up the pending token`() async throws {
    try await withService { service in
      let (_, localID, credential, answer) = try await conflict(service)
      let pending = ("pendingToken", quoted(try #require(try answer.json.text("pendingToken"))))
      let direct = try SignedIn(
        await service.firebaseSignIn(FirebaseClient.javaScript.postBody(credential)))
      #expect(direct.localID == localID)
      try expect(await service.firebaseSignIn(nil, [pending]), is: Self.pendingInvalid)
    }
  }

  @Test func `a pending token beside another token, or what is none, lets nobody in`() async throws {
    try await withService { service in
      let (subject, _, _, answer) = try await conflict(service)
      let text = try #require(try answer.json.text("pendingToken"))
      let other = FirebaseClient.ios.postBody(try Mint.credential { $0.subject = subject }, nonce: false)
      try expect(
        await service.firebaseSignIn(other, as: .ios, [("pendingToken", quoted(text))]),
        is: Self.pendingInvalid)
      let flipped = text.dropLast() + (text.last == "A" ? "B" : "A")
      for wrong in ["x", "bpt1.", "bpt1.AAAA", String(flipped), String(text.dropFirst()), text + "AAAA"] {
        try expect(
          await service.firebaseSignIn(nil, [("pendingToken", quoted(wrong))]), is: Self.pendingInvalid)
      }
      // None of that has used it up.
      _ = try SignedIn(await service.firebaseSignIn(nil, [("pendingToken", quoted(text))]))
    }
  }

  @Test func `a postBody beside a pending token carries the very token or is refused`() async throws {
    try await withService { service in
      let (_, _, _, answer) = try await conflict(service)
      let pending = ("pendingToken", quoted(try #require(try answer.json.text("pendingToken"))))
      for postBody in ["providerId=apple.com&nonce=wrong", "providerId=apple.com", "nonce=x"] {
        try expect(await service.firebaseSignIn(postBody, [pending]), is: Self.pendingInvalid)
      }
      _ = try SignedIn(await service.firebaseSignIn(nil, [pending]))
    }
  }

  @Test func `two sessions to link to are one too many, and an administrator is nobody's session`()
    async throws
  {
    let admin = "an-administrators-token"
    try await withService(["BRAMLEY_ADMIN_TOKEN": admin]) { service in
      let person = try await service.signIn(Mint.credential())
      func signIn(bearer: String, _ members: [(String, String)]) async throws -> HTTPAnswer {
        var request = HTTPRequest.firebaseSignIn(
          FirebaseClient.ios.postBody(try Mint.credential()), as: .ios, members)
        request.headers.append(("Authorization", "Bearer \(bearer)"))
        return try await service.send(request)
      }
      try expect(
        await signIn(bearer: person.idToken, [("idToken", "\"garbage\"")]),
        is: .argument("duplicate_member"), field: "idToken")
      #expect(try SignedIn(await signIn(bearer: admin, [])).isNewUser)
      try expect(
        await signIn(bearer: "nobody", []), is: Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid"))
    }
  }

  @Test func `of many who bring one pending token at once one gets a session`() async throws {
    try await withService { service in
      let (_, _, _, answer) = try await conflict(service)
      let pending = ("pendingToken", quoted(try #require(try answer.json.text("pendingToken"))))
      let answers = try await inParallel(20, port: service.port) { _ in .firebaseSignIn(nil, [pending]) }
      #expect(answers.count { $0.status == 200 } == 1)
      for lost in answers where lost.status != 200 { try expect(lost, is: Self.pendingInvalid) }
    }
  }

  @Test func `a pending token of a person whose client is not ours any more is refused`() async throws {
    try await withStage { stage in
      let first = try await stage.start()
      let (_, _, _, answer) = try await conflict(first)
      let pending = ("pendingToken", quoted(try #require(try answer.json.text("pendingToken"))))
      try await first.stop()
      let second = try await stage.start(["BRAMLEY_APPLE_CLIENT_IDS": Client.second])
      try expect(await second.firebaseSignIn(nil, [pending]), is: Self.pendingInvalid)
    }
  }

  @Test func `row 8 trap 23 trap 26 who may not be new is not found, and nobody is made`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let credential = try Mint.credential()
      for client in FirebaseClient.allCases {
        try expect(
          await service.firebaseSignIn(client.postBody(credential), as: client, [("autoCreate", "false")]),
          is: Refusal(400, "EMAIL_NOT_FOUND"))
      }
      #expect(try await stage.sql("SELECT count(*) FROM accounts") == "0")
      #expect(
        try SignedIn(await service.firebaseSignIn(FirebaseClient.ios.postBody(credential), as: .ios))
          .isNewUser)
    }
  }

  @Test func `a bad session to link is refused and never a plain sign-in`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let good = try await service.signIn(Mint.credential()).idToken
      let none =
        base64URLText(Array(#"{"alg":"none","typ":"JWT"}"#.utf8)) + "." + good.split(separator: ".")[1] + "."
      for wrong in ["x", good + "x", none, credential.idToken] {
        try expect(
          await service.firebaseSignIn(
            FirebaseClient.ios.postBody(credential), as: .ios, [("idToken", quoted(wrong))]),
          is: Refusal(400, "INVALID_ID_TOKEN", "session_token_invalid"))
      }
      #expect(
        try SignedIn(await service.firebaseSignIn(FirebaseClient.ios.postBody(credential), as: .ios))
          .isNewUser)
    }
  }
}
