import Domain
import Sessions
import Storage
import Synchronization
import TestSupport
import Testing

/// Storage that can be made to fail, and counts what it is asked.
private final class FaultyStorage: LedgerStorage {
  private let inner = MemoryStorage()
  private let isBroken = Atomic(false)
  private let reads = Atomic(0)

  var readCount: Int { reads.load(ordering: .relaxed) }
  func breakDown() { isBroken.store(true, ordering: .relaxed) }
  func mend() { isBroken.store(false, ordering: .relaxed) }

  func transact<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout MemoryLedger) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    if isBroken.load(ordering: .relaxed) { throw .unavailable }
    return try await inner.transact(body)
  }

  func read<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout MemoryLedger) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    reads.add(1, ordering: .relaxed)
    return try await transact(body)
  }

  func stop() async {}
}

@Suite(.timeLimit(.minutes(3)))
struct SessionWatchTests {
  private let storage = FaultyStorage()
  private let clock = ManualClock()
  private let watch: SessionWatch

  init() { watch = SessionWatch(storage: storage, clock: clock.steady) }

  /// A new session of an account.
  private func open(_ number: Int = 1) async throws -> Session {
    let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    let outcome = try await storage.openSession(
      AccountSessionIntent(
        account: AccountID(unchecked: "account\(number)"), provider: "custom", isAnonymous: false,
        createsAccount: true, customClaims: nil, newSession: try #require(SessionID(bytes)),
        masterKey: try masterKey(1).id, rules: SessionOpeningRules(maximum: 0), origin: person,
        now: UnixTime(1)))
    guard case .opened(let grant, _) = outcome else { throw StorageError.corrupt }
    return grant.session
  }

  private func end(_ session: Session) async throws {
    _ = try await storage.endSessions(
      SessionEndingIntent(target: .own(session.id), origin: person, now: UnixTime(2)))
  }

  private func refusal(_ session: Session) async -> SessionRefusal? {
    do throws(SessionRefusal) {
      _ = try await watch.refusal(of: session.id)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a session is looked up once and remembered`() async throws {
    let session = try await open()
    try await watch.follow()
    let before = storage.readCount
    for _ in 0..<50 { #expect(try await watch.refusal(of: session.id) == nil) }
    #expect(storage.readCount == before + 1)
  }

  @Test func `whoever asks right after the first look is told, and after one that failed is not`()
    async throws
  {
    let session = try await open()
    storage.breakDown()
    await watch.begin()
    #expect(await refusal(session) == .storage(.unavailable))
    storage.mend()
    await watch.begin()
    #expect(await refusal(session) == nil)
  }

  @Test func `what ended is bad as soon as it is followed`() async throws {
    let (a, b) = (try await open(1), try await open(2))
    try await watch.follow()
    #expect(try await watch.refusal(of: a.id) == nil)
    #expect(try await watch.refusal(of: b.id) == nil)
    try await end(a)
    try await watch.follow()
    #expect(try await watch.refusal(of: a.id) == .sessionOver(.ended))
    #expect(try await watch.refusal(of: b.id) == nil)
  }

  @Test func `a disabled account is bad and good again`() async throws {
    let session = try await open()
    try await watch.follow()
    func disable(_ isDisabled: Bool) async throws {
      var change = AccountChange()
      change.isDisabled = isDisabled
      _ = try await storage.change(
        AccountChangeIntent(
          target: .administered(session.account), change: change, origin: person, now: UnixTime(2)))
      try await watch.follow()
    }
    #expect(try await watch.refusal(of: session.id) == nil)
    try await disable(true)
    #expect(try await watch.refusal(of: session.id) == .accountDisabled)
    try await disable(false)
    #expect(try await watch.refusal(of: session.id) == nil)
  }

  @Test func `a session that never was is not good, and is not remembered either`() async throws {
    try await watch.follow()
    let unknown = try #require(SessionID(Array(0..<16)))
    #expect(try await watch.refusal(of: unknown) == .sessionOver(nil))
  }

  @Test func `nothing that is remembered is believed more than two seconds after the last look`() async throws
  {
    let session = try await open()
    #expect(await refusal(session) == .storage(.unavailable), "before the first look")
    try await watch.follow()
    #expect(await refusal(session) == nil)
    clock.advance(2)
    #expect(await refusal(session) == nil)
    storage.breakDown()
    #expect(!watch.isBlind)
    await #expect(throws: StorageError.unavailable) { try await watch.follow() }
    #expect(watch.isBlind)
    #expect(await refusal(session) == nil)
    clock.advance(1)
    #expect(await refusal(session) == .storage(.unavailable))
    storage.mend()
    try await watch.follow()
    #expect(await refusal(session) == nil)
  }

  @Test func `a write whose effect could not be read back is believed by nobody`() async throws {
    let session = try await open()
    try await watch.follow()
    #expect(try await watch.refusal(of: session.id) == nil)
    try await end(session)
    storage.breakDown()
    await watch.followOwnWrite()
    #expect(await refusal(session) == .storage(.unavailable))
    storage.mend()
    await watch.followOwnWrite()
    #expect(try await watch.refusal(of: session.id) == .sessionOver(.ended))
  }

  @Test func `once signing keys are followed they are followed as closely, or nothing is believed`()
    async throws
  {
    let session = try await open()
    watch.tookKeys(asOf: watch.now)
    for _ in 0..<3 {
      clock.advance(1)
      try await watch.follow()
    }
    #expect(await refusal(session) == .storage(.unavailable))
    watch.tookKeys(asOf: watch.now)
    #expect(await refusal(session) == nil)
  }

  @Test func `thousands of revocations are taken in at one look`() async throws {
    var sessions: [Session] = []
    for number in 1...2500 { sessions.append(try await open(number)) }
    try await watch.follow()
    for session in sessions { #expect(try await watch.refusal(of: session.id) == nil) }
    for session in sessions { try await end(session) }
    try await watch.follow()
    for session in sessions { #expect(try await watch.refusal(of: session.id) == .sessionOver(.ended)) }
  }

  @Test func `lookups that race with revocations never remember what is over`() async throws {
    try await watch.follow()
    for number in 1...200 {
      let session = try await open(number)
      let watch = watch
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { _ = try await watch.refusal(of: session.id) } }
        group.addTask {
          _ = try await storage.endSessions(
            SessionEndingIntent(target: .own(session.id), origin: person, now: UnixTime(2)))
          try await watch.follow()
        }
        try await group.waitForAll()
      }
      #expect(try await watch.refusal(of: session.id) == .sessionOver(.ended))
    }
  }

  @Test func `who waits for news is told of it, or let go at the end`() async throws {
    let session = try await open()
    try await watch.follow()
    let watch = watch
    async let told: Void = watch.wait(behind: 0, atMost: .seconds(600))
    try await end(session)
    try await watch.follow()
    await told
    // What came before is not waited for.
    await watch.wait(behind: 0, atMost: .seconds(600))
    async let last: Void = watch.wait(behind: 1, atMost: .seconds(600))
    watch.close()
    await last
    await watch.wait(behind: 1, atMost: .seconds(600))
  }

  @Test func `only news from behind the place that is waited at is told of`() async throws {
    let (a, b) = (try await open(1), try await open(2))
    try await watch.follow()
    try await end(a)
    let watch = watch
    // Who read the database itself is ahead of what was followed, and has had this one.
    async let told: Void = watch.wait(behind: 1, atMost: .seconds(600))
    while watch.waitingCount == 0 { await Task.yield() }
    try await watch.follow()
    for _ in 0..<100 { await Task.yield() }
    #expect(watch.waitingCount == 1)
    try await end(b)
    try await watch.follow()
    await told
    #expect(watch.waitingCount == 0)
  }
}
