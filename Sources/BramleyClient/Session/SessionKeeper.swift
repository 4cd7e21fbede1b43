internal import Foundation

/// Who is signed in, in memory and in the store, and everything that changes it.
///
/// Three rules hold throughout: what the service may not have answered yet is in the store before it is sent; of two
/// sessions in memory and store the later counts; only the token endpoint's word that a session is over signs anybody out.
final class SessionKeeper: Sendable {
  private struct Memory {
    var current: HeldSession?
    /// Sign-ins that are under way, by what is sent.
    var attempts: [Data: Task<SignedIn, any Error>] = [:]
    var isTellingEndings = false
  }

  /// A change of who is signed in, or of the tokens.
  struct Change: Sendable {
    let held: HeldSession?
    /// Whether somebody else is signed in than before.
    let isOtherPerson: Bool
  }

  let endpoint: Endpoint
  let store: any SessionStore
  let world: Surroundings
  let device: DeviceDescription
  /// Who is told of changes.
  let observer = Locked<(@Sendable (Change) -> Void)?>(nil)
  private let memory = Locked(Memory())

  /// Tokens are renewed so many seconds before they expire.
  static let earliness: TimeInterval = 300

  init(endpoint: Endpoint, store: any SessionStore, device: DeviceDescription) {
    self.endpoint = endpoint
    self.store = store
    self.device = device
    world = endpoint.world
  }

  /// Who is signed in; nil for nobody, or as long as the store cannot be read. Whoever signed in by another process since is
  /// signed in here too.
  var current: HeldSession? {
    if let held = memory.withLock({ $0.current }) { return held }
    return (try? store.state().session).flatMap { hold($0) }
  }

  // MARK: Tokens

  /// A session whose token is good for five minutes or more; of an outage one that is still good at all.
  ///
  /// - Parameter isForced: Whether the token is to be a new one in any case.
  func fresh(_ held: HeldSession, isForced: Bool) async throws -> StoredSession {
    guard current === held else { throw Self.notSignedIn }
    if !isForced, held.remaining > Self.earliness { return held.session }
    do {
      if let fault = held.rest { throw fault }
      return try await held.refresh(isForced: isForced) { try await self.refresh(held, isForced: isForced) }
    } catch let fault as CallFault where fault.isOutage && !isForced && held.remaining > 0 {
      return held.session
    }
  }

  private func refresh(_ held: HeldSession, isForced: Bool) async throws -> StoredSession {
    try await store.alone {
      // Another process may have been faster, or have signed out.
      let stored = try self.store.state().session
      guard let stored, stored.uid == held.uid else { throw self.gone(held, stored) }
      if stored.issuedAt >= held.session.issuedAt { self.renew(held, stored) }
      if !isForced, held.remaining > Self.earliness { return held.session }
      return try await self.trade(held.session.refreshToken, of: held)
    }
  }

  private func trade(_ token: String, of held: HeldSession) async throws -> StoredSession {
    let answer: Answer
    do throws(CallFault) {
      answer = try await endpoint.answer(to: .refresh(token))
    } catch {
      if case .refused = error, let pause = endpoint.pause(after: error, tries: 3) {
        held.rest(pause, after: error)
      }
      guard let code = error.code, RefusalWords.endingSessions.contains(code) else { throw error }
      // Where no lock keeps processes apart, another may have traded the token in the meantime.
      let stored = try store.state().session
      if let stored, stored.uid == held.uid, stored.refreshToken != token {
        renew(held, stored)
        return try await trade(stored.refreshToken, of: held)
      }
      try? store.change { if $0.session?.uid == held.uid { $0.session = nil } }
      hold(nil, inPlaceOf: held)
      throw error
    }
    let session = try answer.renewed(held.session, at: world.now())
    try keepRenewed(session, of: held)
    Task { await tellEndings() }
    return session
  }

  private func keepRenewed(_ session: StoredSession, of held: HeldSession) throws {
    var isGone = false
    var stored: StoredSession?
    // A store that fails now costs nobody the session: the token from before gets the same successor.
    try? store.change { state in
      stored = state.session
      isGone = state.session?.uid != held.uid
      if !isGone { state.session = session }
    }
    guard !isGone else { throw gone(held, stored) }
    renew(held, session)
  }

  /// Takes notice that another process signed out, or that somebody else signed in there.
  private func gone(_ held: HeldSession, _ stored: StoredSession?) -> NSError {
    hold(stored, inPlaceOf: held)
    return Self.notSignedIn
  }

  private static var notSignedIn: NSError {
    AuthErrorCode.nullUser.error("This person is not signed in any more.")
  }

  /// Sends a call with the person's session token; with a new one when the service does not take that.
  func answer(to call: Call, of held: HeldSession) async throws -> Answer {
    var call = call
    call.bearer = try await fresh(held, isForced: false).idToken
    do throws(CallFault) {
      return try await endpoint.answer(to: call)
    } catch {
      guard case .refused(let refusal) = error, refusal.status == 401 else { throw error }
      call.bearer = try await fresh(held, isForced: true).idToken
      return try await endpoint.answer(to: call)
    }
  }

  // MARK: Who is signed in

  /// Lets somebody, or nobody, take the place of who is signed in.
  ///
  /// - Parameter expected: Who has to be signed in for that; nil when it does not matter.
  @discardableResult
  private func hold(_ session: StoredSession?, inPlaceOf expected: HeldSession? = nil) -> HeldSession? {
    let change: Change? = memory.withLock { memory in
      if let expected, memory.current !== expected { return nil }
      if let session, let current = memory.current, current.uid == session.uid {
        return current.take(session) ? Change(held: current, isOtherPerson: false) : nil
      }
      guard session != nil || memory.current != nil else { return nil }
      memory.current = session.map { HeldSession($0, world: world) }
      return Change(held: memory.current, isOtherPerson: true)
    }
    if let change { observer.current?(change) }
    return memory.withLock { $0.current }
  }

  /// Takes over new tokens, or news of the person.
  private func renew(_ held: HeldSession, _ session: StoredSession) {
    guard held.take(session), memory.withLock({ $0.current === held }) else { return }
    observer.current?(Change(held: held, isOtherPerson: false))
  }

  /// Keeps what the service knows of the person.
  func note(_ profile: Profile, of held: HeldSession) throws {
    try store.change { if $0.session?.uid == held.uid { $0.session?.profile = profile } }
    var session = held.session
    session.profile = profile
    renew(held, session)
  }

  /// Signs out here at once, and tells the service as soon as it can be reached.
  ///
  /// - Parameter isGone: Whether the service knows already.
  func signOut(isGone: Bool = false) throws {
    try store.change { state in
      if !isGone { state.end(state.session) }
      (state.session, state.attempt) = (nil, nil)
    }
    hold(nil)
    Task { await tellEndings() }
  }

  /// Tells the service of sessions that are over here.
  func tellEndings() async {
    let isFirst = memory.withLock { memory in
      defer { memory.isTellingEndings = true }
      return !memory.isTellingEndings
    }
    guard isFirst else { return }
    defer { memory.withLock { $0.isTellingEndings = false } }
    while let token = try? store.state().endings.first {
      do throws(CallFault) {
        _ = try await endpoint.answer(to: .signOut(token))
      } catch {
        // What the service refuses it has nothing to end for.
        if error.isOutage { return }
      }
      guard (try? store.change { $0.endings.removeAll { $0 == token } }) != nil else { return }
    }
  }

  // MARK: Signing in

  /// Sends a sign-in until there is an answer; the same one twice at once is sent once.
  func signIn(_ attempt: Attempt) async throws -> SignedIn {
    let task = memory.withLock { memory in
      if let task = memory.attempts[attempt.body] { return task }
      let task = Task {
        defer { self.memory.withLock { $0.attempts[attempt.body] = nil } }
        return try await self.perform(attempt)
      }
      memory.attempts[attempt.body] = task
      return task
    }
    return try await task.value
  }

  /// Sends again what was sent by a process that was ended before the answer came.
  ///
  /// - Returns: nil when there is nothing to send.
  func resume() async throws -> SignedIn? {
    guard let attempt = try store.state().attempt else { return nil }
    guard attempt.isWorthSending(at: world.now()) else {
      try drop(attempt)
      return nil
    }
    return try await signIn(attempt)
  }

  private func drop(_ attempt: Attempt) throws {
    try store.change { if $0.attempt == attempt { $0.attempt = nil } }
  }

  private func perform(_ attempt: Attempt) async throws -> SignedIn {
    try store.change { $0.attempt = attempt }
    let answer: SignInAnswer
    let session: StoredSession
    do {
      let reply = try await send(attempt)
      answer = try reply.decoded()
      session = try answer.session(at: world.now(), serverTime: reply.serverTime, before: current?.session)
      if case .reauthenticate(let uid) = attempt.purpose, session.uid != uid {
        try store.change { $0.end(session) }
        Task { await tellEndings() }
        throw AuthErrorCode.userMismatch.error("Another person signed in than the one who is signed in.")
      }
    } catch {
      // As long as nothing is known the attempt stays, and whoever comes next sends the same once more.
      if (error as? CallFault)?.isOutage != true { try drop(attempt) }
      throw error
    }
    let kept: StoredSession? = try store.change { state in
      if state.attempt == attempt {
        state.begin(session)
      } else if state.session?.sessionID != session.sessionID {
        state.end(session)
        return nil
      }
      // Another process with the same answer may have been faster, and further.
      return state.session
    }
    Task { await tellEndings() }
    guard let kept, let held = hold(kept) else {
      throw AuthErrorCode.signInSuperseded.error("A later sign-in or a sign-out took the place of this one.")
    }
    return SignedIn(held: held, answer: answer)
  }

  /// Sends a sign-in that cannot be asked for twice: an anonymous one, or the one-time code of a browser.
  func signInOnce(
    _ call: Call, _ read: @Sendable (Answer) throws -> (SignInAnswer, StoredSession)
  ) async throws -> SignedIn {
    let (answer, session) = try read(try await endpoint.answer(to: call))
    try store.change { $0.begin(session) }
    Task { await tellEndings() }
    guard let held = hold(session) else { throw CallFault.notTheService }
    return SignedIn(held: held, answer: answer)
  }

  private func send(_ attempt: Attempt) async throws -> Answer {
    guard case .link(let uid) = attempt.purpose else {
      return try await endpoint.answer(to: .signIn(attempt.body))
    }
    guard let held = current, held.uid == uid else {
      throw Self.notSignedIn
    }
    return try await answer(to: .signIn(attempt.body), of: held)
  }
}

/// A sign-in that was answered.
struct SignedIn: Sendable {
  let held: HeldSession
  let answer: SignInAnswer
}
