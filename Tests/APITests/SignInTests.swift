import API
import Domain
import HTTPServer
import JOSE
import TestSupport
import Testing
import Wire

private let signIn = "/v1/signInWithIdp"

@Suite struct SignInTests {
  @Test func `a person signs in, with Firebase's names and ours`() async throws {
    let bench = try await Bench()
    let response = try await bench.signIn([
      "fullName": #"{"givenName":"Ada","familyName":"Lovelace","middleName":null,"nickname":""}"#,
      "providerId": "\"apple.com\"", "device": #"{"name":"phone","os":null}"#, "authorizationCode": "\"c\"",
      "email": "\"eve@example.com\"", "user": "\"someone.else\"", "unknown": "[1]",
    ])
    #expect(response.status == 200)
    #expect(response.headers.all("Cache-Control") == ["no-store"])
    let answer = try response.object()
    #expect(
      answer.names == [
        "idToken", "refreshToken", "expiresIn", "localId", "providerId", "federatedId", "email",
        "emailVerified",
        "isPrivateEmail", "isNewUser", "displayName", "firstName", "lastName", "fullName", "rawUserInfo",
        "oauthIdToken",
        "sessionId", "realUserStatus",
      ])
    #expect(answer.text("email") == "abc123xyz@privaterelay.appleid.com")
    #expect(answer.text("federatedId") == AppleClaims.subject)
    #expect(answer.text("displayName") == "Ada Lovelace")
    #expect(answer.text("expiresIn") == "3600")
    #expect(answer.text("rawUserInfo") == AppleClaims(issuedAt: bench.clock.now).json)
    let claims = try bench.issuer.verify(try #require(answer.text("idToken")))
    #expect(claims.account.text == answer.text("localId"))
    #expect(claims.session.description == answer.text("sessionId"))
  }

  @Test func `L01 E10 nothing stands in for what is not known`() async throws {
    let bench = try await Bench()
    let claims = AppleClaims(issuedAt: bench.clock.now).setting("email", nil).setting("real_user_status", nil)
    let body = bench.signInBody(["email": "\"victim@example.com\""], claims: claims)
    let answer = try await bench.post(signIn, body).object()
    for name in [
      "email", "emailVerified", "isPrivateEmail", "displayName", "firstName", "fullName", "realUserStatus",
    ] {
      #expect(answer[name] == nil)
    }
  }

  @Test func `N13 the same request again is the same answer`() async throws {
    let bench = try await Bench()
    let body = bench.signInBody()
    let first = try await bench.post(signIn, body).object()
    let second = try await bench.post(signIn, body).object()
    for name in ["sessionId", "refreshToken", "localId"] { #expect(first.text(name) == second.text(name)) }
    #expect(try second.optionalFlag("isNewUser") == true)
    let refresh = try #require(first.text("refreshToken"))
    let token = #"{"grant_type":"refresh_token","refresh_token":"\#(refresh)"}"#
    #expect(try await bench.post("/v1/token", token).status == 200)
    #expect(try await bench.post(signIn, body).reason == "credential_already_used")
  }

  @Test(arguments: [
    "providerId", "idToken", "rawNonce", "authorizationCode", "redirectUri", "fullName", "device",
    "autoCreate",
  ])
  func `N17 a field of another type is never coerced`(_ name: String) async throws {
    let bench = try await Bench()
    let own = ["fullName": "{}", "device": "{}", "autoCreate": "true"][name] ?? "\"x\""
    for value in ["123", "1.5", "true", "[]", "[\"x\"]", "{}", "\"x\""] where value.first != own.first {
      let response = try await bench.signIn([name: value])
      #expect(response.reason == "field_type")
      #expect(response.field == name)
      #expect(response.status == 400)
    }
  }

  @Test(arguments: ["idToken", "rawNonce"], [nil, "null", "\"\""])
  func `N10 N16 a needed field that is absent, null or empty is missing`(_ name: String, _ value: String?)
    async throws
  {
    let bench = try await Bench()
    let response = try await bench.signIn([name: value])
    #expect(response.reason == (name == "rawNonce" ? "nonce_missing" : "field_missing"))
    #expect(response.field == name)
  }

  @Test(arguments: ["providerId", "authorizationCode", "redirectUri", "fullName", "device", "autoCreate"])
  func `an optional field may be null`(_ name: String) async throws {
    let bench = try await Bench()
    #expect(try await bench.signIn([name: "null"]).status == 200)
  }

  @Test(
    arguments: [
      "fullName", "device",
    ], ["123", "true", "[]", "{}"])
  func `N17 so it is inside objects`(_ name: String, _ value: String) async throws {
    let bench = try await Bench()
    let members =
      name == "fullName"
      ? ["givenName", "familyName", "middleName", "namePrefix", "nameSuffix", "nickname"]
      : ["name", "model", "os", "appVersion"]
    for member in members {
      let response = try await bench.signIn([name: "{\"\(member)\":\(value)}"])
      #expect(response.reason == "field_type")
      #expect(response.field == "\(name).\(member)")
    }
  }

  @Test func `a field that is too long is said to be so`() async throws {
    let bench = try await Bench()
    for (name, limit) in [("rawNonce", 512), ("authorizationCode", 2048), ("redirectUri", 2048)] {
      let long = try await bench.signIn([name: jsonText(String(repeating: "x", count: limit + 1))])
      #expect(long.reason == "field_too_long")
      #expect(long.field == name)
      let fits = try await bench.signIn([name: jsonText(String(repeating: "x", count: limit))])
      #expect(fits.reason != "field_too_long")
    }
    #expect(
      try await bench.signIn(["idToken": jsonText(String(repeating: "x", count: 9000))]).reason
        == "token_too_large")
  }

  @Test func `U01 U04 a name is cleaned and its emptiness is no fault`() async throws {
    let bench = try await Bench()
    let answer = try await bench.signIn([
      "fullName": #"{"givenName":"\u200b\u200b","familyName":" Ada\u0001 "}"#
    ]).object()
    #expect(answer["firstName"] == nil)
    #expect(answer.text("lastName") == "Ada")
    let nul = try await bench.signIn(["fullName": #"{"givenName":"A\u0000B"}"#])
    #expect(nul.reason == "body_malformed")
  }

  @Test func `another provider is refused`() async throws {
    let bench = try await Bench()
    for provider in ["google.com", "Apple.com", "apple", "apple.com "] {
      #expect(try await bench.signIn(["providerId": jsonText(provider)]).reason == "invalid_provider_id")
    }
  }

  @Test func `refusals of the token and the nonce come out by their names`() async throws {
    let bench = try await Bench()
    let now = bench.clock.now
    let claims = AppleClaims(issuedAt: now)
    let cases = [
      ("a.b", "token_malformed"), (TokenForge.stranger.token(claims), "signature_invalid"),
      (TokenForge.apple.token(claims.setting("aud", text: "com.other")), "audience_not_allowed"),
      (TokenForge.apple.token(claims.setting("nonce", nil)), "nonce_claim_missing"),
      (TokenForge.apple.token(claims.setting("nonce", text: AppleClaims.rawNonce)), "nonce_claim_not_hashed"),
      (TokenForge.apple.token(AppleClaims(issuedAt: now - 3601)), "token_too_old"),
      (TokenForge.apple.token(AppleClaims(issuedAt: now + 61)), "token_from_the_future"),
      (TokenForge.apple.token(claims.setting("exp", "\"x\"")), "claim_invalid"),
      (
        TokenForge.apple.token(header: #"{"alg":"RS256","kid":"UNKNOWN"}"#, claims: claims.json),
        "key_unknown"
      ),
    ]
    for (token, reason) in cases {
      let response = try await bench.signIn(["idToken": jsonText(token)])
      #expect(response.reason == reason)
      #expect(response.status == 400)
    }
    #expect(
      try await bench.signIn(["rawNonce": jsonText(AppleClaims.hashedNonce)]).reason
        == "nonce_is_already_hashed")
  }

  @Test func `a failed attempt burns nothing`() async throws {
    let bench = try await Bench()
    _ = try await bench.signIn(["rawNonce": "\"other\""])
    #expect(try await bench.signIn().status == 200)
  }

  @Test func `G08 a bad bearer is refused with a challenge, never taken for a plain sign-in`() async throws {
    let bench = try await Bench()
    let apple = TokenForge.apple.token(AppleClaims(issuedAt: bench.clock.now))
    for value in ["Bearer x", "Bearer ", "Bearer", "Basic YTpi", "", "Bearer \(apple)", "token x"] {
      let response = try await bench.signIn(headers: ["Authorization": value])
      #expect(response.status == 401)
      #expect(response.reason == "session_token_invalid")
      #expect(response.headers.first("WWW-Authenticate")?.hasPrefix("Bearer") == true)
    }
    let session = try #require(try await bench.signIn().object().text("idToken"))
    let twice = try await bench.signIn(headers: [
      "Authorization": "Bearer \(session)", "authorization": "Bearer \(session)",
    ])
    #expect(twice.status == 401)
    bench.clock.advance(3660)
    let late = try await bench.signIn(headers: ["Authorization": "bearer \(session)"])
    #expect(late.status == 401)
    #expect(late.reason == "session_token_expired")
  }

  @Test func `an unknown person is not made an account when that is not wanted`() async throws {
    let bench = try await Bench()
    let response = try await bench.signIn(["autoCreate": "false"])
    #expect(response.reason == "email_not_found")
    #expect(response.status == 400)
  }
}
