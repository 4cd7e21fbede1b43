internal import Domain
internal import Sessions
internal import Storage
internal import Synchronization
internal import Telemetry

/// Keeps a node's signing keys those of the database, and does there what is due.
///
/// A look every second: with a change by another node or a command a node is at most two seconds behind, so a
/// key is known everywhere long before it signs.
final class SigningKeyWatch: Sendable {
  private let issuer: SessionIssuer
  private let storage: any Storage
  private let ring: MasterKeyRing
  private let rules: SigningKeyRules
  private let clock: WallClock
  private let entropy: Entropy
  private let metrics: NodeMetrics
  private let log: Log
  /// Whether the last look failed, which is told once.
  private let isBlind = Atomic(false)

  init(
    issuer: SessionIssuer, storage: any Storage, ring: MasterKeyRing, rules: SigningKeyRules,
    clock: WallClock, entropy: Entropy, metrics: NodeMetrics, log: Log
  ) {
    self.issuer = issuer
    self.storage = storage
    self.ring = ring
    self.rules = rules
    self.clock = clock
    self.entropy = entropy
    self.metrics = metrics
    self.log = log
  }

  /// Looks every second until the task is cancelled.
  ///
  /// - Parameter atStart: What was changed before there was a watch.
  func run(atStart changes: [SigningKeyChange]) async {
    var made = changes
    while (try? await Task.sleep(for: .seconds(1))) != nil {
      made += await look()
      report(made)
      made = []
    }
  }

  /// Takes over what is in the database, and changes there what is due. What cannot be read leaves the
  /// present keys as they are; what cannot be written is due again at the next look.
  ///
  /// - Returns: What this node changed.
  private func look() async -> [SigningKeyChange] {
    let known = issuer.keys
    let begun = issuer.watch.now
    do {
      let settled = try await settleSigningKeys(
        in: storage, known: known, ring: ring, rules: rules, now: clock.now(), entropy: entropy)
      if isBlind.exchange(false, ordering: .relaxed) { log.info("signing_keys_available") }
      take(settled.keys, insteadOf: known)
      issuer.watch.tookKeys(asOf: begun)
      return settled.changes
    } catch {
      // A node that stops closes its storage.
      if Task.isCancelled { return [] }
      if !isBlind.exchange(true, ordering: .relaxed) {
        log.error("signing_keys_unavailable", [.text("cause", error.sentence)])
      }
      await takeWhatOpens(insteadOf: known)
      return []
    }
  }

  /// What became of the keys that this node has, without those that it cannot open: one that was revoked is not to be
  /// believed for want of another.
  private func takeWhatOpens(insteadOf known: SigningKeys) async {
    let begun = issuer.watch.now
    guard let book = try? await storage.signingKeys(),
      let keys = try? SigningKeys(openingWhatCanBe: book, with: ring, known: known)
    else { return }
    take(keys, insteadOf: known)
    issuer.watch.tookKeys(asOf: begun)
  }

  private func take(_ keys: SigningKeys, insteadOf known: SigningKeys) {
    // The same version may open further when what failed was not the master key.
    guard keys.version != known.version || keys.sealed != known.sealed else { return }
    issuer.take(keys)
    guard keys.activeID != known.activeID else { return }
    log.info("signing_key_in_use", [.text("kid", keys.activeID.text)])
  }

  private func report(_ changes: [SigningKeyChange]) {
    for change in changes {
      metrics.count(change)
      let fields: [Log.Field] = [.text("kid", change.id.text), .text("algorithm", change.algorithm)]
      switch change.step {
      case .made: log.info("signing_key_made", fields)
      case .promoted: log.info("signing_key_promoted", fields)
      case .withdrawn: log.info("signing_key_withdrawn", fields)
      }
    }
  }
}
