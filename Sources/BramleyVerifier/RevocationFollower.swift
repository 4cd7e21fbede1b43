internal import Domain
internal import Synchronization
internal import Wire

/// Follows the feed, and says of a token whether it has been named.
final class RevocationFollower: Sendable {
  private struct State {
    var list = RevocationList()
    var failuresInARow = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let url: String
  private let serviceKey: Secret<String>
  private let toleranceMilliseconds: Int64
  /// How late the issuer may answer when there is nothing new: not so late that waiting would count as silence, and
  /// before proxies cut the connection off.
  private let waitSeconds: Int64
  private let silence: RevocationFeed.Silence
  private let leeway: Int64
  private let fetcher: any HTTPFetching
  private let clock: VerifierClock

  init(_ feed: RevocationFeed, url: String, leeway: Int64, fetcher: any HTTPFetching, clock: VerifierClock) {
    self.url = url
    serviceKey = feed.serviceKey
    toleranceMilliseconds = feed.tolerance.inMilliseconds
    waitSeconds = min(max(toleranceMilliseconds / 2000, 1), 20)
    silence = feed.silence
    self.leeway = leeway
    self.fetcher = fetcher
    self.clock = clock
  }

  /// Returns when the token may be accepted; waits for the end of the very first attempt to read the feed.
  func check(_ token: VerifiedSession) async throws(VerificationError) {
    await firstAttempt()
    let now = clock.steady.now()
    let (isNamed, silentFor) = state.withLock { ($0.list.names(token), $0.list.silence(at: now)) }
    if isNamed { throw .revoked }
    let isHeard = silentFor.map { $0 <= toleranceMilliseconds } ?? false
    guard isHeard || silence == .accepts else { throw .revocationsUnavailable }
  }

  /// Reads the feed until the task is cancelled.
  func follow() async {
    while !Task.isCancelled {
      let pause = await poll()
      if pause > 0 { try? await Task.sleep(for: .milliseconds(pause)) }
    }
  }

  /// Asks the feed once; with nothing new the issuer answers late.
  ///
  /// - Returns: Milliseconds to wait before the next time.
  func poll() async -> Int64 {
    let begun = clock.steady.now()
    let (cursor, isFirst) = state.withLock { ($0.list.cursor, $0.list.silence(at: begun) == nil) }
    let response = try? await fetcher.fetch(request(since: cursor, wait: isFirst ? 0 : waitSeconds))
    let page = response.flatMap { $0.status == 200 ? RevocationPage(parsing: $0.body) : nil }
    let (steady, now) = (clock.steady.now(), clock.wall.now())
    let (waiting, failures) = state.withLock { state in
      if let page {
        state.list.take(page, at: steady, now: now, leeway: leeway)
        state.failuresInARow = 0
      } else {
        state.list.attemptFailed()
        state.failuresInARow += 1
      }
      defer { state.waiting = [] }
      return (state.waiting, state.failuresInARow)
    }
    for continuation in waiting { continuation.resume() }
    if failures > 0 { return min(250 << Int64(min(failures - 1, 10)), 5000) }
    // Somebody in between may answer at once without news, again and again.
    let isNews = isFirst || page?.cursor != cursor
    return isNews ? 0 : max(0, 1000 - steady.milliseconds(since: begun))
  }

  private func request(since cursor: String, wait: Int64) -> FetchRequest {
    FetchRequest(
      url: "\(url)?since=\(percentEncoded(cursor))&wait=\(wait)",
      headers: [("Accept", "application/json"), ("X-API-Key", serviceKey.reveal())],
      connectMilliseconds: 3000, totalMilliseconds: (wait + 10) * 1000, bodyLimit: 1024 * 1024)
  }

  private func firstAttempt() async {
    if state.withLock({ $0.list.hasTried }) { return }
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.list.hasTried { state.waiting.append(continuation) }
        return state.list.hasTried
      }
      if isOver { continuation.resume() }
    }
  }
}

extension Duration {
  /// Whole milliseconds; at the ends of the range, the ends.
  var inMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, overflows) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return overflows ? (seconds < 0 ? .min : .max) : sum
  }
}
