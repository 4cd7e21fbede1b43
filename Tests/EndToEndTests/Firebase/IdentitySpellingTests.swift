import MockApple
import Testing
import Wire

/// Names of providers, addresses and accounts in spellings that look alike, and who vouches for them.
@Suite(.timeLimit(.minutes(10)))
struct IdentitySpellingTests {
  @Test func `a provider has a plain name, so that two spellings are never one here and two in the database`()
    async throws
  {
    try await withAdministrator { _, admin in
      try await admin.create(#"{"localId":"u1"}"#)
      for name in ["oidc.\u{e9}", "oidc.e\u{301}", "a\nb", "", " ", String(repeating: "a", count: 129)] {
        let body = #"{"localId":"u1","linkProviderUserInfo":{"providerId":\#(quoted(name)),"rawId":"X"}}"#
        let answer = try await admin.post("accounts:update", body)
        #expect(answer.status == 400, "\(answer)")
        #expect(["field_invalid", "field_missing"].contains(answer.reason ?? ""))
      }
      let odd = try await admin.post("accounts:update", #"{"localId":"u1","deleteProvider":["oidc.é"]}"#)
      try expect(odd, is: .argument("field_invalid"), field: "deleteProvider")
    }
  }

  @Test func `an identity is put in another's place in one change`() async throws {
    try await withAdministrator { _, admin in
      try await admin.create(
        #"{"localId":"u1","providerUserInfo":[{"providerId":"google.com","rawId":"1"}]}"#)
      let answer = try await admin.post(
        "accounts:update",
        #"{"localId":"u1","deleteProvider":["google.com"],"#
          + #""linkProviderUserInfo":{"providerId":"google.com","rawId":"2","photoUrl":"javascript:alert(1)"}}"#
      )
      #expect(answer.status == 200, "\(answer)")
      let identity = try #require(try answer.json.objects("providerUserInfo").first)
      #expect(identity.text("rawId") == "2")
      #expect(identity["photoUrl"] == nil)
    }
  }

  @Test func `an administrator's addresses are kept in lower case, and found in any`() async throws {
    try await withAdministrator { _, admin in
      try await admin.create(#"{"localId":"u1","email":"Ada@Example.com"}"#)
      try expect(
        await admin.post("accounts", #"{"localId":"u2","email":"ada@example.com"}"#),
        is: Refusal(400, "EMAIL_EXISTS"))
      let found = try await admin.post("accounts:lookup", #"{"email":["ADA@example.com"]}"#)
      #expect(try found.json.objects("users").map { $0.text("localId") } == ["u1"])
    }
  }

  @Test func `of many who hold an address the oldest verified is found`() async throws {
    try await withAdministrator { _, admin in
      let users =
        (0..<101).map { #"{"localId":"z\#($0)","email":"many@example.com"}"# }
        + [#"{"localId":"verified","email":"many@example.com","emailVerified":true}"#]
      let made = try await admin.post("accounts:batchCreate", "{\"users\":[\(users.joined(separator: ","))]}")
      #expect(made.status == 200, "\(made)")
      let found = try await admin.post("accounts:lookup", #"{"email":["many@example.com"]}"#)
      #expect(try found.json.objects("users").map { $0.text("localId") } == ["verified"])
    }
  }

  @Test func `an import's verified address joins nobody until an administrator says it again`() async throws {
    try await withAdministrator(["BRAMLEY_ACCOUNT_LINKING": "verified-email"]) { service, admin in
      let made = try await admin.post(
        "accounts:batchCreate",
        #"{"users":[{"localId":"i1","email":"ada@example.com","emailVerified":true}]}"#)
      #expect(made.status == 200)
      func signIn() async throws -> HTTPAnswer {
        try await service.firebaseSignIn(
          FirebaseClient.ios.postBody(
            Mint.credential {
              $0.email = "ada@example.com"
            }), as: .ios)
      }
      #expect(try await signIn().json.flag("needConfirmation") == true)
      let said = try await admin.post(
        "accounts:update", #"{"localId":"i1","email":"ada@example.com","emailVerified":true}"#)
      #expect(said.status == 200)
      #expect(try SignedIn(await signIn()).localID == "i1")
    }
  }

  @Test(arguments: ["r@PrivateRelay.AppleID.com", "r@private.icloud.com"])
  func `a relay address joins nobody, in whatever spelling, also without Apple's mark`(_ email: String)
    async throws
  {
    try await withAdministrator(["BRAMLEY_ACCOUNT_LINKING": "verified-email"]) { service, admin in
      try await admin.create(
        #"{"localId":"held","email":\#(quoted(email.lowercased())),"emailVerified":true}"#)
      let answer = try await service.firebaseSignIn(
        FirebaseClient.ios.postBody(
          Mint.credential {
            $0.email = email.lowercased()
            $0.claims = [member("is_private_email", nil)]
          }), as: .ios)
      #expect(try answer.json.flag("needConfirmation") == true)
    }
  }

  @Test func `a time of nothing is no time`() async throws {
    try await withAdministrator { _, admin in
      let made = try await admin.post(
        "accounts:batchCreate", #"{"users":[{"localId":"old","createdAt":"0","lastLoginAt":"0"}]}"#)
      #expect(made.status == 200)
      let found = try await admin.post("accounts:lookup", #"{"localId":["old"]}"#)
      let user = try #require(try found.json.objects("users").first)
      #expect(user.text("createdAt").flatMap { Int64($0) } ?? 0 > 1_700_000_000_000)
      #expect(user["lastLoginAt"] == nil)
    }
  }

  @Test func `people who come back use nothing up of the rate of new accounts`() async throws {
    try await withService(["BRAMLEY_RATE_SIGNUP": "1/h"]) { service in
      let subject = Mint.subject()
      _ = try await service.signIn(Mint.credential { $0.subject = subject })
      let requests = try (0..<20).map { _ in
        HTTPRequest.signIn(try Mint.credential { $0.subject = subject }.body())
      }
      let answers = try await inParallel(20, port: service.port) { requests[$0] }
      #expect(answers.allSatisfy { $0.status == 200 })
      try expect(
        await service.trySignIn(Mint.credential()), is: Refusal(429, "TOO_MANY_ATTEMPTS_TRY_LATER"))
    }
  }

  @Test func `an upgrade is seen by who asks for the time since which tokens are good`() async throws {
    try await withService(["BRAMLEY_ANONYMOUS": "true"]) { service in
      let guest = try await service.post(FirebasePath.account("signUp"), []).json
      let linked = try await service.signIn(
        Mint.credential(), bearer: try #require(guest.text("idToken")))
      let shown = try await service.lookup(linked.idToken)
      let claims = try await service.read(linked.idToken).claims
      #expect(shown.text("validSince").flatMap { Int64($0) } == claims.integer("auth_time"))
    }
  }
}
