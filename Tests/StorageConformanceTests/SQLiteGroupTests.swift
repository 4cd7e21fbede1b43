import Domain
import SQLiteStorage
import Storage
import Testing
import Threads

/// Groups, their faults and their limits.
@Suite(.timeLimit(.minutes(2)))
struct SQLiteGroupTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  @Test func `one that fails in the middle of a group fails alone`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let gate = Gate()
    async let held: Void = storage.hold(gate)
    await gate.arrival()
    async let results = inParallel(9) { number -> Result<Void, StorageError> in
      do throws(StorageError) {
        try await storage.transact { (book) throws(StorageError) in
          try book.insert(Account.bare("account\(number)"))
          if number == 4 { throw .corrupt }
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    await storage.waits(for: 9)
    gate.open()
    try await held
    let failures = try await results.filter { if case .failure(.corrupt) = $0 { true } else { false } }
    #expect(failures.count == 1)
    let ids = try await storage.accounts(after: nil, limit: 100).accounts.map(\.id.text)
    #expect(Set(ids) == Set([0, 1, 2, 3, 5, 6, 7, 8].map { "account\($0)" }))
    #expect(storage.statistics.groups == 2)
    #expect(storage.statistics.transactions == 10)
    #expect(storage.statistics.faults == 1)
    await storage.stop()
  }

  @Test func `one that breaks a constraint of the database fails alone`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let gate = Gate()
    async let held: Void = storage.hold(gate)
    await gate.arrival()
    async let outcomes = inParallel(5) { number -> StorageError? in
      do throws(StorageError) {
        try await storage.transact { (book) throws(StorageError) in
          try book.insert(Account.bare("account\(number / 2)"))
        }
        return nil
      } catch {
        return error
      }
    }
    await storage.waits(for: 5)
    gate.open()
    try await held
    #expect(try await outcomes.compactMap { $0 } == [.defect, .defect])
    #expect(try await storage.accounts(after: nil, limit: 100).accounts.count == 3)
    await storage.stop()
  }

  @Test func `a full inbox answers at once and takes again later`() async throws {
    let storage = try SQLiteStorage(path: folder.database, options: SQLiteOptions(waitingLimit: 2))
    let gate = Gate()
    async let held: Void = storage.hold(gate)
    await gate.arrival()
    async let waiting = inParallel(2) { _ in try await storage.probe() }
    await storage.waits(for: 2)
    await #expect(throws: StorageError.overloaded) { try await storage.probe() }
    gate.open()
    try await held
    _ = try await waiting
    try await storage.probe()
    await storage.stop()
  }

  @Test func `a stop answers everything that was asked and nothing later`() async throws {
    let storage = try SQLiteStorage(path: folder.database)
    let gate = Gate()
    async let held: Void = storage.hold(gate)
    await gate.arrival()
    async let asked = inParallel(20) { number in
      try await storage.insert(Account.bare("account\(number)"))
    }
    await storage.waits(for: 20)
    async let stopped: Void = storage.stop()
    gate.open()
    await stopped
    try await held
    #expect(try await asked.count == 20)
    await #expect(throws: StorageError.unavailable) { try await storage.probe() }
    await storage.stop()
    #expect(try RawDatabase(folder.database).text("SELECT count(*) FROM accounts") == "20")
  }

  @Test func `a group holds no more than its limit`() async throws {
    let storage = try SQLiteStorage(path: folder.database, options: SQLiteOptions(groupLimit: 4))
    let gate = Gate()
    async let held: Void = storage.hold(gate)
    await gate.arrival()
    async let asked = inParallel(10) { _ in try await storage.probe() }
    await storage.waits(for: 10)
    gate.open()
    try await held
    _ = try await asked
    #expect(storage.statistics.groups == 4)
    #expect(storage.statistics.lastGroup == 2)
    await storage.stop()
  }

  @Test func `a thousand storages come and go`() async throws {
    for _ in 0..<1000 {
      let storage = try SQLiteStorage(path: folder.database)
      try await storage.probe()
      await storage.stop()
    }
    #expect(try RawDatabase(folder.database).text("SELECT beats FROM pulse") == "1000")
  }
}

extension SQLiteStorage {
  /// Keeps the writer's thread busy until the gate opens.
  func hold(_ gate: Gate) async throws(StorageError) {
    try await transact { (_) throws(StorageError) in gate.pass() }
  }

  /// Returns when that many transactions wait.
  func waits(for count: Int) async {
    while statistics.waiting < count { await Task.yield() }
  }
}

/// Where a thread is held until a test lets it go on.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var hasArrived = false
    var waiting: CheckedContinuation<Void, Never>?
  }
  private let state = Monitor(State())

  func pass() {
    let waiting = state.update { state in
      state.hasArrived = true
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
    state.wait { $0.isOpen ? () : nil }
  }

  func arrival() async {
    await withCheckedContinuation { continuation in
      let hasArrived = state.update { state in
        if !state.hasArrived { state.waiting = continuation }
        return state.hasArrived
      }
      if hasArrived { continuation.resume() }
    }
  }

  func open() { state.update { $0.isOpen = true } }
}
