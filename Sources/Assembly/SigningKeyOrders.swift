package import Domain
package import Sessions
package import Settings
package import Storage
internal import Crypto

// What an operator orders of the signing keys, done from a command: one more node, which the others notice.

extension SigningKeyRules {
  /// As a node with these settings has them.
  package init(_ settings: Settings) {
    self.init(
      algorithm: settings.sessionAlgorithm, rotation: settings.keyRotation, lifetime: settings.sessionTTL,
      leeway: settings.clockLeeway)
  }
}

/// What became of the order to rotate.
package enum RotationOutcome: Sendable, Equatable {
  case rotated(to: KeyID)
  /// The running services do it when the next key may sign.
  case scheduled(at: UnixTime)
  /// Nothing was done: the next key may not sign before then; nil while there is none.
  case tooEarly(until: UnixTime?)
}

/// Has the next key sign.
package func rotateSigningKeys(
  _ settings: Settings, in storage: any Storage, _ urgency: RotationUrgency
) async throws(StartFault) -> RotationOutcome {
  let order = try await SigningKeyOrder(settings, storage)
  var (before, isRefused) = (KeyID?.none, false)
  let book = try await order.change { book in
    // After a conflict: another was faster with it, and twice was not asked for.
    if let before, before != book.activeKey { return nil }
    before = book.activeKey
    let plan = SigningKeyPlan.rotation(of: book, urgency, rules: order.rules, now: order.now)
    isRefused = plan == nil
    return plan
  }
  let readyAt = SigningKeyPlan.readyAt(in: book, rules: order.rules)
  if let active = book.activeKey, active != before { return .rotated(to: active) }
  guard !isRefused, let readyAt else { return .tooEarly(until: readyAt) }
  return .scheduled(at: readyAt)
}

/// Withdraws a key at once, whatever it does.
///
/// - Returns: The key that signs now; nil when there is no key of this id.
package func revokeSigningKey(
  _ id: KeyID, _ settings: Settings, in storage: any Storage
) async throws(StartFault) -> KeyID? {
  let order = try await SigningKeyOrder(settings, storage)
  var isKnown = false
  let book = try await order.change { book in
    // Asked again after a conflict it may be gone by another's hand, which is what was wanted.
    let plan = SigningKeyPlan.revocation(of: id, in: book, rules: order.rules, now: order.now)
    if plan != nil { isKnown = true }
    return plan
  }
  return isKnown ? book.activeKey : nil
}

/// What was put under the seal of the first master key.
package struct Rewrapping: Sendable, Equatable {
  package let signingKeys: Int
  /// Codes and tokens.
  package let appleSecrets: Int
  /// Codes and tokens that no key of the settings opens; they stay as they are.
  package let unreadable: Int
}

/// Puts everything under the seal of the first master key that was under another, and signs the ends of the audit with
/// it.
package func rewrap(_ settings: Settings, in storage: any Storage) async throws(StartFault) -> Rewrapping {
  let order = try await SigningKeyOrder(settings, storage)
  let count: Int
  do {
    count = try await rewrapSigningKeys(
      in: storage, ring: order.ring, rules: order.rules, now: order.now, entropy: .system)
  } catch {
    throw .signingKeys(error)
  }
  do {
    try await AuditChain(storage: storage, ring: order.ring).reseal()
    let secrets = try await rewrapAppleSecrets(in: storage, ring: order.ring, entropy: .system)
    return Rewrapping(
      signingKeys: count, appleSecrets: secrets.rewrapped, unreadable: secrets.unreadable)
  } catch {
    throw .storage(error)
  }
}

/// What every order needs.
private struct SigningKeyOrder {
  let storage: any Storage
  let ring: MasterKeyRing
  let rules: SigningKeyRules
  let now: UnixTime

  init(_ settings: Settings, _ storage: any Storage) async throws(StartFault) {
    self.storage = storage
    ring = try masterKeyRing(of: settings, mayCreate: false, entropy: .system)
    rules = SigningKeyRules(settings)
    now = WallClock.system.now()
  }

  func change(
    _ decide: (SigningKeyBook) -> SigningKeyPlan?
  ) async throws(StartFault) -> SigningKeyBook {
    do {
      return try await changeSigningKeys(
        in: storage, known: nil, ring: ring, rules: rules, origin: Origin(actor: .command), now: now,
        entropy: .system, by: decide
      ).book
    } catch {
      throw .signingKeys(error)
    }
  }
}

extension SigningKeyBook {
  fileprivate var activeKey: KeyID? { keys.first { $0.role == .active }?.id }
}
