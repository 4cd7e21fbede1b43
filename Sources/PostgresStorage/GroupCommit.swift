internal import Glibc
internal import SQLLedger
internal import Storage
internal import Threads

/// Commits what waits in one go: a commit costs a sync of the server's disk and a way there and back, whatever is in it.
///
/// Nobody is answered before the server has said that it is done. A group in which one transaction fails is undone, and
/// each of its transactions runs again by itself, so that none pays for another's fault.
struct GroupCommit: ~Copyable, BatchWork {
  typealias Item = Transaction

  /// How long a group is tried again before its requests are told that the database cannot answer.
  private static let patience = Duration.seconds(6)

  private let options: PostgresOptions
  private let role: SessionRole
  private let numbers: AccountNumbers
  private let line: Line
  private let availability: AvailabilityWatch
  private let counters: CommitCounters
  private let observe: (@Sendable (Int, Duration) -> Void)?
  private var session: Session?
  private var idleTicks = 0
  /// What the last group, or the last look for a server, came to.
  private var trouble: StorageTrouble?

  /// Between two ticks of an idle worker.
  static let tickMilliseconds: Int64 = 500
  private static let ticksOfAnHour = 3_600_000 / tickMilliseconds

  init(
    _ options: PostgresOptions, _ role: SessionRole, _ numbers: AccountNumbers, line: Line,
    availability: AvailabilityWatch, counters: CommitCounters, observe: (@Sendable (Int, Duration) -> Void)?
  ) throws(StorageOpenError) {
    (self.options, self.role, self.numbers, self.line) = (options, role, numbers, line)
    (self.availability, self.counters, self.observe) = (availability, counters, observe)
    do throws(PostgresFault) {
      session = try Session(options, role: role, numbers: numbers)
    } catch {
      throw .cannotOpen(detail: error.detail)
    }
  }

  mutating func perform(_ group: [Transaction]) {
    line.begin()
    if group.isEmpty {
      tick()
    } else {
      idleTicks = 0
      counters.count(group: group.count)
      perform(group[...], until: .now + Self.patience)
    }
    line.end()
    availability.note(trouble, on: role.rawValue)
  }

  /// The look whether the server is still there, or back. A connection that nobody needs for an hour says that it is
  /// still there, or its row would be taken for one that was left behind (see `OwnSQL.forgetOldWriters`).
  private mutating func tick() {
    if session?.wasLeft ?? false { session = nil }
    guard let session else { return connect() }
    idleTicks += 1
    // Whatever kept a group from being written may keep the next: nobody should have to try it.
    let isDoubtful = trouble != nil && trouble != .damaged
    guard idleTicks >= Self.ticksOfAnHour || isDoubtful else { return }
    idleTicks = 0
    switch session.commit([]) {
    case .committed: if isDoubtful { trouble = nil }
    case .undone(_, let fault): note(fault)
    case .unknown(_, let fault): note(fault)
    }
    if session.isBroken || trouble == .readOnly { self.session = nil }
  }

  private mutating func note(_ fault: PostgresFault?) {
    guard let found = fault?.trouble else { return }
    trouble = found
    // Nobody is to wait for it until it was heard.
    if found == .silent { line.wentDown(since: .now - Self.patience) }
  }

  mutating func finish() {
    session?.leave()
    session = nil
  }

  private mutating func perform(_ group: ArraySlice<Transaction>, until deadline: ContinuousClock.Instant) {
    let begun = ContinuousClock.now
    var attempt = 0
    var lastFault: PostgresFault?
    while ContinuousClock.now < deadline, let session = connected() {
      switch session.commit(group) {
      case .committed(let answers): return answer(answers, since: begun)
      case .unknown(let answers, let fault):
        counters.count(fault: "")
        self.session = nil
        switch settle(session, lostBy: fault, until: deadline) {
        case true?: return answer(answers, since: begun)
        case false?: break
        case nil:
          note(fault)
          return fail(group, .unavailable)
        }
      case .undone(let error, let fault):
        lastFault = fault
        if let fault { counters.count(fault: fault.state) }
        if session.isBroken { self.session = nil }
        switch fault?.consequence {
        case .runAgain: pause(before: attempt)
        case .reconnect:
          self.session = nil
          if fault == .silent { note(fault) }
        case .conflict where group.count == 1 && attempt < 2: break
        case nil, .conflict, .corrupt, .unavailable:
          guard group.count > 1 else {
            note(fault)
            return fail(group, error)
          }
          for index in group.indices { perform(group[index...index], until: deadline) }
          return
        }
      }
      attempt += 1
    }
    note(lastFault)
    fail(group, .unavailable)
  }

  private mutating func answer(_ answers: [@Sendable () -> Void], since begun: ContinuousClock.Instant) {
    trouble = nil
    // Before the answers: who was answered finds himself counted.
    observe?(answers.count, .now - begun)
    for answer in answers { answer() }
  }

  private func fail(_ group: ArraySlice<Transaction>, _ error: StorageError) {
    for transaction in group { transaction.fail(error) }
  }

  /// The session, made anew where the last one was lost; nil when no server answers.
  private mutating func connected() -> Session? {
    // What queued up before it was known waits for no second try.
    if session == nil, line.mayTry { connect() }
    return session
  }

  private mutating func connect() {
    let begun = ContinuousClock.now
    do throws(PostgresFault) {
      session = try Session(options, role: role, numbers: numbers)
      line.cameUp()
      // Making it wrote a row; whether what was damaged is whole, only work tells.
      if trouble != .damaged { trouble = nil }
    } catch {
      line.wentDown(since: begun)
      trouble = error.trouble
    }
  }

  /// What became of a commit whose answer was lost; nil when it cannot be known in time.
  private mutating func settle(
    _ lost: Session, lostBy fault: PostgresFault, until deadline: ContinuousClock.Instant
  ) -> Bool? {
    // Who has waited for a server that says nothing does not wait for it again.
    guard fault != .silent else { return nil }
    guard role != .reads else { return false }
    var attempt = 0
    while ContinuousClock.now < deadline {
      // Also where nobody answered a moment ago: this cannot be told without being looked up.
      if session == nil { connect() }
      if let session {
        do throws(PostgresFault) {
          return try session.settle(group: lost.lastGroup, of: lost.writer)
        } catch {
          if session.isBroken { self.session = nil }
        }
      }
      pause(before: attempt)
      attempt += 1
    }
    return nil
  }
}

/// Longer each time, and not equally long on two nodes that have met.
private func pause(before attempt: Int) {
  let most = min(10_000 << min(attempt, 5), 300_000)
  usleep(UInt32.random(in: UInt32(most / 2)...UInt32(most)))
}
