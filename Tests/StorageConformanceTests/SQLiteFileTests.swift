import Domain
import Foundation
import SQLiteStorage
import Storage
import Testing

/// Opening, migrating and closing the file.
@Suite(.timeLimit(.minutes(2)))
struct SQLiteFileTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  @Test func `what was answered is there after reopening`() async throws {
    let first = try SQLiteStorage(path: folder.database)
    let grant = try await Desk(storage: first).arrive(name: PersonName(givenName: "Alice")).grant
    _ = try await first.replaceSigningKeys(expecting: 0, with: [RegisterTests.key("a", .active)])
    await first.stop()
    let second = try SQLiteStorage(path: folder.database)
    #expect(try await second.account(grant.account.id) == grant.account)
    #expect(try await second.session(grant.session.id) == grant.session)
    #expect(try await second.spentCredential(.numbered(1)) != nil)
    #expect(try await second.signingKeys().version == 1)
    await second.stop()
  }

  @Test func `what was answered is on the file at once`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let raw = try RawDatabase(folder.database)
    for number in 1...20 {
      try await Desk(storage: storage, seed: UInt64(number)).arrive("s\(number)", credential: number)
      #expect(try raw.text("SELECT count(*) FROM sessions") == "\(number)")
    }
    await storage.stop()
  }

  @Test func `stopping leaves one file without a log`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    try await Desk(storage: storage).arrive()
    await storage.stop()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["bramley.db"])
  }

  @Test func `the file and its companions are for their owner only`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    try await storage.probe()
    for suffix in ["", "-wal", "-shm"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.database + suffix)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    await storage.stop()
  }

  @Test func `the connection is durable and strict`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let raw = try RawDatabase(folder.database)
    #expect(try raw.text("PRAGMA journal_mode") == "wal")
    #expect(
      try raw.text("SELECT count(*) FROM pragma_table_list WHERE strict = 0 AND name NOT LIKE 'sqlite_%'")
        == "0")
    #expect(try raw.text("PRAGMA integrity_check") == "ok")
    await storage.stop()
  }

  @Test func `migrating tells from where to where and is done once`() throws {
    #expect(try SQLiteStorage.schemaVersion(path: folder.database) == 0)
    #expect(!FileManager.default.fileExists(atPath: folder.database))
    let known = SQLiteStorage.knownSchemaVersion
    #expect(try SQLiteStorage.migrate(path: folder.database) == MigrationReport(from: 0, to: known))
    #expect(try SQLiteStorage.migrate(path: folder.database) == MigrationReport(from: known, to: known))
    #expect(try SQLiteStorage.schemaVersion(path: folder.database) == known)
  }

  @Test func `a newer schema is refused and left alone`() throws {
    _ = try SQLiteStorage.migrate(path: folder.database)
    try RawDatabase(folder.database).run("PRAGMA user_version = 99")
    let refusal = StorageOpenError.newerSchema(found: 99, known: SQLiteStorage.knownSchemaVersion)
    #expect(throws: refusal) { try SQLiteStorage(path: folder.database) }
    #expect(throws: refusal) { try SQLiteStorage.migrate(path: folder.database) }
    #expect(try SQLiteStorage.schemaVersion(path: folder.database) == 99)
  }

  @Test func `a database of another program is refused and left alone`() throws {
    try RawDatabase(folder.database).run("CREATE TABLE theirs (a)")
    #expect(throws: StorageOpenError.foreignDatabase) { try SQLiteStorage(path: folder.database) }
    #expect(try RawDatabase(folder.database).text("PRAGMA journal_mode") == "delete")
  }

  @Test func `a file of something else is no database`() throws {
    let bytes = Data(repeating: UInt8(ascii: "x"), count: 8192)
    try bytes.write(to: URL(fileURLWithPath: folder.database))
    #expect(throws: StorageOpenError.notADatabase) { try SQLiteStorage(path: folder.database) }
    #expect(throws: StorageOpenError.notADatabase) { try SQLiteStorage.schemaVersion(path: folder.database) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.database)) == bytes)
  }

  @Test func `a thousand openings that fail leave nothing behind`() throws {
    try Data(repeating: 1, count: 4096).write(to: URL(fileURLWithPath: folder.database))
    let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    for _ in 0..<1000 {
      #expect(throws: StorageOpenError.notADatabase) { try SQLiteStorage(path: folder.database) }
    }
    // Other tests open and close files meanwhile, but not hundreds.
    #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 500)
  }

  @Test(arguments: ["/nowhere/at/all.db", ""])
  func `a place where no file can be says so`(_ path: String) throws {
    let error = #expect(throws: StorageOpenError.self) { try SQLiteStorage(path: path) }
    guard case .cannotOpen = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a key from before its tokens were recorded is kept for the longest that any may live`()
    async throws
  {
    let raw = try RawDatabase(folder.database)
    for name in ["V0001_initial", "V0002_accounts"] {
      let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/SQLiteStorage/Migrations/\(name).sql")
      try raw.run(String(contentsOf: scripts, encoding: .utf8))
    }
    try raw.run(
      """
      INSERT INTO signing_keys VALUES (0, 'a', 'ES256', 'active', 1, 1, NULL, x'00', x'0001020304050607', ''),
        (1, 'b', 'ES256', 'standby', 1, NULL, NULL, x'00', x'0001020304050607', '')
      """)
    let storage = try SQLiteStorage(path: folder.database)
    let keys = try await storage.signingKeys().keys
    await storage.stop()
    #expect(keys.map(\.longestLifetime) == [86_400, 86_400])
    #expect(keys.map(\.isToRetire) == [false, false])
    let end = try #require(keys[0].cookiesUntil)
    #expect(abs(Double(end.seconds) - Date.now.timeIntervalSince1970 - 1_209_600) < 600)
    #expect(keys[1].cookiesUntil == nil)
  }

  @Test func `a file from before learns from its audit whom an import brought, and is here since`()
    async throws
  {
    let first = try SQLiteStorage(path: folder.database)
    let deletion = AccountDeletionIntent(
      target: .administered(AccountID(unchecked: "gone")), demandsDisabled: false, origin: person, now: start)
    _ = try await first.take(Account.bare("ada"), Account.bare("gone"))
    _ = try await first.delete([deletion])
    try await first.insert(Account.bare("gone"))
    try await first.insert(Account.bare("bob"))
    await first.stop()
    try RawDatabase(folder.database).run("DROP TABLE imported_accounts; PRAGMA user_version = 8;")
    let second = try SQLiteStorage(path: folder.database)
    #expect(try await second.importDate(of: "ada") == start)
    #expect(try await second.importDate(of: "gone") == nil)
    #expect(try await second.importDate(of: "bob") == nil)
    await second.stop()
  }

  @Test
  func
    `a file from before learns from its sessions when Apple vouched for whom, and forgets what was kept of people`()
    async throws
  {
    let first = try SQLiteStorage(path: folder.database)
    let desk = Desk(storage: first)
    let ada = try await desk.arrive("001.ada", at: start + 5).grant.account.id
    let session = try await desk.arrive("001.ada", credential: 2, at: start + 9).grant.session
    try await first.end(session.id, as: .ended, at: start + 9)
    try await first.insert(Account.bare("bob"))
    try await first.insert(Session.bare(7, of: AccountID(unchecked: "bob"), at: start + 70))
    try await desk.take([.unknown(type: "new", outline: #"{"email":"ada@example.com"}"#)], number: 3)
    await first.stop()
    let raw = try RawDatabase(folder.database)
    try raw.run(
      """
      ALTER TABLE accounts DROP COLUMN apple_sign_in_at;
      ALTER TABLE apple_work DROP COLUMN is_brought;
      DROP TABLE imported_accounts;
      PRAGMA user_version = 7;
      """)
    let second = try SQLiteStorage(path: folder.database)
    #expect(try await second.account(ada)?.appleSignInAt == start + 9)
    #expect(try await second.account(AccountID(unchecked: "bob"))?.appleSignInAt == nil)
    #expect(try await second.keptNotifications(limit: 10).isEmpty)
    // That it came is remembered as before.
    #expect(try await Desk(storage: second).take([], number: 3) == .duplicate)
    await second.stop()
  }

  @Test func `many that open a new file at once all find it ready`() async throws {
    let path = folder.database
    let storages = try await inParallel(8) { _ in try SQLiteStorage(path: path) }
    for storage in storages { try await storage.probe() }
    for storage in storages { await storage.stop() }
    #expect(try SQLiteStorage.schemaVersion(path: path) == SQLiteStorage.knownSchemaVersion)
  }

  @Test func `a migration that another process holds up for too long is busy`() throws {
    let raw = try RawDatabase(folder.database)
    try raw.run("BEGIN EXCLUSIVE")
    #expect(throws: StorageOpenError.busy) {
      try SQLiteStorage(path: folder.database, options: SQLiteOptions(busyMilliseconds: 1))
    }
  }
}
