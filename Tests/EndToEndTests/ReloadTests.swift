import Foundation
import TestProcesses
import Testing
import Wire

/// `SIGHUP`: what may change while the service runs.
@Suite(.timeLimit(.minutes(2)))
struct ReloadTests {
  /// Waits until the service has told an event that often.
  private func wait(for event: String, _ count: Int, _ service: Service) async throws {
    _ = try await service.process.state.first { state in
      lines(state.output).count { $0.contains("\"event\":\"\(event)\"") } >= count ? true : nil
    }
  }

  @Test func `a settings file is read again, and a faulty one changes nothing`() async throws {
    try await withStage { stage in
      let file = try stage.write("api_keys: first-key\n", to: "bramley.yaml")
      let service = try await stage.start(arguments: ["--config", file])
      let ask = { (key: String) in
        try await service.send(.post("/v1/nonces", json: "{}", headers: [("X-API-Key", key)])).status
      }
      #expect(try await ask("first-key") == 200)
      _ = try stage.write("api_keys: second-key\n", to: "bramley.yaml")
      #expect(try await ask("second-key") == 403)
      service.process.send(signal: SIGHUP)
      try await wait(for: "reloaded", 1, service)
      #expect(try await ask("second-key") == 200)
      #expect(try await ask("first-key") == 403)
      _ = try stage.write("api_keys: third-key\nnonsense: 1\n", to: "bramley.yaml")
      service.process.send(signal: SIGHUP)
      try await wait(for: "reload_refused", 1, service)
      #expect(try await ask("second-key") == 200)
      #expect(try await ask("third-key") == 403)
      try await service.stop()
      let written = service.process.state.read { String(decoding: $0.output, as: UTF8.self) }
      for key in ["first-key", "second-key", "third-key"] { #expect(!written.contains(key)) }
    }
  }

  @Test func `metrics are on the listener for operators when there is one`() async throws {
    try await withStage { stage in
      let service = try await stage.start(["BRAMLEY_ADMIN_LISTEN": "127.0.0.1:0"])
      _ = try await service.signIn(Mint.credential())
      try expect(await service.get("/metrics"), is: .argument("not_found", 404))
      let line = try #require(service.process.outputLines.first { $0.contains("adminListen") })
      let address = try #require(try JSONObject(parsing: Array(line.utf8)).text("adminListen"))
      let metrics = try await exchange(HTTPRequest(path: "/metrics"), port: port(of: address))
      #expect(metrics.status == 200)
      #expect(metrics["Content-Type"]?.hasPrefix("text/plain") == true)
      // Nothing of the apps' is there.
      for path in ["/livez", "/v1/nonces", "/.well-known/jwks.json"] {
        try expect(
          await exchange(HTTPRequest(path: path), port: port(of: address)), is: .argument("not_found", 404))
      }
      try await service.stop()
    }
  }
}
