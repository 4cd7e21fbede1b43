internal import Crypto
internal import Domain
internal import JOSE
internal import Synchronization

/// The issuer's public keys by name: runs what ``PublishedKeys`` decides against the network.
///
/// A key that is known is answered from memory without waiting for anything; no lock is held while fetching.
final class KeySource: Sendable {
  private struct State {
    var keys: PublishedKeys
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>
  private let url: String
  private let fetcher: any HTTPFetching
  private let clock: SteadyClock

  init(url: String, policy: PublishedKeys.Policy, fetcher: any HTTPFetching, clock: SteadyClock) {
    state = Mutex(State(keys: PublishedKeys(policy: policy)))
    self.url = url
    self.fetcher = fetcher
    self.clock = clock
  }

  /// The key of this name; waits for one fetch at most.
  func key(_ id: KeyID) async throws(VerificationError) -> PublicKey {
    var hasWaited = false
    while true {
      let now = clock.now()
      let lookup = state.withLock { $0.keys.lookUp(id, at: now, hasWaited: hasWaited) }
      if lookup.startsFetch { startFetch() }
      switch lookup.answer {
      case .use(let key): return key
      case .unknown: throw .unknownKey
      case .unavailable: throw .keysUnavailable
      case .wait:
        await fetchEnd()
        hasWaited = true
      }
    }
  }

  /// Refreshes what is due.
  func tick() {
    let now = clock.now()
    if state.withLock({ $0.keys.tick(at: now) }) { startFetch() }
  }

  private func fetchEnd() async {
    await withCheckedContinuation { continuation in
      // The fetch may have ended between the look-up and this line: then there is nothing to wait for.
      let isOver = state.withLock { state in
        guard state.keys.isFetching else { return true }
        state.waiting.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// In a task of its own: the request that caused it may be cancelled, and others wait for it too.
  private func startFetch() {
    Task { [self] in
      let response = try? await fetcher.fetch(keySetRequest(url))
      let fetched = response.flatMap { $0.status == 200 ? try? KeySet(parsing: $0.body) : nil }
      let age = maxAge(of: response?.cacheControl)
      let now = clock.now()
      let waiting = state.withLock { state in
        state.keys.fetchEnded(fetched, maxAge: age, at: now)
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }
}

private func keySetRequest(_ url: String) -> FetchRequest {
  FetchRequest(
    url: url, headers: [("Accept", "application/json")], connectMilliseconds: 3000, totalMilliseconds: 5000,
    bodyLimit: 64 * 1024)
}
