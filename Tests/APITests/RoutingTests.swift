import API
import HTTPServer
import TestSupport
import Testing
import Wire

/// A route that answers with its name and what the path said.
func echo(
  _ method: String, _ path: String, _ name: String, host: GoogleHost? = nil, face: Face = .bramley,
  access: Access = .open
) -> Route {
  Route(method, path, name: name, host: host, face: face, access: access) { call in
    let words = call.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    let text = ([name] + words + [call.administrator].compactMap { $0.map { "by \($0)" } })
      .joined(separator: " ")
    return Response(status: 200, body: Array(text.utf8))
  }
}

extension Response {
  /// The body as text.
  var text: String { String(decoding: body, as: UTF8.self) }
}

private let toolkit = "identitytoolkit.googleapis.com"
private let secure = "securetoken.googleapis.com"

private let routes = [
  echo("POST", "/v1/accounts:lookup", "lookup", host: .identityToolkit, face: .firebase),
  echo("POST", "/v1/projects/{project}", "project", host: .identityToolkit, face: .firebase),
  echo("POST", "/v1/projects/{project}:close", "close", host: .identityToolkit, face: .firebase),
  echo("GET", "/v1/projects/{project}/accounts:list", "list", host: .identityToolkit, face: .firebase),
  echo("POST", "/v1/projects/{project}/accounts:list", "post", host: .identityToolkit, face: .firebase),
  echo("POST", "/v1/projects/mine", "mine", host: .identityToolkit, face: .firebase),
  echo("POST", "/v1/token", "firebase token", host: .secureToken, face: .firebase),
  echo("POST", "/identitytoolkit/v3/lookup", "v3", host: .googleAPIs, face: .firebase),
  echo("GET", "/{project}/.well-known/openid-configuration", "issuer", host: .secureTokenIssuer),
]

@Suite struct RoutingTests {
  @Test func `a template is tried when no path is the very one, and the longest first`() async throws {
    let bench = try await Bench(routes: routes)
    func answer(_ path: String) async throws -> String { try await bench.send("POST", path).text }
    #expect(try await answer("/v1/projects/bramley") == "project project=bramley")
    #expect(try await answer("/v1/projects/bramley:close") == "close project=bramley")
    #expect(try await answer("/v1/projects/mine") == "mine")
    #expect(
      try await bench.send("GET", "/bramley/.well-known/openid-configuration").text
        == "issuer project=bramley")
  }

  @Test(arguments: ["other", "Bramley", "bramley%20", "%62ramley", "bramleyé"])
  func `another project is none of ours`(_ project: String) async throws {
    let bench = try await Bench(routes: routes)
    let response = try await bench.send("GET", "/v1/projects/\(project)/accounts:list")
    #expect(response.status == 400)
    #expect(response.reason == "configuration_not_found")
    #expect(response.text.contains("CONFIGURATION_NOT_FOUND : "))
  }

  @Test func `a service's routes are behind its name, without it, and under its name in Host`() async throws {
    let bench = try await Bench(routes: routes)
    for target in ["/v1/accounts:lookup", "/\(toolkit)/v1/accounts:lookup"] {
      #expect(try await bench.send("POST", target).text == "lookup")
      #expect(
        try await bench.send("POST", target + "?key=x", headers: ["Host": "127.0.0.1"]).text == "lookup")
    }
    for host in [toolkit, "\(toolkit):443", "IdentityToolkit.GoogleAPIs.com:8443"] {
      #expect(try await bench.send("POST", "/v1/accounts:lookup", headers: ["Host": host]).text == "lookup")
    }
    #expect(
      try await bench.send("GET", "/\(toolkit)/v1/projects/bramley/accounts:list").text
        == "list project=bramley")
    #expect(try await bench.send("POST", "/www.googleapis.com/identitytoolkit/v3/lookup").text == "v3")
    #expect(
      try await bench.send("GET", "/securetoken.google.com/bramley/.well-known/openid-configuration").status
        == 200)
  }

  @Test func `with a service's name only its own routes match`() async throws {
    let bench = try await Bench(routes: routes)
    for target in [
      "/\(secure)/v1/accounts:lookup", "/www.googleapis.com/v1/accounts:lookup", "/\(toolkit)/v1/token",
      "/\(toolkit)/\(toolkit)/v1/accounts:lookup", "/\(toolkit)", "/\(toolkit)/",
      "/\(toolkit)v1/accounts:lookup",
      "/IDENTITYTOOLKIT.googleapis.com/v1/accounts:lookup", "//\(toolkit)/v1/accounts:lookup",
      "/evil.example/v1/accounts:lookup",
    ] {
      #expect(try await bench.send("POST", target).reason == "not_found", "\(target)")
    }
    #expect(
      try await bench.send("POST", "/v1/accounts:lookup", headers: ["Host": secure]).reason == "not_found")
  }

  @Test func `the name in the path wins over the one in Host`() async throws {
    let bench = try await Bench(routes: routes)
    let headers: Headers = ["Host": secure]
    #expect(
      try await bench.send("POST", "/\(toolkit)/v1/accounts:lookup", headers: headers).text == "lookup")
    #expect(try await bench.send("POST", "/\(toolkit)/v1/token", headers: headers).reason == "not_found")
  }

  @Test func `a path of ours and a service's is ours unless the service is named`() async throws {
    let bench = try await Bench(routes: routes)
    #expect(try await bench.send("POST", "/v1/token").reason == "media_type_not_supported")
    #expect(try await bench.send("POST", "/\(secure)/v1/token").text == "firebase token")
    #expect(try await bench.send("POST", "/v1/token", headers: ["Host": secure]).text == "firebase token")
  }

  @Test func `our own routes are there whatever Host says, and never behind a service's name`() async throws {
    let bench = try await Bench(routes: routes)
    for host in [toolkit, secure, "www.googleapis.com", "evil.example", "[::1", ""] {
      #expect(try await bench.send("GET", "/livez", headers: ["Host": host]).status == 200)
    }
    for host in [toolkit, secure, "www.googleapis.com", "securetoken.google.com"] {
      #expect(try await bench.send("GET", "/\(host)/livez").reason == "not_found")
      #expect(try await bench.send("POST", "/\(host)/v1/signInWithIdp").reason == "not_found")
    }
  }

  @Test(arguments: ["", "/" + toolkit])
  func `other methods, OPTIONS and HEAD are as everywhere`(_ prefix: String) async throws {
    let bench = try await Bench(routes: routes)
    let path = prefix + "/v1/projects/bramley/accounts:list"
    let refused = try await bench.send("PUT", path)
    #expect(refused.status == 405)
    #expect(refused.headers.all("Allow") == ["GET, HEAD, OPTIONS, POST"])
    #expect(try await bench.send("HEAD", path).text == "list project=bramley")
    let options = try await bench.send("OPTIONS", path)
    #expect(options.status == 204)
    #expect(options.headers.all("Allow") == ["GET, HEAD, OPTIONS, POST"])
    #expect(
      try await bench.send("OPTIONS", prefix + "/v1/accounts:lookup").headers.all("Allow") == [
        "OPTIONS, POST"
      ])
    #expect(
      try await bench.send("GET", prefix + "/v1/projects/mine").headers.all("Allow") == ["OPTIONS, POST"])
  }

  @Test func `a page may call every path, and can read a refusal of any`() async throws {
    let bench = try await Bench(apiKeys: ["key"], routes: routes + [closed])
    let names = "content-type,x-client-version,x-firebase-client,x-firebase-gmpid"
    for path in ["/\(secure)/v1/token", "/\(toolkit)/v1/projects/bramley:close", "/\(toolkit)/nowhere"] {
      let response = try await bench.send(
        "OPTIONS", path,
        headers: [
          "Origin": "http://localhost:5000", "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": names, "Access-Control-Request-Private-Network": "true",
        ])
      #expect(response.status == 204)
      #expect(response.headers.all("Access-Control-Allow-Origin") == ["*"])
      #expect(response.headers.all("Access-Control-Allow-Headers") == [names])
      #expect(response.headers.all("Access-Control-Allow-Private-Network") == ["true"])
      for method in ["GET", "POST", "OPTIONS"] {
        #expect(response.headers.first("Access-Control-Allow-Methods")?.contains(method) == true)
      }
    }
    for (path, status) in [("/\(toolkit)/nowhere", 404), ("/\(secure)/v1/token", 405), ("/v1/closed", 403)] {
      let method = status == 405 ? "GET" : "POST"
      let response = try await bench.send(method, path, headers: ["Origin": "http://localhost:5000"])
      #expect(response.status == status)
      #expect(response.headers.all("Access-Control-Allow-Origin") == ["*"])
    }
  }

  @Test
  func `operators' routes can be called by pages of named origins alone, but on a machine of one's own`()
    async throws
  {
    let own = echo("GET", "/v1/admin/things", "things", access: .administrator)
    let page = "https://app.example"
    for (origins, isDevMode, allowed) in [
      (["*"], false, nil), ([page], false, page), (["https://b.example"], false, nil), (["*"], true, "*"),
    ] {
      let bench = try await Bench(
        origins: origins, adminTokens: ["ann": "a-long-admin-token"], isDevMode: isDevMode,
        routes: routes + [own])
      let preflight = try await bench.send(
        "OPTIONS", "/v1/admin/things",
        headers: [
          "Origin": page, "Access-Control-Request-Method": "GET",
          "Access-Control-Request-Headers": "authorization", "Access-Control-Request-Private-Network": "true",
        ])
      #expect(preflight.headers.first("Access-Control-Allow-Origin") == allowed)
      #expect(preflight.headers.first("Access-Control-Allow-Headers") == allowed.map { _ in "authorization" })
      #expect(preflight.headers.first("Access-Control-Allow-Private-Network") == allowed.map { _ in "true" })
      for token in ["a-long-admin-token", "another"] {
        let answer = try await bench.send(
          "GET", "/v1/admin/things", headers: ["Origin": page, "Authorization": "Bearer \(token)"])
        #expect(answer.status == (token == "another" ? 401 : 200))
        #expect(answer.headers.first("Access-Control-Allow-Origin") == allowed)
      }
    }
  }

  private let closed = echo(
    "POST", "/v1/closed", "closed", host: .identityToolkit, face: .firebase, access: .app)
}
