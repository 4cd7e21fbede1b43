import MockApple
import Testing
import Wire

/// What an e-mail address decides with `BRAMLEY_ACCOUNT_LINKING=verified-email`, and that it decides nothing without.
@Suite(.timeLimit(.minutes(10)))
struct AddressTests {
  private static let admin = "an-administrators-token"
  private static let settings = ["BRAMLEY_ADMIN_TOKEN": admin, "BRAMLEY_ACCOUNT_LINKING": "verified-email"]

  /// An account that an administrator made.
  private func account(
    _ service: Service, _ id: String, _ email: String, verified: Bool = true
  ) async throws {
    let answer = try await service.post(
      FirebasePath.toolkit + "/v1/projects/bramley/accounts",
      [("localId", quoted(id)), ("email", quoted(email)), ("emailVerified", verified ? "true" : "false")],
      bearer: Self.admin)
    try #require(answer.status == 200, "\(answer)")
  }

  private func signIn(_ service: Service, _ change: (inout TokenOrder) -> Void) async throws -> HTTPAnswer {
    try await service.firebaseSignIn(FirebaseClient.ios.postBody(Mint.credential(change)), as: .ios)
  }

  @Test func `two verified addresses make one account`() async throws {
    try await withService(Self.settings) { service in
      try await account(service, "held", "ada@example.com")
      let answer = try await signIn(service) { $0.email = "ada@example.com" }
      let joined = try SignedIn(answer)
      #expect(joined.localID == "held")
      #expect(!joined.isNewUser)
      #expect(try await service.lookup(joined.idToken).objects("providerUserInfo").count == 1)
    }
  }

  @Test func `L04 L05 L07 an address that may not join is said to need confirmation, and nobody is let in`()
    async throws
  {
    try await withService(Self.settings) { service in
      try await account(service, "unverified", "early@example.com", verified: false)
      try await account(service, "held", "ada@example.com")
      let rows: [(String, (inout TokenOrder) -> Void)] = [
        ("unverified", { $0.email = "early@example.com" }),
        (
          "held",
          {
            $0.email = "ada@example.com"
            $0.claims = [member("email_verified", "false")]
          }
        ),
        (
          "held",
          {
            $0.email = "ada@example.com"
            $0.claims = [member("email_verified", nil)]
          }
        ),
        (
          "held",
          {
            $0.email = "ada@example.com"
            $0.claims = [member("is_private_email", "true")]
          }
        ),
      ]
      for (holder, change) in rows {
        let answer = try await signIn(service, change)
        #expect(answer.status == 200, "\(answer)")
        let body = try answer.json
        #expect(body.flag("needConfirmation") == true)
        #expect(body.text("localId") == holder)
        #expect(body["verifiedProvider"] != nil)
        #expect(body.text("pendingToken") != nil)
        for name in ["idToken", "refreshToken", "errorMessage"] { #expect(body[name] == nil) }
        // In our own form there is no 200 without a session.
        let own = try Mint.credential(change)
        try expect(await service.trySignIn(own), is: Refusal(400, "EMAIL_EXISTS"))
      }
    }
  }

  @Test func `L07 a link whose address somebody else holds is refused in the form that was asked for`()
    async throws
  {
    try await withService(Self.settings.merging(["BRAMLEY_ANONYMOUS": "true"]) { $1 }) { service in
      try await account(service, "held", "ada@example.com")
      let guest = try #require(
        try await service.post(FirebasePath.account("signUp"), []).json.text("idToken"))
      let postBody = FirebaseClient.ios.postBody(try Mint.credential { $0.email = "ada@example.com" })
      let link = ("idToken", quoted(guest))
      try expect(
        await service.firebaseSignIn(postBody, as: .ios, [link]), is: Refusal(400, "EMAIL_EXISTS"))
      let asked = try await service.firebaseSignIn(
        postBody, as: .ios, [link, ("returnIdpCredential", "true")])
      #expect(asked.status == 200)
      #expect(try asked.json.text("errorMessage") == "EMAIL_EXISTS")
    }
  }

  @Test func `L01 L02 an address that a request brings beside the token is not read`() async throws {
    try await withService(Self.settings) { service in
      try await account(service, "victim", "victim@example.com")
      let credential = try Mint.credential()
      let user = #"{"name":{"firstName":"A"},"email":"victim@example.com"}"#
      let answer = try await service.firebaseSignIn(
        FirebaseClient.ios.postBody(credential, user: user), as: .ios,
        [("email", "\"victim@example.com\""), ("identifier", "\"victim@example.com\"")])
      #expect(try SignedIn(answer).isNewUser)
      #expect(try answer.json["email"] == nil)
    }
  }

  @Test func `L07 with linking off several accounts hold one address, and it finds the oldest verified`()
    async throws
  {
    try await withService(["BRAMLEY_ADMIN_TOKEN": Self.admin]) { service in
      let unverified = try SignedIn(
        await signIn(service) {
          $0.email = "ada@example.com"
          $0.claims = [member("email_verified", "false")]
        })
      let first = try SignedIn(await signIn(service) { $0.email = "ada@example.com" })
      let second = try SignedIn(await signIn(service) { $0.email = "ada@example.com" })
      #expect(Set([unverified.localID, first.localID, second.localID]).count == 3)
      let found = try await service.post(
        FirebasePath.toolkit + "/v1/projects/bramley/accounts:lookup", [("email", #"["ada@example.com"]"#)],
        bearer: Self.admin)
      #expect(try found.json.objects("users").map { $0.text("localId") } == [first.localID])
    }
  }
}
