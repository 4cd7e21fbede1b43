internal import SQLLedger
internal import Storage
internal import Threads

typealias Transaction = SQLTransaction<SQLiteStatement>

/// Commits what waits in one go: a commit costs a sync of the disk, whatever is in it.
///
/// Nobody is answered before the commit has returned. A group in which one transaction fails is undone, and each
/// of its transactions runs again by itself, so that none pays for another's fault; savepoints would make every
/// good group pay instead.
struct GroupCommit: ~Copyable, BatchWork {
  typealias Item = Transaction

  /// Nil once finished.
  private var session: Session?
  private let counters: CommitCounters
  private let availability: AvailabilityWatch
  /// What the last group came to.
  private var trouble: StorageTrouble?
  private let observe: (@Sendable (Int, Duration) -> Void)?
  private let busyMilliseconds: Int32
  /// Whether the last group was given up because another process held the database.
  private var isHeldElsewhere = false
  /// Nil for a connection that only reads.
  private var fold: LogFold?

  init(
    connection: consuming Connection, options: SQLiteOptions, counters: CommitCounters,
    availability: AvailabilityWatch, foldsLog: Bool, observe: (@Sendable (Int, Duration) -> Void)?
  ) throws(StorageOpenError) {
    busyMilliseconds = options.busyMilliseconds
    do throws(SQLiteError) {
      session = try Session(on: connection, announces: options.announces)
    } catch {
      throw error.openError
    }
    self.counters = counters
    self.availability = availability
    self.observe = observe
    fold = foldsLog ? LogFold(at: .now) : nil
  }

  mutating func perform(_ group: [Transaction]) {
    if !group.isEmpty {
      commit(group)
      fold?.noteCommit()
    }
    if fold?.isDue(isIdle: group.isEmpty, at: .now) ?? false { foldLog() }
    availability.note(trouble, on: place)
  }

  /// Two connections: the one that writes folds the log.
  private var place: Int { fold == nil ? 1 : 0 }

  private mutating func commit(_ group: [Transaction]) {
    guard let session else { return }
    counters.count(group: group.count)
    let begun = ContinuousClock.now
    switch session.commit(group[...]) {
    case .committed(let answers):
      noteLock(isHeldElsewhere: false, session)
      trouble = nil
      // Before the answers: who was answered finds himself counted.
      observe?(group.count, .now - begun)
      for answer in answers { answer() }
    case .undone(let error, .ofGroup, let code):
      note(code)
      noteLock(isHeldElsewhere: SQLiteError(code: code, detail: "").isBusy, session)
      for transaction in group { transaction.fail(error) }
    case .undone(let error, .ofOne, let code):
      guard group.count == 1 else { return performAlone(group, session) }
      note(code)
      group[0].fail(error)
    }
  }

  private mutating func note(_ code: Int32) {
    counters.count(fault: "\(code)")
    guard let found = SQLiteError(code: code, detail: "").trouble else { return }
    trouble = found
    if found == .full { availability.noteFull(on: place) }
  }

  mutating func finish() {
    if fold?.isDue(isIdle: true, at: .now) ?? false { foldLog() }
    session = nil
  }

  /// Moves what the log holds into the file and cuts the log. Waits for nobody who is in the way: the next time will do.
  private mutating func foldLog() {
    guard let session else { return }
    session.connection.setBusyTimeout(0)
    let isDone = (try? session.connection.number(Pragma.foldLog)) == 0
    session.connection.setBusyTimeout(isHeldElsewhere ? min(100, busyMilliseconds) : busyMilliseconds)
    fold?.noteFold(isDone: isDone, at: .now)
  }

  /// Waits less for a lock that was waited for in vain just now: the groups that queued up meanwhile would
  /// otherwise wait one timeout after the other, long after whoever asked has gone.
  private mutating func noteLock(isHeldElsewhere: Bool, _ session: Session) {
    guard isHeldElsewhere != self.isHeldElsewhere else { return }
    self.isHeldElsewhere = isHeldElsewhere
    session.connection.setBusyTimeout(
      isHeldElsewhere ? min(100, busyMilliseconds) : busyMilliseconds)
  }

  private mutating func performAlone(_ group: [Transaction], _ session: Session) {
    for (index, transaction) in group.enumerated() {
      switch session.commit(group[index...index]) {
      case .committed(let answers):
        trouble = nil
        for answer in answers { answer() }
      case .undone(let error, .ofOne, let code):
        note(code)
        transaction.fail(error)
      case .undone(let error, .ofGroup, let code):
        note(code)
        // The disk or the lock, not the transaction: the others would wait for the same, one timeout each.
        for transaction in group[index...] { transaction.fail(error) }
        return
      }
    }
  }
}

/// What became of a group.
private enum GroupOutcome {
  enum Fault {
    /// Of the beginning or the commit.
    case ofGroup
    /// Of one transaction in it.
    case ofOne
  }

  case committed([@Sendable () -> Void])
  /// With SQLite's extended code.
  case undone(StorageError, Fault, Int32)
}

/// A connection with all that is prepared on it; stays on the writer's thread.
private final class Session {
  let connection: Connection
  private let beginWriting, beginReading, endGood, endBad: SQLiteStatement
  private var ledger: SQLLedger<SQLiteStatement>

  init(on connection: consuming Connection, announces: Bool) throws(SQLiteError) {
    beginWriting = try connection.prepare(SQL.beginWriting)
    beginReading = try connection.prepare(SQL.beginReading)
    endGood = try connection.prepare(SQL.commit)
    endBad = try connection.prepare(SQL.rollback)
    let statements = try SQLStatements(for: .sqlite, announces: announces) { (text) throws(SQLiteError) in
      try connection.prepare(text)
    }
    ledger = SQLLedger(statements)
    self.connection = connection
    statements.prepareText = { [unowned self] text in
      do throws(SQLiteError) {
        return .success(try self.connection.prepare(text))
      } catch {
        return .failure(error.storageError)
      }
    }
  }

  /// Runs transactions as one; afterwards none is open.
  func commit(_ group: ArraySlice<Transaction>) -> GroupOutcome {
    undo()
    do throws(SQLiteError) {
      if group.contains(where: \.writes) {
        try beginWriting.runPlainly()
      } else {
        try beginReading.runPlainly()
      }
    } catch {
      return .undone(error.storageError, .ofGroup, error.code)
    }
    var answers: [@Sendable () -> Void] = []
    answers.reserveCapacity(group.count)
    do throws(StorageError) {
      for transaction in group {
        answers.append(try transaction.run(&ledger))
        // A full disk may have ended the transaction; what followed would commit by itself.
        guard connection.isInTransaction else { throw .unavailable }
      }
    } catch {
      let code = connection.lastCode
      undo()
      return .undone(error, .ofOne, code)
    }
    do throws(SQLiteError) {
      try endGood.runPlainly()
    } catch {
      // Whatever the reason: whether the log's last frame reached the disk is not known.
      undo()
      return .undone(.unavailable, .ofGroup, error.code)
    }
    return .committed(answers)
  }

  /// Ends the transaction that is open, if one is. One that cannot be ended now is tried again before the next.
  private func undo() {
    guard connection.isInTransaction else { return }
    do throws(SQLiteError) {
      try endBad.runPlainly()
    } catch {}
  }
}
