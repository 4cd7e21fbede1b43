import Domain
import Foundation
import Testing
import Wire

/// A person signs in, the app refreshes: the way that everything else departs from.
@Suite(.timeLimit(.minutes(10)))
struct WalkTests {
  @Test func `a first sign-in answers every field with its type`() async throws {
    try await withService { service in
      let credential = try Mint.credential { $0.email = "ada@example.com" }
      let answer = try await service.trySignIn(
        credential,
        [
          "fullName":
            #"{"givenName":"Ada","familyName":"Lovelace","namePrefix":"Countess","nameSuffix":null}"#,
          "device": #"{"name":"Ada's phone","model":"iPhone17,1","os":"iOS 26.1","appVersion":"3.2"}"#,
          "providerId": #""apple.com""#, "autoCreate": "true", "authorizationCode": #""c0de""#,
        ])
      #expect(answer.status == 200, "\(answer)")
      #expect(answer["Cache-Control"] == "no-store")
      #expect(answer["Content-Type"] == "application/json; charset=utf-8")
      let json = try answer.json
      #expect(json.text("expiresIn") == "3600")
      #expect(json.text("providerId") == "apple.com")
      #expect(json.text("federatedId") != nil)
      #expect(json.text("email") == "ada@example.com")
      #expect(json.flag("emailVerified") == true)
      #expect(json.flag("isPrivateEmail") == false)
      #expect(json.flag("isNewUser") == true)
      #expect(json.text("displayName") == "Ada Lovelace")
      #expect(json.text("firstName") == "Ada")
      #expect(json.text("lastName") == "Lovelace")
      #expect(json.text("fullName") == "Countess Ada Lovelace")
      #expect(json.text("oauthIdToken") == credential.idToken)
      #expect(json.integer("realUserStatus") == 2)
      #expect(json.text("sessionId")?.count == 32)
      let localID = json.text("localId") ?? ""
      #expect(localID.count == 28 && localID.utf8.allSatisfy { isalnum(Int32($0)) != 0 })
      let claims = try JSONObject(parsing: Array((json.text("rawUserInfo") ?? "").utf8))
      #expect(claims.text("sub") == json.text("federatedId"))
    }
  }

  @Test func `what is not known is left out, never null`() async throws {
    try await withService { service in
      let credential = try Mint.credential { $0.claims = [member("real_user_status", nil)] }
      let json = try await service.trySignIn(credential).json
      let absent = [
        "email", "emailVerified", "isPrivateEmail", "displayName", "firstName", "lastName", "fullName",
      ]
      for name in absent + ["realUserStatus"] { #expect(json[name] == nil, "\(name)") }
      for name in json.names { if case .null = json[name] { Issue.record("\(name) is null") } }
    }
  }

  @Test func `the session token verifies with the published key and says who it is for`() async throws {
    try await withService(["BRAMLEY_PROJECT_ID": "orchard"]) { service in
      let credential = try Mint.credential { $0.email = "ada@example.com" }
      let before = Int64(time(nil))
      let answer = try await service.trySignIn(credential, ["fullName": #"{"givenName":"Ada"}"#])
      let (signedIn, federated) = (try SignedIn(answer), try answer.json.text("federatedId"))
      let (header, claims) = try await service.read(signedIn.idToken)
      #expect(Set(header.names) == ["alg", "kid", "typ"])
      #expect(header.text("typ") == "JWT")
      #expect(header.text("alg") == "ES256")
      #expect(claims.text("iss") == service.baseURL)
      #expect(claims.text("aud") == "orchard")
      #expect(claims.text("sub") == signedIn.localID)
      #expect(claims.text("user_id") == signedIn.localID)
      #expect(claims.text("sid") == signedIn.sessionID)
      #expect(claims.text("email") == "ada@example.com")
      #expect(claims.flag("email_verified") == true)
      #expect(claims.text("name") == "Ada")
      let issuedAt = try #require(claims.integer("iat"))
      #expect((before...Int64(time(nil))).contains(issuedAt))
      #expect(claims.integer("exp") == issuedAt + 3600)
      #expect(claims.integer("auth_time") == issuedAt)
      let firebase = try #require(claims.object("firebase"))
      #expect(firebase.text("sign_in_provider") == "apple.com")
      #expect(firebase.object("identities")?.texts("apple.com") == [try #require(federated)])
      #expect(firebase.object("identities")?.texts("email") == ["ada@example.com"])
      #expect(signedIn.idToken.utf8.count < 2048)
    }
  }

  @Test(arguments: ["ES256", "RS256"])
  func `the algorithm of session tokens is the one that is set`(_ algorithm: String) async throws {
    try await withService(["BRAMLEY_SESSION_ALG": algorithm, "BRAMLEY_ISSUER": "firebase"]) { service in
      let signedIn = try await service.signIn(Mint.credential())
      let (header, claims) = try await service.read(signedIn.idToken)
      #expect(header.text("alg") == algorithm)
      #expect(claims.text("iss") == "https://securetoken.google.com/bramley")
    }
  }

  @Test(arguments: [
    ("application/x-www-form-urlencoded", "grant_type=refresh_token&refresh_token=TOKEN"),
    ("application/json", #"{"grant_type":"refresh_token","refresh_token":"TOKEN"}"#),
    ("application/json; charset=UTF-8", #"{"grantType":"refresh_token","refreshToken":"TOKEN"}"#),
  ])
  func `a refresh is taken in each spelling`(_ type: String, _ body: String) async throws {
    try await withService { service in
      let signedIn = try await service.signIn(Mint.credential())
      let answer = try await service.send(
        .post("/v1/token", Array(body.replacing("TOKEN", with: signedIn.refreshToken).utf8), type: type))
      #expect(answer.status == 200, "\(answer)")
      #expect(answer["Cache-Control"] == "no-store")
      let json = try answer.json
      #expect(json.text("access_token") == json.text("id_token"))
      #expect(json.text("expires_in") == "3600")
      #expect(json.text("token_type") == "Bearer")
      #expect(json.text("user_id") == signedIn.localID)
      #expect(json.text("project_id") == "bramley")
      #expect(json.text("refresh_token") != signedIn.refreshToken)
      let (_, claims) = try await service.read(json.text("id_token") ?? "")
      #expect(claims.text("sid") == signedIn.sessionID)
    }
  }

  @Test func `the second sign-in is not new and keeps the name of the first`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let first = try await service.signIn(
        Mint.credential { $0.subject = subject },
        ["fullName": #"{"givenName":"Ada","familyName":"Lovelace"}"#])
      for name in ["null", "{}", #"{"givenName":"","familyName":"  "}"#, #"{"givenName":"Mallory"}"#] {
        let answer = try await service.trySignIn(
          Mint.credential { $0.subject = subject }, ["fullName": name])
        let next = try SignedIn(answer)
        #expect(next.localID == first.localID)
        #expect(next.sessionID != first.sessionID)
        #expect(!next.isNewUser)
        #expect(try answer.json.text("displayName") == "Ada Lovelace")
      }
    }
  }

  @Test func `a name that comes late is kept when there was none`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      _ = try await service.signIn(Mint.credential { $0.subject = subject })
      let answer = try await service.trySignIn(
        Mint.credential { $0.subject = subject }, ["fullName": #"{"familyName":"山田","givenName":"太郎"}"#])
      #expect(try answer.json.text("displayName") == "山田太郎")
    }
  }

  @Test func `a request id is taken, and made where there is none or a bad one`() async throws {
    try await withService { service in
      let given = try await service.get("/livez", headers: [("X-Request-Id", "my id/42")])
      #expect(given["X-Request-Id"] == "my id/42")
      let made = try await service.get("/livez")
      let next = try await service.get("/livez")
      #expect(made["X-Request-Id"]?.count == 32)
      #expect(made["X-Request-Id"] != next["X-Request-Id"])
      let long = String(repeating: "x", count: 129)
      #expect(try await service.get("/livez", headers: [("X-Request-Id", long)])["X-Request-Id"]?.count == 32)
    }
  }
}
