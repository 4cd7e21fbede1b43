import Testing
import Wire

/// Where Firebase's SDKs and Google's libraries look, and what every answer to them has.
@Suite(.timeLimit(.minutes(10)))
struct PathTests {
  private func post(
    _ service: Service, _ path: String, _ body: String, headers: [(name: String, value: String)] = []
  ) async throws -> HTTPAnswer {
    try await service.send(.post(path, json: body, headers: headers))
  }

  @Test func `an operation is found behind Google's host, without it, and by the Host header`() async throws {
    try await withService { service in
      let person = try await service.signIn(Mint.credential())
      let body = json([("idToken", quoted(person.idToken))])
      for path in [
        "/identitytoolkit.googleapis.com/v1/accounts:lookup", "/v1/accounts:lookup",
        "/www.googleapis.com/identitytoolkit/v3/relyingparty/getAccountInfo",
        "/identitytoolkit/v3/relyingparty/getAccountInfo",
      ] {
        #expect(try await post(service, path, body).status == 200, "\(path)")
      }
      func under(_ host: String, _ path: String) async throws -> Int {
        var request = HTTPRequest.post(path, json: body)
        request.host = host
        return try await service.send(request).status
      }
      #expect(try await under("identitytoolkit.googleapis.com", "/v1/accounts:lookup") == 200)
      #expect(try await under("IdentityToolkit.googleapis.com:443", "/v1/accounts:lookup") == 200)
      #expect(
        try await under("www.googleapis.com", "/identitytoolkit/v3/relyingparty/getAccountInfo") == 200)
      for path in [
        "/www.googleapis.com/v1/accounts:lookup", "/securetoken.googleapis.com/v1/accounts:lookup",
        "/identitytoolkit.googleapis.com/identitytoolkit/v3/relyingparty/getAccountInfo",
        "/identitytoolkit.googleapis.com/livez",
        "/identitytoolkit.googleapis.com/identitytoolkit.googleapis.com/v1/accounts:lookup",
      ] {
        let answer = try await post(service, path, body)
        try expect(answer, is: .argument("not_found", 404))
      }
    }
  }

  @Test func `under another of Google's hosts an operation is not there`() async throws {
    try await withService { service in
      // The document names each operation's host in words only.
      SeenAnswers.ignore(service.port)
      var request = HTTPRequest.post("/v1/accounts:lookup", json: "{}")
      request.host = "securetoken.googleapis.com"
      try expect(await service.send(request), is: .argument("not_found", 404))
      request.host = "example.com"
      try expect(await service.send(request), is: Refusal(400, "MISSING_ID_TOKEN"))
    }
  }

  @Test
  func `row 9 trap 5 the token endpoint takes every spelling and answers with text and a refresh token`()
    async throws
  {
    try await withService { service in
      var refreshToken = try await service.signIn(Mint.credential()).refreshToken
      let form = "application/x-www-form-urlencoded"
      for (type, body) in [
        (form, "grant_type=refresh_token&refresh_token="), (form, "grantType=refresh_token&refreshToken="),
        ("application/json", #"{"grantType":"refresh_token","refreshToken":"#),
        ("application/json; charset=utf-8", #"{"grant_type":"refresh_token","refresh_token":"#),
      ] {
        let whole = type == form ? body + refreshToken : body + quoted(refreshToken) + "}"
        let answer = try await service.send(.post(FirebasePath.token, Array(whole.utf8), type: type))
        #expect(answer.status == 200, "\(answer)")
        let json = try answer.json
        #expect(json.text("expires_in") == "3600")
        #expect(json.text("access_token") == json.text("id_token"))
        #expect(json.text("token_type") == "Bearer")
        refreshToken = try #require(json.text("refresh_token"))
      }
      let garbage = try await service.send(
        .post(FirebasePath.token, form: "grant_type=refresh_token&refresh_token=garbage"))
      try expect(garbage, is: Refusal(400, "INVALID_REFRESH_TOKEN"))
      let grant = try await service.send(
        .post(FirebasePath.token, form: "grant_type=password&refresh_token=x"))
      try expect(grant, is: Refusal(400, "INVALID_GRANT_TYPE"))
    }
  }

  @Test func `row 15 trap 8 trap 12 trap 25 every refusal is the envelope, with CORS and the spaces`()
    async throws
  {
    try await withService { service in
      let origin = [(name: "Origin", value: "https://app.example.com")]
      let large = String(repeating: "x", count: 70_000)
      let refusals: [(HTTPRequest, Int, String)] = [
        (.post(FirebasePath.account("nothing"), json: "{}", headers: origin), 404, "not_found"),
        (HTTPRequest(path: FirebasePath.signIn, headers: origin), 405, "method_not_allowed"),
        (.post(FirebasePath.signIn, json: "{", headers: origin), 400, "body_malformed"),
        (.post(FirebasePath.signIn, json: "{\"a\":\"\(large)\"}", headers: origin), 413, "body_too_large"),
        (
          .post(FirebasePath.signIn, Array("{}".utf8), type: "text/plain", headers: origin), 415,
          "media_type_not_supported"
        ),
        (.post(FirebasePath.token, json: "{}", headers: origin), 400, "invalid_grant_type"),
        (
          .post(FirebasePath.verifyAssertion, json: "{\"requestUri\":\"x\"}", headers: origin), 400,
          "invalid_request_uri"
        ),
      ]
      for (request, status, reason) in refusals {
        let answer = try await service.send(request)
        #expect(answer.status == status, "\(answer)")
        #expect(answer.reason == reason, "\(answer)")
        #expect(answer["Access-Control-Allow-Origin"] == "*", "\(request.path)")
        #expect(answer["Content-Type"]?.hasPrefix("application/json") == true)
        let message = try #require(try answer.json.object("error")?.text("message"))
        #expect(message.contains(" : "), "\(message)")
        #expect(!message.prefix { $0 != " " }.contains(":"))
      }
    }
  }

  @Test func `trap 12 a page may ask for every path beforehand, the token path too`() async throws {
    try await withService { service in
      for path in [FirebasePath.signIn, FirebasePath.token, FirebasePath.verifyAssertion] {
        let answer = try await service.send(
          HTTPRequest(
            method: "OPTIONS", path: path,
            headers: [
              ("Origin", "https://app.example.com"), ("Access-Control-Request-Method", "POST"),
              ("Access-Control-Request-Headers", "content-type,x-client-version,x-firebase-gmpid"),
              ("Access-Control-Request-Private-Network", "true"),
            ]))
        #expect(answer.status == 204)
        #expect(
          answer["Access-Control-Allow-Headers"] == "content-type,x-client-version,x-firebase-gmpid")
        #expect(answer["Access-Control-Allow-Private-Network"] == "true")
        #expect(answer["Access-Control-Allow-Methods"]?.contains("POST") == true)
      }
    }
  }

  @Test func `an API key is asked for as Google asks for it`() async throws {
    try await withService(["BRAMLEY_API_KEYS": "AIza"]) { service in
      func signIn(_ query: String) async throws -> HTTPAnswer {
        try await service.send(
          .post(
            "/identitytoolkit.googleapis.com/v1/accounts:signInWithIdp\(query)",
            json: json([
              ("requestUri", "\"http://localhost\""),
              ("postBody", quoted(FirebaseClient.javaScript.postBody(Mint.credential()))),
            ])))
      }
      #expect(try await signIn("?key=AIza").status == 200)
      let missing = try await signIn("")
      #expect(missing.status == 403)
      #expect(
        try missing.json.object("error")?.text("message") == "The request is missing a valid API key.")
      let wrong = try await signIn("?key=other")
      #expect(wrong.status == 400)
      let error = try #require(try wrong.json.object("error"))
      #expect(error.text("message") == "API key not valid. Please pass a valid API key.")
      #expect(error.objects("errors").first?.text("reason") == "keyInvalid")
    }
  }

  @Test func `trap 22 what the SDKs ask before they go on is answered`() async throws {
    try await withService(["BRAMLEY_PUBLIC_URL": "https://auth.example.com"]) { service in
      for path in [
        FirebasePath.toolkit + "/v1/projects?key=k", FirebasePath.old + "/getProjectConfig?key=k",
      ] {
        let answer = try await service.get(path)
        #expect(answer.status == 200)
        #expect(try answer.json.text("projectId") == "bramley")
        #expect(try answer.json.texts("authorizedDomains") == ["auth.example.com"])
      }
      let recaptcha = try await service.get(
        FirebasePath.toolkit
          + "/v2/recaptchaConfig?key=k&clientType=CLIENT_TYPE_IOS&version=RECAPTCHA_ENTERPRISE")
      #expect(
        try recaptcha.json.objects("recaptchaEnforcementState").map { $0.text("enforcementState") }
          == ["OFF", "OFF"])
      func authURI(_ members: [(String, String)]) async throws -> HTTPAnswer {
        try await service.post(FirebasePath.account("createAuthUri"), members)
      }
      let uri = ("continueUri", "\"http://localhost\"")
      let known = try await authURI([("identifier", "\"ada@example.com\""), uri])
      #expect(try known.json.names == ["kind", "sessionId"])
      try expect(await authURI([uri]), is: Refusal(400, "MISSING_IDENTIFIER"))
      try expect(await authURI([("identifier", "\"ada\""), uri]), is: Refusal(400, "INVALID_IDENTIFIER"))
      try expect(
        await authURI([("identifier", "\"ada@example.com\"")]), is: Refusal(400, "MISSING_CONTINUE_URI"))
      try expect(
        await authURI([("identifier", "\"ada@example.com\""), ("continueUri", "\"x\"")]),
        is: Refusal(400, "INVALID_CONTINUE_URI"))
    }
  }

  @Test func `ways to sign in that are not here are refused with a word that the SDKs know`() async throws {
    try await withService { service in
      let refused = Refusal(400, "OPERATION_NOT_ALLOWED", "provider_not_enabled")
      for verb in [
        "signInWithPassword", "signInWithEmailLink", "sendOobCode", "resetPassword", "sendVerificationCode",
        "signInWithPhoneNumber",
      ] {
        try expect(await service.post(FirebasePath.account(verb), [("email", "\"a@b.c\"")]), is: refused)
      }
      for verb in ["verifyPassword", "emailLinkSignin", "getOobConfirmationCode", "resetPassword"] {
        try expect(await service.post(FirebasePath.old + "/" + verb, []), is: refused)
      }
    }
  }

  @Test func `Google's libraries find our keys where they look for Google's`() async throws {
    try await withService(["BRAMLEY_SESSION_ALG": "RS256", "BRAMLEY_ISSUER": "firebase"]) { service in
      let (set, map) = (
        try await service.get("/.well-known/jwks.json"), try await service.get("/v1/certs")
      )
      let account = "securetoken@system.gserviceaccount.com"
      let rows: [(host: String, path: String, document: [UInt8])] = [
        ("www.googleapis.com", "/robot/v1/metadata/x509/\(account)", map.body),
        ("www.googleapis.com", "/service_accounts/v1/jwk/\(account)", set.body),
        ("www.googleapis.com", "/identitytoolkit/v3/relyingparty/publicKeys", map.body),
        ("identitytoolkit.googleapis.com", "/v1/publicKeys", map.body),
        ("identitytoolkit.googleapis.com", "/v1/sessionCookiePublicKeys", set.body),
      ]
      for row in rows {
        var request = HTTPRequest(path: row.path)
        request.host = row.host
        for answer in [
          try await service.send(request), try await service.get(row.path),
          try await service.get("/\(row.host)\(row.path)"),
        ] {
          #expect(answer.status == 200, "\(row.path)")
          #expect(answer.body == row.document)
          #expect(answer["Cache-Control"]?.hasPrefix("public, max-age=") == true)
        }
      }
      var discovery = HTTPRequest(path: "/bramley/.well-known/openid-configuration")
      discovery.host = "securetoken.google.com"
      #expect(
        try await service.send(discovery).json.text("issuer") == "https://securetoken.google.com/bramley")
    }
  }
}
