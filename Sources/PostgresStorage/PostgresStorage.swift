//===-- PostgresStorage ---------------------------------------------------===//
// The engine of several nodes: PostgreSQL, or what speaks its language, through libpq. A few connections, each on a
// thread of its own, many transactions to a commit.
//
// The rows are those of `SQLLedger`. Nothing here knows HTTP or tokens. C is in `Connection.swift` and `PostgresRow.swift`,
// SQL in `Statements.swift` and `Migrations`.
//===------------------------------------------------------------------------===//

internal import Domain
package import SQLLedger
package import Storage
internal import Synchronization
internal import Threads

/// What an operator or a test may set of the engine.
package struct PostgresOptions: Sendable, Equatable {
  /// A connection URL as libpq reads it (postgresql.org/docs/current/libpq-connect.html).
  package var url: String
  /// The most transactions that wait for one connection; one more is ``StorageError/overloaded``.
  package var waitingLimit: Int
  /// The most transactions of one commit.
  package var groupLimit: Int
  /// The longest wait for the server's next word.
  package var patienceMilliseconds: Int32
  /// Whether there is an app's back end that is told of accounts: then events are written for it.
  package var announces: Bool

  /// Sets everything; what is left out is as the service runs it.
  package init(
    url: String, waitingLimit: Int = 4096, groupLimit: Int = 256, patienceMilliseconds: Int32 = 7000,
    announces: Bool = false
  ) {
    self.url = url
    self.waitingLimit = waitingLimit
    self.groupLimit = groupLimit
    self.patienceMilliseconds = patienceMilliseconds
    self.announces = announces
  }
}

/// What a database is opened for.
package enum PostgresOpening: Sendable, Equatable {
  /// To be worked with: the schema is brought up to date.
  case serve
  /// To be looked at or changed by a command: a schema that is not this program's is refused.
  case command
}

/// A database on a server, for any number of nodes.
package final class PostgresStorage: LedgerStorage, CountedStorage {
  /// What decides on more than rows that it names; what decides on identities; what decides on sessions; what reads.
  /// Each has a connection of its own, so that no short thing waits behind a long one.
  private let decisions, arrivals, refreshes, reads: Lane
  private let lanes: [Lane]
  private let availability: AvailabilityWatch
  private let counters = CommitCounters()
  private let isStopped = Atomic(false)

  /// Connects; what that may change of the database, `opening` says.
  ///
  /// - Parameters:
  ///   - observe: Is told of each commit on the engine's own thread: how many transactions were in it and how long it took
  ///     from its beginning.
  ///   - tell: Is told there when the database goes or comes back.
  package init(
    _ options: PostgresOptions, opening: PostgresOpening = .serve,
    observe: (@Sendable (Int, Duration) -> Void)? = nil,
    tell: @escaping @Sendable (StorageNews) -> Void = { _ in }
  ) throws(StorageOpenError) {
    let first = try openConnection(options)
    switch opening {
    case .serve: _ = try first.migrate()
    case .command: try first.demandKnownSchema()
    }
    let numbers = AccountNumbers()
    let counters = counters
    let availability = AvailabilityWatch(tell: tell)
    self.availability = availability
    func lane(_ name: String, _ role: SessionRole) throws(StorageOpenError) -> Lane {
      let line = Line(bound: role.bound)
      return Lane(
        worker: try startWorker(
          name, options,
          GroupCommit(
            options, role, numbers, line: line, availability: availability,
            counters: role == .reads ? CommitCounters() : counters,
            observe: role == .reads ? nil : observe)),
        line: line)
    }
    decisions = try lane("pg-decisions", .decisions)
    reads = try lane("pg-reads", .reads)
    // A command makes no sign-ins.
    arrivals = opening == .serve ? try lane("pg-arrivals", .arrivals) : decisions
    refreshes = opening == .serve ? try lane("pg-refreshes", .refreshes) : decisions
    lanes = [decisions, arrivals, refreshes, reads]
  }

  package func transact<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout SQLLedger<PostgresStatement>) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    try await run(body, writes: true, on: nil, in: decisions)
  }

  package func transact<Outcome: Sendable>(
    on rows: DecisionRows,
    _ body: @escaping @Sendable (inout SQLLedger<PostgresStatement>) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    try await run(body, writes: true, on: rows, in: rows.sessions.isEmpty ? arrivals : refreshes)
  }

  package func read<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout SQLLedger<PostgresStatement>) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    try await run(body, writes: false, on: nil, in: reads)
  }

  private func run<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout SQLLedger<PostgresStatement>) throws(StorageError) -> Outcome,
    writes: Bool, on rows: DecisionRows?, in lane: Lane
  ) async throws(StorageError) -> Outcome {
    // While it is known that nobody answers, nobody waits.
    guard !lane.line.refuses, !lanes.contains(where: \.line.isSilent) else { throw .unavailable }
    let result: Result<Outcome, StorageError> = await withCheckedContinuation { continuation in
      let transaction = Transaction(
        SQLTransaction(body: body, writes: writes, on: rows, continuation: continuation), askedAt: .now)
      guard !lane.worker.submit(transaction) else { return }
      let isStopped = isStopped.load(ordering: .acquiring)
      continuation.resume(returning: .failure(isStopped ? .unavailable : .overloaded))
    }
    return try result.get()
  }

  /// Each connection finds out by itself that the server is back: a node is ready when all have, and when the two that
  /// sign-ins and refreshes wait for have committed. That writes only the connections' own rows, which nobody else wants.
  package func probe() async throws(StorageError) {
    guard lanes.allSatisfy(\.line.isWell), !availability.lacksRoom else { throw .unavailable }
    var nobody = DecisionRows()
    nobody.sessions = [SessionID(repeatElement(0, count: SessionID.byteCount))].compactMap { $0 }
    for rows in [DecisionRows(), nobody] {
      try await transact(on: rows) { (book) throws(StorageError) in try book.touch() }
    }
  }

  package func stop() async {
    isStopped.store(true, ordering: .releasing)
    for lane in [reads, arrivals, refreshes, decisions] { await lane.worker.stop() }
  }

  package var statistics: StorageStatistics {
    counters.snapshot(waiting: [decisions, arrivals, refreshes].reduce(0) { $0 + $1.worker.waiting })
  }
}

extension PostgresStorage {
  /// The schema that this program writes.
  package static var knownSchemaVersion: Int64 { Migration.known }

  /// The schema version of a database; zero where there is none. Changes nothing.
  package static func schemaVersion(url: String) throws(StorageOpenError) -> Int64 {
    try openConnection(PostgresOptions(url: url)).schemaVersion()
  }

  /// Makes one small commit and nothing else.
  package static func probeWrite(url: String) throws(StorageOpenError) {
    let connection = try openConnection(PostgresOptions(url: url))
    try connection.demandKnownSchema()
    do throws(PostgresFault) {
      try connection.execute(KeySQL.touch)
    } catch {
      throw .cannotOpen(detail: error.detail)
    }
  }

  /// Does what opening does before service: brings the schema up to date.
  package static func migrate(url: String) throws(StorageOpenError) -> MigrationReport {
    try openConnection(PostgresOptions(url: url)).migrate()
  }
}

/// A connection's thread, and whether its server answers.
private struct Lane: Sendable {
  let worker: BatchWorker<GroupCommit>
  let line: Line
}

/// The first connection of whoever looks at a database, which has to be one that keeps every text as it was sent: in
/// UTF-8, or as bytes that nobody looks at (postgresql.org/docs/current/multibyte.html#MULTIBYTE-CHARSET-SUPPORTED).
private func openConnection(_ options: PostgresOptions) throws(StorageOpenError) -> Connection {
  let connection: Connection
  do throws(PostgresFault) {
    connection = try Connection(url: options.url, patienceMilliseconds: options.patienceMilliseconds)
  } catch {
    throw .cannotOpen(detail: error.detail)
  }
  if let name = connection.encoding, name != "UTF8", name != "SQL_ASCII" { throw .encoding(name) }
  return connection
}

private func startWorker(
  _ name: String, _ options: PostgresOptions, _ work: consuming sending GroupCommit
) throws(StorageOpenError) -> BatchWorker<GroupCommit> {
  do throws(ThreadError) {
    return try BatchWorker(
      name: name, capacity: options.waitingLimit, batchLimit: options.groupLimit,
      tickMilliseconds: GroupCommit.tickMilliseconds,
      work: work)
  } catch {
    throw .cannotOpen(detail: "no thread: \(error)")
  }
}
