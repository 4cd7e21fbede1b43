import Foundation
import MockApple
import Testing
import Wire

/// Session tokens as Firebase's SDKs and Admin SDKs read them.
@Suite(.timeLimit(.minutes(10)))
struct TokenClaimTests {
  @Test func `trap 2 trap 14 trap 15 times are whole numbers and the audience is one text`() async throws {
    try await withService(["BRAMLEY_SESSION_ALG": "RS256", "BRAMLEY_ISSUER": "firebase"]) { service in
      let person = try await service.signIn(Mint.credential())
      let (header, claims) = try await service.read(person.idToken)
      #expect(header.text("alg") == "RS256")
      #expect(header.text("typ") == "JWT")
      #expect(header.text("kid") != nil)
      #expect(claims.text("iss") == "https://securetoken.google.com/bramley")
      #expect(claims.text("aud") == "bramley")
      #expect(claims.text("sub") == person.localID)
      #expect(claims.text("user_id") == person.localID)
      for name in ["iat", "exp", "auth_time"] { #expect(claims.integer(name) != nil, "\(name)") }
      #expect(claims.integer("exp") == (claims.integer("iat") ?? 0) + 3600)
      let firebase = try #require(claims.object("firebase"))
      #expect(firebase.text("sign_in_provider") == "apple.com")
      #expect(firebase.object("identities")?.texts("apple.com").count == 1)
    }
  }

  @Test func `trap 18 the text false is not true`() async throws {
    try await withService { service in
      let credential = try Mint.credential {
        $0.email = "ada@example.com"
        $0.claims = [member("email_verified", "false"), member("is_private_email", "false")]
      }
      let answer = try await service.firebaseSignIn(FirebaseClient.ios.postBody(credential), as: .ios)
      #expect(try answer.json.flag("emailVerified") == false)
      let claims = try await service.read(try SignedIn(answer).idToken).claims
      #expect(claims.flag("email_verified") == false)
    }
  }

  @Test func `trap 21 a token names all identities, and the one that signed in`() async throws {
    let admin = "an-administrators-token"
    try await withService(["BRAMLEY_ADMIN_TOKEN": admin]) { service in
      let subject = Mint.subject()
      let made = try await service.post(
        FirebasePath.toolkit + "/v1/projects/bramley/accounts:batchCreate",
        [
          (
            "users",
            #"[{"localId":"two","providerUserInfo":[{"providerId":"google.com","rawId":"g-1"},"#
              + #"{"providerId":"apple.com","rawId":"\#(subject)"}]}]"#
          )
        ], bearer: admin)
      #expect(made.status == 200, "\(made)")
      let person = try await service.signIn(Mint.credential { $0.subject = subject })
      #expect(person.localID == "two")
      let firebase = try #require(try await service.read(person.idToken).claims.object("firebase"))
      #expect(firebase.object("identities")?.texts("apple.com") == [subject])
      #expect(firebase.object("identities")?.texts("google.com") == ["g-1"])
      #expect(firebase.text("sign_in_provider") == "apple.com")
    }
  }

  @Test func `trap 16 an administrator sees when an account was last refreshed, as RFC 3339 writes it`()
    async throws
  {
    let admin = "an-administrators-token"
    try await withService(["BRAMLEY_ADMIN_TOKEN": admin]) { service in
      let person = try await service.signIn(Mint.credential())
      func look() async throws -> String? {
        let answer = try await service.post(
          FirebasePath.toolkit + "/v1/projects/bramley/accounts:lookup",
          [("localId", "[\(quoted(person.localID))]")], bearer: admin)
        return try answer.json.objects("users").first?.text("lastRefreshAt")
      }
      let time = try #require(try await look())
      #expect(
        time.range(
          of: #"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z$"#,
          options: .regularExpression) != nil)
      #expect(try await service.lookup(person.idToken)["lastRefreshAt"] == nil)
    }
  }

  @Test func `auth_time stays over a refresh and over a changed name`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let person = try await service.signIn(Mint.credential())
      try await stage.sql("UPDATE sessions SET created_at = created_at - 100")
      let before = try await service.read(person.idToken).claims.integer("auth_time") ?? 0
      let after = try #require(try await service.tryRefresh(person.refreshToken).json.text("id_token"))
      #expect(try await service.read(after).claims.integer("auth_time") == before - 100)
    }
  }
}
