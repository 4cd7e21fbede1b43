package import Domain

/// A person who is signed in at another system, which vouches for that, wants a session here.
package struct HandOverIntent: Sendable {
  package let account: AccountID
  /// `sign_in_provider` of the other system's token, and of the session's.
  package let provider: String
  /// When the person last signed in there.
  package let authenticatedAt: UnixTime
  /// `auth_time` of the session; never one that counts as a recent login.
  package let sessionBegin: UnixTime
  package let credential: CredentialKey
  package let credentialExpiresAt: UnixTime
  package let device: Device?
  package let newSession: SessionID
  package let masterKey: MasterKeyID
  package let rules: SessionOpeningRules
  package let origin: Origin
  /// Seconds in which the same request gets the same session.
  package let retryWindow: Int64
  package let now: UnixTime

  package init(
    account: AccountID, provider: String, authenticatedAt: UnixTime, sessionBegin: UnixTime,
    credential: CredentialKey, credentialExpiresAt: UnixTime, device: Device?, newSession: SessionID,
    masterKey: MasterKeyID, rules: SessionOpeningRules, origin: Origin, retryWindow: Int64, now: UnixTime
  ) {
    self.account = account
    self.provider = provider
    self.authenticatedAt = authenticatedAt
    self.sessionBegin = sessionBegin
    self.credential = credential
    self.credentialExpiresAt = credentialExpiresAt
    self.device = device
    self.newSession = newSession
    self.masterKey = masterKey
    self.rules = rules
    self.origin = origin
    self.retryWindow = retryWindow
    self.now = now
  }
}

/// What it came to.
package enum HandOverOutcome: Sendable, Equatable {
  case opened(SessionGrant)
  case credentialAlreadyUsed
  /// There is no such account, or none that an import brought.
  case accountNotFound
  case accountDisabled
  /// The account's sessions were revoked after the person signed in there.
  case revoked
}

/// Decides it inside a transaction: the record of the credential first, as for a sign-in. The account stays as it is, but
/// for the time of the last sign-in, and for who was anonymous there and is so here.
package func decideHandOver(
  _ intent: HandOverIntent, in ledger: inout some Ledger
) throws(StorageError) -> HandOverOutcome {
  if let spent = try ledger.spentCredential(intent.credential) {
    switch try ledger.repetition(of: spent, linkTarget: nil, within: intent.retryWindow, at: intent.now) {
    case .granted(let grant): return .opened(grant)
    case .accountDisabled: return .accountDisabled
    case .tooLate: return .credentialAlreadyUsed
    }
  }
  guard var account = try ledger.account(intent.account), try ledger.importDate(of: account.id) != nil else {
    return .accountNotFound
  }
  guard !account.isDisabled else { return .accountDisabled }
  if let moment = account.validSince, intent.authenticatedAt < moment { return .revoked }
  let before = account
  account.lastSignInAt = max(account.lastSignInAt, min(intent.authenticatedAt, intent.now))
  // Only the token says so: in an export anonymous people look like those of custom tokens.
  if intent.provider == "anonymous", account.identities.isEmpty, account.profile.email == nil {
    account.isAnonymous = true
  }
  if account != before { try ledger.update(account) }
  let session = Session(
    id: intent.newSession, account: account.id, provider: intent.provider, createdAt: intent.sessionBegin,
    device: intent.device, masterKey: intent.masterKey, rotatedAt: intent.now)
  try ledger.open(session, as: .sessionHandedOver, intent.rules, by: intent.origin, at: intent.now)
  try ledger.insert(
    SpentCredential(
      key: intent.credential, expiresAt: intent.credentialExpiresAt, usedAt: intent.now, session: session.id,
      isNewUser: false, linkTarget: nil))
  return .opened(SessionGrant(account: account, session: session))
}

extension LedgerStorage {
  package func handOver(_ intent: HandOverIntent) async throws(StorageError) -> HandOverOutcome {
    try await transact { (book) throws(StorageError) in try decideHandOver(intent, in: &book) }
  }
}
