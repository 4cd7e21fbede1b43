import Foundation
import Testing
import Wire

/// `backup` and `restore`.
@Suite(.timeLimit(.minutes(10)))
struct BackupTests {
  @Test
  func `a backup is taken beside a service at work, and whoever was answered before it stays signed in`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      let before = try await service.signIn(people: 20)
      let busy = try (0..<8).map { _ in
        let subject = Mint.subject()
        return Caller(credential: try Mint.credential { $0.subject = subject }, subject: subject)
      }
      async let report = load(busy, connections: 8, steps: 40, port: service.port) { _ in }
      let made = try await stage.command("backup", stage.copy, "--json")
      let came = try await report
      #expect(came.wrong.isEmpty && came.refused.isEmpty)
      #expect(made.status == 0, "\(made.errors)")
      #expect(try made.json.integer("bytes") == stage.size(of: stage.copy))
      #expect(try made.json.flag("masterKeyIncluded") == false)
      try await service.stop()

      try stage.loseDatabase()
      let restored = try await stage.command("restore", stage.copy, "--json")
      #expect(restored.status == 0, "\(restored.errors)")
      #expect(try restored.json.integer("liveSessions") ?? 0 >= 20)
      let after = try await stage.start()
      for session in before { _ = try await after.refresh(session.refreshToken) }
      #expect(try await stage.command("audit", "verify").status == 0)
      let lines = try await stage.command("audit", "list", "--json", "--limit", "1000").json.objects(
        "entries")
      #expect(lines.contains { $0.text("action") == "database_restored" })
    }
  }

  @Test func `a backup is its owner's alone, holds no master key, and says so`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      let made = try await stage.command("backup", stage.copy)
      #expect(made.status == 0)
      #expect(made.output.contains("The master key is not in it"))
      let mode = try FileManager.default.attributesOfItem(atPath: stage.copy)[.posixPermissions]
      #expect(mode as? Int == 0o600)
      let key = try String(contentsOfFile: stage.masterKeyFile, encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      let bytes = try #require(FileManager.default.contents(atPath: stage.copy))
      let secret = try #require(Data(base64Encoded: key))
      #expect(bytes.range(of: Data(key.utf8)) == nil && bytes.range(of: secret) == nil)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: stage.folder).filter { $0.hasPrefix("copy") } == [
          "copy.db"
        ])
    }
  }

  @Test func `with the sessions ended nobody comes back by a token from before, and the next sign-in works`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      let subject = Mint.subject()
      let session = try await service.signIn(Mint.credential { $0.subject = subject })
      let others = try await service.signIn(people: 5)
      #expect(try await stage.command("backup", stage.copy).status == 0)
      try await service.stop()
      try stage.loseDatabase()
      let restored = try await stage.command("restore", stage.copy, "--end-sessions", "--json")
      #expect(restored.status == 0)
      #expect(try restored.json.integer("endedSessions") == 6)
      #expect(try restored.json.integer("liveSessions") == 0)
      let after = try await stage.start()
      for token in others.map(\.refreshToken) + [session.refreshToken] {
        try expect(
          await after.tryRefresh(token), is: Refusal(400, "TOKEN_EXPIRED", "session_revoked"))
      }
      let again = try await after.signIn(Mint.credential { $0.subject = subject })
      #expect(again.localID == session.localID)
    }
  }

  @Test func `nothing is written over`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let session = try await service.signIn(Mint.credential())
      _ = try stage.write("mine", to: "copy.db")
      #expect(try await stage.command("backup", stage.copy).status == 1)
      #expect(try String(contentsOfFile: stage.copy, encoding: .utf8) == "mine")
      try FileManager.default.removeItem(atPath: stage.copy)
      #expect(try await stage.command("backup", stage.copy).status == 0)
      let refused = try await stage.command("restore", stage.copy)
      #expect(refused.status == 1)
      #expect(refused.errors.contains(stage.database))
      _ = try await service.refresh(session.refreshToken)
      // Also no log of a database that has gone, which would be played into the one that is put back.
      try await service.stop()
      try stage.loseDatabase()
      _ = try stage.write("", to: "bramley.db-wal")
      #expect(try await stage.command("restore", stage.copy).status == 1)
      #expect(!FileManager.default.fileExists(atPath: stage.database))
    }
  }

  @Test func `what is no whole database of ours is not put back`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(people: 30)
      #expect(try await stage.command("backup", stage.copy).status == 0)
      try await service.stop()
      try stage.loseDatabase()
      let text = try stage.write("no database at all, whatever it is called", to: "text.db")
      let foreign = stage.folder + "/foreign.db"
      try await stage.sql("CREATE TABLE notes (text TEXT)", on: foreign)
      var bytes = try #require(FileManager.default.contents(atPath: stage.copy))
      bytes.replaceSubrange(8192..<(8192 + 4096), with: Data(repeating: 0x5A, count: 4096))
      let damaged = stage.folder + "/damaged.db"
      try bytes.write(to: URL(fileURLWithPath: damaged))
      for (path, status, words) in [
        (text, 1 as Int32, "is no backup"), (foreign, 1, "is no backup"),
        (damaged, 1, "is damaged: put back another"),
        (stage.folder + "/nothing.db", 69, "no such file"),
      ] {
        let refused = try await stage.command("restore", path)
        #expect(refused.status == status, "\(path): \(refused.errors)")
        #expect(refused.errors.contains(path) && refused.errors.contains(words), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: stage.database))
      }
      #expect(try await stage.command("restore", stage.copy).status == 0)
    }
  }

  @Test func `a backup that the master keys do not open is not put back`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      #expect(try await stage.command("backup", stage.copy).status == 0)
      try await service.stop()
      try stage.loseDatabase()
      let other = Data(repeating: 7, count: 32).base64EncodedString()
      let refused = try await stage.command("restore", stage.copy, settings: ["BRAMLEY_MASTER_KEY": other])
      #expect(refused.status == 78)
      try FileManager.default.removeItem(atPath: stage.masterKeyFile)
      let missing = try await stage.command("restore", stage.copy)
      #expect(missing.status == 78)
      #expect(missing.errors.contains(stage.masterKeyFile))
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: stage.folder).filter {
          $0.hasPrefix("bramley.db")
        } == [])
    }
  }

  @Test(arguments: [["backup"], ["backup", "a", "b"], ["restore"], ["restore", "a", "--force"]])
  func `the wrong words are told`(_ arguments: [String]) async throws {
    try await withStage { stage in
      let finished = try await run(
        Program.bramley, arguments, environment: stage.settings, folder: stage.folder)
      #expect(finished.status == 64)
    }
  }
}

extension Stage {
  fileprivate var copy: String { folder + "/copy.db" }

  /// Takes the database away and leaves the master key.
  fileprivate func loseDatabase() throws {
    for name in [database, database + "-wal", database + "-shm"] {
      guard FileManager.default.fileExists(atPath: name) else { continue }
      try FileManager.default.removeItem(atPath: name)
    }
  }

  fileprivate func size(of path: String) throws -> Int64? {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64
  }
}
