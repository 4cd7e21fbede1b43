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
  /// Rounds in which a node that died can still have it.
  private static let refusalsOfOneLease = 6

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
    var (round, forgets, past) = (0, false, Past())
    repeat {
      // While another node has the work, at the next round.
      if round.isMultiple(of: Self.roundsPerForgetting) { forgets = true }
      if await chainAudit(forgets: forgets, &past) { forgets = false }
      round += 1
    } while (try? await Task.sleep(for: .seconds(2))) != nil
  }

  /// What was seen in the rounds before.
  private struct Past {
    var memory = AuditMemory()
    /// What was told to be wrong with the audit, so that it is told once.
    var fault: AuditFault?
    /// What was told to keep it from being chained.
    var hindrance: String?
    /// In how many rounds one after the other somebody else had the work.
    var refusals = 0
  }

  /// - Returns: Whether it was done.
  private func chainAudit(forgets: Bool, _ past: inout Past) async -> Bool {
    let now = clock.now()
    let lease = Lease(name: "audit", holder: holder, until: now + Self.leaseSeconds)
    do throws(StorageError) {
      // Nothing is written, and no lease taken, while there is nothing to do.
      guard try await auditChain.hasUnsealed() || forgets else {
        (past.refusals, past.hindrance) = (0, nil)
        return false
      }
      let fault = try await auditChain.fault(&past.memory)
      tell(fault, &past)
      guard fault == nil else { return false }
      guard try await storage.take(lease, at: now) else {
        past.refusals += 1
        let isOverdue = try await auditChain.overdue(at: now) != nil
        tell(
          hindrance: past.refusals > Self.refusalsOfOneLease && isOverdue ? "held_by_another" : nil, &past)
        return false
      }
      past.refusals = 0
      try await chainAudit(forgets: forgets, at: now, &past)
      tell(hindrance: nil, &past)
      return true
    } catch {
      tell(hindrance: "\(error)", &past)
      return false
    }
  }

  private func chainAudit(
    forgets: Bool, at now: UnixTime, _ past: inout Past
  ) async throws(StorageError) {
    try await auditChain.reseal()
    var head: AuditWitness?
    // Out of reach of who can write the database.
    defer {
      if let head {
        past.memory.remember(head)
        log.info(
          "audit_chained",
          [.number("position", head.position), .text("digest", hexText(head.digest))])
      }
    }
    while try await auditChain.seal(witness: { head = $0 }) { if Task.isCancelled { return } }
    guard forgets else { return }
    while true {
      switch try await auditChain.forget(before: now - retention, memory: &past.memory) {
      case .done: return
      case .more: if Task.isCancelled { return }
      case .broken(let fault): return tell(fault, &past)
      }
    }
  }

  /// - Parameter hindrance: Why lines are not chained, in a word; nil when they are.
  private func tell(hindrance: String?, _ past: inout Past) {
    if let hindrance, hindrance != past.hindrance {
      log.warning("audit_not_chained", [.text("cause", hindrance)])
    }
    past.hindrance = hindrance
  }

  private func tell(_ fault: AuditFault?, _ past: inout Past) {
    if let fault, fault != past.fault {
      log.error(
        "audit_broken", [.text("fault", fault.kind.rawValue), .number("position", fault.position)])
    }
    past.fault = fault
  }
}
