/// When the log is folded into the file.
///
/// What was deleted or overwritten stays readable in the log until that is written over, which may take weeks: a name is
/// only gone when the log is. Folding it costs two syncs, so it is done when nobody waits, and once a minute where there is
/// always somebody, or another process may have written.
package struct LogFold: Sendable {
  private static let patience = Duration.seconds(60)
  /// Whether this connection has written since. At first it is not known what whoever was here before left.
  private var isDirty = true
  private var lastTry: ContinuousClock.Instant

  /// Begins to count at a moment.
  package init(at now: ContinuousClock.Instant) { lastTry = now }

  /// Notes that something was written.
  package mutating func noteCommit() { isDirty = true }

  /// Whether it is time.
  ///
  /// - Parameter isIdle: Whether nobody has wanted anything for a moment.
  package func isDue(isIdle: Bool, at now: ContinuousClock.Instant) -> Bool {
    isIdle && isDirty || now - lastTry >= Self.patience
  }

  /// Notes that it was tried; somebody who reads or writes may have been in the way.
  package mutating func noteFold(isDone: Bool, at now: ContinuousClock.Instant) {
    isDirty = !isDone
    lastTry = now
  }
}
