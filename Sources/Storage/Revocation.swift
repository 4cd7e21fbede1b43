package import Domain

/// Something after which tokens that were given out are not good any more, though their time is not over.
package struct Revocation: Sendable, Equatable {
  /// What became bad, or good again.
  package enum Kind: String, Sendable {
    /// One session is over.
    case session
    /// The account is gone or disabled: its tokens up to now are void.
    case account
    /// The account is as it was again: for those who remember it otherwise, and for nobody else.
    case restored
  }

  /// Its place; zero until it is written.
  package let position: Int64
  package let kind: Kind
  package let account: AccountID
  /// Nil for a whole account.
  package let session: SessionID?
  package let at: UnixTime

  package init(position: Int64 = 0, kind: Kind, account: AccountID, session: SessionID?, at: UnixTime) {
    self.position = position
    self.kind = kind
    self.account = account
    self.session = session
    self.at = at
  }
}

/// Revocations behind a place, oldest first.
package struct RevocationPage: Sendable, Equatable {
  package let revocations: [Revocation]
  /// The place of the last that was ever written, also when it is forgotten.
  package let last: Int64

  package init(revocations: [Revocation], last: Int64) {
    self.revocations = revocations
    self.last = last
  }
}

/// What a session token's goodness hangs on besides its signature and its time.
package struct SessionState: Sendable, Equatable {
  package let account: AccountID
  /// Why its tokens are not good; nil while session and account live and the account is not disabled.
  package let refusal: BearerRefusal?

  package init(account: AccountID, refusal: BearerRefusal?) {
    self.account = account
    self.refusal = refusal
  }
}

extension Ledger {
  /// Ends a session that is not over.
  mutating func finish(_ session: Session, as end: SessionEnd, at now: UnixTime) throws(StorageError) {
    var finished = session
    finished.finish(as: end, at: now)
    try update(finished)
    try append(Revocation(kind: .session, account: session.account, session: session.id, at: now))
  }

  /// Ends the sessions of an account that are not over and were opened no later than `limit`, all but one.
  ///
  /// - Returns: How many there were.
  @discardableResult
  mutating func finishSessions(
    of account: AccountID, openedUpTo limit: UnixTime = UnixTime(.max), but kept: SessionID? = nil,
    as end: SessionEnd, at now: UnixTime
  ) throws(StorageError) -> Int {
    let ended = try sessions(of: account).filter { $0.createdAt <= limit && $0.id != kept }
    for session in ended { try finish(session, as: end, at: now) }
    return ended.count
  }

  /// Whether a session's tokens are good.
  mutating func state(of id: SessionID) throws(StorageError) -> SessionState? {
    guard let session = try session(id) else { return nil }
    let bearer = SessionBearer(account: session.account, session: id, isRecentLogin: false)
    switch try decideGrant(to: bearer, in: &self) {
    case .success: return SessionState(account: session.account, refusal: nil)
    case .failure(let refusal): return SessionState(account: session.account, refusal: refusal)
    }
  }
}
