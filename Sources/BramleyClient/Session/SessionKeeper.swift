internal import Foundation

/// Who is signed in, in memory and in the store.
///
/// What the service may not have answered yet is in the store before it is sent. Every change is one of ``StoredState``'s,
/// made in the store; memory follows the store, and only the token endpoint's word that a session is over signs anybody out.
final class SessionKeeper: Sendable {
  /// What this process knows.
  struct Memory {
    var current: HeldSession?
    /// A session that is over by the service's word, in case the store could not be told.
    var over: String?
    var order = StoreOrder()
    /// When the store was last read, on the clock that nobody sets; nil as long as it could not be.
    var lookedAt: TimeInterval?
    /// Whether the store could not be read for a reason that does not pass by itself.
    var isUnreadable = false
    /// Sign-ins that are under way, by the attempt's id.
    var attempts: [UUID: Task<SignedIn, any Error>] = [:]
    var telling = Telling()
  }

  let endpoint: Endpoint
  let store: any SessionStore
  let world: Surroundings
  let device: DeviceDescription
  /// Who is told of changes, and whether somebody else is signed in than before.
  let observer = Locked<(@Sendable (_ isOtherPerson: Bool) -> Void)?>(nil)
  let memory = Locked(Memory())

  /// Tokens are renewed so many seconds before they expire.
  static let earliness: TimeInterval = 300

  init(endpoint: Endpoint, store: any SessionStore, device: DeviceDescription) {
    self.endpoint = endpoint
    self.store = store
    self.device = device
    world = endpoint.world
  }

  /// Who is signed in, in whichever process of the app; nil for nobody, or as long as the store cannot be read.
  var current: HeldSession? {
    look()
    return memory.withLock { $0.current }
  }

  /// Whether it is known who is signed in: the store has been read, or cannot be and so nobody is.
  var isKnown: Bool {
    look()
    return memory.withLock { $0.lookedAt != nil || $0.isUnreadable }
  }

  /// - Throws: ``AuthErrorCode/nullUser`` when this person is not signed in any more.
  func check(_ held: HeldSession) throws {
    guard current === held else { throw Self.notSignedIn }
  }

  static var notSignedIn: AuthErrorCode {
    AuthErrorCode.nullUser.error("This person is not signed in any more.")
  }

  // MARK: Memory follows the store

  /// Changes the store, and memory after it.
  func change<R>(_ body: (inout StoredState) throws -> R) throws -> R {
    var number = 0
    let (result, session) = try store.change(known: known) { state in
      number = nextNumber()
      let result = try body(&state)
      return (result, state.session)
    }
    follow(session) { $0.counts(change: number) }
    return result
  }

  /// Reads the store, and memory follows.
  func read() throws -> StoredState {
    let number = nextNumber()
    let state = try store.state(known: known)
    follow(state.session) { $0.counts(look: number) }
    return state
  }

  /// Reads the store unless that was done within the last second: other processes may have changed it.
  private func look() {
    let now = world.steady()
    let isRecent = memory.withLock { memory in memory.lookedAt.map { (0..<1).contains(now - $0) } ?? false }
    guard !isRecent else { return }
    do {
      _ = try read()
    } catch {
      let isUnreadable = !store.mayBecomeReadable(after: error)
      memory.withLock { $0.isUnreadable = isUnreadable }
    }
  }

  private var known: StoredSession? { memory.withLock { $0.current?.session } }

  private func nextNumber() -> Int { memory.withLock { $0.order.nextNumber() } }

  /// Lets memory follow what the store said, unless it is known to say something later.
  private func follow(_ stored: StoredSession?, _ counts: (inout StoreOrder) -> Bool) {
    let now = world.steady()
    stand { memory in
      guard counts(&memory.order) else { return memory.current?.session }
      memory.lookedAt = now
      memory.isUnreadable = false
      let isOver = stored != nil && stored?.sessionID == memory.over
      return isOver ? nil : StoredState.standing(known: memory.current?.session, stored: stored)
    }
  }

  /// Lets somebody, or nobody, be signed in as far as memory goes, and tells of it.
  private func stand(_ choose: (inout Memory) -> StoredSession?) {
    let isOtherPerson: Bool? = memory.withLock { memory in
      let session = choose(&memory)
      if let session, let current = memory.current, current.uid == session.uid {
        return current.take(session) ? false : nil
      }
      guard session != nil || memory.current != nil else { return nil }
      memory.current = session.map { HeldSession($0, world: world) }
      return true
    }
    if let isOtherPerson { observer.current?(isOtherPerson) }
  }

  // MARK: Tokens

  /// A session whose token is good for five minutes or more; of an outage one that is still good at all.
  ///
  /// - Parameter isForced: Whether the token is to be a new one in any case.
  func fresh(_ held: HeldSession, isForced: Bool) async throws -> StoredSession {
    try check(held)
    let canWait = !isForced && held.remaining > 0
    // Whoever has a good token does not pay again for an outage that was there a moment ago.
    if canWait, held.remaining > Self.earliness || endpoint.isResting(Call.refreshKind) {
      return held.session
    }
    do {
      return try await held.refresh(isForced: isForced) {
        try await self.refresh(held, isForced: isForced, isHurried: canWait)
      }
    } catch let fault as CallFault where fault.isOutage && !isForced && held.remaining > 0 {
      return held.session
    } catch AuthErrorCode.keychainError where !isForced && held.remaining > 0 {
      return held.session
    }
  }

  private func refresh(_ held: HeldSession, isForced: Bool, isHurried: Bool) async throws -> StoredSession {
    try await store.alone {
      let time = BackgroundTime("a refresh")
      defer { time.end() }
      // Another process may have been faster, or have signed out.
      let stored = try self.caughtUp(with: held)
      guard let stored, self.memory.withLock({ $0.current === held }) else { throw Self.notSignedIn }
      if !isForced, held.remaining > Self.earliness { return held.session }
      return try await self.trade(stored, of: held, isHurried: isHurried)
    }
  }

  /// What the store has, after what it could not be told before. Where it still cannot be written, the tokens in it are
  /// traded once more, for the same successor: memory is never more than one trade ahead, and so a restart finds tokens
  /// that the service takes.
  private func caughtUp(with held: HeldSession) throws -> StoredSession? {
    do {
      return try change { state in
        state.renew(held.session)
        return state.session
      }
    } catch {
      return try read().session
    }
  }

  private func trade(
    _ traded: StoredSession, of held: HeldSession, isHurried: Bool
  ) async throws -> StoredSession {
    let answer: Answer
    do throws(CallFault) {
      answer = try await endpoint.answer(to: .refresh(traded.refreshToken, isHurried: isHurried))
    } catch {
      guard let code = error.code, RefusalWords.endingSessions.contains(code) else { throw error }
      let other = try forget(traded, of: held, error)
      return held.remaining > Self.earliness
        ? held.session : try await trade(other, of: held, isHurried: isHurried)
    }
    let renewed = try answer.renewed(traded, world: world)
    do {
      try change { $0.renew(renewed) }
    } catch {
      stand { memory in
        var state = StoredState(session: memory.current?.session)
        state.renew(renewed)
        return state.session
      }
    }
    Task { await tellEndings() }
    guard memory.withLock({ $0.current === held }) else { throw Self.notSignedIn }
    return held.session
  }

  /// Signs out because the token endpoint said so.
  ///
  /// - Returns: Other tokens of the person, which have taken the place of the refused ones in the meantime.
  /// - Throws: The endpoint's word, when there are none and the person is signed out.
  private func forget(
    _ refused: StoredSession, of held: HeldSession, _ fault: CallFault
  ) throws -> StoredSession {
    let time = world.now()
    let isLinkOnItsWay = try read().attempt?.isLinkOnItsWay(of: held.uid, at: time) == true
    if isLinkOnItsWay {
      // The link, whose answer got lost, may have ended the session for another one: its repeat brings that.
      Task { _ = try? await resume() }
      throw CallFault.notTheService
    }
    var other: StoredSession?
    do {
      other = try change { state in
        state.forget(refused)
        return state.session
      }
    } catch {
      stand { memory in
        guard memory.current?.session.sessionID == refused.sessionID else { return memory.current?.session }
        memory.over = refused.sessionID
        return nil
      }
    }
    guard let other, other.refreshToken != refused.refreshToken,
      memory.withLock({ $0.current === held })
    else { throw fault }
    return other
  }

  /// Sends a call with the person's session token; with a new one when the service does not take that.
  func answer(to call: Call, of held: HeldSession) async throws -> Answer {
    var call = call
    call.bearer = try await fresh(held, isForced: false).idToken
    do throws(CallFault) {
      return try await endpoint.answer(to: call)
    } catch {
      guard error.isBearerRefused else { throw error }
      call.bearer = try await fresh(held, isForced: true).idToken
      return try await endpoint.answer(to: call)
    }
  }

  /// Keeps what the service knows of the person.
  func note(_ profile: Profile, of held: HeldSession) throws {
    try change { $0.note(profile, of: held.uid) }
  }
}
