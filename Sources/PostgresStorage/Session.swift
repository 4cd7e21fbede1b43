internal import SQLLedger
internal import Storage

/// What a connection is for.
enum SessionRole: Int, Sendable {
  case reads
  /// Groups that decide on more than rows: one at a time, of all nodes.
  case decisions
  /// Groups of which each transaction names the rows that it decides on: identities, or sessions.
  case arrivals, refreshes

  var namesRows: Bool { self == .arrivals || self == .refreshes }

  /// What finds no row, and waits for the tables that this connection needs.
  fileprivate var lookAtTables: String {
    self == .reads ? KeySQL.lookAtTables(["places"]) : OwnSQL.lookAtTables
  }

  /// The longest that a group is under way as long as the server answers, so that nobody needs to wait behind one that
  /// has been for longer. What decides on named rows is short; the rest may take what a statement may.
  var bound: Duration { namesRows ? .seconds(2) : .seconds(5) }

  /// The longest wait for the server's next word: more than for a lock, and of long statements for one of those.
  func patienceMilliseconds(_ options: PostgresOptions) -> Int32 {
    namesRows ? min(options.patienceMilliseconds, 4000) : options.patienceMilliseconds
  }
}

/// A connection with all that is prepared on it; stays on one thread.
final class Session {
  private let connection: Connection
  private let role: SessionRole
  private let begin, awaitDecisions, commit, rollback, noteGroup, lookAtTables, lookAtPlaces: PreparedText
  private let lockWaits: [LockWait: PreparedText]
  private let foresight: Foresight
  private var ledger: SQLLedger<PostgresStatement>
  /// What the row of this connection is called.
  let writer: [UInt8]
  /// The number of the last group whose commit was sent.
  private(set) var lastGroup: Int64 = 0

  init(_ options: PostgresOptions, role: SessionRole, numbers: AccountNumbers) throws(PostgresFault) {
    let connection = try Connection(
      url: options.url, patienceMilliseconds: role.patienceMilliseconds(options))
    // What a server does not know it need not keep.
    for setting in OwnSQL.prepareConnection { try? connection.execute(setting) }
    try connection.beginPipeline()
    begin = PreparedText(
      name: "begin", text: role == .reads ? OwnSQL.beginReading : OwnSQL.beginWriting)
    awaitDecisions = PreparedText(name: "decisions", text: OwnSQL.awaitDecisions)
    commit = PreparedText(name: "commit", text: OwnSQL.commit)
    rollback = PreparedText(name: "rollback", text: OwnSQL.rollback)
    noteGroup = PreparedText(name: "group", text: OwnSQL.failingUnlessOne(OwnSQL.noteGroup))
    lookAtTables = PreparedText(name: "tables", text: role.lookAtTables)
    lookAtPlaces = PreparedText(name: "places", text: OwnSQL.lookAtPlaces)
    lockWaits = LockWait.texts
    foresight = Foresight(connection)
    var count = 0
    var seldom: [String: PostgresStatement] = [:]
    let statements = SQLStatements(
      for: .postgres, announces: options.announces, nextAccountNumber: { numbers.next() }
    ) { text in
      count += 1
      return PostgresStatement(
        numbered(text), number: count, lock: role == .reads ? nil : OwnSQL.locks[text],
        on: connection)
    }
    statements.prepareText = { text in
      if let known = seldom[text] { return .success(known) }
      count += 1
      let statement = PostgresStatement(numbered(text), number: count, lock: nil, on: connection)
      seldom[text] = statement
      return .success(statement)
    }
    ledger = SQLLedger(statements)
    writer = role == .reads ? [] : randomBytes(16)
    self.connection = connection
    self.role = role
    if role != .reads { try register() }
  }

  var isBroken: Bool { connection.isBroken }

  /// Whether the server has closed the connection since it was last used; costs no way there and back.
  var wasLeft: Bool { connection.wasLeft() }

  /// Runs transactions as one; afterwards none is open, unless the connection is broken.
  ///
  /// - Parameter wait: How long for the locks of others; who decides on rows that are held may be passed over.
  func commit(_ group: ArraySlice<Transaction>, _ wait: LockPatience) -> GroupOutcome {
    open()
    var group = group
    var passedOver: [Transaction] = []
    var answers: [@Sendable () -> Void] = []
    do throws(StorageError) {
      setLockWait(wait.rows)
      if role.namesRows {
        if wait.passesOver {
          let held = try foresight.held(group)
          passedOver = held.sorted().map { group[$0] }
          if !held.isEmpty { group = group.indices.filter { !held.contains($0) }.map { group[$0] }[...] }
        }
        ledger.known = try foresight.look(group)
      }
      answers.reserveCapacity(group.count)
      for transaction in group { answers.append(try transaction.run(&ledger)) }
      if role != .reads { setLockWait(wait.places) }
      try ledger.writeHistory()
    } catch {
      undo()
      return .undone(error, connection.fault)
    }
    return close(answers, passedOver: passedOver)
  }

  /// Commits nothing, and waits for a moment where a group would wait that wants no row of anybody's.
  func look() -> GroupOutcome {
    open()
    setLockWait(LockPatience.passing.rows)
    connection.send(lookAtTables)
    if role != .reads {
      setLockWait(LockPatience.again.places)
      connection.send(lookAtPlaces)
    }
    return close([], passedOver: [])
  }

  private func open() {
    connection.begin()
    // Of an attempt before, which was undone.
    ledger.reset()
    connection.send(begin)
    guard role == .decisions else { return }
    setLockWait(.long)
    connection.send(awaitDecisions)
  }

  private func setLockWait(_ wait: LockWait) {
    if let text = lockWaits[wait] { connection.send(text) }
  }

  private func close(_ answers: [@Sendable () -> Void], passedOver: [Transaction]) -> GroupOutcome {
    if role != .reads {
      lastGroup += 1
      var slots = PostgresSlots()
      slots.add(writer)
      slots.add(lastGroup)
      connection.send(noteGroup, slots)
    }
    connection.send(commit)
    do throws(PostgresFault) {
      let done = try connection.collect().last
      // A commit of what had failed is answered with `ROLLBACK`, as no fault.
      guard done?.command == "COMMIT" else { return .undone(.unavailable, nil) }
      return .committed(answers, passedOver: passedOver)
    } catch {
      guard !connection.isBroken, !error.leavesCommitOpen else {
        return .unknown(answers, passedOver: passedOver, error)
      }
      undo()
      return .undone(error.storageError, error)
    }
  }

  /// Says that this connection writes nothing more.
  func leave() {
    guard role != .reads, !connection.isBroken else { return }
    _ = try? runAlone(OwnSQL.forgetWriter, writer)
  }

  /// What became of a group of another connection, which can write nothing more afterwards.
  ///
  /// - Returns: Whether it was committed; nil when that is not known.
  func settle(group: Int64, of other: [UInt8]) throws(PostgresFault) -> Bool? {
    connection.begin()
    var slots = PostgresSlots()
    slots.add(other)
    connection.send(begin)
    connection.send(PreparedText(name: "", text: OwnSQL.lastGroup), slots)
    connection.send(PreparedText(name: "", text: OwnSQL.forgetWriter), slots)
    do throws(PostgresFault) {
      let answers = try connection.collect()
      guard answers.count == 3, answers[1].count == 1 else {
        undo()
        return nil
      }
      let last = try? answers[1].withRow(0) { (row) throws(StorageError) in try row.optionalNumber() }
      connection.send(commit)
      _ = try connection.collect()
      return last.map { $0 == group }
    } catch {
      undo()
      throw error
    }
  }

  private func register() throws(PostgresFault) {
    try runAlone(OwnSQL.forgetOldWriters, nil)
    try runAlone(OwnSQL.registerWriter, writer)
  }

  private func runAlone(_ text: String, _ id: [UInt8]?) throws(PostgresFault) {
    var slots = PostgresSlots()
    if let id { slots.add(id) }
    connection.send(PreparedText(name: "", text: text), slots)
    _ = try connection.collect()
  }

  private func undo() {
    guard !connection.isBroken else { return }
    // What was sent and not collected belongs to the transaction that is undone.
    connection.send(rollback)
    do throws(PostgresFault) {
      _ = try connection.collect()
    } catch {
      // A fault before the rollback had the server pass over it.
      connection.send(rollback)
      _ = try? connection.collect()
    }
  }
}

/// What became of a group.
enum GroupOutcome {
  case committed([@Sendable () -> Void], passedOver: [Transaction])
  /// By a fault of the server's, or for what a transaction of it threw.
  case undone(StorageError, PostgresFault?)
  /// The commit was sent and its answer never came.
  case unknown([@Sendable () -> Void], passedOver: [Transaction], PostgresFault)
}

extension PostgresFault {
  /// The server says that it does not know either.
  fileprivate var leavesCommitOpen: Bool { state == "40003" || state == "08007" }
}

/// `?1` of the common texts as `$1`; none of them has a question mark that means anything else.
private func numbered(_ text: String) -> String {
  String(text.map { $0 == "?" ? "$" : $0 })
}

private func randomBytes(_ count: Int) -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
}
