import Foundation
import MockApple
import Testing
import Wire

/// `accounts:signInWithIdp` as the SDKs send it, with what their answers must and must not have.
@Suite(.timeLimit(.minutes(10)))
struct SignInFormTests {
  private static let core = [
    "idToken", "refreshToken", "expiresIn", "localId", "providerId", "federatedId", "email", "emailVerified",
    "rawUserInfo", "kind",
  ]
  private static let traps = ["needConfirmation", "errorMessage", "mfaPendingCredential"]

  @Test(arguments: FirebaseClient.allCases)
  func `row 1 row 3 trap 1 trap 3 trap 4 every SDK signs in, and none of its traps is in the answer`(
    _ client: FirebaseClient
  ) async throws {
    try await withService { service in
      let credential = try Mint.credential { $0.email = "ada@example.com" }
      let answer = try await service.firebaseSignIn(client.postBody(credential), as: client)
      let first = try SignedIn(answer)
      #expect(first.isNewUser)
      let body = try answer.json
      for name in Self.core { #expect(body[name] != nil, "\(name)") }
      for name in Self.traps { #expect(body[name] == nil, "\(name)") }
      #expect(body.text("kind") == "identitytoolkit#VerifyAssertionResponse")
      #expect(body.text("expiresIn") == "3600")
      #expect(body.text("providerId") == "apple.com")
      #expect(body.text("oauthIdToken") == credential.idToken)
      #expect(body.flag("emailVerified") == true)
      #expect(body.text("nonce") == credential.rawNonce)
      let info = try JSONObject(parsing: (body.text("rawUserInfo") ?? "").utf8)
      #expect(info.text("sub") == body.text("federatedId"))
      // And on by the token endpoint, with the older path's answer good for the newer's.
      let refreshed = try await service.send(
        .post(
          FirebasePath.token,
          json: json([("grantType", "\"refresh_token\""), ("refreshToken", quoted(first.refreshToken))])))
      #expect(refreshed.status == 200)
      let users = try await service.lookup(first.idToken)
      #expect(users.text("localId") == first.localID)
    }
  }

  @Test func `row 2 trap 20 F01 the name that iOS sends is taken as it is and kept`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let credential = try Mint.credential { $0.subject = subject }
      let user = #"{"name":{"firstName":"Jürgen Karl","lastName":"A & B=100% \"x\" + {é}"}}"#
      let answer = try await service.firebaseSignIn(
        FirebaseClient.ios.postBody(credential, user: user), as: .ios,
        [("returnIdpCredential", "true"), ("autoCreate", "true")])
      let body = try answer.json
      #expect(body.text("displayName") == "Jürgen Karl A & B=100% \"x\" + {é}")
      #expect(body.text("firstName") == "Jürgen Karl")
      let next = try await service.firebaseSignIn(
        FirebaseClient.ios.postBody(Mint.credential { $0.subject = subject }), as: .ios)
      #expect(try next.json.text("displayName") == body.text("displayName"))
      #expect(try next.json.flag("isNewUser") == false)
      let shown = try await service.lookup(try SignedIn(next).idToken)
      #expect(shown.text("displayName") == body.text("displayName"))
    }
  }

  @Test func `row 4 each mistake with the nonce has its own word`() async throws {
    try await withService { service in
      func expectRefused(_ credential: Credential, nonce: String?, _ reason: String) async throws {
        let sent = Credential(idToken: credential.idToken, rawNonce: nonce ?? "")
        for client in FirebaseClient.allCases {
          let answer = try await service.firebaseSignIn(
            client.postBody(sent, nonce: nonce != nil), as: client)
          try expect(answer, is: .nonce(reason))
        }
      }
      let good = try Mint.credential()
      try await expectRefused(good, nonce: nil, "nonce_missing")
      try await expectRefused(good, nonce: "another", "nonce_mismatch")
      try await expectRefused(good, nonce: sha256Hex(good.rawNonce), "nonce_is_already_hashed")
      let nonce = Mint.nonce()
      let wrong = Credential(
        idToken: try Mint.token { $0.nonce = sha256Base64(nonce) }, rawNonce: nonce)
      try await expectRefused(wrong, nonce: nonce, "nonce_wrong_encoding")
      // A failed attempt burns nothing.
      _ = try SignedIn(await service.firebaseSignIn(FirebaseClient.ios.postBody(good), as: .ios))
    }
  }

  @Test func `row 5 a credential is used once, whichever SDK brings it`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let first = try SignedIn(
        await service.firebaseSignIn(FirebaseClient.ios.postBody(credential), as: .ios))
      let again = try SignedIn(await service.firebaseSignIn(FirebaseClient.javaScript.postBody(credential)))
      #expect(again.refreshToken == first.refreshToken)
      _ = try await service.refresh(first.refreshToken)
      for client in FirebaseClient.allCases {
        let answer = try await service.firebaseSignIn(client.postBody(credential), as: client)
        try expect(answer, is: .nonce("credential_already_used"))
      }
    }
  }

  @Test(arguments: ["a+b/c==%41&x", "ab+cd", "100% & more", "%2B", "plain-._"])
  func `F02 F04 a raw nonce is what the client put in, whatever that looks like`(_ nonce: String) async throws
  {
    try await withService { service in
      for client in FirebaseClient.allCases {
        let token = try Mint.token { $0.rawNonce = nonce }
        let answer = try await service.firebaseSignIn(
          client.postBody(Credential(idToken: token, rawNonce: nonce)), as: client)
        #expect(answer.status == 200, "\(client) \(answer)")
      }
    }
  }

  @Test func `F08 F10 F11 empty is absent, twice is refused, and what is no text is no nonce`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let form = FirebaseClient.javaScript.postBody(credential)
      try expect(
        await service.firebaseSignIn(form + "&id_token=\(credential.idToken)"),
        is: .argument("duplicate_member"), field: "postBody")
      for nonce in ["%ED%A0%80", "%FF%FE"] {
        try expect(
          await service.firebaseSignIn("id_token=\(credential.idToken)&nonce=\(nonce)&providerId=apple.com"),
          is: .nonce("nonce_mismatch"))
      }
      let answer = try await service.firebaseSignIn(form + "&access_token=&code=&user=%FF%FE")
      #expect(answer.status == 200, "\(answer)")
    }
  }

  @Test func `a token that stands for Apple's is checked like Apple's`() async throws {
    try await withService { service in
      func refusal(_ change: (inout TokenOrder) -> Void) async throws -> HTTPAnswer {
        let credential = try Mint.credential(change)
        return try await service.firebaseSignIn(FirebaseClient.android.postBody(credential), as: .android)
      }
      let audience = try await refusal { $0.audience = "com.example.foreign" }
      try expect(audience, is: .token("audience_not_allowed"))
      let issuer = try await refusal { $0.claims += [member("iss", "https://evil.example")] }
      try expect(issuer, is: .token("issuer_not_allowed"))
      let expired = try await refusal { $0.issuedAt = Int64(time(nil)) - 90_000 }
      try expect(expired, is: .token("token_expired"))
      try expect(
        await service.firebaseSignIn("providerId=apple.com&access_token=c1234.0.abc&nonce=x"),
        is: .token("token_missing"))
      try expect(
        await service.firebaseSignIn("providerId=google.com&id_token=x&nonce=y"),
        is: Refusal(400, "INVALID_PROVIDER_ID"))
      let capital = try Mint.credential()
      let answer = try await service.firebaseSignIn(
        "providerId=Apple.com&id_token=\(capital.idToken)&nonce=\(percentEncoded(capital.rawNonce))")
      #expect(answer.status == 200, "\(answer)")
    }
  }

  @Test func `what is said leniently is understood, and what is no request of this kind is not`() async throws
  {
    try await withService { service in
      let credential = try Mint.credential()
      let snake = json([
        ("request_uri", "\"http://localhost\""), ("return_secure_token", "\"true\""),
        ("post_body", quoted(FirebaseClient.android.postBody(credential))), ("auto_create", "\"true\""),
        ("idToken", "null"), ("unknown", "[1]"),
      ])
      let answer = try await service.send(.post(FirebasePath.signIn, json: snake))
      #expect(answer.status == 200, "\(answer)")
      func post(_ members: [(String, String)]) async throws -> HTTPAnswer {
        try await service.post(FirebasePath.signIn, members)
      }
      let postBody = quoted(FirebaseClient.android.postBody(try Mint.credential()))
      try expect(await post([("postBody", postBody)]), is: Refusal(400, "MISSING_REQUEST_URI"))
      try expect(
        await post([("postBody", postBody), ("requestUri", "\"localhost\"")]),
        is: Refusal(400, "INVALID_REQUEST_URI"))
      try expect(
        await post([
          ("postBody", postBody), ("requestUri", "\"http://localhost\""),
          ("request_uri", "\"http://localhost\""),
        ]), is: .argument("duplicate_member"), field: "request_uri")
      try expect(
        await post([("postBody", "7"), ("requestUri", "\"http://localhost\"")]),
        is: .argument("field_type"), field: "postBody")
      try expect(
        await post([("postBody", postBody), ("requestUri", "\"http://localhost\""), ("tenantId", "\"t1\"")]),
        is: Refusal(400, "UNSUPPORTED_TENANT_OPERATION"))
    }
  }

  @Test func `parameters may stand in the address of a callback`() async throws {
    try await withService { service in
      for separator in ["?", "#"] {
        let credential = try Mint.credential()
        let uri =
          "https://app.example.com/callback\(separator)id_token=\(credential.idToken)"
          + "&nonce=\(percentEncoded(credential.rawNonce))&providerId=apple.com"
        let answer = try await service.post(
          FirebasePath.signIn, [("requestUri", quoted(uri)), ("sessionId", "\"s\"")])
        #expect(answer.status == 200, "\(answer)")
      }
    }
  }

  @Test
  func
    `a field of Firebase's does not make our form another one, and nothing at all is Firebase's on its paths`()
    async throws
  {
    try await withService { service in
      let credential = try Mint.credential()
      let own = try await service.trySignIn(credential, ["returnSecureToken": "true"])
      #expect(own.status == 200, "\(own)")
      try expect(await service.post(FirebasePath.signIn, []), is: Refusal(400, "MISSING_REQUEST_URI"))
      try expect(
        await service.firebaseSignIn(
          FirebaseClient.ios.postBody(Mint.credential()), as: .ios, [("targetProjectId", "\"p\"")]),
        is: Refusal(400, "INSUFFICIENT_PERMISSION"), field: "targetProjectId")
    }
  }

  @Test func `our form and Firebase's are told apart by the body, at every path`() async throws {
    try await withService { service in
      let paths = [
        "/v1/signInWithIdp", "/v1/accounts:signInWithIdp", FirebasePath.signIn, FirebasePath.verifyAssertion,
        "/identitytoolkit/v3/relyingparty/verifyAssertion",
      ]
      for path in paths {
        let own = try await service.send(.post(path, json: Mint.credential().body()))
        #expect(own.status == 200, "\(path) \(own)")
        #expect(try own.json["kind"] == nil)
        let theirs = try await service.post(
          path,
          [
            ("requestUri", "\"http://localhost\""),
            ("postBody", quoted(FirebaseClient.javaScript.postBody(Mint.credential()))),
          ])
        #expect(theirs.status == 200, "\(path) \(theirs)")
        #expect(try theirs.json["kind"] != nil)
      }
    }
  }
}
