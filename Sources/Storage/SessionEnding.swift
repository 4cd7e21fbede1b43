package import Domain

/// Sessions are to end, on somebody's word.
package struct SessionEndingIntent: Sendable {
  /// Whose sessions end, and what says so.
  package enum Target: Sendable, Equatable {
    /// The session of a refresh token: its account is found by it.
    case own(SessionID)
    /// A session of the bearer's account, by its id.
    case session(SessionID, of: SessionBearer)
    /// All sessions of the bearer's account.
    case all(of: SessionBearer)
    /// All sessions of the account whose session a refresh token is of.
    case allOfOwner(SessionID)
    /// All sessions of anybody's account, or one of them: an administrator asks.
    case administered(AccountID, SessionID?)
  }

  package let target: Target
  package let origin: Origin
  package let now: UnixTime

  package init(target: Target, origin: Origin, now: UnixTime) {
    self.target = target
    self.origin = origin
    self.now = now
  }
}

/// What it came to.
package enum SessionEndingOutcome: Sendable, Equatable {
  /// How many sessions ended; none when they were over before.
  case ended(AccountID, Int)
  case refused(BearerRefusal)
  /// The account has no such session.
  case notFound
}

/// Decides it inside a transaction. Ending what is over already is no fault: who asks twice wants the same.
package func decideSessionEnding(
  _ intent: SessionEndingIntent, in ledger: inout some Ledger
) throws(StorageError) -> SessionEndingOutcome {
  switch intent.target {
  case .own(let id):
    guard let session = try ledger.session(id) else { return .notFound }
    return try end([session], of: session.account, intent, in: &ledger)
  case .allOfOwner(let id):
    guard let session = try ledger.session(id) else { return .notFound }
    return try endAll(of: session.account, intent, in: &ledger)
  case .session(let id, let bearer):
    switch try decideGrant(to: bearer, in: &ledger) {
    case .failure(let refusal): return .refused(refusal)
    case .success(let grant):
      guard let session = try ledger.session(id), session.account == grant.account.id else {
        return .notFound
      }
      return try end([session], of: grant.account.id, intent, in: &ledger)
    }
  case .all(let bearer):
    switch try decideGrant(to: bearer, in: &ledger) {
    case .failure(let refusal): return .refused(refusal)
    case .success(let grant): return try endAll(of: grant.account.id, intent, in: &ledger)
    }
  case .administered(let account, let id):
    guard try ledger.account(account) != nil else { return .refused(.accountNotFound) }
    guard let id else { return try endAll(of: account, intent, in: &ledger) }
    guard let session = try ledger.session(id), session.account == account else { return .notFound }
    return try end([session], of: account, intent, in: &ledger)
  }
}

private func end(
  _ sessions: [Session], of account: AccountID, _ intent: SessionEndingIntent, in ledger: inout some Ledger
) throws(StorageError) -> SessionEndingOutcome {
  let living = sessions.filter { $0.end == nil }
  for session in living {
    try ledger.finish(session, as: intent.end, at: intent.now)
    try ledger.audit(
      .signedOut, by: intent.origin, at: intent.now, account: account, session: session.id)
  }
  return .ended(account, living.count)
}

private func endAll(
  of account: AccountID, _ intent: SessionEndingIntent, in ledger: inout some Ledger
) throws(StorageError) -> SessionEndingOutcome {
  let count = try ledger.finishAllSessions(of: account, as: intent.end, at: intent.now)
  if count > 0 { try ledger.audit(.sessionsEnded, by: intent.origin, at: intent.now, account: account) }
  return .ended(account, count)
}

extension SessionEndingIntent {
  /// The person ends his own; anybody else revokes.
  fileprivate var end: SessionEnd { origin.actor == .person ? .ended : .revoked }
}
