import MockApple
import TestProcesses
import Testing
import Wire

/// What a signed-in person does with his own account through Firebase's SDKs.
@Suite(.timeLimit(.minutes(2)))
struct OwnAccountTests {
  private static let invalid = Refusal(400, "INVALID_ID_TOKEN", "session_token_invalid")

  private func update(
    _ service: Service, _ idToken: String, _ members: [(String, String)], old: Bool = false
  ) async throws -> HTTPAnswer {
    try await service.post(
      old ? FirebasePath.old + "/setAccountInfo?key=k" : FirebasePath.account("update"),
      [("idToken", quoted(idToken))] + members)
  }

  @Test
  func `row 12 trap 2 trap 7 lookup shows one user with the subject under both names and numbers as text`()
    async throws
  {
    try await withService { service in
      let subject = Mint.subject()
      let person = try await service.signIn(
        Mint.credential {
          $0.subject = subject
          $0.email = "ada@example.com"
        }, ["fullName": #"{"givenName":"Ada","familyName":"Example"}"#])
      for path in [FirebasePath.account("lookup"), FirebasePath.old + "/getAccountInfo?key=k"] {
        let answer = try await service.post(path, [("idToken", quoted(person.idToken))])
        #expect(answer.status == 200, "\(answer)")
        let body = try answer.json
        #expect(body.text("kind") == "identitytoolkit#GetAccountInfoResponse")
        let users = body.objects("users")
        #expect(users.count == 1)
        let user = try #require(users.first)
        #expect(user.text("localId") == person.localID)
        #expect(user.text("email") == "ada@example.com")
        #expect(user.flag("emailVerified") == true)
        #expect(user.text("displayName") == "Ada Example")
        for name in ["createdAt", "lastLoginAt"] {
          #expect(user.text(name)?.hasSuffix("000") == true)
          #expect(user.text(name).flatMap { Int64($0) } ?? 0 > 1_700_000_000_000)
        }
        for name in ["disabled", "photoUrl", "passwordHash", "customAttributes"] {
          #expect(user[name] == nil)
        }
        let provider = try #require(user.objects("providerUserInfo").first)
        #expect(provider.text("providerId") == "apple.com")
        #expect(provider.text("rawId") == subject)
        #expect(provider.text("federatedId") == subject)
        #expect(provider.text("email") == "ada@example.com")
      }
    }
  }

  @Test func `row 19 a session token that we did not sign as we sign opens nothing`() async throws {
    try await withService { service in
      let person = try await service.signIn(Mint.credential())
      let parts = person.idToken.split(separator: ".").map(String.init)
      func header(_ alg: String) -> String {
        base64URLText(Array("{\"alg\":\"\(alg)\",\"typ\":\"JWT\"}".utf8))
      }
      let rs256 = try Mint.token {
        $0.payload = String(decoding: try! decodeBase64URL(parts[1].utf8), as: UTF8.self)
      }
      let forgeries = [
        header("none") + "." + parts[1] + ".", header("none") + "." + parts[1] + "." + parts[2],
        header("RS256") + "." + parts[1] + "." + parts[2], rs256, "x.y.z", parts[0] + "." + parts[1],
      ]
      for forgery in forgeries {
        for verb in ["lookup", "update", "delete"] {
          try expect(
            await service.post(FirebasePath.account(verb), [("idToken", quoted(forgery))]), is: Self.invalid)
        }
      }
      for verb in ["lookup", "delete"] {
        try expect(await service.post(FirebasePath.account(verb), []), is: Refusal(400, "MISSING_ID_TOKEN"))
      }
      #expect(try await service.lookup(person.idToken).text("localId") == person.localID)
    }
  }

  @Test func `a session token of another project opens nothing`() async throws {
    let foreign = Watched("")
    try await withStage { stage in
      let other = try await stage.start(["BRAMLEY_PROJECT_ID": "other-project"])
      let token = try await other.signIn(Mint.credential()).idToken
      foreign.update { $0 = token }
      try await other.stop()
      let service = try await stage.start(["BRAMLEY_PROJECT_ID": "bramley-two"])
      try expect(
        await service.post(FirebasePath.account("lookup"), [("idToken", quoted(token))]), is: Self.invalid)
    }
  }

  @Test func `name and photo are set, cleared, and left alone by null`() async throws {
    try await withService { service in
      let person = try await service.signIn(Mint.credential(), ["fullName": #"{"givenName":"Ada"}"#])
      let set = try await update(
        service, person.idToken,
        [
          ("displayName", "\"Countess\""), ("photoUrl", "\"https://example.com/a.png\""),
          ("returnSecureToken", "true"),
        ])
      #expect(set.status == 200, "\(set)")
      let body = try set.json
      #expect(body.text("kind") == "identitytoolkit#SetAccountInfoResponse")
      #expect(body.text("localId") == person.localID)
      #expect(body.text("displayName") == "Countess")
      #expect(body.text("photoUrl") == "https://example.com/a.png")
      #expect(body.objects("providerUserInfo").count == 1)
      // A session token is not traded for a refresh token.
      #expect(body["idToken"] == nil)
      #expect(body["refreshToken"] == nil)
      let kept = try await update(
        service, person.idToken, [("displayName", "null"), ("photo_url", "null")], old: true)
      #expect(try kept.json.text("displayName") == "Countess")
      let refreshed = try await service.tryRefresh(person.refreshToken).json
      let token = try #require(refreshed.text("id_token"))
      #expect(try await service.read(token).claims.text("name") == "Countess")
      for attributes in [#"["DISPLAY_NAME","PHOTO_URL"]"#, "[2,4]", #"["2","4"]"#] {
        _ = try await update(service, token, [("displayName", "\"x\""), ("photoUrl", "\"https://e.com/x\"")])
        let cleared = try await update(service, token, [("deleteAttribute", attributes)])
        #expect(cleared.status == 200, "\(cleared)")
        #expect(try cleared.json["displayName"] == nil)
        #expect(try cleared.json["photoUrl"] == nil)
      }
      let empty = try await update(service, token, [("displayName", "\"\""), ("photoUrl", "\"\"")])
      #expect(try empty.json["displayName"] == nil)
    }
  }

  @Test func `what is not the person's to change is refused`() async throws {
    try await withService { service in
      let token = try await service.signIn(Mint.credential()).idToken
      let refusals: [(String, String, Refusal)] = [
        ("disableUser", "true", Refusal(400, "OPERATION_NOT_ALLOWED", "disable_not_allowed")),
        ("customAttributes", "\"{}\"", Refusal(400, "INSUFFICIENT_PERMISSION")),
        ("validSince", "\"1\"", Refusal(400, "INSUFFICIENT_PERMISSION")),
        ("emailVerified", "true", Refusal(400, "INSUFFICIENT_PERMISSION")),
        ("email", "\"victim@example.com\"", Refusal(400, "OPERATION_NOT_ALLOWED", "provider_not_enabled")),
        ("password", "\"secret\"", Refusal(400, "OPERATION_NOT_ALLOWED", "provider_not_enabled")),
        ("deleteAttribute", "[\"EMAIL\"]", Refusal(400, "INSUFFICIENT_PERMISSION")),
        ("targetProjectId", "\"p\"", Refusal(400, "INSUFFICIENT_PERMISSION")),
        ("photoUrl", "\"javascript:alert(1)\"", .argument("field_invalid")),
        ("deleteAttribute", "[\"NOTHING\"]", .argument("field_type")),
        ("displayName", "7", .argument("field_type")),
        ("tenantId", "\"t\"", Refusal(400, "UNSUPPORTED_TENANT_OPERATION")),
      ]
      for (name, value, refusal) in refusals {
        try expect(await update(service, token, [(name, value)]), is: refusal, field: nil)
      }
      try expect(
        await service.post(FirebasePath.account("update"), [("displayName", "\"x\"")]),
        is: Refusal(400, "INVALID_REQ_TYPE"))
      try expect(
        await service.post(FirebasePath.account("lookup"), [("localId", "[\"x\"]")]),
        is: Refusal(400, "MISSING_ID_TOKEN"))
    }
  }

  @Test func `row 13 an unlinked identity is gone from the account, and a second time is no error`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      let subject = Mint.subject()
      let person = try await service.signIn(Mint.credential { $0.subject = subject })
      try await stage.sql("UPDATE sessions SET created_at = created_at - 301")
      let old = try #require(try await service.tryRefresh(person.refreshToken).json.text("id_token"))
      try expect(
        await update(service, old, [("deleteProvider", "[\"apple.com\"]")]),
        is: Refusal(400, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"))
      let fresh = try await service.signIn(Mint.credential { $0.subject = subject }).idToken
      for _ in 0..<2 {
        let answer = try await update(service, fresh, [("deleteProvider", "[\"apple.com\"]")])
        #expect(answer.status == 200, "\(answer)")
        #expect(try answer.json["providerUserInfo"] == nil)
      }
      #expect(try await service.signIn(Mint.credential { $0.subject = subject }).localID != person.localID)
    }
  }

  @Test func `a person deletes his account soon after signing in, and nothing of him is left`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let subject = Mint.subject()
      let person = try await service.signIn(
        Mint.credential { $0.subject = subject }, ["device": #"{"name":"Ada's phone"}"#])
      let second = try await service.signIn(Mint.credential { $0.subject = subject })
      try await stage.sql("UPDATE sessions SET created_at = created_at - 301")
      let old = try #require(try await service.tryRefresh(person.refreshToken).json.text("id_token"))
      func delete(_ token: String, _ members: [(String, String)] = []) async throws -> HTTPAnswer {
        try await service.post(
          FirebasePath.old + "/deleteAccount?key=k", [("idToken", quoted(token))] + members)
      }
      try expect(await delete(old), is: Refusal(400, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"))
      // Sign in again with autoCreate false, then delete with that session.
      let again = try await service.signIn(
        Mint.credential { $0.subject = subject }, ["autoCreate": "false"])
      try expect(
        await delete(again.idToken, [("localId", "\"somebodyElse\"")]),
        is: Refusal(400, "INSUFFICIENT_PERMISSION"))
      let gone = try await delete(again.idToken, [("localId", quoted(person.localID))])
      #expect(gone.status == 200, "\(gone)")
      #expect(try gone.json.text("kind") == "identitytoolkit#DeleteAccountResponse")
      for token in [second.refreshToken, again.refreshToken] {
        try expect(await service.tryRefresh(token), is: Refusal(400, "USER_NOT_FOUND"))
      }
      try expect(
        await service.post(FirebasePath.account("lookup"), [("idToken", quoted(again.idToken))]),
        is: Refusal(400, "USER_NOT_FOUND"))
      #expect(
        try await stage.sql("SELECT count(*) FROM sessions WHERE device_name IS NOT NULL") == "0")
      #expect(try await stage.sql("SELECT count(*) FROM identities") == "0")
      #expect(try await service.signIn(Mint.credential { $0.subject = subject }).isNewUser)
    }
  }

  @Test func `trap 10 a revocation at Apple says that it cannot be done before its key is set`() async throws
  {
    try await withService { service in
      let token = try await service.signIn(Mint.credential()).idToken
      let path = FirebasePath.toolkit + "/v2/accounts:revokeToken?key=k"
      for type in ["\"3\"", "3", "\"CODE\"", "\"ACCESS_TOKEN\""] {
        try expect(
          await service.post(
            path,
            [
              ("providerId", "\"apple.com\""), ("tokenType", type), ("token", "\"c123\""),
              ("idToken", quoted(token)),
            ]), is: Refusal(400, "OPERATION_NOT_ALLOWED", "apple_key_missing"))
      }
      let without = [("providerId", "\"apple.com\""), ("tokenType", "\"3\""), ("token", "\"c123\"")]
      try expect(await service.post(path, without), is: Refusal(400, "MISSING_ID_TOKEN"))
      try expect(
        await service.post(path, without + [("idToken", "\"x\"")]), is: Self.invalid)
    }
  }
}
