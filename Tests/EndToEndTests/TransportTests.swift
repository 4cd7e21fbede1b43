import TestProcesses
import Testing
import Wire

/// Refusals that have nothing to do with tokens: routes, methods, heads, keys, origins.
@Suite(.timeLimit(.minutes(10)))
struct TransportTests {
  @Test(arguments: [
    "/", "/v1", "/v1/signInWithIdp/", "/v1//token", "/v1/%74oken", "/V1/token", "/v1/admin/users",
  ])
  func `a path that is no route is not found`(_ path: String) async throws {
    try await withService { service in
      try expect(await service.get(path), is: .argument("not_found", 404))
      try expect(await service.send(.post(path, json: "{}")), is: .argument("not_found", 404))
    }
  }

  @Test func `a method that a route does not take is refused with those it takes`() async throws {
    try await withService { service in
      let wrong = try await service.get("/v1/signInWithIdp")
      try expect(wrong, is: .argument("method_not_allowed", 405))
      #expect(wrong["Allow"] == "OPTIONS, POST")
      let other = try await service.send(HTTPRequest(method: "DELETE", path: "/livez"))
      try expect(other, is: .argument("method_not_allowed", 405))
      #expect(other["Allow"] == "GET, HEAD, OPTIONS")
    }
  }

  @Test func `a key is asked for where keys are set, and never for public documents`() async throws {
    try await withService(["BRAMLEY_API_KEYS": "key-one, key-two"]) { service in
      let missing = Refusal(403, "PERMISSION_DENIED", "api_key_missing")
      let invalid = Refusal(403, "PERMISSION_DENIED", "api_key_invalid")
      let body = try Mint.credential().body()
      let post = { (path: String, key: String?) in
        HTTPRequest.post(path, json: body, headers: key.map { [("X-API-Key", $0)] } ?? [])
      }
      try expect(await service.send(post("/v1/signInWithIdp", nil)), is: missing)
      try expect(await service.send(post("/v1/signInWithIdp", "")), is: missing)
      try expect(await service.send(post("/v1/signInWithIdp?key=", nil)), is: missing)
      try expect(await service.send(post("/v1/signInWithIdp", "key-on")), is: invalid)
      try expect(await service.send(post("/v1/signInWithIdp?key=key-three", nil)), is: invalid)
      try expect(await service.send(.post("/v1/token", form: "grant_type=refresh_token")), is: missing)
      try expect(await service.send(.post("/v1/nonces", json: "{}")), is: missing)
      #expect(try await service.send(post("/v1/signInWithIdp?key=key-two", nil)).status == 200)
      #expect(try await service.send(post("/v1/signInWithIdp?a=b&key=key%2Done", nil)).status == 200)
      #expect(try await service.send(post("/v1/signInWithIdp", "key-one")).status == 200)
      for path in ["/.well-known/jwks.json", "/v1/certs", "/livez"] {
        #expect(try await service.get(path).status == 200)
      }
    }
  }

  @Test func `attack 37 heads that could be read in two ways are refused`() async throws {
    try await withService { service in
      let heads = [
        "POST /v1/token HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST /v1/token HTTP/1.1\r\n\r\n",
        "POST /v1/token HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/token HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
      ]
      for head in heads {
        let (answer, second) = try await onThread {
          let connection = try HTTPConnection(port: service.port)
          connection.send(Array(head.utf8))
          return (try connection.receive(), try? connection.receive())
        }
        // No second answer, whatever the rest may look like.
        #expect(second == nil)
        try expect(answer, is: .argument("request_malformed"))
      }
    }
  }

  @Test func `attack 37 a bearer of more than 16 KiB is refused in our words`() async throws {
    try await withService { service in
      for size in [15_900, 16_100, 17_000, 24_000] {
        let answer = try await service.get(
          "/v1/verify", headers: [("Authorization", "Bearer " + String(repeating: "a", count: size))])
        if size < 16_300 {
          try expect(answer, is: Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid"))
        } else {
          try expect(answer, is: .argument("header_too_large", 431))
        }
      }
    }
  }

  @Test func `attack 37 more header fields than anyone sends are refused`() async throws {
    try await withService { service in
      let headers = (0..<150).map { (name: "X-\($0)", value: "1") }
      try expect(await service.get("/livez", headers: headers), is: .argument("header_too_large", 431))
    }
  }

  @Test func `pages of every origin may call, unless origins are listed`() async throws {
    let page: [(name: String, value: String)] = [("Origin", "https://app.example.com")]
    try await withService { service in
      let answer = try await service.get("/v1/token", headers: page)
      #expect(answer.status == 405)
      #expect(answer["Access-Control-Allow-Origin"] == "*")
      let preflight = try await service.send(
        HTTPRequest(
          method: "OPTIONS", path: "/v1/token",
          headers: page + [
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "x-api-key,content-type"),
          ]))
      #expect(preflight.status == 204)
      #expect(preflight["Access-Control-Allow-Headers"] == "x-api-key,content-type")
      #expect(preflight["Access-Control-Allow-Methods"]?.contains("POST") == true)
    }
    try await withService(["BRAMLEY_ALLOWED_ORIGINS": "https://app.example.com"]) { service in
      let good = try await service.get("/livez", headers: page)
      #expect(good["Access-Control-Allow-Origin"] == "https://app.example.com")
      let bad = try await service.get("/livez", headers: [("Origin", "https://evil.example")])
      #expect(bad["Access-Control-Allow-Origin"] == nil)
      #expect(bad["Vary"] == "Origin")
    }
  }

  @Test func `a thousand requests go over one connection`() async throws {
    try await withService { service in
      let statuses = try await onThread {
        let connection = try HTTPConnection(port: service.port)
        return try (0..<1000).map { number in
          try connection.exchange(number.isMultiple(of: 2) ? HTTPRequest(path: "/livez") : .refresh("x"))
            .status
        }
      }
      #expect(statuses.count(where: { $0 == 200 }) == 500)
      #expect(statuses.count(where: { $0 == 400 }) == 500)
    }
  }
}
