import API
import Domain
import HTTPServer
import TestSupport
import Testing
import Wire

@Suite struct RouterTests {
  @Test func `a request id is taken where it is printable, else made`() async throws {
    let bench = try await Bench()
    for id in ["a", "with space ~", String(repeating: "x", count: 128)] {
      #expect(
        try await bench.send("GET", "/livez", headers: ["X-Request-Id": id]).headers.all("X-Request-Id") == [
          id
        ])
    }
    var made: Set<String> = []
    for id in ["", String(repeating: "x", count: 129), "é", "a\tb", "a\u{7f}"] {
      let ids = try await bench.send("GET", "/livez", headers: ["X-Request-Id": id]).headers.all(
        "X-Request-Id")
      #expect(ids.count == 1)
      #expect(ids.first?.utf8.count == 32)
      made.formUnion(ids)
    }
    #expect(made.count == 5)
  }

  @Test(arguments: [
    "/", "", "/v1", "/v1/token/", "/V1/token", "//v1/token", "/v1/%74oken", "/livez/", "/v1/signInWithIdp/x",
  ])
  func `a path that is no route is not found`(_ path: String) async throws {
    let bench = try await Bench()
    let request = Request(
      method: "POST", path: path, peer: try #require(PeerAddress(bytes: [127, 0, 0, 1], port: 1)),
      arrived: .now)
    let response = await bench.router.respond(to: request)
    #expect(response.status == 404)
    #expect(response.reason == "not_found")
    #expect(try response.object().optionalObject("error")?.text("status") == "NOT_FOUND")
  }

  @Test(arguments: [
    ("GET", "/v1/token", "OPTIONS, POST"), ("DELETE", "/livez", "GET, HEAD, OPTIONS"),
    ("get", "/livez", "GET, HEAD, OPTIONS"),
    ("HEAD", "/v1/token", "OPTIONS, POST"), ("POST", "/.well-known/jwks.json", "GET, HEAD, OPTIONS"),
  ])
  func `another method is told which there are`(_ method: String, _ path: String, _ allow: String)
    async throws
  {
    let bench = try await Bench()
    let response = try await bench.send(method, path)
    #expect(response.status == 405)
    #expect(response.reason == "method_not_allowed")
    #expect(response.headers.all("Allow") == [allow])
  }

  @Test func `HEAD is answered as GET`() async throws {
    let bench = try await Bench()
    let get = try await bench.send("GET", "/.well-known/jwks.json", headers: ["X-Request-Id": "1"])
    let head = try await bench.send("HEAD", "/.well-known/jwks.json", headers: ["X-Request-Id": "1"])
    #expect(head.status == 200)
    #expect(head.headers == get.headers)
  }

  @Test func `a preflight gets what a page needs`() async throws {
    let bench = try await Bench(apiKeys: ["key"])
    let response = try await bench.send(
      "OPTIONS", "/v1/signInWithIdp",
      headers: [
        "Origin": "https://app.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-firebase-gmpid",
        "Access-Control-Request-Private-Network": "true",
      ])
    #expect(response.status == 204)
    #expect(response.body.isEmpty)
    #expect(response.headers.all("Access-Control-Allow-Origin") == ["*"])
    #expect(response.headers.first("Access-Control-Allow-Methods")?.contains("POST") == true)
    #expect(response.headers.all("Access-Control-Allow-Headers") == ["content-type,x-firebase-gmpid"])
    #expect(response.headers.all("Access-Control-Allow-Private-Network") == ["true"])
    #expect(response.headers.first("Access-Control-Allow-Credentials") == nil)
    #expect(response.headers.first("Access-Control-Max-Age") != nil)
  }

  @Test func `an answer to a page can be read by it, also an error`() async throws {
    let bench = try await Bench()
    for path in ["/livez", "/none", "/v1/token"] {
      let response = try await bench.send("GET", path, headers: ["Origin": "https://app.example"])
      #expect(response.headers.all("Access-Control-Allow-Origin") == ["*"])
      #expect(response.headers.first("Access-Control-Expose-Headers")?.contains("X-Request-Id") == true)
    }
    #expect(try await bench.send("GET", "/livez").headers.first("Access-Control-Allow-Origin") == nil)
  }

  @Test func `with a list of origins only those are let in, and caches are told`() async throws {
    let bench = try await Bench(origins: ["https://app.example"])
    let good = try await bench.send("GET", "/livez", headers: ["Origin": "https://app.example"])
    #expect(good.headers.all("Access-Control-Allow-Origin") == ["https://app.example"])
    #expect(good.headers.all("Vary") == ["Origin"])
    for origin in ["https://app.example.evil", "http://app.example", "null", "https://APP.example", "*"] {
      let bad = try await bench.send("GET", "/livez", headers: ["Origin": origin])
      #expect(bad.headers.first("Access-Control-Allow-Origin") == nil)
      #expect(bad.headers.all("Vary") == ["Origin"])
    }
  }

  @Test func `API keys are asked for on the app's routes only, by header or query`() async throws {
    let bench = try await Bench(apiKeys: ["key-one", "key+two"])
    #expect(try await bench.send("POST", "/v1/nonces").reason == "api_key_missing")
    #expect(try await bench.send("POST", "/v1/nonces?key=").reason == "api_key_missing")
    #expect(try await bench.send("POST", "/v1/nonces?key=other").reason == "api_key_invalid")
    #expect(try await bench.send("POST", "/v1/nonces?key=key-on").reason == "api_key_invalid")
    #expect(
      try await bench.send("POST", "/v1/nonces", headers: ["X-API-Key": "KEY-ONE"]).reason
        == "api_key_invalid")
    #expect(try await bench.send("POST", "/v1/nonces", headers: ["X-API-Key": "x"]).status == 403)
    for target in ["/v1/nonces?key=key-one", "/v1/nonces?a=b&key=key%2Btwo"] {
      #expect(try await bench.send("POST", target).status == 200)
    }
    #expect(try await bench.send("POST", "/v1/nonces", headers: ["x-api-key": "key+two"]).status == 200)
    for path in ["/livez", "/readyz", "/.well-known/jwks.json", "/v1/certs"] {
      #expect(try await bench.send("GET", path).status == 200)
    }
  }

  @Test func `a request is one log line, without what it carried`() async throws {
    let bench = try await Bench()
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    let response = try await bench.signIn(
      ["fullName": #"{"givenName":"Adalovelace"}"#],
      headers: ["X-Request-Id": "find-me", "traceparent": trace])
    #expect(response.status == 200)
    _ = try await bench.send("GET", "/secret-path?key=hunter2", headers: ["traceparent": "evil\""])
    await bench.log.stop()
    let text = bench.lines.all
    #expect(text.contains(#""route":"sign_in""#))
    #expect(text.contains("find-me"))
    #expect(text.contains(trace))
    #expect(text.contains(#""reason":"not_found""#))
    let refresh = try #require(response.object().text("refreshToken"))
    for secret in [
      "Adalovelace", AppleClaims.rawNonce, refresh, "hunter2", "secret-path", "evil", "privaterelay",
    ] {
      #expect(!text.contains(secret))
    }
  }
}
