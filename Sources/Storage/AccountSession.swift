package import Domain

/// A session that no identity provider stands behind: an anonymous account's, or one that a custom token asks for.
package struct AccountSessionIntent: Sendable {
  package let account: AccountID
  /// `sign_in_provider` of its tokens.
  package let provider: String
  /// Whether a new account is anonymous.
  package let isAnonymous: Bool
  /// Whether an account that is not there is made.
  package let createsAccount: Bool
  package let customClaims: String?
  package let newSession: SessionID
  package let masterKey: MasterKeyID
  package let now: UnixTime

  package init(
    account: AccountID, provider: String, isAnonymous: Bool, createsAccount: Bool, customClaims: String?,
    newSession: SessionID, masterKey: MasterKeyID, now: UnixTime
  ) {
    self.account = account
    self.provider = provider
    self.isAnonymous = isAnonymous
    self.createsAccount = createsAccount
    self.customClaims = customClaims
    self.newSession = newSession
    self.masterKey = masterKey
    self.now = now
  }
}

/// What it came to.
package enum AccountSessionOutcome: Sendable, Equatable {
  case opened(SessionGrant, isNewUser: Bool)
  case accountDisabled
  case accountNotFound
}

/// Decides it inside a transaction.
package func decideAccountSession(
  _ intent: AccountSessionIntent, in ledger: inout some Ledger
) throws(StorageError) -> AccountSessionOutcome {
  var account: Account
  let isNewUser: Bool
  if let known = try ledger.account(intent.account) {
    guard !known.isDisabled else { return .accountDisabled }
    account = known
    account.lastSignInAt = max(account.lastSignInAt, intent.now)
    try ledger.update(account)
    isNewUser = false
  } else {
    guard intent.createsAccount else { return .accountNotFound }
    account = Account(
      id: intent.account, createdAt: intent.now, lastSignInAt: intent.now, isDisabled: false,
      isAnonymous: intent.isAnonymous, profile: .empty, name: nil, identities: [])
    try ledger.insert(account)
    isNewUser = true
  }
  let session = Session(
    id: intent.newSession, account: account.id, provider: intent.provider, createdAt: intent.now, device: nil,
    customClaims: intent.customClaims, masterKey: intent.masterKey, rotatedAt: intent.now)
  try ledger.insert(session)
  return .opened(SessionGrant(account: account, session: session), isNewUser: isNewUser)
}
