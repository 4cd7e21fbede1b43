import Testing
import Wire

/// The command line's manners.
@Suite(.timeLimit(.minutes(2)))
struct UsageTests {
  static let commands = [
    "serve", "config", "keys", "users", "audit", "token", "migrate", "doctor", "version",
  ]

  @Test(arguments: commands)
  func `every command explains itself`(_ name: String) async throws {
    for arguments in [[name, "--help"], [name, "-h"]] {
      let finished = try await run(Program.bramley, arguments)
      #expect(finished.status == 0)
      #expect(finished.output.contains("usage: bramley \(name)"))
      #expect(finished.errors.isEmpty)
    }
  }

  @Test(arguments: ["--help", "help", "-h"])
  func `the program lists its commands`(_ word: String) async throws {
    let finished = try await run(Program.bramley, [word])
    #expect(finished.status == 0)
    for name in Self.commands { #expect(finished.output.contains("  \(name) ")) }
  }

  @Test(arguments: [
    [], ["nonsense"], ["serve", "now"], ["serve", "--port", "1"], ["serve", "--json"], ["config"],
    ["config", "mend"],
    ["config", "check", "twice"], ["keys"], ["keys", "steal"], ["users"], ["users", "show"],
    ["users", "list", "x"],
    ["users", "list", "--limit", "0"], ["users", "list", "--limit", "1001"],
    ["users", "list", "--limit", "ten"],
    ["users", "list", "--limit"], ["users", "list", "--after", "-1"], ["users", "show", "a", "b"],
    ["users", "show", ""], ["token"], ["token", "explain"], ["token", "explain", "a", "b"],
    ["token", "make", "a"],
    ["token", "explain", "--now", "soon", "a"], ["token", "explain", "--audience", "", "a"],
    ["migrate", "up"],
    ["migrate", "--force"], ["doctor", "x"], ["version", "2"], ["version", "--json=1"],
    ["users", "list", "--json", "--limit=1", "--limit=2"], ["users", "disable"],
    ["users", "delete", "a", "b"],
    ["users", "set-claims", "a"], ["users", "end-sessions", "a", "x"], ["users", "list", "--email", "x"],
    ["users", "list", "--id", "a", "--email", "b@c"], ["users", "list", "--provider", "apple.com"],
    ["users", "disable", "--id", "a"], ["audit"], ["audit", "mend"], ["audit", "list", "x"],
    ["audit", "list", "--limit", "0"], ["audit", "list", "--account", "a b"],
    ["audit", "verify", "--after", "1"], ["audit", "verify", "--head", "1:x"], ["audit", "restart", "x"],
    ["audit", "restart", "--head", "1:x"],
  ])
  func `wrong usage ends with 64`(_ arguments: [String]) async throws {
    try await withStage { stage in
      let finished = try await run(
        Program.bramley, arguments, environment: stage.settings, folder: stage.folder)
      #expect(finished.status == 64)
      #expect(arguments.isEmpty || finished.errors.contains("bramley: "))
      #expect(arguments.isEmpty || finished.output.isEmpty)
    }
  }

  @Test func `the version is a version`() async throws {
    let text = try await run(Program.bramley, ["version"])
    let json = try await run(Program.bramley, ["version", "--json"]).json
    let version = try #require(json.text("version"))
    #expect(version.split(separator: ".").count == 3)
    #expect(text.output == "bramley \(version)\n")
  }
}
