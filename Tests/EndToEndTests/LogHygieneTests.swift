import Foundation
import TestProcesses
import Testing
import Wire

/// Nothing that a person or a thief could use is in what the service writes.
@Suite(.timeLimit(.minutes(2)))
struct LogHygieneTests {
  @Test(arguments: ["debug", "info"])
  func `attack 40 a whole run writes JSON lines without tokens, nonces, names and addresses`(_ level: String)
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start(["BRAMLEY_LOG_LEVEL": level, "BRAMLEY_API_KEYS": "key-that-is-set"])
      var secrets = [
        "Lovelace", "hygiene@example.com", "key-that-is-set", "key-that-is-wrong", "c0de-of-apple",
      ]
      let key: [(name: String, value: String)] = [("X-API-Key", "key-that-is-set")]
      let post = { (path: String, body: String) in
        try await service.send(.post(path, json: body, headers: key))
      }
      var subjects: [String] = []
      func signIn(_ credential: Credential, bearer: String? = nil) async throws -> HTTPAnswer {
        secrets += [credential.idToken, credential.rawNonce, sha256Hex(credential.rawNonce)]
        secrets += credential.idToken.split(separator: ".").map(String.init)
        let body = credential.body([
          "fullName": #"{"givenName":"Ada","familyName":"Lovelace"}"#,
          "authorizationCode": #""c0de-of-apple""#,
        ])
        let headers = key + (bearer.map { [("Authorization", "Bearer \($0)")] } ?? [])
        return try await service.send(.post("/v1/signInWithIdp", json: body, headers: headers))
      }
      let subject = Mint.subject()
      subjects.append(subject)
      let credential = try Mint.credential { order in
        order.subject = subject
        order.email = "hygiene@example.com"
      }
      let session = try SignedIn(await signIn(credential))
      secrets += [session.idToken, session.refreshToken, session.localID + "@"]
      var refresh = session.refreshToken
      for _ in 0..<4 {
        let answer = try await post(
          "/v1/token", #"{"grantType":"refresh_token","refreshToken":"\#(refresh)"}"#)
        refresh = try answer.json.text("refresh_token") ?? refresh
        secrets += [refresh, try answer.json.text("id_token") ?? refresh]
      }
      // Refusals of every kind, each with something worth hiding.
      _ = try await post(
        "/v1/token", #"{"grantType":"refresh_token","refreshToken":"\#(session.refreshToken)"}"#)
      _ = try await signIn(credential)
      _ = try await signIn(Mint.credential { $0.breaksSignature = true })
      _ = try await signIn(Mint.credential { $0.audience = "com.other" })
      _ = try await signIn(Mint.credential { $0.issuedAt = now() - 9000 })
      _ = try await signIn(Mint.credential { $0.header = [member("kid", "secretKid9")] })
      _ = try await signIn(Mint.credential(), bearer: session.idToken)
      _ = try await signIn(Mint.credential(), bearer: "bearer-of-nobody")
      _ = try await signIn(Credential(idToken: credential.idToken, rawNonce: "nonce-of-nobody"))
      _ = try await post("/v1/signInWithIdp", #"{"idToken":"\#(credential.idToken)","#)
      _ = try await service.get("/v1/nowhere/\(session.refreshToken)?key=key-that-is-wrong", headers: key)
      _ = try await service.get("/livez?token=\(session.idToken)")
      _ = try await service.send(
        .post("/v1/signInWithIdp?key=key-that-is-wrong", json: credential.body()))
      _ = try await service.get("/livez", headers: [("traceparent", session.refreshToken)])
      secrets += ["bearer-of-nobody", "nonce-of-nobody", "secretKid9"]
      let nonce = try await service.send(.post("/v1/nonces", json: "{}", headers: key)).json.text("nonce")
      secrets.append(try #require(nonce))
      try await service.stop()

      let written = service.process.state.read { $0.output + $0.errors }
      let text = String(decoding: written, as: UTF8.self)
      for secret in secrets + subjects { #expect(!text.contains(secret), "\(secret)") }
      let lines = service.process.outputLines
      #expect(lines.count > 15)
      for line in lines {
        let object = try JSONObject(parsing: Array(line.utf8))
        #expect(object.text("time")?.hasSuffix("Z") == true)
        #expect(object.text("level") != nil)
        #expect(object.text("event") != nil)
      }
      #expect(text.hasSuffix("\n"))
    }
  }

  @Test func `a request's line has its id, its route and its trace`() async throws {
    try await withService { service in
      let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      _ = try await service.get("/livez", headers: [("X-Request-Id", "find-me\"\\"), ("traceparent", trace)])
      try await service.stop()
      let line = try #require(service.process.outputLines.first { $0.contains("find-me") })
      let object = try JSONObject(parsing: Array(line.utf8))
      #expect(object.text("requestId") == "find-me\"\\")
      #expect(object.text("route") == "live")
      #expect(object.integer("status") == 200)
      #expect(object.text("traceparent") == trace)
    }
  }
}
