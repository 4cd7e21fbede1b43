internal import Crypto
internal import Domain
internal import JOSE

/// What is known of the issuer's keys: a state machine without a clock, a lock or a network.
///
/// Holds: at most one fetch is under way; a failed fetch never replaces a good set; of the fetches that unknown
/// names cause, one begins per cool-down, counted from its start.
struct PublishedKeys: Sendable {
  /// What a look-up comes to.
  enum Answer {
    case use(PublicKey)
    /// A fetch is under way, or is to be started; ask again when it has ended.
    case wait
    /// The issuer has no such key, as of the last fetch.
    case unknown
    /// It cannot be said whether the issuer has such a key.
    case unavailable
  }

  /// All in milliseconds.
  struct Policy: Sendable {
    let believedFor: Int64
    let coolDown: Int64
    /// From a failed attempt to the next that nobody asked for; grows to the cool-down with each failure in a row.
    let retryAfter: Int64 = 1000
    /// Age at which a set whose answer did not name a `max-age` is refreshed.
    let freshFor: Int64 = 300_000
  }

  private let policy: Policy
  private var keys: KeySet?
  private var fetchedAt: SteadyTime?
  private var attemptedAt: SteadyTime?
  private var refreshAge: Int64
  private var failuresInARow = 0
  private(set) var isFetching = false

  init(policy: Policy) {
    self.policy = policy
    refreshAge = policy.freshFor
  }

  /// Looks a key up.
  ///
  /// - Parameter hasWaited: Whether this look-up follows a wait for a fetch: then its answer is final.
  mutating func lookUp(
    _ id: KeyID, at now: SteadyTime, hasWaited: Bool
  ) -> (answer: Answer, startsFetch: Bool) {
    let believed = believedKeys(at: now)
    if let key = believed?[id] { return (.use(key), tick(at: now)) }
    if !hasWaited {
      if isFetching { return (.wait, false) }
      let isCool = attemptedAt.map { now.milliseconds(since: $0) >= policy.coolDown } ?? true
      if begin(at: now, if: isCool) { return (.wait, true) }
    }
    return (believed == nil || failuresInARow > 0 ? .unavailable : .unknown, false)
  }

  /// Whether a fetch is to be started now though nobody asks for a key.
  mutating func tick(at now: SteadyTime) -> Bool { begin(at: now, if: isDue(at: now)) }

  /// Takes in how a fetch ended.
  ///
  /// - Parameters:
  ///   - fetched: Nil when nothing usable came.
  ///   - maxAge: Seconds for which the answer may be kept (RFC 9111 §5.2.2.1), if it said so.
  mutating func fetchEnded(_ fetched: KeySet?, maxAge: Int64?, at now: SteadyTime) {
    isFetching = false
    guard let fetched else {
      failuresInARow += 1
      return
    }
    failuresInARow = 0
    keys = fetched
    fetchedAt = now
    // Three quarters leave time for attempts that fail; neither extreme of the header is taken literally.
    refreshAge = maxAge.map { min(max($0, 10), 3600) * 750 } ?? policy.freshFor
  }

  private func believedKeys(at now: SteadyTime) -> KeySet? {
    guard let fetchedAt, now.milliseconds(since: fetchedAt) < policy.believedFor else { return nil }
    return keys
  }

  private func isDue(at now: SteadyTime) -> Bool {
    if failuresInARow > 0, let attemptedAt {
      let pause = min(policy.retryAfter << Int64(min(failuresInARow - 1, 10)), policy.coolDown)
      return now.milliseconds(since: attemptedAt) >= pause
    }
    return fetchedAt.map { now.milliseconds(since: $0) >= refreshAge } ?? true
  }

  private mutating func begin(at now: SteadyTime, if condition: Bool) -> Bool {
    guard condition, !isFetching else { return false }
    isFetching = true
    attemptedAt = now
    return true
  }
}

/// The `max-age` of a `Cache-Control` field; nil when there is none that is plain.
func maxAge(of cacheControl: String?) -> Int64? {
  let directives = cacheControl?.split(separator: ",") ?? []
  for directive in directives {
    let parts = directive.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "max-age" else { continue }
    let digits = parts[1].prefix { $0 != " " }
    return digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(digits) : nil
  }
  return nil
}
