package import Crypto
package import Domain
package import JOSE

/// When an issuer's keys are fetched and how long they are believed; all in milliseconds of a steady clock.
package struct KeyCachePolicy: Sendable, Equatable {
  /// Age at which a set is refreshed in the background. The issuer's own cache headers are not looked at: a
  /// `no-store` taken literally would mean a fetch for each sign-in.
  package let freshFor: Int64
  /// Age at which the last good set is no longer believed: a key that its issuer withdrew must not live for ever.
  package let believedFor: Int64
  /// From one attempt to the next that an unknown key id may cause, whatever became of the first.
  package let coolDown: Int64
  /// From a failed attempt to the next that nobody asked for.
  package let retryAfter: Int64

  package init(freshFor: Int64, believedFor: Int64, coolDown: Int64, retryAfter: Int64) {
    self.freshFor = freshFor
    self.believedFor = believedFor
    self.coolDown = coolDown
    self.retryAfter = retryAfter
  }

  package static let standard = KeyCachePolicy(
    freshFor: 3_600_000, believedFor: 86_400_000, coolDown: 60_000, retryAfter: 5_000)
}

/// What a look-up comes to, and whether the caller has to start a fetch.
package struct KeyLookup: Sendable {
  /// The key, or what is known of it.
  package enum Answer: Sendable {
    case use(PublicKey)
    /// A fetch is under way, or is to be started; ask again when it has ended.
    case wait
    /// The issuer has no such key, as of the last fetch.
    case unknown
    /// It cannot be said whether there is such a key.
    case unavailable
  }

  package let answer: Answer
  package let startsFetch: Bool
}

/// What is known of an issuer's keys: a state machine without a clock, a lock or a network.
///
/// Holds: at most one fetch is under way; a failed fetch never replaces a good set; an attempt that an unknown
/// key id caused is the only such attempt within the cool-down, counted from its start.
package struct KeyCache: Sendable {
  private let policy: KeyCachePolicy
  private var keys: KeySet?
  private var fetchedAt: SteadyTime?
  private var attemptedAt: SteadyTime?
  package private(set) var isFetching = false
  private var lastAttemptFailed = false
  private var failuresInARow = 0

  package init(policy: KeyCachePolicy) {
    self.policy = policy
  }

  /// Looks a key up.
  ///
  /// - Parameter hasWaited: Whether this look-up follows a wait for a fetch: then the answer is final, so that
  ///   one request waits for one fetch at most.
  package mutating func lookUp(_ id: KeyID, at now: SteadyTime, hasWaited: Bool) -> KeyLookup {
    let believed = believedKeys(at: now)
    if let key = believed?[id] {
      return KeyLookup(answer: .use(key), startsFetch: beginsFetch(at: now, if: isDue(at: now)))
    }
    if hasWaited { return KeyLookup(answer: verdict(believed), startsFetch: false) }
    if isFetching { return KeyLookup(answer: .wait, startsFetch: false) }
    let isCool = attemptedAt.map { now.milliseconds(since: $0) >= policy.coolDown } ?? true
    if beginsFetch(at: now, if: isCool) { return KeyLookup(answer: .wait, startsFetch: true) }
    return KeyLookup(answer: verdict(believed), startsFetch: false)
  }

  /// Whether a fetch is to be started now though nobody asks for a key.
  package mutating func tick(at now: SteadyTime) -> Bool {
    beginsFetch(at: now, if: isDue(at: now))
  }

  /// Takes in how a fetch ended; nil when nothing usable came.
  package mutating func fetchEnded(_ fetched: KeySet?, at now: SteadyTime) {
    isFetching = false
    lastAttemptFailed = fetched == nil
    failuresInARow = fetched == nil ? failuresInARow + 1 : 0
    if let fetched {
      keys = fetched
      fetchedAt = now
    }
  }

  /// Milliseconds since the set was fetched; nil before the first.
  package func age(at now: SteadyTime) -> Int64? { fetchedAt.map { now.milliseconds(since: $0) } }

  /// Whether keys are there that are believed.
  package func isReady(at now: SteadyTime) -> Bool { believedKeys(at: now) != nil }

  private func believedKeys(at now: SteadyTime) -> KeySet? {
    guard let fetchedAt, now.milliseconds(since: fetchedAt) < policy.believedFor else { return nil }
    return keys
  }

  private func verdict(_ believed: KeySet?) -> KeyLookup.Answer {
    believed == nil || lastAttemptFailed ? .unavailable : .unknown
  }

  /// A set is refreshed when it is no longer fresh; after failures the attempts grow apart to the cool-down.
  private func isDue(at now: SteadyTime) -> Bool {
    if let fetchedAt, now.milliseconds(since: fetchedAt) < policy.freshFor, !lastAttemptFailed {
      return false
    }
    guard let attemptedAt else { return true }
    guard lastAttemptFailed else { return true }
    let pause = min(policy.retryAfter << Int64(min(failuresInARow - 1, 10)), policy.coolDown)
    return now.milliseconds(since: attemptedAt) >= pause
  }

  private mutating func beginsFetch(at now: SteadyTime, if condition: Bool) -> Bool {
    guard condition, !isFetching else { return false }
    isFetching = true
    attemptedAt = now
    return true
  }
}
