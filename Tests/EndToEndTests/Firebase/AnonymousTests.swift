import Testing
import Wire

/// Accounts that nobody's identity made, and what becomes of them.
@Suite(.timeLimit(.minutes(10)))
struct AnonymousTests {
  private static let anonymous = ["BRAMLEY_ANONYMOUS": "true"]

  @Test func `a link in Firebase's form upgrades an anonymous account and ends its sessions`() async throws {
    try await withService(Self.anonymous) { service in
      func signUp() async throws -> JSONObject {
        let answer = try await service.post(FirebasePath.account("signUp"), [("returnSecureToken", "true")])
        try #require(answer.status == 200, "\(answer)")
        return try answer.json
      }
      let guest = try await signUp()
      #expect(guest.text("kind") == "identitytoolkit#SignupNewUserResponse")
      let guestToken = try #require(guest.text("idToken"))
      let claims = try await service.read(guestToken).claims
      #expect(claims.text("provider_id") == "anonymous")
      #expect(claims.object("firebase")?.text("sign_in_provider") == "anonymous")
      #expect(claims.object("firebase")?.object("identities")?.names.isEmpty == true)
      let shown = try await service.lookup(guestToken)
      #expect(shown["providerUserInfo"] == nil)

      let credential = try Mint.credential()
      let answer = try await service.firebaseSignIn(
        FirebaseClient.ios.postBody(credential), as: .ios,
        [("idToken", quoted(guestToken)), ("returnIdpCredential", "true")])
      let linked = try SignedIn(answer)
      #expect(linked.localID == guest.text("localId"))
      #expect(!linked.isNewUser)
      // Session fixation: whoever made the anonymous account does not share it with the person who owns it now.
      try expect(
        await service.tryRefresh(try #require(guest.text("refreshToken"))), is: .session("session_ended"))
      try expect(
        await service.post(FirebasePath.account("lookup"), [("idToken", quoted(guestToken))]),
        is: .session("session_ended"))
      #expect(try await service.lookup(linked.idToken).objects("providerUserInfo").count == 1)
      _ = try await service.refresh(linked.refreshToken)
    }
  }

  @Test func `anonymous accounts are off until they are switched on`() async throws {
    try await withService { service in
      for path in [FirebasePath.account("signUp"), FirebasePath.old + "/signupNewUser"] {
        try expect(
          await service.post(path, [("returnSecureToken", "true")]),
          is: Refusal(400, "ADMIN_ONLY_OPERATION"))
      }
    }
    try await withService(Self.anonymous) { service in
      try expect(
        await service.post(
          FirebasePath.account("signUp"), [("email", "\"a@example.com\""), ("password", "\"secret\"")]),
        is: Refusal(400, "OPERATION_NOT_ALLOWED", "provider_not_enabled"), field: "email")
    }
  }

  @Test func `new anonymous accounts of one address have a rate`() async throws {
    try await withService(Self.anonymous.merging(["BRAMLEY_RATE_SIGNUP": "2/h"]) { $1 }) { service in
      for _ in 0..<2 {
        #expect(try await service.post(FirebasePath.account("signUp"), []).status == 200)
      }
      try expect(
        await service.post(FirebasePath.account("signUp"), []),
        is: Refusal(429, "TOO_MANY_ATTEMPTS_TRY_LATER"))
    }
  }

  @Test func `an anonymous account takes an identity by our own form as well, however old its session is`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start(Self.anonymous)
      let guest = try await service.post(FirebasePath.account("signUp"), []).json
      try await stage.sql("UPDATE sessions SET created_at = created_at - 4000")
      let refreshed = try await service.tryRefresh(try #require(guest.text("refreshToken"))).json
      let linked = try await service.signIn(
        Mint.credential(), bearer: try #require(refreshed.text("id_token")))
      #expect(linked.localID == guest.text("localId"))
      // From now on it is an account like others: what is grave wants a recent sign-in.
      try await stage.sql("UPDATE sessions SET created_at = created_at - 4000")
      let later = try await service.tryRefresh(linked.refreshToken).json
      try expect(
        await service.trySignIn(Mint.credential(), bearer: try #require(later.text("id_token"))),
        is: Refusal(400, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"))
    }
  }
}
