import Foundation
import Testing
import Wire

/// `accounts:update` and `accounts:delete` of an administrator, and what they do to a person's sessions.
@Suite(.timeLimit(.minutes(10)))
struct AdminChangeTests {
  private static let disabled = Refusal(400, "USER_DISABLED")
  private static let gone = Refusal(400, "USER_NOT_FOUND")

  @Test func `names and photos are changed, and taken away by word, by number and by its text`() async throws
  {
    try await withAdministrator { _, admin in
      let id = try await admin.create(#"{"localId":"ann","email":"ann@example.com","emailVerified":true}"#)
      let set = #""displayName":"Ann Other","photoUrl":"https://example.com/b.png""#
      for (name, photo) in [(#""DISPLAY_NAME""#, #""PHOTO_URL""#), ("2", "4"), (#""2""#, #""4""#)] {
        let changed = try await admin.update(id, set)
        #expect(changed.text("kind") == "identitytoolkit#SetAccountInfoResponse")
        #expect(changed.text("displayName") == "Ann Other")
        try await admin.update(id, #""deleteAttribute":[\#(name)]"#)
        let without = try #require(try await admin.account(id))
        #expect(without["displayName"] == nil)
        #expect(without.text("photoUrl") == "https://example.com/b.png")
        try await admin.update(id, #""deleteAttribute":[\#(photo)]"#)
        #expect(try await admin.account(id)?["photoUrl"] == nil)
      }
      #expect(try await admin.account(id)?.text("email") == "ann@example.com")
      try await admin.update(id, #""deleteAttribute":["EMAIL"]"#)
      let account = try #require(try await admin.account(id))
      #expect(account["email"] == nil)
      #expect(account["emailVerified"] == nil)
      try expect(
        await admin.post("accounts:update", #"{"localId":"ann","deleteAttribute":["SHOE_SIZE"]}"#),
        is: .argument("field_type"))
    }
  }

  @Test func `an address that is changed is unverified, unless it is said to be`() async throws {
    try await withAdministrator { _, admin in
      let id = try await admin.create(#"{"email":"ann@example.com","emailVerified":true}"#)
      try await admin.create(#"{"email":"bo@example.com"}"#)
      #expect(try await admin.update(id, #""email":"ann@example.org""#).flag("emailVerified") == false)
      #expect(try await admin.update(id, #""emailVerified":true"#).flag("emailVerified") == true)
      try expect(
        await admin.post("accounts:update", #"{"localId":"\#(id)","email":"bo@example.com"}"#),
        is: Refusal(400, "EMAIL_EXISTS"))
      try expect(
        await admin.post("accounts:update", #"{"localId":"\#(id)","email":"bo"}"#),
        is: Refusal(400, "INVALID_EMAIL"))
      #expect(try await admin.lookup(#"{"email":["ann@example.com"]}"#).isEmpty)
      #expect(try await admin.lookup(#"{"email":["ann@example.org"]}"#).count == 1)
    }
  }

  @Test func `row 10 whoever is disabled neither refreshes nor signs in, until he is enabled`() async throws {
    try await withAdministrator { service, admin in
      let subject = Mint.subject()
      let person = try await service.signIn(Mint.credential { $0.subject = subject })
      try await admin.update(person.localID, #""disableUser":true"#)
      #expect(try await admin.account(person.localID)?.flag("disabled") == true)
      try expect(await service.tryRefresh(person.refreshToken), is: Self.disabled)
      let credential = try Mint.credential { $0.subject = subject }
      try expect(await service.trySignIn(credential), is: Self.disabled)
      try expect(await service.trySignIn(Mint.credential(), bearer: person.idToken), is: Self.disabled)
      try await admin.update(person.localID, #""disableUser":false"#)
      #expect(try await admin.account(person.localID)?["disabled"] == nil)
      // It ended no session and burnt no credential.
      _ = try await service.refresh(person.refreshToken)
      #expect(try await service.signIn(credential).localID == person.localID)
    }
  }

  @Test func `row 11 custom claims stand in the next token, whose auth_time is the same`() async throws {
    try await withAdministrator { service, admin in
      let person = try await service.signIn(Mint.credential())
      let first = try await service.read(person.idToken).claims
      let claims = #"{"role":"admin","level":3,"groups":["a","ü"],"https://example.com/x":{"y":null}}"#
      try await admin.update(person.localID, #""customAttributes":\#(quoted(claims))"#)
      let answer = try await service.tryRefresh(person.refreshToken).json
      let second = try await service.read(#require(answer.text("id_token"))).claims
      #expect(second.text("role") == "admin")
      #expect(second.integer("level") == 3)
      #expect(second.texts("groups") == ["a", "ü"])
      #expect(second.object("https://example.com/x")?["y"] != nil)
      #expect(second.integer("auth_time") == first.integer("auth_time"))
      #expect(second.text("sub") == person.localID)
      #expect(second.text("sid") == person.sessionID)
      try await admin.update(person.localID, #""customAttributes":"{}""#)
      #expect(try await admin.account(person.localID)?["customAttributes"] == nil)
      let last = try await service.tryRefresh(#require(answer.text("refresh_token"))).json
      #expect(try await service.read(#require(last.text("id_token"))).claims["role"] == nil)
    }
  }

  @Test func `row 10 trap 6 a revocation ends every session, and no later one`() async throws {
    try await withAdministrator { service, admin in
      let subject = Mint.subject()
      let sessions = [
        try await service.signIn(Mint.credential { $0.subject = subject }),
        try await service.signIn(Mint.credential { $0.subject = subject }),
      ]
      let next = try await service.refresh(sessions[1].refreshToken)
      let other = try await service.signIn(Mint.credential())
      // As `revoke_refresh_tokens` does: now, read from the administrator's clock.
      let now = Int64(Date().timeIntervalSince1970)
      try await admin.update(sessions[0].localID, #""validSince":\#(now)"#)
      let later = try await service.signIn(Mint.credential { $0.subject = subject })
      for token in [sessions[0].refreshToken, next] {
        try expect(await service.tryRefresh(token), is: .session("session_revoked"))
      }
      try expect(
        await service.trySignIn(Mint.credential(), bearer: sessions[0].idToken),
        is: .session("session_revoked", 401))
      #expect(later.localID == sessions[0].localID)
      _ = try await service.refresh(later.refreshToken)
      _ = try await service.refresh(other.refreshToken)
      let since = try #require(
        try await admin.account(later.localID)?.text("validSince").flatMap { Int64($0) })
      #expect((now - 5...now + 5).contains(since))
    }
  }

  @Test func `a revocation of long ago ends nothing, and one of the future is one of now`() async throws {
    try await withAdministrator { service, admin in
      let person = try await service.signIn(Mint.credential())
      try await admin.update(person.localID, #""validSince":"1600000000""#)
      #expect(try await admin.account(person.localID)?.text("validSince") == "1600000000")
      let next = try await service.refresh(person.refreshToken)
      let future = Int64(Date().timeIntervalSince1970) + 86_400
      try await admin.update(person.localID, #""validSince":\#(future)"#)
      try expect(await service.tryRefresh(next), is: .session("session_revoked"))
      let since = try #require(
        try await admin.account(person.localID)?.text("validSince").flatMap { Int64($0) })
      #expect(since < future - 80_000)
      try expect(
        await admin.post("accounts:update", #"{"localId":"\#(person.localID)","validSince":-1}"#),
        is: .argument("field_invalid"), field: "validSince")
    }
  }

  @Test func `identities are linked and taken off`() async throws {
    try await withAdministrator { service, admin in
      let (mine, theirs) = (Mint.subject(), Mint.subject())
      let other = try await service.signIn(Mint.credential { $0.subject = theirs })
      let id = try await admin.create("{}")
      let link = { (subject: String) in
        #""linkProviderUserInfo":{"providerId":"apple.com","rawId":"\#(subject)"}"#
      }
      try expect(
        await admin.post("accounts:update", #"{"localId":"\#(id)",\#(link(theirs))}"#),
        is: Refusal(400, "DUPLICATE_RAW_ID"))
      try await admin.update(id, link(mine))
      #expect(try await service.signIn(Mint.credential { $0.subject = mine }).localID == id)
      try await admin.update(id, #""deleteProvider":["apple.com","google.com"]"#)
      #expect(try await admin.account(id)?["providerUserInfo"] == nil)
      let again = try await service.signIn(Mint.credential { $0.subject = mine })
      #expect(again.isNewUser && again.localID != id)
      #expect(try await admin.account(other.localID)?.objects("providerUserInfo").count == 1)
    }
  }

  @Test func `row 10 trap 9 whoever is deleted is not found, and a later sign-in is a new account`()
    async throws
  {
    try await withAdministrator { service, admin in
      let subject = Mint.subject()
      let person = try await service.signIn(Mint.credential { $0.subject = subject })
      let answer = try await admin.post("accounts:delete", #"{"localId":"\#(person.localID)"}"#)
      #expect(answer.status == 200)
      #expect(try answer.json.text("kind") == "identitytoolkit#DeleteAccountResponse")
      try expect(await service.tryRefresh(person.refreshToken), is: Self.gone)
      try expect(await admin.post("accounts:delete", #"{"localId":"\#(person.localID)"}"#), is: Self.gone)
      try expect(
        await admin.post("accounts:update", #"{"localId":"\#(person.localID)","displayName":"x"}"#),
        is: Self.gone)
      try expect(
        await service.trySignIn(Mint.credential(), bearer: person.idToken), is: Refusal(400, "USER_NOT_FOUND")
      )
      let again = try await service.signIn(Mint.credential { $0.subject = subject })
      #expect(again.isNewUser && again.localID != person.localID)
      try expect(await service.tryRefresh(person.refreshToken), is: Self.gone)
    }
  }

  @Test func `trap 9 whose account is meant must be said`() async throws {
    try await withAdministrator { _, admin in
      for operation in ["accounts:update", "accounts:delete"] {
        for body in ["{}", #"{"localId":null}"#, #"{"localId":""}"#] {
          try expect(await admin.post(operation, body), is: Refusal(400, "MISSING_LOCAL_ID"))
        }
        try expect(await admin.post(operation, #"{"localId":"nobody"}"#), is: Self.gone)
      }
    }
  }

  @Test func `the same bearer works on the paths without a project`() async throws {
    try await withAdministrator { service, admin in
      let id = try await admin.create("{}")
      let headers = [(name: "Authorization", value: "Bearer \(Administrator.token)")]
      func post(_ path: String, _ body: String) async throws -> HTTPAnswer {
        try await service.send(.post(path, json: body, headers: headers))
      }
      let named = #"{"localId":"\#(id)","displayName":"Ann"}"#
      #expect(try await post("/v1/accounts:update", named).json.text("displayName") == "Ann")
      let older = "/www.googleapis.com/identitytoolkit/v3/relyingparty/"
      #expect(try await post(older + "getAccountInfo", #"{"localId":["\#(id)"]}"#).json.localIDs == [id])
      #expect(try await post(older + "deleteAccount", #"{"localId":"\#(id)"}"#).status == 200)
      #expect(try await admin.account(id) == nil)
    }
  }
}
