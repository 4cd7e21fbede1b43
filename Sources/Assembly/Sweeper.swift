internal import Domain
internal import Storage
internal import Telemetry

/// Forgets rows that decide nothing any more, in small transactions, well after they could matter.
struct Sweeper: Sendable {
  let storage: any Storage
  let clock: WallClock
  let limits: SessionLimits
  let leeway: Int64
  /// Tells this node from the others.
  let holder: String
  let log: Log

  /// Seconds for which one node has the sweeping to itself; it comes back before they have passed.
  private static let leaseSeconds: Int64 = 90

  func sweep() async {
    let now = clock.now()
    let rules = SweepRules(at: now, limits: limits, leeway: leeway, limit: 500)
    do {
      let lease = Lease(name: "sweep", holder: holder, until: now + Self.leaseSeconds)
      guard try await storage.take(lease, at: now) else { return }
      while try await storage.sweep(rules) {
        guard !Task.isCancelled else { return }
      }
    } catch {
      log.warning("sweep_failed", [.text("cause", "\(error)")])
    }
  }
}
