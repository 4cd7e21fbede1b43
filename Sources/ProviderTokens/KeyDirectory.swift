package import Crypto
package import Domain
package import JOSE
internal import Synchronization

/// An issuer's public keys by id: runs what ``KeyCache`` decides against the network.
///
/// A key that is known is answered from memory without waiting for anything; no lock is held while fetching.
package final class KeyDirectory: Sendable {
  private struct State {
    var cache: KeyCache
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>
  private let url: String
  private let form: KeySetForm
  private let fetcher: any HTTPFetching
  private let clock: SteadyClock
  private let report: @Sendable (KeyFetchReport) -> Void

  /// - Parameters:
  ///   - url: Where the key set is.
  ///   - form: What may be there.
  ///   - report: Is told how each fetch ended.
  package init(
    url: String, form: KeySetForm, policy: KeyCachePolicy, fetcher: any HTTPFetching, clock: SteadyClock,
    report: @escaping @Sendable (KeyFetchReport) -> Void
  ) {
    state = Mutex(State(cache: KeyCache(policy: policy)))
    self.url = url
    self.form = form
    self.fetcher = fetcher
    self.clock = clock
    self.report = report
  }

  /// The key of this id; waits for one fetch at most.
  ///
  /// - Throws: `keyUnknown` when the issuer has no such key, `keysUnavailable` when that cannot be said.
  package func key(_ id: KeyID) async throws(IdentityTokenRefusal) -> PublicKey {
    var hasWaited = false
    while true {
      let now = clock.now()
      let lookup = state.withLock { $0.cache.lookUp(id, at: now, hasWaited: hasWaited) }
      if lookup.startsFetch { startFetch() }
      switch lookup.answer {
      case .use(let key): return key
      case .unknown: throw .keyUnknown
      case .unavailable: throw .keysUnavailable
      case .wait:
        await fetchEnd()
        hasWaited = true
      }
    }
  }

  /// Refreshes what is due; to be called every second or so.
  package func tick() {
    let now = clock.now()
    if state.withLock({ $0.cache.tick(at: now) }) { startFetch() }
  }

  /// Milliseconds since the set was fetched; nil before the first.
  package var age: Int64? {
    let now = clock.now()
    return state.withLock { $0.cache.age(at: now) }
  }

  /// Whether keys are there that are believed.
  package var isReady: Bool {
    let now = clock.now()
    return state.withLock { $0.cache.isReady(at: now) }
  }

  private func fetchEnd() async {
    await withCheckedContinuation { continuation in
      // The fetch may have ended between the look-up and this line: then there is nothing to wait for.
      let isOver = state.withLock { state in
        guard state.cache.isFetching else { return true }
        state.waiting.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  private func startFetch() {
    Task { [self] in
      let outcome = await fetchKeySet(from: url, form, with: fetcher)
      let now = clock.now()
      let waiting = state.withLock { state in
        state.cache.fetchEnded(try? outcome.get(), at: now)
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
      switch outcome {
      case .success(let keys): report(.fetched(keyCount: keys.count))
      case .failure(let fault): report(.failed(fault))
      }
    }
  }
}

/// Fetches a key set once.
package func fetchKeySet(
  from url: String, _ form: KeySetForm, with fetcher: any HTTPFetching
) async -> Result<KeySet, KeyFetchFault> {
  do throws(FetchError) {
    return keySet(in: try await fetcher.fetch(keySetRequest(url)), form)
  } catch {
    return .failure(.transport(error))
  }
}

/// How a key set is asked for. Two seconds were too short for Apple in production.
package func keySetRequest(_ url: String) -> FetchRequest {
  FetchRequest(
    url: url, headers: [("Accept", "application/json")], connectMilliseconds: 3000, totalMilliseconds: 5000,
    bodyLimit: 64 * 1024)
}

/// The key set of an answer; a redirect, a page or an empty set is none.
package func keySet(in response: FetchResponse, _ form: KeySetForm) -> Result<KeySet, KeyFetchFault> {
  guard response.status == 200 else { return .failure(.status(response.status)) }
  do throws(KeySetError) {
    return .success(try KeySet(parsing: response.body, as: form))
  } catch {
    return .failure(error == .malformed ? .notJSON : .noUsableKey)
  }
}

/// How a fetch of an issuer's keys ended.
package enum KeyFetchReport: Sendable, Equatable {
  case fetched(keyCount: Int)
  case failed(KeyFetchFault)
}

/// Why a fetch brought no usable set.
package enum KeyFetchFault: Error, Sendable, Equatable {
  case transport(FetchError)
  case status(Int)
  case notJSON
  case noUsableKey
}
