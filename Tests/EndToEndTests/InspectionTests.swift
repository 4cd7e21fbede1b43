import Foundation
import TestProcesses
import Testing
import Wire

/// Commands that look at a database and leave it as they found it.
@Suite(.timeLimit(.minutes(2)))
struct InspectionTests {
  private static let lists = [
    ["users", "list"], ["users", "show", "A123456789012345678901234567"], ["keys", "list"],
  ]

  private func run(_ arguments: [String], on stage: Stage) async throws -> Finished {
    try await EndToEndTests.run(
      Program.bramley, arguments, environment: stage.settings, folder: stage.folder)
  }

  /// What `doctor` says of a subject, as `verdict detail`.
  private func findings(
    _ subject: String, _ stage: Stage, _ settings: [String: String] = [:]
  ) async throws -> [String] {
    try await stage.command("doctor", "--json", settings: settings).json.objects("findings")
      .filter { $0.text("subject") == subject }
      .map { "\($0.text("verdict") ?? "") \($0.text("detail") ?? "")" }
  }

  @Test(arguments: lists)
  func `a schema of before is left to migrate`(_ arguments: [String]) async throws {
    try await withStage { stage in
      try await stage.start().stop()
      try await stage.sql("PRAGMA user_version = -1")
      let refused = try await run(arguments, on: stage)
      #expect(refused.status == 1)
      #expect(refused.output.isEmpty)
      #expect(refused.errors.contains("run `bramley migrate`"), "\(refused.errors)")
      #expect(try await stage.sql("PRAGMA user_version") == "-1")
    }
  }

  @Test(arguments: lists)
  func `a file without a schema gets none`(_ arguments: [String]) async throws {
    try await withStage { stage in
      _ = try stage.write("", to: "bramley.db")
      let refused = try await run(arguments, on: stage)
      #expect(refused.status == 1)
      #expect(refused.errors.contains("no schema yet"), "\(refused.errors)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: stage.database)).isEmpty)
    }
  }

  @Test func `what a killed service left is listed`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let person = try await service.signIn(Mint.credential()).localID
      try await service.kill()
      #expect(try await stage.command("users", "list").output.contains(person))
      try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: stage.database)
      #expect(try await stage.command("users", "list").output.contains(person))
    }
  }

  @Test func `the doctor finds nothing wrong with a database that is yet to be used`() async throws {
    try await withStage { stage in
      _ = try stage.write("", to: "bramley.db")
      #expect(
        try await findings("database", stage) == ["warning it has no schema yet: the first start makes it"])
      let first = ["warning the database is empty: the first start makes the key"]
      #expect(try await findings("master key", stage) == first)
      #expect(try Data(contentsOf: URL(fileURLWithPath: stage.database)).isEmpty)
      #expect(try await stage.command("migrate").status == 0)
      #expect(try await findings("database", stage) == ["ok takes writes"])
      #expect(try await findings("master key", stage) == first)
      #expect(try await stage.command("doctor").status == 0)
      #expect(!FileManager.default.fileExists(atPath: stage.masterKeyFile))
      let set = ["BRAMLEY_MASTER_KEY": Data((0..<32).map { $0 * 7 }).base64EncodedString()]
      #expect(try await findings("master key", stage, set) == [])
      #expect(
        try await findings("signing keys", stage, set) == ["warning none yet: the first start makes them"])
    }
  }

  @Test func `the doctor migrates nothing and writes to no schema but its own`() async throws {
    try await withStage { stage in
      try await stage.start().stop()
      try await stage.sql("PRAGMA user_version = -1")
      let beats = try await stage.sql("SELECT beats FROM pulse")
      let found = try await findings("database", stage)
      #expect(found.count == 1)
      #expect(found.first?.hasPrefix("warning ") == true)
      #expect(found.first?.contains("run `bramley migrate`") == true)
      #expect(try await stage.sql("PRAGMA user_version") == "-1")
      #expect(try await stage.sql("SELECT beats FROM pulse") == beats)
      try await stage.sql("PRAGMA user_version = 1000000")
      #expect(try await findings("database", stage).first?.hasPrefix("failed ") == true)
    }
  }

  @Test func `the doctor still misses a key that is gone`() async throws {
    try await withStage { stage in
      try await stage.start().stop()
      try FileManager.default.removeItem(atPath: stage.masterKeyFile)
      let found = try await findings("master key", stage)
      #expect(found.first?.hasPrefix("failed the database is not empty") == true)
      #expect(try await stage.command("doctor").status == 1)
    }
  }

  @Test(arguments: [0o600, 0o640, 0o604])
  func `a master key that others may read is told by the doctor and by the start`(_ mode: Int) async throws {
    try await withStage { stage in
      try await stage.start().stop()
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: stage.masterKeyFile)
      let found = try await findings("master key", stage)
      let service = try await stage.start()
      _ = try await service.get("/livez")
      try await service.stop()
      let told = service.process.outputLines.filter {
        $0.contains("setting_doubtful") && $0.contains(".master-key")
      }
      guard mode != 0o600 else {
        #expect(found == [])
        #expect(told == [])
        return
      }
      #expect(found.count == 1)
      #expect(found.first?.hasPrefix("warning \(stage.masterKeyFile) may be read by others") == true)
      #expect(told.count == 1)
      #expect(told.first?.contains(String(mode, radix: 8)) == true)
    }
  }

  @Test func `what is doubtful about the settings comes behind the line that says ready`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      try await service.stop()
      let lines = service.process.outputLines
      let ready = try #require(lines.firstIndex { $0.contains(#""event":"ready""#) })
      let doubt = try #require(lines.firstIndex { $0.contains("setting_doubtful") })
      #expect(ready < doubt)
    }
  }

  @Test func `the doctor compares the clock with a key endpoint of the stand-in`() async throws {
    try await withMisbehavingApple("good") { _, stage in
      let (clock, apple) = (try await findings("clock", stage), try await findings("Apple", stage))
      #expect(clock.first?.hasPrefix("ok ") == true, "\(clock)")
      #expect(apple.first?.hasPrefix("ok ") == true, "\(apple)")
    }
  }

  @Test(arguments: [
    ("unavailable", "status_503", "status 503"), ("empty", "no_usable_key", "no key"),
    ("page", "not_json", "no JSON"), ("closed", "broken", "broke off"),
  ])
  func `why Apple's keys did not come is a word in the log and a sentence for people`(
    _ behaviour: String, _ label: String, _ words: String
  ) async throws {
    try await withMisbehavingApple(behaviour) { _, stage in
      let told = try await findings("Apple", stage)
      #expect(told.first?.hasPrefix("failed ") == true)
      #expect(told.first?.contains(words) == true, "\(told)")
      let explained = try await stage.command("token", "explain", try Mint.credential().idToken)
      #expect(explained.status == 69)
      #expect(explained.errors.contains(words), "\(explained.errors)")
      let service = try await stage.start()
      let line = try await service.process.state.first { state in
        lines(state.output).first { $0.contains("apple_keys_fetch_failed") }
      }
      #expect(try JSONObject(parsing: Array(line.utf8)).text("cause") == label)
    }
  }

  @Test func `nobody at Apple's address is told as such`() async throws {
    try await withStage(appleURL: "http://127.0.0.1:1") { stage in
      let apple = try await findings("Apple", stage)
      #expect(apple.first?.contains("no connection could be made") == true, "\(apple)")
    }
  }

  @Test func `an address that cannot be had is told in words`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let cases = [
        ("127.0.0.1:\(service.port)", "in use"), ("192.0.2.1:0", "no such address"),
      ]
      for (address, words) in cases {
        let changes = ["BRAMLEY_LISTEN": address, "BRAMLEY_DATABASE_URL": "sqlite:\(stage.folder)/other.db"]
        let finished = try await stage.command("serve", settings: changes)
        #expect(finished.status == 69)
        #expect(finished.errors.contains(words), "\(finished.errors)")
        #expect(!finished.errors.contains("code:"))
      }
    }
  }
}
