package import Domain

/// Who asks, as a session token of ours says that was found good.
package struct SessionBearer: Sendable, Equatable {
  package let account: AccountID
  package let session: SessionID
  /// Whether the sign-in is recent enough to change what the account is.
  package let isRecentLogin: Bool

  package init(account: AccountID, session: SessionID, isRecentLogin: Bool) {
    self.account = account
    self.session = session
    self.isRecentLogin = isRecentLogin
  }
}

/// Why whoever holds a good session token is refused all the same.
package enum BearerRefusal: Error, Equatable, Sendable {
  case accountNotFound
  case accountDisabled
  /// Nil for a session that is not there any more.
  case sessionOver(SessionEnd?)
  case loginTooOld
}

/// A bearer's account and session, or why there is none: the account before the session, as for a refresh.
func decideGrant(
  to bearer: SessionBearer, in ledger: inout some Ledger
) throws(StorageError) -> Result<SessionGrant, BearerRefusal> {
  guard let account = try ledger.account(bearer.account) else { return .failure(.accountNotFound) }
  guard !account.isDisabled else { return .failure(.accountDisabled) }
  guard let session = try ledger.session(bearer.session), session.account == account.id else {
    return .failure(.sessionOver(nil))
  }
  if let end = session.end { return .failure(.sessionOver(end)) }
  return .success(SessionGrant(account: account, session: session))
}

/// Whose account is to be changed, and on whose word.
package enum AccountTarget: Sendable, Equatable {
  /// The bearer's own.
  case bearer(SessionBearer)
  /// Anybody's: an administrator asks.
  case administered(AccountID)
}

/// The account of a target.
///
/// - Parameter isGrave: Whether a bearer must have signed in recently for it.
func decideTarget(
  of target: AccountTarget, isGrave: Bool, in ledger: inout some Ledger
) throws(StorageError) -> Result<Account, BearerRefusal> {
  switch target {
  case .administered(let id):
    guard let account = try ledger.account(id) else { return .failure(.accountNotFound) }
    return .success(account)
  case .bearer(let bearer):
    switch try decideGrant(to: bearer, in: &ledger) {
    case .failure(let refusal): return .failure(refusal)
    case .success(let grant):
      // An anonymous account has no way to sign in again.
      let isOld = isGrave && !bearer.isRecentLogin && !grant.account.isAnonymous
      return isOld ? .failure(.loginTooOld) : .success(grant.account)
    }
  }
}
