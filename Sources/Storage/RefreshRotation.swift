package import Domain

/// A refresh token whose MAC was right.
package struct RefreshIntent: Sendable {
  package let session: SessionID
  package let counter: UInt32
  /// The master key for a new token.
  package let masterKey: MasterKeyID
  package let limits: SessionLimits
  package let origin: Origin
  package let now: UnixTime

  package init(
    session: SessionID, counter: UInt32, masterKey: MasterKeyID, limits: SessionLimits, origin: Origin,
    now: UnixTime
  ) {
    self.session = session
    self.counter = counter
    self.masterKey = masterKey
    self.limits = limits
    self.origin = origin
    self.now = now
  }
}

/// How long sessions live, in seconds.
package struct SessionLimits: Sendable, Equatable {
  /// Since the last rotation.
  package let idle: Int64
  /// Since the sign-in.
  package let absolute: Int64
  /// After a rotation, in which the token before may come again without being remarked.
  package let retryWindow: Int64

  package init(idle: Int64, absolute: Int64, retryWindow: Int64) {
    self.idle = idle
    self.absolute = absolute
    self.retryWindow = retryWindow
  }
}

/// Something about a refresh that an operator may want to know.
package enum RefreshRemark: String, Sendable, Equatable {
  /// The token before the current one, long after the rotation; or the one before that, from a slow tab.
  case lateRepeat
  /// A counter that the database does not know yet: it was restored, or lost commits.
  case counterAhead
}

/// What a refresh came to, decided and written in one transaction.
package enum RefreshOutcome: Sendable, Equatable {
  /// The session's current token is the answer, be it a new one or the same as before.
  case current(SessionGrant, remark: RefreshRemark?)
  /// An old token came back: the session is over from now on.
  case reused(AccountID)
  case sessionOver(SessionEnd?)
  case idle
  case overAge
  case accountDisabled
  case accountNotFound
}

/// What a presented counter does to a session that lives.
package enum RotationDecision: Equatable, Sendable {
  case rotate(to: UInt32, remark: RefreshRemark?)
  case repeatCurrent
  case repeatLate
  case end
}

/// The counter table: which of a session's tokens was presented, and what follows.
package func rotationDecision(
  presented: UInt32, session: Session, now: UnixTime, limits: SessionLimits
) -> RotationDecision {
  let current = session.counter
  if presented == current {
    return current == .max ? .end : .rotate(to: current + 1, remark: nil)
  }
  if presented > current {
    return presented == .max ? .end : .rotate(to: presented + 1, remark: .counterAhead)
  }
  let sinceRotation = now.since(session.rotatedAt)
  let isLate: Bool
  switch current - presented {
  case 1: isLate = sinceRotation > limits.retryWindow
  case 2 where sinceRotation <= Limits.slowTabSeconds: isLate = true
  default: return .end
  }
  guard isLate else { return .repeatCurrent }
  // This rotation counts once, however often its predecessor comes back.
  let lateRotations = session.lateRotations + (session.isLateSinceRotation ? 0 : 1)
  return lateRotations >= Limits.lateRepeatRotations ? .end : .repeatLate
}

extension Session {
  /// Whether it is over by its age or for want of use, though nobody ended it.
  package func isSpent(by limits: SessionLimits, at now: UnixTime) -> Bool {
    now.since(createdAt) >= limits.absolute || now.since(rotatedAt) >= limits.idle
  }

  /// The session after a rotation.
  package mutating func rotate(to counter: UInt32, masterKey: MasterKeyID, at now: UnixTime) {
    self.counter = counter
    self.masterKey = masterKey
    rotatedAt = now
    if !isLateSinceRotation { lateRotations = 0 }
    isLateSinceRotation = false
  }

  /// The session after a late repeat.
  package mutating func countLateRepeat() {
    if !isLateSinceRotation { lateRotations += 1 }
    isLateSinceRotation = true
  }
}

/// Decides a refresh inside a transaction: the account before the session, the session before the counter.
package func decideRefresh(
  _ intent: RefreshIntent, in ledger: inout some Ledger
) throws(StorageError) -> RefreshOutcome {
  guard var session = try ledger.session(intent.session) else { return .sessionOver(nil) }
  guard let account = try ledger.account(session.account) else { return .accountNotFound }
  guard !account.isDisabled else { return .accountDisabled }
  if let end = session.end { return .sessionOver(end) }
  guard intent.now.since(session.createdAt) < intent.limits.absolute else { return .overAge }
  guard intent.now.since(session.rotatedAt) < intent.limits.idle else { return .idle }

  func audit(_ action: AuditAction) throws(StorageError) {
    try ledger.audit(action, by: intent.origin, at: intent.now, account: account.id, session: session.id)
  }
  let decision = rotationDecision(
    presented: intent.counter, session: session, now: intent.now, limits: intent.limits)
  switch decision {
  case .rotate(let counter, let remark):
    session.rotate(to: counter, masterKey: intent.masterKey, at: intent.now)
    try ledger.update(session)
    if remark == .counterAhead { try audit(.counterAhead) }
    return .current(SessionGrant(account: account, session: session), remark: remark)
  case .repeatCurrent:
    return .current(SessionGrant(account: account, session: session), remark: nil)
  case .repeatLate:
    session.countLateRepeat()
    try ledger.update(session)
    try audit(.lateRepeat)
    return .current(SessionGrant(account: account, session: session), remark: .lateRepeat)
  case .end:
    try ledger.finish(session, as: .reused, at: intent.now)
    try audit(.refreshTokenReused)
    return .reused(account.id)
  }
}
