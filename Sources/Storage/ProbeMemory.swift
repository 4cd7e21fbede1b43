/// What is known of a database that is asked now and then, and may be silent.
package struct ProbeMemory: Sendable {
  /// How long a good answer holds, and how long one is waited for.
  package static let patience = Duration.seconds(2)
  /// How long a bad one holds, which cost the disk nothing.
  private static let doubt = Duration.milliseconds(250)

  private var known: (isThere: Bool, at: ContinuousClock.Instant)?
  private var askedAt: ContinuousClock.Instant?

  /// Begins with nothing.
  package init() {}

  /// What to say without asking; nil when the caller is to ask, of whom there is one at a time.
  package mutating func answer(at now: ContinuousClock.Instant) -> Bool? {
    if askedAt != nil, known != nil { return last(at: now) }
    if let known, now - known.at < (known.isThere ? Self.patience : Self.doubt) { return known.isThere }
    askedAt = askedAt ?? now
    return nil
  }

  /// Takes in what the database did.
  package mutating func note(_ isThere: Bool, at now: ContinuousClock.Instant) {
    (known, askedAt) = ((isThere, now), nil)
  }

  /// What is known; a database that was asked too long ago is not there.
  package func last(at now: ContinuousClock.Instant) -> Bool {
    guard let known else { return false }
    return askedAt.map { now - $0 < Self.patience } ?? true && known.isThere
  }
}
