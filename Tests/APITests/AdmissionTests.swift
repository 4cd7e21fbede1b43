import API
import HTTPServer
import TestSupport
import Testing
import Wire

private let token = "the-token-of-ada"
private let routes = [
  echo("POST", "/v1/ours", "ours", access: .app),
  echo("POST", "/v1/theirs", "theirs", host: .identityToolkit, face: .firebase, access: .app),
  echo("POST", "/v1/admin", "admin", access: .administrator),
  echo("POST", "/v1/mixed", "mixed", access: .open),
  echo("GET", "/v1/mixed", "mixed", access: .administrator),
  echo(
    "POST", "/v1/projects/{project}/accounts:query", "query", host: .identityToolkit, face: .firebase,
    access: .administrator),
]

/// The first of the older error objects.
private func classic(_ response: Response) throws -> JSONObject {
  let error = try #require(try response.object().optionalObject("error"))
  guard case .array(let errors) = error["errors"], case .object(let first) = errors.first else {
    throw CancellationError()
  }
  return first
}

@Suite struct AdmissionTests {
  private func bench(
    keys: [String] = [], tokens: [String: String] = ["ada": token, "bob": "the-token-of-bob"],
    isDevMode: Bool = false
  ) async throws -> Bench {
    try await Bench(apiKeys: keys, adminTokens: tokens, isDevMode: isDevMode, routes: routes)
  }

  @Test func `on Firebase's routes a missing and a wrong key are refused in Google's words`() async throws {
    let bench = try await bench(keys: ["right"])
    let missing = try await bench.send("POST", "/v1/theirs", headers: ["X-Request-Id": "id"])
    #expect(missing.status == 403)
    #expect(
      missing.text
        == #"{"error":{"code":403,"message":"The request is missing a valid API key.","status":"PERMISSION_DENIED","#
        + #""errors":[{"message":"The request is missing a valid API key.","reason":"forbidden","domain":"global"}],"#
        + #""details":[{"reason":"api_key_missing","requestId":"id"}]}}"#)
    let wrong = try await bench.send("POST", "/v1/theirs?key=wrong", headers: ["X-Request-Id": "id"])
    #expect(wrong.status == 400)
    let sentence = "API key not valid. Please pass a valid API key."
    #expect(try wrong.object().optionalObject("error")?.text("message") == sentence)
    #expect(try wrong.object().optionalObject("error")?.text("status") == "INVALID_ARGUMENT")
    #expect(try classic(wrong).text("reason") == "keyInvalid")
    #expect(try classic(wrong).text("message") == sentence)
    #expect(wrong.reason == "api_key_invalid")
    #expect(wrong.headers.all("X-Request-Id") == ["id"])
    #expect(try await bench.send("POST", "/v1/theirs?key=right").text == "theirs")
  }

  @Test func `on our routes they are refused in ours`() async throws {
    let bench = try await bench(keys: ["right"])
    let missing = try await bench.send("POST", "/v1/ours")
    #expect(missing.status == 403)
    #expect(missing.text.contains("PERMISSION_DENIED : Send an API key"))
    #expect(try await bench.send("POST", "/v1/ours?key=wrong").status == 403)
    // An administrator's bearer is no API key here, and nobody is told who it is.
    let headers: Headers = ["Authorization": "Bearer \(token)"]
    #expect(try await bench.send("POST", "/v1/ours", headers: headers).reason == "api_key_missing")
    #expect(try await bench.send("POST", "/v1/ours?key=right", headers: headers).text == "ours")
  }

  @Test func `an administrator needs no key on Firebase's routes, and the handler knows who it is`()
    async throws
  {
    let bench = try await bench(keys: ["right"])
    for scheme in ["Bearer", "bearer", "BEARER"] {
      #expect(
        try await bench.send("POST", "/v1/theirs", headers: ["Authorization": "\(scheme) \(token)"]).text
          == "theirs by ada")
    }
    let stranger: Headers = ["Authorization": "Bearer a.session.token"]
    #expect(try await bench.send("POST", "/v1/theirs", headers: stranger).reason == "api_key_missing")
    #expect(try await bench.send("POST", "/v1/theirs?key=right", headers: stranger).text == "theirs")
  }

  @Test func `an administrator's route takes an administrator's bearer`() async throws {
    let bench = try await bench(keys: ["right"])
    func send(_ headers: Headers) async throws -> Response {
      try await bench.send("POST", "/v1/admin", headers: headers)
    }
    #expect(try await send(["Authorization": "Bearer \(token)"]).text == "admin by ada")
    #expect(try await send(["Authorization": "Bearer the-token-of-bob"]).text == "admin by bob")
    let missing = try await send(["X-API-Key": "right"])
    #expect(missing.status == 401)
    #expect(missing.reason == "admin_token_missing")
    #expect(missing.headers.all("WWW-Authenticate") == ["Bearer"])
    #expect(try classic(missing).text("reason") == "required")
    #expect(try missing.object().optionalObject("error")?.text("status") == "UNAUTHENTICATED")
    #expect(missing.text.contains(#""message":"UNAUTHENTICATED : "#))
    for value in [
      "Bearer", "Bearer ", "Bearer x", "Bearer \(token)x", "Bearer  \(token)", "Basic \(token)", token,
      "Bearer owner", "Bearer \(token.dropLast())",
    ] {
      let wrong = try await send(["Authorization": value])
      #expect(wrong.status == 401, "\(value)")
      #expect(wrong.reason == "admin_token_invalid")
      #expect(wrong.headers.all("WWW-Authenticate") == [#"Bearer error="invalid_token""#])
      #expect(try classic(wrong).text("reason") == "authError")
    }
    var two: Headers = ["Authorization": "Bearer \(token)"]
    two.append("Authorization", "Bearer \(token)")
    #expect(try await send(two).reason == "admin_token_invalid")
  }

  @Test func `who may not come in learns nothing of the project`() async throws {
    let bench = try await bench()
    let path = "/v1/projects/other/accounts:query"
    #expect(try await bench.send("POST", path).reason == "admin_token_missing")
    let headers: Headers = ["Authorization": "Bearer \(token)"]
    #expect(try await bench.send("POST", path, headers: headers).reason == "configuration_not_found")
    #expect(
      try await bench.send("POST", "/v1/projects/bramley/accounts:query", headers: headers).text
        == "query project=bramley by ada")
  }

  @Test func `without administrators their routes are not there`() async throws {
    let bench = try await bench(tokens: [:])
    let headers: Headers = ["Authorization": "Bearer \(token)"]
    for method in ["POST", "GET", "HEAD"] {
      #expect(try await bench.send(method, "/v1/admin", headers: headers).reason == "not_found")
      let behind = "/identitytoolkit.googleapis.com/v1/projects/other/accounts:query"
      #expect(try await bench.send(method, behind, headers: headers).reason == "not_found")
    }
    let nowhere = try await bench.send("OPTIONS", "/nowhere")
    #expect(try await bench.send("OPTIONS", "/v1/admin").headers.all("Allow") == nowhere.headers.all("Allow"))
    #expect(try await bench.send("POST", "/v1/mixed").text == "mixed")
    let other = try await bench.send("GET", "/v1/mixed", headers: headers)
    #expect(other.status == 405)
    #expect(other.headers.all("Allow") == ["OPTIONS, POST"])
    #expect(try await bench.send("POST", "/v1/theirs", headers: headers).text == "theirs")
  }
}

@Suite struct OwnerTests {
  private func send(
    _ headers: [(String, String)], isDevMode: Bool = true, path: String = "/v1/admin"
  ) async throws -> Response {
    let bench = try await Bench(
      adminTokens: ["ada": token], isDevMode: isDevMode, routes: routes)
    let fields = [("Authorization", "Bearer owner")] + headers
    return try await bench.send(
      "POST", path, headers: Headers(fields.map { Headers.Field(name: $0.0, value: $0.1) }))
  }

  @Test(arguments: [
    "127.0.0.1", "127.0.0.1:8080", "127.8.9.1", "[::1]", "[::1]:8080", "localhost", "LocalHost:9099",
    "[0:0:0:0:0:0:0:1]",
  ])
  func `in development whoever is at this machine is the owner`(_ host: String) async throws {
    #expect(try await send([("Host", host)]).text == "admin by owner")
    #expect(try await send([("Host", host), ("Origin", "http://\(host)")]).text == "admin by owner")
    #expect(try await send([("Host", host)], isDevMode: false).reason == "admin_token_invalid")
  }

  @Test(arguments: [
    "", "bramley.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:127.0.0.1",
    "127.evil.example", "0.0.0.0", "[::]", "[::1].evil.example", "[::1]x", "[::2]", "[::ffff:127.0.0.1]",
    "::1",
    "128.0.0.1", "localhost@evil.example", "localhost:80@evil.example", "127.1", "2130706433", "localhost/",
    "lo\u{212A}alhost", "[localhost]", "10.0.0.1:8080",
  ])
  func `another name of the host or the page is somebody else`(_ host: String) async throws {
    #expect(try await send([("Host", host)]).reason == "admin_token_invalid")
    let page = try await send([("Host", "127.0.0.1"), ("Origin", "http://\(host)")])
    #expect(page.reason == "admin_token_invalid")
  }

  @Test(arguments: [
    ("Forwarded", "for=127.0.0.1"), ("Via", "1.1 proxy"), ("X-Forwarded-For", "127.0.0.1"),
    ("x-forwarded-host", "localhost"), ("X-FORWARDED-PROTO", "https"), ("X-Forwarded-Anything", ""),
    ("Origin", "null"), ("Origin", ""), ("Origin", "localhost"), ("Origin", "https://app.example"),
  ])
  func `through a proxy or for a page of another site nobody is the owner`(_ name: String, _ value: String)
    async throws
  {
    let response = try await send([("Host", "localhost:8080"), (name, value)])
    #expect(response.status == 401)
    #expect(response.reason == "admin_token_invalid")
  }

  @Test func `without a Host nobody is the owner`() async throws {
    #expect(try await send([]).reason == "admin_token_invalid")
  }

  @Test func `an app's route knows the owner, and lets others in as apps`() async throws {
    #expect(try await send([("Host", "localhost")], path: "/v1/theirs").text == "theirs by owner")
    #expect(try await send([("Host", "localhost"), ("Via", "x")], path: "/v1/theirs").text == "theirs")
  }

  @Test(arguments: ["Owner", "owner ", "owne", ""])
  func `the word is the very word`(_ word: String) async throws {
    let bench = try await Bench(isDevMode: true, routes: routes)
    let response = try await bench.send(
      "POST", "/v1/admin", headers: ["Host": "localhost", "Authorization": "Bearer \(word)"])
    #expect(response.reason == "admin_token_invalid")
  }
}
