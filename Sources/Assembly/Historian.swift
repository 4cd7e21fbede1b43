internal import Domain
internal import Sessions
internal import Storage
internal import Telemetry

/// Background work on what happened: following what other nodes and the command line revoke, and chaining the audit.
struct Historian: Sendable {
  let watch: SessionWatch
  let storage: any Storage
  let auditChain: AuditChain
  let clock: WallClock
  /// Tells this node from the others.
  let holder: String
  /// Seconds after which lines of the audit are forgotten.
  let retention: Int64
  let log: Log

  /// How often lines are forgotten, in rounds of chaining.
  private static let roundsPerForgetting = 30
  /// Seconds for which one node has the chaining to itself; another takes over when it dies.
  private static let leaseSeconds: Int64 = 10

  /// Follows until it is cancelled; looks once a second, so that a look and its answer fit into the bound of two.
  func follow() async {
    var isBehind = false
    repeat {
      do {
        try await watch.follow()
        isBehind = false
      } catch {
        if !isBehind { log.warning("revocations_not_followed", [.text("cause", "\(error)")]) }
        isBehind = true
      }
    } while (try? await Task.sleep(for: .seconds(1))) != nil
  }

  /// Chains until it is cancelled, every two seconds.
  func chain() async {
    var (round, forgets, known) = (0, false, AuditFault?.none)
    repeat {
      // While another node has the work, at the next round.
      if round.isMultiple(of: Self.roundsPerForgetting) { forgets = true }
      if await chainAudit(forgets: forgets, known: &known) { forgets = false }
      round += 1
    } while (try? await Task.sleep(for: .seconds(2))) != nil
  }

  /// - Parameter known: What was wrong with the audit at the last look, so that it is told once.
  /// - Returns: Whether it was done.
  private func chainAudit(forgets: Bool, known: inout AuditFault?) async -> Bool {
    let now = clock.now()
    let lease = Lease(name: "audit", holder: holder, until: now + Self.leaseSeconds)
    do throws(StorageError) {
      // Nothing is written, and no lease taken, while there is nothing to do.
      guard try await auditChain.hasUnsealed() || forgets else { return false }
      let fault = try await auditChain.fault()
      if let fault, fault != known {
        log.error(
          "audit_broken", [.text("fault", fault.kind.rawValue), .number("position", fault.position)])
      }
      known = fault
      guard fault == nil, try await storage.take(lease, at: now) else { return false }
      try await chainAudit(forgets: forgets, at: now)
      return true
    } catch {
      log.warning("audit_not_chained", [.text("cause", "\(error)")])
      return false
    }
  }

  private func chainAudit(forgets: Bool, at now: UnixTime) async throws(StorageError) {
    try await auditChain.reseal()
    var head: AuditWitness?
    // Out of reach of who can write the database.
    defer {
      if let head {
        log.info(
          "audit_chained",
          [.number("position", head.position), .text("digest", hexText(head.digest))])
      }
    }
    while try await auditChain.seal(witness: { head = $0 }) { if Task.isCancelled { return } }
    guard forgets else { return }
    while try await auditChain.forget(before: now - retention) { if Task.isCancelled { return } }
  }
}
