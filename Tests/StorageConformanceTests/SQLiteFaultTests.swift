import Domain
import Foundation
import SQLiteStorage
import Storage
import TestProcesses
import Testing

extension Desk {
  /// Signs in and tells whether the storage could not.
  fileprivate func isRefused(_ intent: SignInIntent) async -> Bool {
    do throws(StorageError) {
      _ = try await storage.signIn(intent)
      return false
    } catch {
      return error == .unavailable
    }
  }
}

/// A lock, a disk and a file that are not as they should be.
@Suite(.timeLimit(.minutes(2)))
struct SQLiteFaultTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  @Test func `another process that writes delays and fails nobody`() async throws {
    // However long it takes this process to be scheduled again.
    let storage = try SQLiteStorage(path: folder.database, options: SQLiteOptions(busyMilliseconds: 100_000))
    let raw = try RawDatabase(folder.database)
    try raw.run("BEGIN IMMEDIATE")
    async let signedIn = Desk(storage: storage).arrive()
    while storage.statistics.groups == 0 { await Task.yield() }
    try raw.run("COMMIT")
    #expect(try await signedIn.isNewUser)
    await storage.stop()
  }

  @Test func `a lock held for too long is unavailable, until it goes`() async throws {
    let storage = try SQLiteStorage(path: folder.database, options: SQLiteOptions(busyMilliseconds: 1))
    let raw = try RawDatabase(folder.database)
    try raw.run("BEGIN IMMEDIATE")
    await #expect(throws: StorageError.unavailable) { try await Desk(storage: storage).arrive() }
    #expect(storage.statistics.lastFaultCode == "5")
    try raw.run("COMMIT")
    #expect(try await Desk(storage: storage).arrive().isNewUser)
    await storage.stop()
  }

  @Test func `what only reads waits for no other process`() async throws {
    let storage = try SQLiteStorage(path: folder.database, options: SQLiteOptions(busyMilliseconds: 1))
    let grant = try await Desk(storage: storage).arrive().grant
    let raw = try RawDatabase(folder.database)
    try raw.run("BEGIN IMMEDIATE")
    #expect(try await storage.account(grant.account.id) == grant.account)
    #expect(try await storage.accounts(after: nil, limit: 1).accounts == [grant.account])
    #expect(try await storage.sessions(of: grant.account.id) == [grant.session])
    #expect(try await storage.sessionCounts(within: limits, at: start) == [firstKey: 1])
    #expect(try await storage.signingKeys().version == 0)
    try raw.run("COMMIT")
    await storage.stop()
  }

  @Test func `a reader of another process is in nobody's way`() async throws {
    let storage = try SQLiteStorage(path: folder.database, options: SQLiteOptions(busyMilliseconds: 1))
    let raw = try RawDatabase(folder.database)
    try raw.run("BEGIN")
    #expect(try raw.text("SELECT count(*) FROM accounts") == "0")
    try await Desk(storage: storage).arrive()
    #expect(try raw.text("SELECT count(*) FROM accounts") == "0")
    try raw.run("COMMIT")
    #expect(try raw.text("SELECT count(*) FROM accounts") == "1")
    await storage.stop()
  }

  @Test func `a full disk is unavailable, spares its neighbours and heals`() async throws {
    let told = Watched<[StorageNews]>([])
    let storage = try SQLiteStorage(
      path: folder.database, options: SQLiteOptions(pageLimit: 48),
      tell: { news in told.update { $0.append(news) } })
    let desk = Desk(storage: storage)
    let old = try await desk.arrive("old", credential: 0).grant.session
    var made = 0
    await #expect(throws: StorageError.unavailable) {
      for number in 1...10_000 {
        try await desk.arrive("s\(number)", credential: number)
        made += 1
      }
    }
    #expect(made > 10)
    #expect(storage.statistics.lastFaultCode == "13")
    let news = try await told.first { $0.isEmpty ? nil : $0 }
    #expect(news == [.lost(.full)])
    // Its write needs no room, and would do.
    await #expect(throws: StorageError.unavailable) { try await storage.probe() }
    // What needs no room goes on, also beside one that does.
    let gate = Gate()
    async let held: Void = storage.hold(gate)
    await gate.arrival()
    async let refused = desk.isRefused(desk.intent("one-more", credential: 20_000))
    async let refreshed = desk.refresh(old.id, 0)
    await storage.waits(for: 2)
    gate.open()
    try await held
    #expect(await refused)
    #expect(try await refreshed.session?.counter == 1)
    #expect(try await storage.accounts(after: nil, limit: 20_000).accounts.count == made + 1)
    let rules = SweepRules(
      credentialsBefore: start + 100_000, sessionsBefore: start + 1, revocationsBefore: start,
      appleWorkBefore: start - 864_000, limit: 20_000)
    _ = try await storage.sweep(rules)
    #expect(try await desk.arrive("one-more", credential: 20_000).isNewUser)
    await storage.stop()
  }

  @Test(arguments: [
    "UPDATE accounts SET email = 'no address'", "UPDATE accounts SET id = 'with space'",
    "UPDATE accounts SET is_disabled = 7", "UPDATE accounts SET real_user_status = 9",
    "UPDATE accounts SET given_name = CAST(x'FF41' AS TEXT)", "UPDATE identities SET subject = ''",
    "UPDATE sessions SET account = ''", "UPDATE sessions SET counter = -1",
    "UPDATE sessions SET counter = 4294967296", "UPDATE sessions SET master_key = x'00'",
    "UPDATE sessions SET ended_as = 'gone', ended_at = 1", "UPDATE sessions SET is_late = 2",
  ])
  func `a value that this program would not write is corrupt`(_ damage: String) async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let desk = Desk(storage: storage)
    let grant = try await desk.arrive("001.alice", name: PersonName(givenName: "A"), profile: .email("a@b.c"))
      .grant
    let raw = try RawDatabase(folder.database)
    try raw.run("PRAGMA ignore_check_constraints = ON; \(damage)")
    await #expect(throws: StorageError.corrupt) {
      _ = try await storage.session(grant.session.id)
      _ = try await storage.accounts(after: nil, limit: 10)
    }
    // Others are served.
    try await storage.probe()
    await storage.stop()
  }

  @Test func `a damaged page is corrupt and does not stop the rest`() async throws {
    let first = try SQLiteStorage(path: folder.database)
    let grant = try await Desk(storage: first).arrive().grant
    await first.stop()
    let root = try #require(
      try RawDatabase(folder.database).text("SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'"))
    let file = try #require(FileHandle(forWritingAtPath: folder.database))
    try file.seek(toOffset: (try #require(UInt64(root)) - 1) * 4096)
    try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
    try file.close()
    let second = try SQLiteStorage(path: folder.database)
    await #expect(throws: StorageError.corrupt) { try await second.session(grant.session.id) }
    #expect(try await second.account(grant.account.id) == grant.account)
    await second.stop()
  }

  @Test func `a database whose tables are gone is corrupt and does not crash`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let raw = try RawDatabase(folder.database)
    try raw.run("DROP TABLE pulse")
    await #expect(throws: StorageError.corrupt) { try await storage.probe() }
    try await Desk(storage: storage).arrive()
    await storage.stop()
  }
}
