import Foundation
import SQLiteStorage
import Storage
import Testing

/// A file that is opened to be read only.
@Suite(.timeLimit(.minutes(3)))
struct SQLiteInspectionTests {
  let folder: Folder
  private let known = SQLiteStorage.knownSchemaVersion

  init() throws { folder = try Folder() }

  private func inspect() throws -> SQLiteStorage {
    try SQLiteStorage(path: folder.database, opening: .inspect)
  }

  @Test func `what is inspected is read beside its writer, and takes no writes`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let first = try await Desk(storage: storage).arrive("first", credential: 1).grant
    let inspected = try inspect()
    #expect(try await inspected.account(first.account.id) == first.account)
    let second = try await Desk(storage: storage, seed: 2).arrive("second", credential: 2).grant
    #expect(try await inspected.account(second.account.id) == second.account)
    #expect(try await inspected.accounts(after: nil, limit: 9).accounts.count == 2)
    await #expect(throws: StorageError.unavailable) { try await inspected.probe() }
    await inspected.stop()
    try await storage.probe()
    await storage.stop()
  }

  @Test func `what is opened for a change takes writes beside its writer, and is not migrated`() async throws
  {
    #expect(throws: StorageOpenError.self) { try SQLiteStorage(path: folder.database, opening: .change) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    let storage = try SQLiteStorage(path: folder.database)
    let changing = try SQLiteStorage(path: folder.database, opening: .change)
    let keys = [RegisterTests.key("a", .active)]
    _ = try await changing.replaceSigningKeys(expecting: 0, with: keys)
    #expect(try await storage.signingKeys() == SigningKeyBook(version: 1, keys: keys))
    await changing.stop()
    await storage.stop()
    try RawDatabase(folder.database).run("PRAGMA user_version = 1")
    #expect(throws: StorageOpenError.olderSchema(found: 1, known: known)) {
      try SQLiteStorage(path: folder.database, opening: .change)
    }
  }

  @Test func `no file is made`() throws {
    #expect(throws: StorageOpenError.self) { try inspect() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func `an empty file has no schema, and gets none`() throws {
    try Data().write(to: URL(fileURLWithPath: folder.database))
    #expect(throws: StorageOpenError.olderSchema(found: 0, known: known)) { try inspect() }
    #expect(throws: StorageOpenError.olderSchema(found: 0, known: known)) {
      try SQLiteStorage.probeWrite(path: folder.database)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.database)).isEmpty)
  }

  @Test func `a schema of another version is refused and left alone`() throws {
    _ = try SQLiteStorage.migrate(path: folder.database)
    let cases = [
      (-1, StorageOpenError.olderSchema(found: -1, known: known)),
      (99, StorageOpenError.newerSchema(found: 99, known: known)),
    ]
    for (version, refusal) in cases {
      try RawDatabase(folder.database).run("PRAGMA user_version = \(version)")
      let before = try Data(contentsOf: URL(fileURLWithPath: folder.database))
      #expect(throws: refusal) { try inspect() }
      #expect(throws: refusal) { try SQLiteStorage.probeWrite(path: folder.database) }
      #expect(try Data(contentsOf: URL(fileURLWithPath: folder.database)) == before)
    }
  }

  @Test func `a database of another program is refused`() throws {
    try RawDatabase(folder.database).run("CREATE TABLE theirs (a)")
    #expect(throws: StorageOpenError.foreignDatabase) { try inspect() }
    #expect(throws: StorageOpenError.foreignDatabase) { try SQLiteStorage.probeWrite(path: folder.database) }
  }

  @Test func `the journal stays what it is`() async throws {
    _ = try SQLiteStorage.migrate(path: folder.database)
    let inspected = try inspect()
    #expect(try await inspected.accounts(after: nil, limit: 1).accounts.isEmpty)
    await inspected.stop()
    try SQLiteStorage.probeWrite(path: folder.database)
    #expect(try RawDatabase(folder.database).text("PRAGMA journal_mode") == "delete")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["bramley.db"])
  }

  @Test func `a file that nobody may write is read`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let grant = try await Desk(storage: storage).arrive().grant
    await storage.stop()
    try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: folder.database)
    let inspected = try inspect()
    #expect(try await inspected.account(grant.account.id) == grant.account)
    await inspected.stop()
  }

  @Test(.enabled(if: geteuid() != 0, "no folder is closed to root"))
  func `where no index for the log can be made, that is what is told`() async throws {
    try await SQLiteStorage(path: folder.database).stop()
    let attributes = FileManager.default
    try attributes.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
    defer { try? attributes.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path) }
    let error = #expect(throws: StorageOpenError.self) { try inspect() }
    guard case .cannotOpen(let detail) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(detail.contains("-shm"))
  }

  @Test func `what a killed writer left in its log is read`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let grant = try await Desk(storage: storage).arrive().grant
    let copy = try Folder()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: folder.database + suffix, toPath: copy.database + suffix)
    }
    await storage.stop()
    let inspected = try SQLiteStorage(path: copy.database, opening: .inspect)
    #expect(try await inspected.account(grant.account.id) == grant.account)
    await inspected.stop()
  }

  @Test func `the write probe writes beside a service, and tells a lock`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    try SQLiteStorage.probeWrite(path: folder.database)
    try await storage.probe()
    #expect(try RawDatabase(folder.database).text("SELECT beats FROM pulse") == "2")
    await storage.stop()
    let raw = try RawDatabase(folder.database)
    try raw.run("BEGIN IMMEDIATE")
    #expect(throws: StorageOpenError.busy) { try SQLiteStorage.probeWrite(path: folder.database) }
  }
}
