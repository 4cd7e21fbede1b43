package import Domain

/// Names one credential that is used once: its own time, so that the table in this order is appended to, and a
/// digest of what makes it unique.
package struct CredentialKey: Hashable, Sendable {
  package let stamp: UnixTime
  /// 32 bytes.
  package let digest: [UInt8]

  package init(stamp: UnixTime, digest: [UInt8]) {
    self.stamp = stamp
    self.digest = digest
  }
}

/// A credential that was used, and for what. Outlives the account.
package struct SpentCredential: Sendable, Equatable {
  package let key: CredentialKey
  package let expiresAt: UnixTime
  package let usedAt: UnixTime
  package let session: SessionID
  package let isNewUser: Bool
  /// The account that the identity was to be linked to, if that was asked.
  package let linkTarget: AccountID?

  package init(
    key: CredentialKey, expiresAt: UnixTime, usedAt: UnixTime, session: SessionID, isNewUser: Bool,
    linkTarget: AccountID?
  ) {
    self.key = key
    self.expiresAt = expiresAt
    self.usedAt = usedAt
    self.session = session
    self.isNewUser = isNewUser
    self.linkTarget = linkTarget
  }
}

/// A refusal that was found before the transaction, but gives way to a record of the same credential: a repeat
/// of a request that was answered is answered again, even when its token has meanwhile grown old.
package enum SignInObjection: Sendable, Equatable {
  case tokenTooOld
  case challengeRequired
  case challengeExpired
}

/// A verified identity that wants a session.
package struct SignInIntent: Sendable {
  /// The signed-in account that the identity is to be added to, as its session token says.
  package struct Link: Sendable, Equatable {
    package let account: AccountID
    package let session: SessionID
    /// Whether the last sign-in is recent enough to change what the account is.
    package let isRecentLogin: Bool

    package init(account: AccountID, session: SessionID, isRecentLogin: Bool) {
      self.account = account
      self.session = session
      self.isRecentLogin = isRecentLogin
    }
  }

  package let identity: ProviderIdentity
  package let profile: Profile
  package let name: PersonName?
  package let device: Device?
  package let credential: CredentialKey
  package let credentialExpiresAt: UnixTime
  /// A server-made challenge that the nonce is, to be used up as well.
  package let challenge: CredentialKey?
  package let objection: SignInObjection?
  package let link: Link?
  /// Whether an unknown person gets an account.
  package let createsAccount: Bool
  /// Ids that are used if an account or a session is made.
  package let newAccount: AccountID
  package let newSession: SessionID
  package let masterKey: MasterKeyID
  /// Seconds in which the same request gets the same session.
  package let retryWindow: Int64
  package let now: UnixTime

  package init(
    identity: ProviderIdentity, profile: Profile, name: PersonName?, device: Device?,
    credential: CredentialKey, credentialExpiresAt: UnixTime, challenge: CredentialKey?,
    objection: SignInObjection?, link: Link?,
    createsAccount: Bool, newAccount: AccountID, newSession: SessionID, masterKey: MasterKeyID,
    retryWindow: Int64, now: UnixTime
  ) {
    self.identity = identity
    self.profile = profile
    self.name = name
    self.device = device
    self.credential = credential
    self.credentialExpiresAt = credentialExpiresAt
    self.challenge = challenge
    self.objection = objection
    self.link = link
    self.createsAccount = createsAccount
    self.newAccount = newAccount
    self.newSession = newSession
    self.masterKey = masterKey
    self.retryWindow = retryWindow
    self.now = now
  }
}

/// A session and the person it is for.
package struct SessionGrant: Sendable, Equatable {
  package let account: Account
  package let session: Session

  package init(account: Account, session: Session) {
    self.account = account
    self.session = session
  }
}

/// What a sign-in came to, decided and written in one transaction.
package enum SignInOutcome: Sendable, Equatable {
  case signedIn(SessionGrant, isNewUser: Bool)
  case objected(SignInObjection)
  case credentialAlreadyUsed
  case accountDisabled
  /// Nobody has this identity, and no account was to be made.
  case unknownIdentity
  /// The identity belongs to an account already, be it the same one.
  case identityAlreadyLinked
  /// The account has another subject of this provider.
  case accountHasOtherIdentity
  case linkingAccountNotFound
  case linkingSessionOver(SessionEnd?)
  case loginTooOld
}

/// Decides a sign-in inside a transaction.
///
/// In this order: a record of the credential (RFC 9700 §4.5: one use), objections, whose account it is, and then
/// account, session and record together or not at all.
package func decideSignIn(
  _ intent: SignInIntent, in ledger: inout some Ledger
) throws(StorageError) -> SignInOutcome {
  if let spent = try ledger.spentCredential(intent.credential) {
    return try repeatSignIn(intent, spent, in: &ledger)
  }
  if let challenge = intent.challenge, try ledger.spentCredential(challenge) != nil {
    return .credentialAlreadyUsed
  }
  if let objection = intent.objection { return .objected(objection) }

  let holder = try ledger.account(holding: intent.identity)
  if let link = intent.link {
    if let refusal = try refusal(of: link, intent, holder: holder, in: &ledger) { return refusal }
    guard var account = try ledger.account(link.account) else { return .linkingAccountNotFound }
    if account.identities.isEmpty { try ledger.endSessions(of: account.id, as: .ended, at: intent.now) }
    account.learn(intent.profile, name: intent.name, at: intent.now)
    account.identities.append(intent.identity)
    try ledger.update(account)
    try ledger.insert(intent.identity, of: account.id)
    return .signedIn(try openSession(intent, for: account, isNewUser: false, in: &ledger), isNewUser: false)
  }
  if var account = holder {
    guard !account.isDisabled else { return .accountDisabled }
    account.learn(intent.profile, name: intent.name, at: intent.now)
    try ledger.update(account)
    return .signedIn(try openSession(intent, for: account, isNewUser: false, in: &ledger), isNewUser: false)
  }
  guard intent.createsAccount else { return .unknownIdentity }
  let account = Account(
    id: intent.newAccount, createdAt: intent.now, lastSignInAt: intent.now, isDisabled: false,
    profile: intent.profile, name: intent.name,
    identities: [intent.identity])
  try ledger.insert(account)
  try ledger.insert(intent.identity, of: account.id)
  return .signedIn(try openSession(intent, for: account, isNewUser: true, in: &ledger), isNewUser: true)
}

/// The same request again: the same session while it lives and its first refresh token is unused, in the retry
/// window; a duplicate otherwise.
private func repeatSignIn(
  _ intent: SignInIntent, _ spent: SpentCredential, in ledger: inout some Ledger
) throws(StorageError) -> SignInOutcome {
  guard spent.linkTarget == intent.link?.account, intent.now.since(spent.usedAt) <= intent.retryWindow,
    let session = try ledger.session(spent.session), session.end == nil, session.counter == 0,
    let account = try ledger.account(session.account)
  else { return .credentialAlreadyUsed }
  guard !account.isDisabled else { return .accountDisabled }
  return .signedIn(SessionGrant(account: account, session: session), isNewUser: spent.isNewUser)
}

private func refusal(
  of link: SignInIntent.Link, _ intent: SignInIntent, holder: Account?, in ledger: inout some Ledger
) throws(StorageError) -> SignInOutcome? {
  guard let account = try ledger.account(link.account) else { return .linkingAccountNotFound }
  guard !account.isDisabled else { return .accountDisabled }
  guard let session = try ledger.session(link.session), session.account == account.id else {
    return .linkingSessionOver(nil)
  }
  if let end = session.end { return .linkingSessionOver(end) }
  // An account without an identity is anonymous: it has nothing that an old session could take over.
  guard link.isRecentLogin || account.identities.isEmpty else { return .loginTooOld }
  guard holder == nil else { return .identityAlreadyLinked }
  let hasOther = account.identities.contains { $0.provider == intent.identity.provider }
  return hasOther ? .accountHasOtherIdentity : nil
}

private func openSession(
  _ intent: SignInIntent, for account: Account, isNewUser: Bool, in ledger: inout some Ledger
) throws(StorageError) -> SessionGrant {
  let session = Session(
    id: intent.newSession, account: account.id, provider: intent.identity.provider, createdAt: intent.now,
    device: intent.device, masterKey: intent.masterKey,
    rotatedAt: intent.now)
  try ledger.insert(session)
  for key in [intent.credential, intent.challenge].compactMap({ $0 }) {
    try ledger.insert(
      SpentCredential(
        key: key, expiresAt: intent.credentialExpiresAt, usedAt: intent.now, session: session.id,
        isNewUser: isNewUser, linkTarget: intent.link?.account))
  }
  return SessionGrant(account: account, session: session)
}
