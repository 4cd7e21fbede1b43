import Foundation
import TestProcesses
import Testing
import Wire

/// What administrators read of the work that waits, and of what is kept of Apple's.
@Suite(.timeLimit(.minutes(10)))
struct WaitingTests {
  @Test func `calls to Apple are counted by kind while they wait, and a token is known of when it is kept`()
    async throws
  {
    try await withAppleSide(Administrator.settings) { apple, stage, service in
      let visitor = Operator(service: service)
      try await apple.behave(tokens: "unavailable")
      let (credential, code) = try Mint.credentialWithCode()
      let person = try await service.signIn(with: code, credential)
      let waiting = try #require(try await visitor.done("GET", "/queues").object("apple"))
      #expect(waiting.flag("hasKey") == true)
      #expect(waiting.integer("nextCallAt") != nil)
      #expect(waiting.integer("nextCheckAt") == nil)
      let counts = waiting.objects("calls").map { "\($0.text("kind") ?? "") \($0.integer("waiting") ?? -1)" }
      #expect(counts == ["exchange 1", "revoke 0", "exchange_then_revoke 0"])
      let oldest = waiting.objects("calls").map { $0.integer("oldestAt") }
      #expect(abs((oldest[0] ?? 0) - Mint.now) < 60)
      #expect(oldest.dropFirst() == [nil, nil])
      #expect(try await visitor.done("GET", "/users/\(person.localID)").objects("appleTokens").isEmpty)

      try await apple.behave(tokens: "good")
      try await eventually("the token is kept") {
        _ = try await stage.command("apple", "queue", "retry", "--all", settings: Team.settings)
        return try await stage.grants() == 1
      }
      let done = try #require(try await visitor.done("GET", "/queues").object("apple"))
      #expect(done.objects("calls").map { $0.integer("waiting") } == [0, 0, 0])
      #expect((done.integer("nextCheckAt") ?? 0) > Mint.now + 3600)
      let shown = try await visitor.done("GET", "/users/\(person.localID)")
      let token = try #require(shown.objects("appleTokens").first)
      #expect(token.text("clientId") == Client.app)
      #expect(token.integer("nextCheckAt") == done.integer("nextCheckAt"))
      let printed = try await stage.command(
        "users", "show", person.localID, "--json", settings: Team.settings)
      #expect(try printed.json.bytes == shown.bytes)
    }
  }

  @Test func `events that the back end does not take are counted`() async throws {
    try await withReceiver([:], .answer(500)) { _, _, service in
      _ = try await service.signIn(Mint.credential())
      let queues = try #require(
        try await Operator(service: service).done("GET", "/queues").object("webhooks"))
      #expect(queues.integer("waiting") == 1)
      #expect(queues.integer("givenUp") == 0)
      #expect(abs((queues.integer("oldestAt") ?? 0) - Mint.now) < 60)
    }
  }

  @Test func `the console comes with the first token of an administrator, and goes with the last`()
    async throws
  {
    try await withStage { stage in
      let file = try stage.write("log_level: info\n", to: "settings.yaml")
      let service = try await stage.start(arguments: ["--config", file])
      func becomes(_ status: Int, with settings: String) async throws {
        _ = try stage.write(settings, to: "settings.yaml")
        service.process.send(signal: SIGHUP)
        try await service.waits("the settings are not in force") {
          try await service.get("/console").status == status
        }
        for path in ["/console.js", "/console.css"] {
          #expect(try await service.get(path).status == status)
        }
      }
      #expect(try await service.get("/console").status == 404)
      try await becomes(200, with: "admin_token: \(Administrator.token)\n")
      try await becomes(404, with: "log_level: info\n")
    }
  }
}
