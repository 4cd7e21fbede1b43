import Foundation
import TestProcesses
import Testing
import Wire

/// The files of `deploy/proxy` and the proxy of `deploy/docker`, driven as they are written.
@Suite(.timeLimit(.minutes(10)), .enabled(if: DeployFiles.areCheckable))
struct FrontTests {
  private func with(
    _ front: Front, _ changes: [String: String] = [:], _ body: (Service, RunningFront) async throws -> Void
  ) async throws {
    try await withStage { stage in
      let own = ["BRAMLEY_TRUSTED_PROXIES": "127.0.0.1", "BRAMLEY_ADMIN_LISTEN": "127.0.0.1:0"]
      let service = try await stage.start(own.merging(changes) { $1 })
      try await body(service, try await stage.start(front, before: service))
    }
  }

  @Test(arguments: Front.allCases)
  func `a person signs in over HTTP 2, and strangers do not reach the figures`(_ front: Front) async throws {
    try await with(front) { _, front async throws in
      let credential = try Mint.credential()
      let answer = try await front.curl(
        "/v1/signInWithIdp", "--http2", "-H", "Content-Type: application/json", "-d", credential.body(), "-w",
        "\n%{http_version} %{response_code}")
      let lines = answer.output.split(separator: "\n")
      #expect(lines.last == "2 200", "\(answer.errors)")
      let session = try JSONObject(parsing: Array(try #require(lines.first).utf8))
      let bearer = "Authorization: Bearer \(try #require(session.text("idToken")))"
      let account = try await front.curl("/v1/account", "--http2", "-H", bearer).json
      #expect(account.text("localId") == session.text("localId"))
      let refreshed = try await front.curl(
        "/v1/token", "-d",
        "grant_type=refresh_token&refresh_token=\(try #require(session.text("refreshToken")))")
      #expect(try refreshed.json.text("id_token") != nil)
      for path in ["/metrics", "/v1/admin/users", "/console"] {
        #expect(try await front.curl(path, "-o", "/dev/null", "-w", "%{response_code}").output == "404")
      }
    }
  }

  @Test(arguments: Front.allCases)
  func `a rate is that of the client's address, whatever the client says about it`(_ front: Front)
    async throws
  {
    try await with(front, ["BRAMLEY_RATE_SIGNIN": "1/h"]) { _, front async throws in
      func spend(from address: String, saying claim: String) async throws -> String {
        try await front.curl(
          "/v1/signInWithIdp", "--interface", address, "-H", "X-Forwarded-For: \(claim)", "-H",
          "Content-Type: application/json", "-d", "{}", "-o", "/dev/null", "-w", "%{response_code}"
        ).output
      }
      #expect(try await spend(from: "127.0.0.2", saying: "192.0.2.1") == "400")
      #expect(try await spend(from: "127.0.0.3", saying: "192.0.2.1") == "400")
      #expect(try await spend(from: "127.0.0.2", saying: "192.0.2.2") == "429")
      #expect(try await spend(from: "127.0.0.3", saying: "127.0.0.1, 192.0.2.3") == "429")
    }
  }

  @Test(arguments: Front.allCases)
  func `what is too much is refused in words that an app understands`(_ front: Front) async throws {
    try await withStage { stage in
      let service = try await stage.start(["BRAMLEY_ADMIN_LISTEN": "127.0.0.1:0"])
      let front = try await stage.start(front, before: service)
      for size in [100_000, 300_000, 900_000, 1_900_000] {
        let file = try stage.write(String(repeating: "x", count: size), to: "much")
        for _ in 0..<5 {
          let answer = try await front.curl(
            "/v1/signInWithIdp", "-H", "Content-Type: application/json", "--data-binary", "@\(file)")
          let details = try? answer.json.object("error")?.objects("details")
          #expect(
            details?.first?.text("reason") == "body_too_large", "\(size): \(answer.output) \(answer.errors)")
        }
      }
    }
  }

  @Test(arguments: [Front.nginx, .haproxy])
  func `plain HTTP is led to TLS`(_ front: Front) async throws {
    try await with(front) { _, front async throws in
      let url = "http://127.0.0.1:\(front.plainPort)/v1/certs?x=1"
      let answer = try await run(
        "/usr/bin/curl", ["-sS", "-o", "/dev/null", "-w", "%{response_code} %{redirect_url}", url])
      #expect(answer.output.hasPrefix("308 https://127.0.0.1"), "\(answer.output)")
      #expect(answer.output.hasSuffix("/v1/certs?x=1"))
    }
  }

  /// Starts three nodes on one database behind the proxy of the containers.
  private func withNodes(
    appleURL: String? = nil, _ body: ([Service], UInt16, ChildProcess) async throws -> Void
  ) async throws {
    try await withStage(appleURL: appleURL) { stage in
      var nodes: [Service] = []
      for _ in 1...3 { nodes.append(try await stage.start(["BRAMLEY_TRUSTED_PROXIES": "127.0.0.1"])) }
      let (port, child) = try await stage.startProxy(before: nodes.map(\.port))
      try await body(nodes, port, child)
    }
  }

  @Test func `three nodes behind the proxy are one service, also when one of them is killed`() async throws {
    try await withNodes { nodes, port, _ async throws in
      let session = try SignedIn(
        try await exchange(.signIn(Mint.credential().body()), port: port))
      var token = session.refreshToken
      for round in 1...12 {
        if round == 5 { try await nodes[1].kill() }
        let answer = try await exchange(.refresh(token), port: port)
        try #require(answer.status == 200, "\(answer)")
        token = try #require(try answer.json.text("refresh_token"))
      }
      #expect(try await exchange(HTTPRequest(path: "/metrics"), port: port).status == 404)
      for node in [nodes[0], nodes[2]] { try await node.stop() }
      let served = try [nodes[0], nodes[2]].map { node in
        try node.process.outputLines.contains {
          try JSONObject(parsing: Array($0.utf8)).text("route") == "token"
        }
      }
      #expect(served == [true, true])
    }
  }

  @Test func `what had no answer goes to another node, but for what would be made twice`() async throws {
    try await withStage { stage in
      let service = try await stage.start(["BRAMLEY_ANONYMOUS": "true", "BRAMLEY_RATE_SIGNUP": "off"])
      let silent = try await startSilentNode(stage)
      let (port, _) = try await stage.startProxy(before: [service.port, silent, silent])
      for _ in 1...9 {
        let answer = try await exchange(.signIn(Mint.credential().body()), port: port)
        #expect(answer.status == 200, "\(answer)")
      }
      var statuses: [Int] = []
      for path in ["/v1/accounts:signUp", "/identitytoolkit/v3/relyingparty/signupNewUser"] {
        for _ in 1...9 {
          statuses.append(try await exchange(.post(path, json: "{}"), port: port).status)
        }
      }
      #expect(Set(statuses) == [200, 502])
      let users = try await stage.command("users", "list", "--json").json.objects("users")
      #expect(users.count == 9 + statuses.count { $0 == 200 })
    }
  }

  /// Starts what says that it is ready, and closes every other request without a word, as a node does that is killed.
  private func startSilentNode(_ stage: Stage) async throws -> UInt16 {
    let port = try freePort()
    let site = try stage.write(
      "server { listen 127.0.0.1:\(port); location = /readyz { return 200; } location / { return 444; } }",
      to: "silent.conf")
    let child = stage.keep(
      try ChildProcess(
        Front.nginx.program, stage.nginxArguments(site: site), environment: Program.environment,
        folder: stage.folder))
    try await listens(port, child)
    return port
  }

  @Test func `when no node is left the proxy says it as they would`() async throws {
    try await withNodes { nodes, port, _ async throws in
      for node in nodes { try await node.kill() }
      let answer = try await exchange(HTTPRequest(path: "/v1/certs"), port: port)
      #expect(answer.status == 503)
      #expect(answer["Retry-After"] == "2")
      let error = try #require(try answer.json.object("error"))
      #expect(error.text("message")?.hasPrefix("UNAVAILABLE : ") == true)
      #expect(error.objects("details").first?.text("reason") == "overloaded")
    }
  }

  @Test func `what all nodes lack they say themselves, and the keys stay to be had`() async throws {
    let apple = try await MockAppleProgram.start()
    try await apple.behave("unavailable")
    try await withNodes(appleURL: apple.keysURL) { _, port, proxy async throws in
      try await proxy.line { $0.contains("nodes has no server available") }
      let ready = try await exchange(HTTPRequest(path: "/readyz"), port: port)
      #expect(ready.status == 503)
      #expect(ready["X-Request-Id"] != nil)
      #expect(try await exchange(HTTPRequest(path: "/.well-known/jwks.json"), port: port).status == 200)
    }
    try await apple.kill()
  }
}
