import Foundation
import TestProcesses
import Testing
import Wire

/// The lines of a log that tell of reloads.
private func reloads(_ output: [UInt8]) -> [String] {
  lines(output).filter { $0.contains(#""event":"reload"#) }
}

/// Each setting that `SIGHUP` takes over, one at a time.
@Suite(.timeLimit(.minutes(2)))
struct ReloadSettingTests {
  /// A service whose reloadable settings all come from a file.
  private func withFile(
    _ text: String, _ body: (Service, _ reload: (String) async throws -> String) async throws -> Void
  ) async throws {
    try await withStage { stage in
      let file = try stage.write(text, to: "bramley.yaml")
      let service = try await stage.start(
        without: [
          "BRAMLEY_APPLE_CLIENT_IDS", "BRAMLEY_RATE_SIGNIN", "BRAMLEY_RATE_REFRESH", "BRAMLEY_RATE_SIGNUP",
        ], arguments: ["--config", file])
      try await body(service) { text in
        _ = try stage.write(text, to: "bramley.yaml")
        let before = reloads(service.process.state.read(\.output)).count
        service.process.send(signal: SIGHUP)
        return try await service.process.state.first { state in
          let lines = reloads(state.output)
          return lines.count > before ? lines[before] : nil
        }
      }
    }
  }

  private let base = "apple_client_ids: \(Client.app)\nrate: {signin: off, refresh: off, signup: off}\n"

  @Test func `client ids`() async throws {
    try await withFile(base) { service, reload in
      let credential = try Mint.credential { $0.audience = Client.second }
      try expect(await service.trySignIn(credential), is: .token("audience_not_allowed"))
      #expect(try await reload(base.replacing(Client.app, with: Client.second)).contains("reloaded"))
      _ = try await service.signIn(credential)
      try expect(await service.trySignIn(Mint.credential()), is: .token("audience_not_allowed"))
    }
  }

  @Test func `origins`() async throws {
    try await withFile(base) { service, reload in
      let page: [(name: String, value: String)] = [("Origin", "https://app.example.com")]
      #expect(try await service.get("/livez", headers: page)["Access-Control-Allow-Origin"] == "*")
      _ = try await reload(base + "allowed_origins: [https://other.example.com]\n")
      #expect(try await service.get("/livez", headers: page)["Access-Control-Allow-Origin"] == nil)
      _ = try await reload(base + "allowed_origins: [https://app.example.com]\n")
      #expect(
        try await service.get("/livez", headers: page)["Access-Control-Allow-Origin"]
          == "https://app.example.com")
    }
  }

  @Test func `rates, which keep their count while they stay as they are`() async throws {
    let limited = base.replacing("signin: off", with: "signin: 2/h")
    try await withFile(base) { service, reload in
      for _ in 0..<3 { _ = try await service.signIn(Mint.credential()) }
      _ = try await reload(limited)
      for _ in 0..<2 { _ = try await service.signIn(Mint.credential()) }
      #expect(try await service.trySignIn(Mint.credential()).status == 429)
      _ = try await reload(limited + "log_level: debug\n")
      #expect(try await service.trySignIn(Mint.credential()).status == 429)
      _ = try await reload(base)
      _ = try await service.signIn(Mint.credential())
    }
  }

  @Test func `trusted proxies`() async throws {
    let limited = base.replacing("signin: off", with: "signin: 1/h")
    try await withFile(limited) { service, reload in
      func status(_ address: String) async throws -> Int {
        try await service.send(
          .post("/v1/signInWithIdp", json: "{}", headers: [("X-Forwarded-For", address)])
        ).status
      }
      #expect(try await status("192.0.2.1") == 400)
      #expect(try await status("192.0.2.2") == 429)
      _ = try await reload(limited + "trusted_proxies: 127.0.0.0/8\n")
      #expect(try await status("192.0.2.1") == 400)
      #expect(try await status("192.0.2.2") == 400)
      #expect(try await status("192.0.2.1") == 429)
    }
  }

  @Test func `the log level`() async throws {
    try await withStage { stage in
      let file = try stage.write("log_level: info\n", to: "bramley.yaml")
      let service = try await stage.start(arguments: ["--config", file])
      /// Reads the settings again and waits until the key that comes with them is in force: a line about it is
      /// written only where the level lets it.
      func reload(_ level: String, _ key: String) async throws {
        _ = try stage.write("log_level: \(level)\napi_keys: \(key)\n", to: "bramley.yaml")
        service.process.send(signal: SIGHUP)
        let request = HTTPRequest.post("/v1/nonces", json: "{}", headers: [("X-API-Key", key)])
        while try await service.send(request).status != 200 {}
      }
      _ = try await service.get("/livez", headers: [("X-Request-Id", "one")])
      try await reload("warning", "first")
      _ = try await service.get("/livez", headers: [("X-Request-Id", "two")])
      try await reload("info", "second")
      _ = try await service.get("/livez", headers: [("X-Request-Id", "three")])
      try await service.stop()
      let ids = try service.process.outputLines.compactMap {
        try JSONObject(parsing: Array($0.utf8)).text("requestId")
      }
      #expect(ids.contains("one") && !ids.contains("two") && ids.contains("three"))
    }
  }

  @Test(arguments: [
    "apple_client_ids: ''\n", "apple_client_ids: a.b\nrate_signin: often\n", "apple_client_ids: [a.b\n",
    "apple_client_ids: a.b\ntrusted_proxies: everyone\n", "apple_client_ids: a.b\nallowed_origins: x\n",
    "apple_client_ids: a.b\nlog_level: loud\n",
  ])
  func `a faulty file changes nothing, and the log says what is wrong`(_ text: String) async throws {
    try await withFile(base) { service, reload in
      let line = try await reload(text)
      let object = try JSONObject(parsing: Array(line.utf8))
      #expect(object.text("event") == "reload_refused")
      #expect(object.text("level") == "error")
      #expect((object.text("problem") ?? "").count > 10)
      _ = try await service.signIn(Mint.credential())
    }
  }

  @Test func `a file that is gone changes nothing`() async throws {
    try await withStage { stage in
      let file = try stage.write("api_keys: the-key\n", to: "bramley.yaml")
      let service = try await stage.start(arguments: ["--config", file])
      try FileManager.default.removeItem(atPath: file)
      service.process.send(signal: SIGHUP)
      _ = try await service.process.state.first { state in
        lines(state.output).contains { $0.contains("reload_refused") } ? true : nil
      }
      try expect(
        await service.trySignIn(Mint.credential()), is: Refusal(403, "PERMISSION_DENIED", "api_key_missing"))
    }
  }
}
