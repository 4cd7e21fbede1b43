internal import Glibc
internal import SQLLedger
internal import Storage
internal import Threads

/// Commits what waits in one go: a commit costs a sync of the server's disk and a way there and back, whatever is in it.
///
/// Nobody is answered before the server has said that it is done. A group in which one transaction fails is undone, and
/// its halves run again by themselves, so that none pays for another's fault. Who needs what somebody else has locked is
/// set aside, and those beside him are committed.
struct GroupCommit: ~Copyable, BatchWork {
  typealias Item = Transaction

  /// How long a group is tried again before its requests are told that the database cannot answer.
  private static let patience = Duration.seconds(4)

  private let options: PostgresOptions
  private let role: SessionRole
  private let numbers: AccountNumbers
  private let line: Line
  private let availability: AvailabilityWatch
  private let counters: CommitCounters
  private let observe: (@Sendable (Int, Duration) -> Void)?
  private var session: Session?
  private var idleTicks = 0
  private var aside: SetAside
  /// Of the group that is under way, and of those that were set aside before and are tried again.
  private var (hasCommitted, hasSetAside) = (false, false)
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
    aside = SetAside(limit: options.groupLimit)
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
      // While a row is known to be held, others do not wait to find that out.
      perform(group, aside.isEmpty ? .waiting : .passing)
    }
    line.end()
    let waited = aside.takeDue(at: .now)
    if !waited.isEmpty {
      line.begin()
      perform(waited, .again)
      line.end()
    }
    availability.note(trouble, on: role.rawValue)
  }

  private mutating func perform(_ group: [Transaction], _ wait: LockPatience) {
    hasCommitted = false
    hasSetAside = false
    let now = ContinuousClock.now
    perform(group[...], Attempt(wait: wait, until: now + Self.patience, searchUntil: now + wait.search))
    // Some wait for one row, or all for what everybody needs?
    if hasSetAside, !hasCommitted { look() }
  }

  /// Asks whether what is held is more than rows of some.
  private mutating func look() {
    guard let session else { return }
    switch session.look() {
    // It says nothing of what is damaged.
    case .committed: if trouble != .damaged { trouble = nil }
    case .undone(_, let fault) where fault?.consequence == .held: trouble = .held
    case .undone(_, let fault): note(fault)
    case .unknown(_, _, let fault): note(fault)
    }
    if session.isBroken { self.session = nil }
  }

  /// The look whether the server is still there, or back. A connection that nobody needs for an hour says that it is
  /// still there, or its row would be taken for one that was left behind (see `OwnSQL.forgetOldWriters`).
  private mutating func tick() {
    if session?.wasLeft ?? false { session = nil }
    guard session != nil else { return connect() }
    idleTicks += 1
    // Whatever kept a group from being written may keep the next: nobody should have to try it.
    let isDoubtful = trouble != nil && trouble != .damaged
    guard idleTicks >= Self.ticksOfAnHour || isDoubtful else { return }
    idleTicks = 0
    look()
    if trouble == .readOnly { self.session = nil }
  }

  private mutating func note(_ fault: PostgresFault?) {
    guard let found = fault?.trouble else { return }
    trouble = found
    if found == .full { availability.noteFull(on: role.rawValue) }
    // Nobody is to wait for it until it was heard.
    if found == .silent { line.wentDown(since: .now - Self.patience) }
  }

  mutating func finish() {
    fail(aside.takeAll()[...], .unavailable)
    session?.leave()
    session = nil
  }

  private mutating func perform(_ group: ArraySlice<Transaction>, _ given: Attempt) {
    let begun = ContinuousClock.now
    var (wait, attempt) = (given.wait, 0)
    var lastFault: PostgresFault?
    while ContinuousClock.now < given.until, let session = connected() {
      switch session.commit(group, wait) {
      case .committed(let answers, let passedOver):
        setAside(passedOver[...])
        return answer(answers, since: begun)
      case .unknown(let answers, let passedOver, let fault):
        counters.count(fault: "")
        self.session = nil
        switch settle(session, lostBy: fault, until: given.until) {
        case true?:
          setAside(passedOver[...])
          return answer(answers, since: begun)
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
        case .held where .now >= given.searchUntil || wait.passesOver && group.count == 1:
          return setAside(group)
        case .held where wait.passesOver: return performHalves(of: group, given, wait)
        case .held: wait = .passing
        case .reconnect:
          self.session = nil
          if fault == .silent { note(fault) }
        case .conflict where group.count == 1 && attempt < 2: break
        case nil, .conflict, .corrupt, .unavailable:
          guard group.count == 1 else { return performHalves(of: group, given, wait) }
          note(fault)
          return fail(group, error)
        }
      }
      attempt += 1
    }
    note(lastFault)
    fail(group, .unavailable)
  }

  private mutating func performHalves(
    of group: ArraySlice<Transaction>, _ given: Attempt, _ wait: LockPatience
  ) {
    let middle = group.startIndex + group.count / 2
    let attempt = Attempt(wait: wait, until: given.until, searchUntil: given.searchUntil)
    perform(group[..<middle], attempt)
    perform(group[middle...], attempt)
  }

  private mutating func setAside(_ group: ArraySlice<Transaction>) {
    guard !group.isEmpty else { return }
    hasSetAside = true
    fail(aside.keep(group, at: .now)[...], .unavailable)
  }

  private mutating func answer(_ answers: [@Sendable () -> Void], since begun: ContinuousClock.Instant) {
    guard !answers.isEmpty else { return }
    hasCommitted = true
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
      // Making it wants no row of anybody's.
      trouble = error.trouble ?? (error.consequence == .held ? .held : trouble)
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

/// How a group is tried, and its parts.
private struct Attempt {
  let wait: LockPatience
  /// When nobody hopes for the server any more.
  let until: ContinuousClock.Instant
  /// When it is no longer looked for who needs what is held.
  let searchUntil: ContinuousClock.Instant
}

/// Longer each time, and not equally long on two nodes that have met.
private func pause(before attempt: Int) {
  let most = min(10_000 << min(attempt, 5), 300_000)
  usleep(UInt32.random(in: UInt32(most / 2)...UInt32(most)))
}
