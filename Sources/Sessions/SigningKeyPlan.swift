package import Crypto
package import Domain
package import Storage

/// By what signing keys follow one another.
package struct SigningKeyRules: Sendable, Equatable {
  /// Of the keys that are made, and that sign if they may.
  package let algorithm: SignatureAlgorithm
  /// Seconds that a key signs before the next one does; zero: until somebody asks.
  package let rotation: Int64
  /// Seconds that a session token of this node lives.
  package let lifetime: Int64
  /// Seconds by which the clocks of nodes and verifiers may differ.
  package let leeway: Int64

  package init(algorithm: SignatureAlgorithm, rotation: Int64, lifetime: Int64, leeway: Int64) {
    self.algorithm = algorithm
    self.rotation = rotation
    self.lifetime = lifetime
    self.leeway = leeway
  }
}

/// What happened to a signing key.
package struct SigningKeyChange: Sendable, Equatable {
  /// A step in a key's life.
  package enum Step: String, Sendable, CaseIterable {
    case made, promoted, withdrawn
  }

  package let step: Step
  package let id: KeyID
  package let algorithm: String
}

/// What has to become of the signing keys at one moment: decided here, done by `changeSigningKeys`.
///
/// Whatever is decided, one key signs and a standby of the wanted algorithm is published, those included that
/// are still to be made. A standby of another algorithm is left alone: a node with other settings wants it.
package struct SigningKeyPlan: Sendable, Equatable {
  /// The keys that stay, as they have to be.
  package private(set) var keys: [SigningKeyRecord]
  /// The keys that have to be made, all of the wanted algorithm.
  package private(set) var missing: [SigningKeyRole] = []
  package private(set) var changes: [SigningKeyChange] = []
  private let found: [SigningKeyRecord]
  private let rules: SigningKeyRules
  private let now: UnixTime

  /// Whether there is nothing to do.
  package var isEmpty: Bool { missing.isEmpty && keys == found }

  private init(_ book: SigningKeyBook, _ rules: SigningKeyRules, _ now: UnixTime) {
    keys = book.keys
    found = book.keys
    self.rules = rules
    self.now = now
  }

  private var active: Int? { keys.firstIndex { $0.role == .active } }

  /// The oldest standby of the wanted algorithm.
  private var next: Int? {
    keys.indices.filter { keys[$0].role == .standby && keys[$0].algorithm == rules.algorithm.rawValue }
      .min { keys[$0].createdAt < keys[$1].createdAt }
  }
}

// What time brings.
extension SigningKeyPlan {
  /// What is due without anybody's asking.
  package static func due(
    in book: SigningKeyBook, rules: SigningKeyRules, now: UnixTime
  ) -> SigningKeyPlan {
    var plan = SigningKeyPlan(book, rules, now)
    if let next = plan.next, plan.isReady(next), plan.isRotationDue { plan.promote(next) }
    plan.withdrawExpired()
    plan.complete()
    return plan
  }

  private func isReady(_ standby: Int) -> Bool { now >= keys[standby].readyAt(leeway: rules.leeway) }

  private var isRotationDue: Bool { rotationDueAt.map { now >= $0 } ?? false }

  /// From when on the active key is to give way; nil for never.
  private var rotationDueAt: UnixTime? {
    guard let active else { return nil }
    let key = keys[active]
    if key.isToRetire { return UnixTime(.min) }
    let start = key.activeSince ?? key.createdAt
    // A key signs for a while: two nodes that want different algorithms would take turns every second.
    if key.algorithm != rules.algorithm.rawValue { return start + Limits.signingKeyLead }
    return rules.rotation > 0 ? start + rules.rotation : nil
  }

  /// When the next key takes the active one's place, if nobody asks for it before; nil for never, and while there is none.
  package static func nextRotation(in book: SigningKeyBook, rules: SigningKeyRules) -> UnixTime? {
    let plan = SigningKeyPlan(book, rules, UnixTime(0))
    guard let due = plan.rotationDueAt, let ready = readyAt(in: book, rules: rules) else { return nil }
    return max(due, ready)
  }

  private mutating func withdrawExpired() {
    for key in keys {
      guard let end = key.publishedUntil(leeway: rules.leeway), now >= end else { continue }
      withdraw(key.id)
    }
  }
}

// What an operator asks for.
extension SigningKeyPlan {
  /// A rotation that somebody asked for; nil when the next key may not sign yet and nobody wants to wait.
  package static func rotation(
    of book: SigningKeyBook, _ urgency: RotationUrgency, rules: SigningKeyRules, now: UnixTime
  ) -> SigningKeyPlan? {
    var plan = SigningKeyPlan(book, rules, now)
    if let next = plan.next, urgency == .forced || plan.isReady(next) {
      plan.promote(next)
    } else {
      switch urgency {
      case .whenReady:
        if let active = plan.active { plan.keys[active].isToRetire = true }
      case .now: return nil
      case .forced:
        if let active = plan.active { plan.retire(active) }
        plan.missing.append(.active)
      }
    }
    plan.complete()
    return plan
  }

  /// When the next key may sign; nil while there is none.
  package static func readyAt(in book: SigningKeyBook, rules: SigningKeyRules) -> UnixTime? {
    let plan = SigningKeyPlan(book, rules, UnixTime(0))
    return plan.next.map { plan.keys[$0].readyAt(leeway: rules.leeway) }
  }

  /// A key that nobody may trust any more goes at once; nil when there is none of this id.
  package static func revocation(
    of id: KeyID, in book: SigningKeyBook, rules: SigningKeyRules, now: UnixTime
  ) -> SigningKeyPlan? {
    guard book.keys.contains(where: { $0.id == id }) else { return nil }
    var plan = SigningKeyPlan(book, rules, now)
    plan.withdraw(id)
    plan.complete()
    return plan
  }

  /// Keys as they are, each put through `change`.
  package static func rewriting(
    _ book: SigningKeyBook, rules: SigningKeyRules, now: UnixTime,
    _ change: (inout SigningKeyRecord) throws(SigningKeyError) -> Void
  ) throws(SigningKeyError) -> SigningKeyPlan {
    var plan = SigningKeyPlan(book, rules, now)
    for index in plan.keys.indices { try change(&plan.keys[index]) }
    return plan
  }
}

// Steps.
extension SigningKeyPlan {
  private mutating func promote(_ index: Int) {
    if let active { retire(active) }
    keys[index].role = .active
    keys[index].activeSince = now
    note(.promoted, keys[index])
  }

  private mutating func retire(_ index: Int) {
    keys[index].role = .retired
    keys[index].isToRetire = false
    // Not before it began: a clock may have gone back since.
    keys[index].retiredAt = max(now, keys[index].activeSince ?? now)
  }

  private mutating func withdraw(_ id: KeyID) {
    for key in keys where key.id == id { note(.withdrawn, key) }
    keys.removeAll { $0.id == id }
  }

  private mutating func note(_ step: SigningKeyChange.Step, _ key: SigningKeyRecord) {
    changes.append(SigningKeyChange(step: step, id: key.id, algorithm: key.algorithm))
  }

  /// Fills what is vacant, and raises what a key has to know before this node signs with it.
  private mutating func complete() {
    if active == nil && !missing.contains(.active) {
      // Without any that signs there is no service: the next one does at once, of whatever algorithm.
      if let next = next ?? keys.firstIndex(where: { $0.role == .standby }) {
        promote(next)
      } else {
        missing.append(.active)
      }
    }
    if next == nil { missing.append(.standby) }
    for index in keys.indices where keys[index].role != .retired {
      keys[index].longestLifetime = max(keys[index].longestLifetime, rules.lifetime)
    }
  }
}
