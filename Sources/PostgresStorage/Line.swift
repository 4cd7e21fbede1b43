internal import Synchronization

/// Whether a connection's server answers, for who asks before he waits.
///
/// Who would wait in vain is refused: while the server is known to be away, and while a group has been under way for
/// longer than any takes that is answered. The connection itself finds out that the server is back.
package struct LineState: Sendable {
  /// What fails sooner was answered, so others may find out themselves that the server is back.
  private static let quickly = Duration.seconds(1)
  /// An attempt that succeeds takes less, so who comes while it is made may wait for it.
  private static let moment = Duration.milliseconds(250)
  /// Between two attempts that others ask for.
  private static let pause = Duration.milliseconds(100)

  private let bound: Duration
  /// Whether no server answered last.
  package private(set) var isDown = false
  private var nextAttempt: ContinuousClock.Instant?
  private var busySince: ContinuousClock.Instant?

  /// - Parameter bound: The longest that a group may be under way before nobody waits behind it.
  package init(bound: Duration) { self.bound = bound }

  /// A group is under way.
  package mutating func begin(at now: ContinuousClock.Instant) { busySince = now }

  /// A group is done, or was given up.
  package mutating func end() { busySince = nil }

  /// The server answered.
  package mutating func cameUp() { (isDown, nextAttempt) = (false, nil) }

  /// The server did not answer.
  ///
  /// - Parameter begun: When it was asked.
  package mutating func wentDown(since begun: ContinuousClock.Instant, at now: ContinuousClock.Instant) {
    isDown = true
    nextAttempt = now - begun <= Self.quickly ? now + Self.pause : nil
  }

  /// Whether the server may be asked; where it did not answer last, not again at once, and not by who would wait for it.
  package func mayTry(at now: ContinuousClock.Instant) -> Bool {
    guard isDown else { return true }
    return nextAttempt.map { $0 <= now } ?? false
  }

  /// Whether who asks now is refused. While the server is away, a group that is under way for long is one whose commit is
  /// looked up.
  package func refuses(at now: ContinuousClock.Instant) -> Bool {
    guard mayTry(at: now) else { return true }
    return busySince.map { now - $0 > (isDown ? Self.moment : bound) } ?? false
  }

  /// Whether the server was waited for in vain: then others need not find that out for themselves.
  package var isSilent: Bool { isDown && nextAttempt == nil }

  /// Whether the server was heard last and nobody waits for it in vain.
  package func isWell(at now: ContinuousClock.Instant) -> Bool { !isDown && !refuses(at: now) }
}

/// A ``LineState`` that a connection's thread writes and everybody reads.
final class Line: Sendable {
  private let state: Mutex<LineState>

  init(bound: Duration) { state = Mutex(LineState(bound: bound)) }

  var mayTry: Bool { state.withLock { $0.mayTry(at: .now) } }
  var refuses: Bool { state.withLock { $0.refuses(at: .now) } }
  var isSilent: Bool { state.withLock { $0.isSilent } }
  var isWell: Bool { state.withLock { $0.isWell(at: .now) } }

  func begin() { state.withLock { $0.begin(at: .now) } }
  func end() { state.withLock { $0.end() } }
  func cameUp() { state.withLock { $0.cameUp() } }
  func wentDown(since begun: ContinuousClock.Instant) {
    state.withLock { $0.wentDown(since: begun, at: .now) }
  }
}
