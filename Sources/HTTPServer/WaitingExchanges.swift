internal import Synchronization

/// The exchanges whose connections sleep, and the watch that wakes those whose deadline has passed.
///
/// The library gives a sleeping connection no timeout. The watch is a task that looks ten times a second and
/// ends when nobody sleeps, so a listener that only answers inline never starts it.
final class WaitingExchanges: Sendable {
  private struct State {
    var exchanges: [ObjectIdentifier: Exchange] = [:]
    var isWatched = false
    var isClosed = false
  }

  private let state = Mutex(State())

  /// How often the watch looks; a deadline is kept to within this.
  private static let interval = Duration.milliseconds(100)

  /// Takes an exchange in; false after ``close()``, and then the connection must not be suspended.
  func add(_ exchange: Exchange) -> Bool {
    let (isTaken, needsWatch) = state.withLock { state in
      if state.isClosed { return (false, false) }
      state.exchanges[ObjectIdentifier(exchange)] = exchange
      defer { state.isWatched = true }
      return (true, !state.isWatched)
    }
    if needsWatch { Task { await self.watch() } }
    return isTaken
  }

  /// Lets an exchange go that has its answer.
  func remove(_ exchange: Exchange) {
    // Dropped outside the lock: it may be the last reference to a large body.
    _ = state.withLock { $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
  }

  /// Refuses every exchange from now on and returns those that sleep.
  func close() -> [Exchange] {
    state.withLock { state in
      state.isClosed = true
      return Array(state.exchanges.values)
    }
  }

  private func watch() async {
    while true {
      // The task is nobody's child and never cancelled, so sleeping cannot fail.
      try? await Task.sleep(for: Self.interval)
      let now = ContinuousClock.now
      let overdue: [Exchange]? = state.withLock { state in
        guard !state.exchanges.isEmpty else {
          state.isWatched = false
          return nil
        }
        return state.exchanges.values.filter { $0.expires <= now }
      }
      guard let overdue else { return }
      for exchange in overdue { exchange.overrule(with: .deadlineExceeded) }
    }
  }
}
