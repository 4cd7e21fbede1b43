import Foundation
import TestProcesses
import Testing
import Wire

/// The demonstration's page in a real browser. The stand-in for Apple has another scheme, and so is another site: its
/// page posts across, as Apple's does.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Program.clientsPython != nil))
struct WebBrowserTests {
  private let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Clients/web_sign_in.py").path

  private func said(
    by page: Service, _ stage: Stage, scheme: String, host: String = "127.0.0.1", _ button: String
  ) async throws
    -> JSONObject
  {
    let finished = try await run(
      try #require(Program.clientsPython),
      [
        script, "\(scheme)://\(host):\(page.port)", Client.web, button, stage.folder,
      ],
      environment: ["HOME": stage.folder, "TMPDIR": stage.folder])
    try #require(finished.status == 0, "\(finished.errors)")
    return try finished.json
  }

  private func withPage(
    _ scheme: String, _ body: (Service, Stage) async throws -> Void
  ) async throws {
    let apple = try await MockAppleProgram.start()
    try await withStage(appleURL: apple.baseURL) { stage in
      let identity = scheme == "https" ? try await tlsIdentity(stage) : [:]
      let settings = Team.settings.merging(["BRAMLEY_DEV_MODE": "true"]) { $1 }.merging(identity) { $1 }
      try await body(try await stage.start(settings), stage)
    }
    try await apple.kill()
  }

  @Test(arguments: ["http", "https"])
  func `W01 a person signs in, with cookies as browsers send them`(_ scheme: String) async throws {
    try await withPage(scheme) { service, stage in
      let said = try await said(by: service, stage, scheme: scheme, "continue")
      #expect(said.text("status") == "signed in")
      #expect(said.text("name") == "Ada Lovelace")
      #expect(said.text("localId")?.count == 28)
      #expect(said.text("session")?.count == 32)
      #expect(said.text("address") == "\(scheme)://127.0.0.1:\(service.port)/console/signin-demo")
      #expect(said.texts("complaints") == [])
    }
  }

  @Test func `a person who comes by another name of this machine signs in as well`() async throws {
    try await withPage("http") { service, stage in
      let said = try await said(by: service, stage, scheme: "http", host: "localhost", "continue")
      #expect(said.text("status") == "signed in")
      #expect(said.text("address") == "http://127.0.0.1:\(service.port)/console/signin-demo")
    }
  }

  @Test func `W05 a person who closes Apple's page is told so`() async throws {
    try await withPage("http") { service, stage in
      let said = try await said(by: service, stage, scheme: "http", "cancel")
      #expect(said.text("status") == "user_cancelled_authorize")
      #expect(said.text("localId") == "")
    }
  }
}
