internal import Domain
internal import Storage
internal import Telemetry

/// Forgets rows that decide nothing any more, in small transactions, well after they could matter.
struct Sweeper: Sendable {
  let storage: any Storage
  let clock: WallClock
  let limits: SessionLimits
  let leeway: Int64
  let log: Log

  func sweep() async {
    let rules = SweepRules(at: clock.now(), limits: limits, leeway: leeway, limit: 500)
    do {
      while try await storage.sweep(rules) {
        guard !Task.isCancelled else { return }
      }
    } catch {
      log.warning("sweep_failed", [.text("cause", "\(error)")])
    }
  }
}
