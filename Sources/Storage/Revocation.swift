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
  /// When the last token that it means ends, by whatever clock it was issued.
  package let until: UnixTime

  package init(
    position: Int64 = 0, kind: Kind, account: AccountID, session: SessionID?, at: UnixTime, until: UnixTime
  ) {
    self.position = position
    self.kind = kind
    self.account = account
    self.session = session
    self.at = at
    self.until = until
  }
}

/// A revocation as those who follow remember it: its place, and when it was, as a database that was put back gives out
/// its places once more.
package struct RevocationMark: Sendable, Equatable {
  /// Before the first.
  package static let start = RevocationMark(number: 0)

  private static let moments: Int64 = 1_000_000_000

  /// Both as one number; those of one database only grow.
  package let number: Int64

  package init(number: Int64) { self.number = number }

  package init(of revocation: Revocation) {
    number = revocation.position &* Self.moments &+ revocation.at.seconds % Self.moments
  }

  /// Its place.
  package var position: Int64 { number / Self.moments }
}

/// What a follower of the revocations is told, oldest first.
package struct RevocationNews: Sendable, Equatable {
  package let revocations: [Revocation]
  /// From where to go on.
  package let end: RevocationMark

  package init(revocations: [Revocation], end: RevocationMark) {
    self.revocations = revocations
    self.end = end
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
    try revoke(.session, of: session.account, session.id, at: now)
  }

  /// Writes down that tokens are bad from now on, or are good again.
  ///
  /// Any node may have issued one just now, by its own settings and with a clock that is ahead. How long the longest
  /// lives is what the signing keys know: none signs one that lives longer than it has noted, and none goes before its
  /// last one is over.
  mutating func revoke(
    _ kind: Revocation.Kind, of account: AccountID, _ session: SessionID? = nil, at now: UnixTime
  ) throws(StorageError) {
    let lifetime = try longestTokenLifetime() ?? Limits.sessionTokenSeconds.upperBound
    var until = now + (Limits.clockLeeway.upperBound + lifetime)
    // What takes something back must not be forgotten before that is.
    if kind == .restored, let end = try endOfRevocations(of: account) { until = max(until, end) }
    try append(Revocation(kind: kind, account: account, session: session, at: now, until: until))
  }

  /// Writes an account whose id somebody chose. There may have been one of that id before, whose tokens are bad for all
  /// who follow: the new one's are not.
  mutating func insertNamed(_ account: Account, at now: UnixTime) throws(StorageError) {
    try insert(account)
    guard !account.isDisabled, try endOfRevocations(of: account.id) != nil else { return }
    try revoke(.restored, of: account.id, at: now)
  }

  /// What a follower has not been told: from the beginning, when he remembers what is not there.
  mutating func revocations(behind mark: RevocationMark, limit: Int) throws(StorageError) -> RevocationNews {
    let known = try revocations(after: mark.position - 1, limit: 1).revocations.first
    let start = known.map { RevocationMark(of: $0) } == mark ? mark : .start
    let revocations = try revocations(after: start.position, limit: limit).revocations
    return RevocationNews(
      revocations: revocations, end: revocations.last.map { RevocationMark(of: $0) } ?? start)
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

  /// Ends every session of an account that is not over, and voids sign-ins elsewhere as well.
  ///
  /// - Returns: How many there were.
  @discardableResult
  mutating func finishAllSessions(
    of id: AccountID, as end: SessionEnd, at now: UnixTime
  ) throws(StorageError) -> Int {
    let count = try finishSessions(of: id, as: end, at: now)
    try voidSignIns(of: id, before: now)
    return count
  }

  /// Has whoever signed in elsewhere before a moment, to be handed over here, do so anew.
  mutating func voidSignIns(of id: AccountID, before moment: UnixTime) throws(StorageError) {
    guard var account = try account(id), account.validSince.map({ $0 < moment }) ?? true else { return }
    account.validSince = moment
    try update(account)
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
