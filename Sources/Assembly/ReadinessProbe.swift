internal import Storage
internal import Synchronization

/// Whether the database takes a write, asked at most every two seconds however often a stranger asks: the write
/// costs a sync of the disk.
final class ReadinessProbe: Sendable {
  private struct State {
    var answer: Bool?
    var askedAt: ContinuousClock.Instant?
    var isAsking = false
  }

  private let storage: any Storage
  private let state = Mutex(State())

  init(storage: any Storage) { self.storage = storage }

  /// The present answer, or the last one while it is fresh or another request is asking.
  func isReady() async -> Bool {
    let now = ContinuousClock.now
    let known: Bool? = state.withLock { state in
      let isFresh = state.askedAt.map { now - $0 < .seconds(2) } ?? false
      if let answer = state.answer, isFresh || state.isAsking { return answer }
      state.isAsking = true
      return nil
    }
    if let known { return known }
    let answer = (try? await storage.probe()) != nil
    state.withLock { state in
      state.answer = answer
      state.askedAt = .now
      state.isAsking = false
    }
    return answer
  }
}
