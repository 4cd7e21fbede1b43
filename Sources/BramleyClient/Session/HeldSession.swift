internal import Foundation

/// One person's session in this process; what a ``User`` shows. It stays the same object when tokens are renewed, and when
/// the same person signs in again.
final class HeldSession: Sendable {
  private struct State {
    var session: StoredSession
    /// When the token expires on the clock that nobody sets.
    var deadline: TimeInterval
    /// The refresh that is under way, by whether it was asked for in spite of a good token.
    var refreshes: [Bool: Task<StoredSession, any Error>] = [:]
    /// What the service asked for: to be left alone until then.
    var rest: (until: TimeInterval, fault: CallFault)?
  }

  let uid: String
  private let world: Surroundings
  private let state: Locked<State>

  init(_ session: StoredSession, world: Surroundings) {
    uid = session.uid
    self.world = world
    state = Locked(State(session: session, deadline: world.steady() + session.remaining(at: world.now())))
  }

  var session: StoredSession { state.current.session }

  /// Seconds that the token is good for.
  var remaining: TimeInterval { max(0, state.current.deadline - world.steady()) }

  /// Why the service is to be left alone now; nil when it is not.
  var rest: CallFault? {
    let now = world.steady()
    return state.current.rest.flatMap { $0.until > now ? $0.fault : nil }
  }

  /// Takes over a session of the same person.
  ///
  /// - Returns: Whether that changed anything.
  func take(_ session: StoredSession) -> Bool {
    let deadline = world.steady() + session.remaining(at: world.now())
    return state.withLock { state in
      guard state.session != session else { return false }
      if state.session.idToken != session.idToken { state.deadline = deadline }
      state.session = session
      state.rest = nil
      return true
    }
  }

  /// Leaves the service alone for some seconds.
  func rest(_ seconds: TimeInterval, after fault: CallFault) {
    let until = world.steady() + seconds
    state.withLock { $0.rest = (until, fault) }
  }

  /// The refresh that is under way, or else a new one: however many wait, the service is asked once.
  func refresh(
    isForced: Bool, _ work: @escaping @Sendable () async throws -> StoredSession
  ) async throws -> StoredSession {
    let task = state.withLock { state in
      if let task = state.refreshes[isForced] { return task }
      let task = Task {
        defer { self.state.withLock { $0.refreshes[isForced] = nil } }
        return try await work()
      }
      state.refreshes[isForced] = task
      return task
    }
    return try await task.value
  }
}
