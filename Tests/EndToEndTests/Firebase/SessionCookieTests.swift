import Foundation
import Testing
import Wire

/// `:createSessionCookie`: a token that lives longer, for back ends that keep their sessions in cookies.
@Suite(.timeLimit(.minutes(10)))
struct SessionCookieTests {
  private static let issuer = "https://session.firebase.google.com/bramley"

  private func make(_ admin: Administrator, _ token: String, _ duration: String? = nil) async throws
    -> HTTPAnswer
  {
    let life = duration.map { #","validDuration":\#($0)"# } ?? ""
    return try await admin.post(":createSessionCookie", #"{"idToken":"\#(token)"\#(life)}"#)
  }

  private func cookie(_ answer: HTTPAnswer, at location: SourceLocation = #_sourceLocation) throws -> String {
    try #require(try answer.json.text("sessionCookie"), "\(answer)", sourceLocation: location)
  }

  @Test func `row 17 a cookie lives from five minutes to two weeks`() async throws {
    try await withAdministrator { service, admin in
      let token = try await service.signIn(Mint.credential()).idToken
      let keys = try SessionTokenReader(keySet: await service.get("/v1/sessionCookiePublicKeys"))
      let session = try await service.read(token).claims
      for (duration, seconds) in [
        ("300", 300), ("1209600", 1_209_600), (#""3600""#, 3600), (nil, 1_209_600),
      ] as [(String?, Int64)] {
        let claims = try keys.read(cookie(await make(admin, token, duration))).claims
        let (issued, expires) = (claims.integer("iat") ?? 0, claims.integer("exp") ?? 0)
        #expect(expires - issued == seconds)
        #expect(claims.text("iss") == Self.issuer)
        #expect(claims.text("aud") == "bramley")
        for name in ["sub", "user_id", "sid"] { #expect(claims.text(name) == session.text(name)) }
        #expect(claims.integer("auth_time") == session.integer("auth_time"))
        #expect(claims.object("firebase")?.bytes == session.object("firebase")?.bytes)
      }
      for duration in ["299", "1209601", "0", "-300", #""299""#, "9223372036854775807"] {
        try expect(await make(admin, token, duration), is: Refusal(400, "INVALID_DURATION"))
      }
      for duration in [#""a week""#, "true", "300.5"] {
        #expect(try await make(admin, token, duration).status == 400, "\(duration)")
      }
      // Null is absent.
      #expect(try await make(admin, token, "null").status == 200)
    }
  }

  @Test func `the certificates and the older path of the keys are those of cookies as well`() async throws {
    try await withAdministrator(["BRAMLEY_SESSION_ALG": "RS256"]) { service, admin in
      let token = try await service.signIn(Mint.credential()).idToken
      let cookie = try cookie(await make(admin, token))
      let kid = try #require(
        try JSONObject(parsing: decodeBase64URL(TokenParts(cookie).header.utf8)).text("kid"))
      for path in [
        "/v1/certs", "/identitytoolkit/v3/relyingparty/publicKeys", "/v1/publicKeys",
        "/www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys",
        "/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com",
      ] {
        let certificate = try await service.get(path).json.text(kid)
        #expect(certificate?.hasPrefix("-----BEGIN CERTIFICATE-----") == true, "\(path)")
      }
    }
  }

  @Test(arguments: ["", "firebase"])
  func `neither is a cookie a session token, nor does it make another cookie`(_ issuer: String) async throws {
    try await withAdministrator(issuer.isEmpty ? [:] : ["BRAMLEY_ISSUER": issuer]) { service, admin in
      let token = try await service.signIn(Mint.credential()).idToken
      let cookie = try cookie(await make(admin, token))
      let invalid = Refusal(400, "INVALID_ID_TOKEN", "session_token_invalid")
      for path in ["/v1/accounts:lookup", "/v1/accounts:delete", "/v1/accounts:update"] {
        try expect(await service.send(.post(path, json: #"{"idToken":"\#(cookie)"}"#)), is: invalid)
      }
      try expect(await make(admin, cookie), is: invalid)
      try expect(
        await service.trySignIn(Mint.credential(), bearer: cookie),
        is: Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid"))
      #expect(
        try await service.send(.post("/v1/accounts:lookup", json: #"{"idToken":"\#(token)"}"#)).status == 200)
    }
  }

  @Test func `custom claims are in the cookie, as they are now`() async throws {
    try await withAdministrator { service, admin in
      let person = try await service.signIn(Mint.credential())
      try await admin.update(person.localID, #""customAttributes":"{\"role\":\"admin\"}""#)
      let claims = try await service.read(cookie(await make(admin, person.idToken))).claims
      #expect(claims.text("role") == "admin")
    }
  }

  @Test func `who is not in is not given a cookie`() async throws {
    try await withAdministrator { service, admin in
      let subject = Mint.subject()
      let person = try await service.signIn(Mint.credential { $0.subject = subject })
      try expect(await admin.post(":createSessionCookie", "{}"), is: Refusal(400, "MISSING_ID_TOKEN"))
      for token in ["x", person.idToken + "x", try Mint.token { $0.rawNonce = "n" }] {
        try expect(
          await make(admin, token), is: Refusal(400, "INVALID_ID_TOKEN", "session_token_invalid"))
      }
      try expect(
        await admin.post(":createSessionCookie", #"{"idToken":"\#(person.idToken)","tenantId":"t"}"#),
        is: Refusal(400, "UNSUPPORTED_TENANT_OPERATION"))
      try await admin.update(person.localID, #""disableUser":true"#)
      try expect(await make(admin, person.idToken), is: Refusal(400, "USER_DISABLED"))
      try await admin.update(person.localID, #""disableUser":false"#)
      #expect(try await make(admin, person.idToken).status == 200)
      let now = Int64(Date().timeIntervalSince1970)
      try await admin.update(person.localID, #""validSince":\#(now)"#)
      try expect(await make(admin, person.idToken), is: .session("session_revoked"))
      let later = try await service.signIn(Mint.credential { $0.subject = subject })
      #expect(try await make(admin, later.idToken).status == 200)
      try await admin.delete(person.localID)
      try expect(await make(admin, later.idToken), is: Refusal(400, "USER_NOT_FOUND"))
    }
  }

  @Test
  func `an expired session token makes no cookie, and a cookie ends with its session`() async throws {
    try await withStage { stage in
      let settings = Administrator.settings.merging([
        "BRAMLEY_ISSUER": "firebase", "BRAMLEY_SESSION_MAX_TTL": "86400",
      ]) { $1 }
      let service = try await stage.start(settings)
      let person = try await service.signIn(Mint.credential())
      let claims = try await service.read(person.idToken).claims
      let cookie = try await service.read(cookie(await make(Administrator(service: service), person.idToken)))
      #expect(cookie.claims.integer("exp") == (claims.integer("auth_time") ?? 0) + 86_400)
      try await service.stop()
      let later = try await stage.start(settings, secondsAhead: 7200)
      let admin = Administrator(service: later)
      try expect(await make(admin, person.idToken), is: .session("session_token_expired"))
      let fresh = try await later.tryRefresh(person.refreshToken).json.text("id_token")
      #expect(try await make(admin, #require(fresh)).status == 200)
    }
  }
}
