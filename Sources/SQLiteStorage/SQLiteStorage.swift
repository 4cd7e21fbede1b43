//===-- SQLiteStorage -----------------------------------------------------===//
// The embedded engine: SQLite in WAL mode, one connection on one thread, many transactions to a commit.
//
// It keeps rows and runs transactions; what an intention means is decided in `Storage`. Nothing here knows HTTP,
// tokens or the clock. Its rows are those of `SQLLedger`, its own SQL is in
// `Statements.swift` and `Migrations`, C in `Connection.swift` and
// `Statement.swift`.
//===------------------------------------------------------------------------===//

package import SQLLedger
package import Storage
internal import Synchronization
internal import Threads

/// What an operator or a test may set of the engine.
package struct SQLiteOptions: Sendable, Equatable {
  /// How long another process may hold the database before a transaction is given up.
  package var busyMilliseconds: Int32
  /// The most transactions that wait; one more is ``StorageError/overloaded``.
  package var waitingLimit: Int
  /// The most transactions of one commit.
  package var groupLimit: Int
  /// The most pages of 4 KiB the file may grow to; nil leaves that to the disk.
  package var pageLimit: Int64?
  /// Whether there is an app's back end that is told of accounts: then events are written for it.
  package var announces: Bool

  /// Sets everything; what is left out is as the service runs it.
  package init(
    busyMilliseconds: Int32 = 5000, waitingLimit: Int = 4096, groupLimit: Int = 256, pageLimit: Int64? = nil,
    announces: Bool = false
  ) {
    self.busyMilliseconds = busyMilliseconds
    self.waitingLimit = waitingLimit
    self.groupLimit = groupLimit
    self.pageLimit = pageLimit
    self.announces = announces
  }
}

/// What a database is opened for.
package enum SQLiteOpening: Sendable, Equatable {
  /// To be worked with: the file is made where there is none, and its schema brought up to date.
  case serve
  /// To be read: nothing is made, migrated or switched to another mode. A schema that is not this program's is
  /// refused, since a service of another version may be working with it.
  case inspect
  /// To be changed by a command: rows are written, but as with ``inspect`` nothing is made or migrated.
  case change
}

/// A database in one file, for one node; a second process, such as the command line, may open it as well.
package final class SQLiteStorage: LedgerStorage, CountedStorage {
  private let worker: BatchWorker<GroupCommit>
  /// Has a connection of its own, so that who only reads waits for no commit and no lock
  /// (sqlite.org/wal.html#concurrency).
  private let reader: BatchWorker<GroupCommit>
  private let availability: AvailabilityWatch
  private let counters: CommitCounters
  private let isStopped = Atomic(false)

  /// Opens the file; what that may change of it, `opening` says.
  ///
  /// - Parameters:
  ///   - observe: Is told of each commit on the engine's own thread: how many transactions were in it and how long it took
  ///     from its beginning.
  ///   - tell: Is told there when the database goes or comes back.
  package init(
    path: String, opening: SQLiteOpening = .serve, options: SQLiteOptions = SQLiteOptions(),
    observe: (@Sendable (Int, Duration) -> Void)? = nil,
    tell: @escaping @Sendable (StorageNews) -> Void = { _ in }
  ) throws(StorageOpenError) {
    availability = AvailabilityWatch(tell: tell)
    let connection =
      switch opening {
      case .serve: try openForService(path: path, options)
      case .inspect: try openForReading(path: path, busyMilliseconds: options.busyMilliseconds)
      case .change: try openForChange(path: path, options)
      }
    counters = CommitCounters()
    worker = try startWorker(
      "sqlite", on: connection, options, counters, availability, foldsLog: opening != .inspect, observe)
    switch opening {
    case .inspect: reader = worker
    case .serve, .change:
      // Opened last: there is something to read by now.
      let second = try openForReading(path: path, busyMilliseconds: options.busyMilliseconds)
      reader = try startWorker(
        "sqlite-read", on: second, options, CommitCounters(), availability, foldsLog: false, nil)
    }
  }

  package func transact<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout SQLLedger<SQLiteStatement>) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    try await run(body, writes: true, on: worker)
  }

  /// What only reads asks for no write lock: the command line may count a million sessions beside the service, and a
  /// lock or a full disk is in no reader's way (sqlite.org/wal.html#concurrency).
  package func read<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout SQLLedger<SQLiteStatement>) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    try await run(body, writes: false, on: reader)
  }

  private func run<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout SQLLedger<SQLiteStatement>) throws(StorageError) -> Outcome,
    writes: Bool,
    on worker: BatchWorker<GroupCommit>
  ) async throws(StorageError) -> Outcome {
    let result: Result<Outcome, StorageError> = await withCheckedContinuation { continuation in
      let transaction = Transaction(body: body, writes: writes, continuation: continuation)
      guard !worker.submit(transaction) else { return }
      let isStopped = isStopped.load(ordering: .acquiring)
      continuation.resume(returning: .failure(isStopped ? .unavailable : .overloaded))
    }
    return try result.get()
  }

  package func probe() async throws(StorageError) {
    guard !availability.lacksRoom else { throw .unavailable }
    try await transact { (book) throws(StorageError) in try book.touch() }
  }

  package func stop() async {
    isStopped.store(true, ordering: .releasing)
    // The reader first: the last connection that may write folds the log into the file. It is the same one when the
    // file was opened to be read; stopping twice is stopping once.
    await reader.stop()
    await worker.stop()
  }

  package var statistics: StorageStatistics { counters.snapshot(waiting: worker.waiting) }
}

extension SQLiteStorage {
  /// The schema that this program writes.
  package static var knownSchemaVersion: Int64 { Migration.all.last?.version ?? 0 }

  /// The schema version of a file; zero where there is none or nothing is in it yet. Changes nothing.
  package static func schemaVersion(path: String) throws(StorageOpenError) -> Int64 {
    guard fileExists(at: path) else { return 0 }
    return try Connection(path: path, busyMilliseconds: SQLiteOptions().busyMilliseconds, isReadOnly: true)
      .schemaVersionToRead()
  }

  /// Makes one small commit, the one that readiness makes as well, and nothing else: a schema that is not this
  /// program's is refused.
  package static func probeWrite(path: String) throws(StorageOpenError) {
    let connection = try Connection(path: path, busyMilliseconds: SQLiteOptions().busyMilliseconds)
    try connection.demandKnownSchema(found: try connection.schemaVersion())
    do throws(SQLiteError) {
      try connection.prepare(SQL.beginWriting).runPlainly()
      try connection.prepare(KeySQL.touch).runPlainly()
      try connection.prepare(SQL.commit).runPlainly()
    } catch {
      // The transaction that is left open ends with the connection.
      throw error.openError
    }
  }

  /// Does what opening does before service: makes the file and brings its schema up to date.
  package static func migrate(path: String) throws(StorageOpenError) -> MigrationReport {
    try createPrivateFile(at: path)
    let connection = try Connection(path: path, busyMilliseconds: SQLiteOptions().busyMilliseconds)
    return try connection.migrate()
  }
}

private func startWorker(
  _ name: String, on connection: consuming sending Connection, _ options: SQLiteOptions,
  _ counters: CommitCounters, _ availability: AvailabilityWatch, foldsLog: Bool,
  _ observe: (@Sendable (Int, Duration) -> Void)?
) throws(StorageOpenError) -> BatchWorker<GroupCommit> {
  let group = try GroupCommit(
    connection: connection, options: options, counters: counters, availability: availability,
    foldsLog: foldsLog,
    observe: observe)
  do throws(ThreadError) {
    return try BatchWorker(
      name: name, capacity: options.waitingLimit, batchLimit: options.groupLimit,
      tickMilliseconds: foldsLog ? 1000 : nil, work: group)
  } catch {
    throw .cannotOpen(detail: "no thread: \(error)")
  }
}

private func openForService(path: String, _ options: SQLiteOptions) throws(StorageOpenError) -> Connection {
  try createPrivateFile(at: path)
  let connection = try Connection(path: path, busyMilliseconds: options.busyMilliseconds)
  _ = try connection.migrate()
  try connection.prepareForService(pageLimit: options.pageLimit)
  return connection
}

private func openForChange(path: String, _ options: SQLiteOptions) throws(StorageOpenError) -> Connection {
  // Opening to write would make the file.
  guard fileExists(at: path) else { throw .cannotOpen(detail: "there is no such file") }
  let connection = try Connection(path: path, busyMilliseconds: options.busyMilliseconds)
  try connection.demandKnownSchema(found: try connection.schemaVersion())
  try connection.prepareForService(pageLimit: options.pageLimit)
  return connection
}

private func openForReading(path: String, busyMilliseconds: Int32) throws(StorageOpenError) -> Connection {
  let connection = try Connection(path: path, busyMilliseconds: busyMilliseconds, isReadOnly: true)
  try connection.demandKnownSchema(found: try connection.schemaVersionToRead())
  return connection
}
