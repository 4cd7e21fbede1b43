internal import Foundation

/// One person's session in this process; what a ``User`` shows. It stays the same object when tokens are renewed, and when
/// the same person signs in again.
final class HeldSession: Sendable {
  private struct Refresh {
    let number: Int
    /// Whether it was asked for in spite of a good token.
    let isForced: Bool
    let task: Task<StoredSession, any Error>
  }

  private struct State {
    var session: StoredSession
    /// When the token expires on the clock that nobody sets.
    var deadline: TimeInterval
    /// The last refresh that was begun and has not ended.
    var refresh: Refresh?
    var count = 0
  }

  let uid: String
  private let world: Surroundings
  private let state: Locked<State>

  init(_ session: StoredSession, world: Surroundings) {
    uid = session.uid
    self.world = world
    state = Locked(State(session: session, deadline: Self.deadline(of: session, world)))
  }

  private static func deadline(of session: StoredSession, _ world: Surroundings) -> TimeInterval {
    let steady = world.steady()
    return steady + session.remaining(at: world.now(), steady: steady)
  }

  var session: StoredSession { state.current.session }

  /// Seconds that the token is good for.
  var remaining: TimeInterval { max(0, state.current.deadline - world.steady()) }

  /// Takes over a session of the same person.
  ///
  /// - Returns: Whether that changed anything.
  func take(_ session: StoredSession) -> Bool {
    let deadline = Self.deadline(of: session, world)
    return state.withLock { state in
      guard state.session != session else { return false }
      if state.session.idToken != session.idToken { state.deadline = deadline }
      state.session = session
      return true
    }
  }

  /// The refresh that is under way, or else a new one: however many wait, the service is asked once. Whoever wants a new
  /// token in any case waits for one that was begun for that, and there are never two at once.
  func refresh(
    isForced: Bool, _ work: @escaping @Sendable () async throws -> StoredSession
  ) async throws -> StoredSession {
    let task = state.withLock { state in
      if let refresh = state.refresh, refresh.isForced || !isForced { return refresh.task }
      let before = state.refresh?.task
      state.count += 1
      let number = state.count
      let task = Task {
        defer { self.state.withLock { if $0.refresh?.number == number { $0.refresh = nil } } }
        _ = await before?.result
        return try await work()
      }
      state.refresh = Refresh(number: number, isForced: isForced, task: task)
      return task
    }
    return try await task.value
  }
}
