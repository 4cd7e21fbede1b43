import MockApple
import TestProcesses
import Testing
import Wire

/// `POST /v1/introspect` and `/v1/verify`: whether a session is good now.
@Suite(.timeLimit(.minutes(3)))
struct IntrospectionTests {
  private static let key = "a-service-key"
  private static let settings = ["BRAMLEY_SERVICE_KEYS": "\(key),another-key"]

  private func introspect(
    _ service: Service, _ token: String, key: String? = key
  ) async throws -> HTTPAnswer {
    try await service.send(
      .post(
        "/v1/introspect", Array("token=\(percentEncoded(token))".utf8),
        type: "application/x-www-form-urlencoded",
        headers: key.map { [("X-API-Key", $0)] } ?? []))
  }

  private func verify(
    _ service: Service, _ token: String?, path: String = "/v1/verify", method: String = "GET"
  ) async throws -> HTTPAnswer {
    try await service.send(
      HTTPRequest(
        method: method, path: path, headers: token.map { [("Authorization", "Bearer \($0)")] } ?? []))
  }

  @Test func `a good token is active, with what it says`() async throws {
    try await withService(Self.settings) { service in
      let person = try await service.signIn(
        Mint.credential {
          $0.email = "ada@example.com"
        })
      for _ in 0..<2 {
        let body = try await introspect(service, person.idToken).json
        #expect(body.flag("active") == true)
        #expect(body.text("sub") == person.localID)
        #expect(body.text("sid") == person.sessionID)
        #expect(body.text("iss") == service.baseURL)
        #expect(body.text("aud") == "bramley")
        #expect(body.text("token_type") == "Bearer")
        #expect(body.text("email") == "ada@example.com")
        let claims = try await service.read(person.idToken).claims
        for name in ["iat", "exp", "auth_time"] { #expect(body.integer(name) == claims.integer(name)) }
      }
    }
  }

  @Test func `of anything else nothing is told but that it is not active`() async throws {
    try await withService(Self.settings) { service in
      let person = try await service.signIn(Mint.credential())
      let parts = person.idToken.split(separator: ".").map(String.init)
      let none = base64URLText(Array(#"{"alg":"none","typ":"JWT"}"#.utf8)) + "." + parts[1] + "."
      let kids = ["../../etc/passwd", "' OR 1=1 --", "a\\u0000b", String(repeating: "k", count: 4000)]
      let strange = kids.map { kid in
        base64URLText(Array("{\"alg\":\"ES256\",\"kid\":\"\(kid)\",\"typ\":\"JWT\"}".utf8)) + "."
          + parts[1] + "." + parts[2]
      }
      let apple = try Mint.credential().idToken
      let bad = [
        "x", "..", none, person.idToken + "x", String(person.idToken.dropLast(3)), person.refreshToken, apple,
        parts[0] + "." + parts[1], String(repeating: "x", count: 60_000),
        String(repeating: "é", count: 30_000),
      ]
      for token in bad + strange {
        let answer = try await introspect(service, token)
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"active":false}"#)
        let verified = try await verify(service, token.utf8.count > 10_000 ? "x" : token)
        #expect(verified.status == 401)
        #expect(verified["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
      }
    }
  }

  @Test func `a bearer that is no text is refused as any other`() async throws {
    try await withService { service in
      let head = Array("GET /v1/verify HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: name=".utf8)
      let token = try await service.signIn(Mint.credential()).idToken
      for (bearer, status) in [
        (Array(token.utf8), 200), ([0xC3, 0x28], 401), (Array("é".utf8), 401), ([0xFF], 401),
      ] as [([UInt8], Int)] {
        let connection = try HTTPConnection(port: service.port)
        connection.send(
          head + [0xE9] + Array("\r\nAuthorization: Bearer ".utf8) + bearer + Array("\r\n\r\n".utf8))
        #expect(try connection.receive().status == status)
      }
    }
  }

  @Test func `a proxy is told why a token is not good any more, and no error where there was none`()
    async throws
  {
    let admin = "an-administrators-token"
    try await withService(["BRAMLEY_ADMIN_TOKEN": admin]) { service in
      let visitor = Operator(service: service, bearer: admin)
      func expectEnd(of token: String, _ code: String, _ reason: String) async throws {
        let answer = try await verify(service, token)
        try expect(answer, is: Refusal(401, code, reason))
        #expect(answer["WWW-Authenticate"] == #"Bearer error="invalid_token""#)
      }
      let (a, b, c) = (
        try await service.signIn(Mint.credential()), try await service.signIn(Mint.credential()),
        try await service.signIn(Mint.credential())
      )
      _ = try await service.send(
        HTTPRequest(method: "POST", path: "/v1/signOut", headers: [("Authorization", "Bearer \(a.idToken)")]))
      try await expectEnd(of: a.idToken, "TOKEN_EXPIRED", "session_ended")
      try await visitor.done("DELETE", "/users/\(b.localID)/sessions")
      try await expectEnd(of: b.idToken, "TOKEN_EXPIRED", "session_revoked")
      try await visitor.done("PATCH", "/users/\(c.localID)", #"{"disabled":true}"#)
      try await expectEnd(of: c.idToken, "USER_DISABLED", "user_disabled")
      try await visitor.done("DELETE", "/users/\(c.localID)")
      try await expectEnd(of: c.idToken, "USER_NOT_FOUND", "user_not_found")
      for path in ["/v1/verify", "/v1/account", "/v1/sessions"] {
        let answer = try await service.get(path)
        try expect(answer, is: Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid"))
        #expect(answer["WWW-Authenticate"] == "Bearer")
      }
    }
  }

  @Test func `a back end revokes with its own key where apps need theirs`() async throws {
    try await withService(Self.settings.merging(["BRAMLEY_API_KEYS": "an-app"]) { $1 }) { service in
      func revoke(_ token: String, _ headers: [(name: String, value: String)]) async throws -> HTTPAnswer {
        try await service.send(.post("/v1/revoke", json: json([("token", quoted(token))]), headers: headers))
      }
      let signIn = HTTPRequest.post(
        "/v1/signInWithIdp", json: try Mint.credential().body([:]), headers: [("X-API-Key", "an-app")])
      let person = try SignedIn(await service.send(signIn))
      try expect(
        await revoke(person.refreshToken, []), is: Refusal(403, "PERMISSION_DENIED", "api_key_missing"))
      try expect(
        await revoke(person.refreshToken, [("X-API-Key", "another")]),
        is: Refusal(403, "PERMISSION_DENIED", "api_key_invalid"))
      #expect(try await service.admits(person.idToken))
      #expect(try await revoke(person.refreshToken, [("Authorization", "Bearer \(Self.key)")]).status == 200)
      #expect(try await service.admits(person.idToken) == false)
      #expect(try await revoke(person.refreshToken, [("X-API-Key", Self.key)]).status == 200)
    }
  }

  @Test func `a service key or an administrator is asked for, and without any the route is not there`()
    async throws
  {
    let admin = "an-administrators-token"
    try await withService(Self.settings.merging(["BRAMLEY_ADMIN_TOKEN": admin]) { $1 }) { service in
      let token = try await service.signIn(Mint.credential()).idToken
      for wrong in [nil, "a-service-ke", "a-service-key2", ""] as [String?] {
        guard wrong != "" else { continue }
        try expect(
          await introspect(service, token, key: wrong),
          is: Refusal(401, "UNAUTHENTICATED", "service_key_invalid"))
      }
      func bearer(_ text: String) async throws -> Int {
        try await service.send(
          .post(
            "/v1/introspect", json: json([("token", quoted(token))]),
            headers: [("Authorization", "Bearer \(text)")])
        ).status
      }
      #expect(try await bearer(Self.key) == 200)
      #expect(try await bearer("another-key") == 200)
      #expect(try await bearer(admin) == 200)
      #expect(try await bearer("owner") == 401)
      // Never in the query, which ends up in logs.
      let query = try await service.send(
        .post("/v1/introspect?key=\(Self.key)", json: json([("token", quoted(token))])))
      #expect(query.status == 401)
      #expect(try await service.get("/v1/revocations").status == 401)
    }
    try await withService { (service) async throws in
      #expect(try await introspect(service, "x").status == 404)
      #expect(try await service.get("/v1/revocations").status == 404)
    }
  }

  @Test func `a proxy is told in headers who it is, at every path and by every method`() async throws {
    try await withService { service in
      let person = try await service.signIn(
        Mint.credential {
          $0.email = "ada@example.com"
        })
      let unverified = try await service.signIn(
        Mint.credential {
          $0.email = "eve@example.com"
          $0.claims = [member("email_verified", "false")]
        })
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] {
        for path in ["/v1/verify", "/v1/verify/", "/v1/verify/a/b?c=d"] {
          let answer = try await verify(service, person.idToken, path: path, method: method)
          #expect(answer.status == 200, "\(method) \(path)")
          #expect(answer["X-Auth-User"] == person.localID)
          #expect(answer["X-Auth-Session"] == person.sessionID)
          #expect(answer["X-Auth-Email"] == "ada@example.com")
          #expect(answer["Cache-Control"] == "no-store")
        }
      }
      #expect(try await verify(service, unverified.idToken)["X-Auth-Email"] == nil)
      let without = try await verify(service, nil)
      #expect(without.status == 401)
      #expect(without["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
      #expect(without["X-Auth-User"] == nil)
      #expect(try await verify(service, nil, method: "OPTIONS").status == 401)
      #expect(try await verify(service, person.idToken, path: "/v1/verifyx").status == 404)
    }
  }

  @Test func `a session that is over, and a disabled account, are seen at once`() async throws {
    let admin = "an-administrators-token"
    try await withService(Self.settings.merging(["BRAMLEY_ADMIN_TOKEN": admin]) { $1 }) { service in
      func isActive(_ token: String) async throws -> Bool {
        let verified = try await verify(service, token).status == 200
        let active = try await introspect(service, token).json.flag("active")
        #expect(active == verified)
        return verified
      }
      func update(_ id: String, _ members: [(String, String)]) async throws {
        let answer = try await service.post(
          FirebasePath.toolkit + "/v1/projects/bramley/accounts:update", [("localId", quoted(id))] + members,
          bearer: admin)
        try #require(answer.status == 200, "\(answer)")
      }
      let subject = Mint.subject()
      let first = try await service.signIn(Mint.credential { $0.subject = subject })
      let second = try await service.signIn(Mint.credential { $0.subject = subject })
      #expect(try await isActive(first.idToken))
      #expect(try await isActive(second.idToken))
      let out = try await service.send(
        HTTPRequest(
          method: "POST", path: "/v1/signOut", headers: [("Authorization", "Bearer \(first.idToken)")]))
      #expect(out.status == 200, "\(out)")
      #expect(try await isActive(first.idToken) == false)
      #expect(try await isActive(second.idToken))
      try await update(second.localID, [("disableUser", "true")])
      #expect(try await isActive(second.idToken) == false)
      try await update(second.localID, [("disableUser", "false")])
      #expect(try await isActive(second.idToken))
      try await update(second.localID, [("validSince", "\"4000000000\"")])
      #expect(try await isActive(second.idToken) == false)
      let third = try await service.signIn(Mint.credential { $0.subject = subject })
      #expect(try await isActive(third.idToken))
      // An old refresh token that comes back ends the session; its session token is bad at once.
      var token = third.refreshToken
      for _ in 0..<3 { token = try await service.refresh(token) }
      #expect(try await service.tryRefresh(third.refreshToken).status == 400)
      #expect(try await isActive(third.idToken) == false)
    }
  }

  @Test func `another node sees it within two seconds`() async throws {
    try await withStage { stage in
      let issuer = ["BRAMLEY_ISSUER": "https://auth.example.com"].merging(Self.settings) { $1 }
      let (a, b) = (try await stage.start(issuer), try await stage.start(issuer))
      let person = try await a.signIn(Mint.credential())
      #expect(try await verify(b, person.idToken).status == 200)
      _ = try await a.send(
        HTTPRequest(
          method: "POST", path: "/v1/signOut", headers: [("Authorization", "Bearer \(person.idToken)")]))
      let ended = ContinuousClock.now
      while try await verify(b, person.idToken).status == 200 {
        #expect(ContinuousClock.now - ended < .seconds(10))
        if ContinuousClock.now - ended > .seconds(10) { break }
      }
    }
  }

  @Test func `a lock that another process holds on the database is in no verifier's way`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Self.settings)
      let person = try await service.signIn(Mint.credential())
      let lock = try await stage.lockDatabase()
      #expect(try await verify(service, person.idToken).status == 200)
      #expect(try await introspect(service, person.idToken).json.flag("active") == true)
      lock.closeInput()
      try await lock.ended()
    }
  }
}
