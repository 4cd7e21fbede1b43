internal import Domain
internal import Storage
internal import Telemetry

/// Forgets rows that decide nothing any more, in small transactions, well after they could matter.
struct Sweeper: Sendable {
  let storage: any Storage
  let clock: WallClock
  let limits: SessionLimits
  let leeway: Int64
  /// The longest that a session token lives, seconds.
  let tokenLifetime: Int64
  let log: Log

  /// A clock that was a day fast must not cost a session or open a way for a used token.
  private static let margin: Int64 = 86_400

  func sweep() async {
    let now = clock.now()
    let rules = SweepRules(
      credentialsBefore: now - (leeway + Self.margin), sessionsBefore: now - (limits.idle + Self.margin),
      revocationsBefore: now - (tokenLifetime + leeway + 60), limit: 500)
    do {
      while try await storage.sweep(rules) {
        guard !Task.isCancelled else { return }
      }
    } catch {
      log.warning("sweep_failed", [.text("cause", "\(error)")])
    }
  }
}
