package import Domain
package import Storage
internal import Synchronization

/// Knows of sessions whether they are still good, without asking storage each time.
///
/// Storage writes down whatever makes a session's tokens bad, in an order. This follows it: once a second, and at once
/// after a write of this node. What was looked up stays good as long as nothing was written about it and the following
/// goes on; when that is more than two seconds behind, nothing that is remembered is believed.
package final class SessionWatch: Sendable {
  private struct Progress {
    /// The place of the last revocation that was taken in; nil before the first look.
    var position: Int64?
    /// When the last look that succeeded began.
    var seenAt: SteadyTime?
    /// When the last look at the signing keys that succeeded began; nil where nobody follows them.
    var keysSeenAt: SteadyTime?
    /// Whether the last look failed, and not because too much waited for it.
    var isBlind = false
    var isClosed = false
    /// Those who wait, each for something behind a place.
    var waiting: [Int: (position: Int64, end: AsyncStream<Never>.Continuation)] = [:]
    var nextWaiting = 0
  }

  /// How far behind the following may be.
  private static let bound: Int64 = 2000
  private let storage: any Storage
  private let clock: SteadyClock
  private let states = GenerationCache<SessionID, SessionState>(atMost: 65_536)
  private let progress = Mutex(Progress())

  package init(storage: any Storage, clock: SteadyClock) {
    self.storage = storage
    self.clock = clock
  }

  /// Whether what is remembered may be believed.
  package var isFresh: Bool {
    let now = clock.now()
    func isRecent(_ moment: SteadyTime) -> Bool { now.milliseconds(since: moment) <= Self.bound }
    return progress.withLock { progress in
      (progress.seenAt.map(isRecent) ?? false) && (progress.keysSeenAt.map(isRecent) ?? true)
    }
  }

  /// Whether the last look failed: then nothing can be said of any session for long.
  package var isBlind: Bool { progress.withLock { $0.isBlind } }

  /// The moment, for ``tookKeys(asOf:)``.
  package var now: SteadyTime { clock.now() }

  /// Says that the node's signing keys are what stood in the database at a moment. A key that was revoked makes its
  /// tokens bad, so once they are followed they have to be followed as closely.
  package func tookKeys(asOf moment: SteadyTime) {
    progress.withLock { $0.keysSeenAt = max($0.keysSeenAt ?? moment, moment) }
  }

  /// Looks for the first time, before anybody asks, with signing keys that were just read. A database that does not
  /// answer is told of by the looks that follow.
  package func begin() async {
    tookKeys(asOf: now)
    try? await follow()
  }

  /// Takes in what was written since the last look.
  package func follow() async throws(StorageError) {
    do {
      try await takeNews()
      progress.withLock { $0.isBlind = false }
    } catch {
      progress.withLock { $0.isBlind = error != .overloaded }
      throw error
    }
  }

  private func takeNews() async throws(StorageError) {
    while true {
      let begun = clock.now()
      let position = progress.withLock { $0.position }
      let page = try await storage.revocations(after: position ?? .max, limit: 1000)
      take(page, from: position, begun)
      // A database that was put back has other places than those that were seen.
      if page.last < position ?? 0 { states.removeAll() }
      guard page.revocations.count == 1000 else { return }
    }
  }

  /// Takes in what this node wrote just now. Nothing that is remembered is believed until that has been done.
  package func followOwnWrite() async {
    do {
      try await follow()
    } catch {
      progress.withLock { $0.seenAt = nil }
    }
  }

  /// Why the tokens of a session are not good; nil while they are.
  package func refusal(of session: SessionID) async throws(SessionRefusal) -> BearerRefusal? {
    guard isFresh else { throw .storage(.unavailable) }
    if let known = states[session] { return known.refusal }
    let position = progress.withLock { $0.position }
    let state: SessionState?
    do throws(StorageError) {
      state = try await storage.state(of: session)
    } catch {
      throw .storage(error)
    }
    guard let state else { return .sessionOver(nil) }
    // What was read may be older than what was taken in meanwhile: then it is good for this answer only.
    progress.withLock { progress in
      if progress.position == position { states.insert(state, for: session) }
    }
    return state.refusal
  }

  /// Returns when something was revoked behind a place, when the time is up, or when the node stops.
  package func wait(behind position: Int64, atMost patience: Duration) async {
    let (ends, end) = AsyncStream<Never>.makeStream()
    let number: Int? = progress.withLock { progress in
      guard !progress.isClosed, progress.position ?? 0 <= position else { return nil }
      progress.nextWaiting += 1
      progress.waiting[progress.nextWaiting] = (position, end)
      return progress.nextWaiting
    }
    guard let number else { return }
    let timer = Task {
      try? await Task.sleep(for: patience)
      end.finish()
    }
    for await _ in ends {}
    timer.cancel()
    progress.withLock { _ = $0.waiting.removeValue(forKey: number) }
  }

  /// How many wait.
  package var waitingCount: Int { progress.withLock { $0.waiting.count } }

  /// Lets everybody go who waits.
  package func close() {
    let waiting = progress.withLock { progress in
      progress.isClosed = true
      return Array(progress.waiting.values)
    }
    for (_, end) in waiting { end.finish() }
  }

  private func take(_ page: RevocationPage, from position: Int64?, _ begun: SteadyTime) {
    // Under the lock: who reads a state now either sees the new place, or is followed by what is dropped here.
    let ends: [AsyncStream<Never>.Continuation] = progress.withLock { progress in
      let last = page.revocations.last?.position ?? page.last
      if last < progress.position ?? 0, page.last >= progress.position ?? 0 { return [] }
      // Of a database that was put back, no place that was given out before means anything.
      let isAnother = last < progress.position ?? 0
      progress.position = last
      progress.seenAt = max(progress.seenAt ?? begun, begun)
      forget(page.revocations)
      return progress.waiting.values.filter { isAnother || $0.position < last }.map(\.end)
    }
    for end in ends { end.finish() }
  }

  private func forget(_ revocations: [Revocation]) {
    for session in revocations.compactMap(\.session) { states.remove(session) }
    let accounts = Set(revocations.lazy.filter { $0.session == nil }.map(\.account))
    if !accounts.isEmpty { states.removeAll { accounts.contains($0.account) } }
  }
}
