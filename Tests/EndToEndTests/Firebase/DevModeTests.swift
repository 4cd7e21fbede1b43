import Foundation
import TestProcesses
import Testing
import Wire

/// `BRAMLEY_DEV_MODE`: as Firebase's emulator, for whoever sits at the machine.
@Suite(.timeLimit(.minutes(2)))
struct DevModeTests {
  private static let settings = ["BRAMLEY_DEV_MODE": "true"]
  private static let wipe = "/emulator/v1/projects/bramley/accounts"
  private static let refused = Refusal(401, "UNAUTHENTICATED", "admin_token_invalid")

  private func owner(_ service: Service) -> Administrator { Administrator(service: service, bearer: "owner") }

  /// A lookup by the owner with other headers.
  ///
  /// - Parameter host: In the place of the address.
  private func lookup(
    _ service: Service, host: String = "127.0.0.1", _ headers: [(name: String, value: String)]
  ) async throws -> HTTPAnswer {
    var request = HTTPRequest.post(
      "/identitytoolkit.googleapis.com/v1/projects/bramley/accounts:lookup", json: "{}",
      headers: [("Authorization", "Bearer owner")] + headers)
    request.host = host
    return try await service.send(request)
  }

  @Test func `the owner is an administrator on this machine`() async throws {
    try await withService(Self.settings) { service in
      let owner = owner(service)
      let id = try await owner.create("{}")
      #expect(try await owner.account(id) != nil)
      for host in ["127.0.0.1:8080", "localhost", "LOCALHOST:9", "[::1]:8080", "127.9.9.9"] {
        #expect(try await lookup(service, host: host, []).status == 200, "\(host)")
      }
      for origin in ["http://localhost:5173", "https://127.0.0.1", "http://[::1]:1"] {
        #expect(try await lookup(service, [("Origin", origin)]).status == 200, "\(origin)")
      }
      for other in ["Owner", "owner2", "owne", ""] {
        let admin = Administrator(service: service, bearer: other)
        try expect(await admin.post("accounts:lookup", "{}"), is: Self.refused)
      }
    }
  }

  @Test(arguments: [
    ("Forwarded", "for=192.0.2.1"), ("Forwarded", "for=127.0.0.1"), ("X-Forwarded-For", "127.0.0.1"),
    ("X-Forwarded-For", ""), ("x-forwarded-host", "localhost"), ("X-Forwarded-Proto", "https"),
    ("X-FORWARDED-ANYTHING", "x"), ("Via", "1.1 proxy"), ("Origin", "https://evil.example"),
    ("Origin", "null"), ("Origin", "http://localhost.evil.example"),
    ("Origin", "http://127.0.0.1.evil.example"),
    ("Origin", "localhost"), ("Origin", "http://localhost@evil.example"),
  ])
  func `the owner is refused behind a proxy and on a foreign page`(_ name: String, _ value: String)
    async throws
  {
    try await withService(Self.settings) { service in
      try expect(await lookup(service, [(name, value)]), is: Self.refused)
    }
  }

  @Test(arguments: [
    "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "128.0.0.1", "localhost.:80",
    "0.0.0.0", "[::2]", "[::ffff:8.8.8.8]", "identitytoolkit.googleapis.com",
  ])
  func `the owner is refused under a foreign name, which may have been made to resolve here`(
    _ host: String
  ) async throws {
    try await withService(Self.settings) { service in
      try expect(await lookup(service, host: host, []), is: Self.refused)
    }
  }

  @Test func `an administrator's own token is good beside the owner's, also behind a proxy`() async throws {
    try await withAdministrator(Self.settings) { service, admin in
      #expect(try await admin.post("accounts:lookup", "{}").status == 200)
      #expect(try await owner(service).post("accounts:lookup", "{}").status == 200)
      let headers = [
        (name: "Authorization", value: "Bearer \(Administrator.token)"), (name: "Via", value: "1.1 proxy"),
      ]
      let answer = try await service.send(
        .post("/v1/projects/bramley/accounts:lookup", json: "{}", headers: headers))
      #expect(answer.status == 200)
    }
  }

  @Test func `the emulator's routes are there, and wipe for the owner only`() async throws {
    try await withService(Self.settings) { service in
      let ready = try await service.get("/").json.object("authEmulator")
      #expect(ready?.flag("ready") == true)
      #expect(ready?.text("docs")?.isEmpty == false && ready?.text("apiSpec")?.isEmpty == false)
      let person = try await service.signIn(Mint.credential())
      let owner = owner(service)
      try await owner.create("{}")
      func wipe(_ headers: [(name: String, value: String)]) async throws -> HTTPAnswer {
        try await service.send(HTTPRequest(method: "DELETE", path: Self.wipe, headers: headers))
      }
      let bearer = (name: "Authorization", value: "Bearer owner")
      #expect(try await wipe([]).status == 401)
      #expect(try await wipe([bearer, ("Origin", "https://evil.example")]).status == 401)
      #expect(try await owner.get("accounts:batchGet").json.localIDs.count == 2)
      let config = try await service.get(
        "/emulator/v1/projects/bramley/config", headers: [bearer]
      ).json
      #expect(config.object("signIn")?.flag("allowDuplicateEmails") == true)
      let wiped = try await wipe([bearer])
      #expect(wiped.status == 200)
      #expect(String(decoding: wiped.body, as: UTF8.self) == "{}")
      #expect(try await owner.get("accounts:batchGet").json["users"] == nil)
      try expect(await service.tryRefresh(person.refreshToken), is: Refusal(400, "USER_NOT_FOUND"))
      #expect(try await wipe([bearer]).status == 200)
    }
  }

  @Test func `row 20 outside of it nobody is the owner and nothing wipes`() async throws {
    try await withAdministrator { service, admin in
      try await admin.create("{}")
      let bearer = (name: "Authorization", value: "Bearer owner")
      for (method, path) in [
        ("DELETE", Self.wipe), ("GET", "/"), ("GET", "/emulator/v1/projects/bramley/config"),
      ] {
        #expect(
          try await service.send(HTTPRequest(method: method, path: path, headers: [bearer])).status == 404)
      }
      try expect(await owner(service).post("accounts", "{}"), is: Self.refused)
      #expect(try await admin.get("accounts:batchGet").json.localIDs.count == 1)
    }
  }

  @Test func `an unsigned token is nobody's, in this mode as in any other`() async throws {
    try await withService(Self.settings) { service in
      let person = try await service.signIn(Mint.credential())
      var parts = try TokenParts(person.idToken)
      parts.header = base64URLText(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
      parts.signature = ""
      let answer = try await service.send(
        .post("/v1/accounts:lookup", json: #"{"idToken":"\#(parts.text)"}"#))
      try expect(answer, is: Refusal(400, "INVALID_ID_TOKEN", "session_token_invalid"))
    }
  }

  @Test(arguments: [
    ["BRAMLEY_LISTEN": "0.0.0.0:0", "BRAMLEY_PUBLIC_URL": "http://127.0.0.1:8080"],
    ["BRAMLEY_LISTEN": "[::]:0", "BRAMLEY_PUBLIC_URL": "http://localhost:8080"],
    ["BRAMLEY_ADMIN_LISTEN": "0.0.0.0:0"],
    ["BRAMLEY_PUBLIC_URL": "https://auth.example.com"],
    ["BRAMLEY_PUBLIC_URL": "http://localhost.example.com"],
    ["BRAMLEY_TRUSTED_PROXIES": "127.0.0.1/32"],
    ["BRAMLEY_DATABASE_URL": "postgres://u:p@127.0.0.1/b"],
  ])
  func `it is refused where anybody else could reach it`(_ settings: [String: String]) async throws {
    try await withStage { stage in
      let child = try stage.launch(settings.merging(Self.settings) { $1 })
      #expect(try await child.ended() == .exit(78))
      #expect(child.errorText.contains("BRAMLEY_DEV_MODE"), "\(child.errorText)")
    }
  }

  @Test func `a reload does not open it to proxies`() async throws {
    try await withStage { stage in
      let file = try stage.write("dev_mode: true\n", to: "bramley.yaml")
      let service = try await stage.start(arguments: ["--config", file])
      _ = try stage.write("dev_mode: true\ntrusted_proxies: 127.0.0.0/8\n", to: "bramley.yaml")
      service.process.send(signal: SIGHUP)
      _ = try await service.process.state.first { state in
        lines(state.output).contains { $0.contains("reload_refused") } ? true : nil
      }
      #expect(try await lookup(service, [("X-Forwarded-For", "127.0.0.1")]).status == 401)
      #expect(try await owner(service).post("accounts:lookup", "{}").status == 200)
    }
  }
}
