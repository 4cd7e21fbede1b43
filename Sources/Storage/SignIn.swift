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
  /// Whether every other use is refused at once, also the same request within the retry window.
  package let isFinal: Bool

  package init(
    key: CredentialKey, expiresAt: UnixTime, usedAt: UnixTime, session: SessionID, isNewUser: Bool,
    linkTarget: AccountID?, isFinal: Bool = false
  ) {
    self.key = key
    self.expiresAt = expiresAt
    self.usedAt = usedAt
    self.session = session
    self.isNewUser = isNewUser
    self.linkTarget = linkTarget
    self.isFinal = isFinal
  }
}

/// What a credential that was used before is still good for.
enum Repetition {
  /// The same session again.
  case granted(SessionGrant)
  case accountDisabled
  case tooLate
}

extension Ledger {
  /// The same request again: the same session while it lives and its first refresh token is unused, in the retry
  /// window; a duplicate otherwise.
  ///
  /// - Parameter window: Seconds.
  mutating func repetition(
    of spent: SpentCredential, linkTarget: AccountID?, within window: Int64, at now: UnixTime
  ) throws(StorageError) -> Repetition {
    guard !spent.isFinal, spent.linkTarget == linkTarget, now.since(spent.usedAt) <= window,
      let session = try session(spent.session), session.end == nil, session.counter == 0,
      let account = try account(session.account)
    else { return .tooLate }
    return account.isDisabled
      ? .accountDisabled : .granted(SessionGrant(account: account, session: session))
  }
}

/// A refusal that was found before the transaction, but gives way to a record of the same credential: a repeat
/// of a request that was answered is answered again, even when its token has meanwhile grown old.
package enum SignInObjection: Sendable, Equatable {
  case tokenTooOld
  case challengeRequired
  case challengeExpired
}

/// An authorization code of Apple's, to be exchanged when the person is signed in.
package struct AppleCode: Sendable, Equatable {
  package let secret: AppleSecret
  /// The client that it was given out to.
  package let client: ClientID
  /// Belongs to a code of the web.
  package let redirectURI: String?
  /// The team whose client it is; nil where there is no key of one.
  package var team: TeamID?

  package init(secret: AppleSecret, client: ClientID, redirectURI: String?) {
    self.secret = secret
    self.client = client
    self.redirectURI = redirectURI
  }
}

/// A verified identity that wants a session.
package struct SignInIntent: Sendable {
  package var identity: ProviderIdentity
  package var profile: Profile
  package let name: PersonName?
  package let device: Device?
  package let credential: CredentialKey
  package let credentialExpiresAt: UnixTime
  /// A server-made challenge that the nonce is, to be used up as well.
  package let challenge: CredentialKey?
  package let objection: SignInObjection?
  /// The signed-in account that the identity is to be added to.
  package let link: SessionBearer?
  package let linking: AccountLinking
  /// Whether the credential comes back as a pending one: it has no retry window.
  package let isPending: Bool
  /// Whether an unknown person gets an account.
  package let createsAccount: Bool
  /// Ids that are used if an account or a session is made.
  package let newAccount: AccountID
  package let newSession: SessionID
  package let masterKey: MasterKeyID
  package let rules: SessionOpeningRules
  package let origin: Origin
  /// Seconds in which the same request gets the same session.
  package let retryWindow: Int64
  package let now: UnixTime
  /// The client that the person signed in to, if that is known.
  package var client: ClientID?
  /// What came beside the credential, to be exchanged at Apple.
  package var code: AppleCode?
  /// Who the person was on the way to the team whose client this is, if the token says so.
  package var transferSubject: Subject?
  /// The team that the app came from, while tokens of it are still about.
  package var formerTeam: TeamID?

  package init(
    identity: ProviderIdentity, profile: Profile, name: PersonName?, device: Device?,
    credential: CredentialKey, credentialExpiresAt: UnixTime, challenge: CredentialKey?,
    objection: SignInObjection?, link: SessionBearer?, linking: AccountLinking, isPending: Bool,
    createsAccount: Bool, newAccount: AccountID, newSession: SessionID, masterKey: MasterKeyID,
    rules: SessionOpeningRules, origin: Origin, retryWindow: Int64, now: UnixTime
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
    self.linking = linking
    self.isPending = isPending
    self.createsAccount = createsAccount
    self.newAccount = newAccount
    self.newSession = newSession
    self.masterKey = masterKey
    self.rules = rules
    self.origin = origin
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
  /// Nobody has this identity, but an account that it may not join holds its address.
  case emailHeld(Account)
  /// The bearer of a link is refused.
  case linkRefused(BearerRefusal)
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
  if holder == nil, let arrival = try decideArrival(intent, in: &ledger) {
    return try admit(arrival.intent, holder: arrival.account, in: &ledger)
  }
  return try admit(intent, holder: holder, in: &ledger)
}

/// - Parameter holder: Whose identity it is, if it is anybody's.
private func admit(
  _ intent: SignInIntent, holder: Account?, in ledger: inout some Ledger
) throws(StorageError) -> SignInOutcome {
  if let link = intent.link { return try decideLink(intent, link, holder: holder, in: &ledger) }
  if let holder { return try welcome(holder, intent, in: &ledger) }
  guard intent.createsAccount else { return .unknownIdentity }
  switch try ledger.place(for: intent.identity, intent.profile, linking: intent.linking) {
  case .own: break
  case .joining(let account): return try join(account, intent, in: &ledger)
  case .taken(let account): return .emailHeld(account)
  }
  var account = Account(
    id: intent.newAccount, createdAt: intent.now, lastSignInAt: intent.now, isDisabled: false,
    profile: intent.profile, name: intent.name, identities: [intent.linkedIdentity])
  account.noteSignIn(by: intent.identity.provider, at: intent.now)
  try ledger.insert(account)
  try ledger.insert(intent.linkedIdentity, of: account.id)
  try ledger.audit(.accountCreated, by: intent.origin, at: intent.now, account: account.id)
  try ledger.announce(.userCreated, of: account.id, provider: intent.identity.provider, at: intent.now)
  return .signedIn(try openSession(intent, for: account, isNewUser: true, in: &ledger), isNewUser: true)
}

/// A known person comes back.
private func welcome(
  _ holder: Account, _ intent: SignInIntent, in ledger: inout some Ledger
) throws(StorageError) -> SignInOutcome {
  guard !holder.isDisabled else { return .accountDisabled }
  var account = holder
  account.learn(intent.profile, name: intent.name, at: intent.now)
  account.noteSignIn(by: intent.identity.provider, at: intent.now)
  if let place = account.identities.firstIndex(where: { $0.identity == intent.identity }) {
    var linked = account.identities[place]
    if let email = intent.profile.email?.text { linked.take(email: email) }
    if let client = intent.client { linked.client = client }
    linked.credentialState = .authorized
    // Nothing is written for nearly everybody.
    if linked != account.identities[place] {
      account.identities[place] = linked
      try ledger.update(linked)
    }
  }
  try ledger.update(account)
  return .signedIn(try openSession(intent, for: account, isNewUser: false, in: &ledger), isNewUser: false)
}

/// The identity is added to an account that is not disabled.
private func join(
  _ holder: Account, _ intent: SignInIntent, in ledger: inout some Ledger
) throws(StorageError) -> SignInOutcome {
  guard !holder.isDisabled else { return .accountDisabled }
  var account = holder
  // What was given out for an anonymous account is void for who compares with this, as its sessions are for us.
  if account.isAnonymous { account.validSince = intent.now }
  account.isAnonymous = false
  account.learn(intent.profile, name: intent.name, at: intent.now)
  account.noteSignIn(by: intent.identity.provider, at: intent.now)
  account.identities.append(intent.linkedIdentity)
  try ledger.update(account)
  try ledger.insert(intent.linkedIdentity, of: account.id)
  try ledger.audit(
    .identityLinked, by: intent.origin, at: intent.now, account: account.id, detail: intent.identity.provider)
  try ledger.announce(.userLinked, of: account.id, provider: intent.identity.provider, at: intent.now)
  return .signedIn(try openSession(intent, for: account, isNewUser: false, in: &ledger), isNewUser: false)
}

private func decideLink(
  _ intent: SignInIntent, _ link: SessionBearer, holder: Account?, in ledger: inout some Ledger
) throws(StorageError) -> SignInOutcome {
  let account: Account
  switch try decideGrant(to: link, in: &ledger) {
  case .success(let grant): account = grant.account
  case .failure(.accountDisabled): return .accountDisabled
  case .failure(let refusal): return .linkRefused(refusal)
  }
  guard link.isRecentLogin || account.isAnonymous else { return .linkRefused(.loginTooOld) }
  guard holder == nil else { return .identityAlreadyLinked }
  guard account.identity(at: intent.identity.provider) == nil else { return .accountHasOtherIdentity }
  if intent.linking == .verifiedEmail, let email = intent.profile.email,
    let other = try ledger.accounts(holding: email).first(where: { $0.id != account.id })
  {
    return .emailHeld(other)
  }
  // Whoever made an anonymous account may have kept a session of it; the person who now owns it shall not share it.
  if account.isAnonymous {
    try ledger.finishSessions(of: account.id, as: .ended, at: intent.now)
  }
  return try join(account, intent, in: &ledger)
}

private func repeatSignIn(
  _ intent: SignInIntent, _ spent: SpentCredential, in ledger: inout some Ledger
) throws(StorageError) -> SignInOutcome {
  guard !intent.isPending else { return .credentialAlreadyUsed }
  switch try ledger.repetition(
    of: spent, linkTarget: intent.link?.account, within: intent.retryWindow, at: intent.now)
  {
  case .granted(let grant): return .signedIn(grant, isNewUser: spent.isNewUser)
  case .accountDisabled: return .accountDisabled
  case .tooLate: return .credentialAlreadyUsed
  }
}

private func openSession(
  _ intent: SignInIntent, for account: Account, isNewUser: Bool, in ledger: inout some Ledger
) throws(StorageError) -> SessionGrant {
  let session = Session(
    id: intent.newSession, account: account.id, provider: intent.identity.provider, createdAt: intent.now,
    device: intent.device, masterKey: intent.masterKey,
    rotatedAt: intent.now)
  try ledger.open(session, as: .signedIn, intent.rules, by: intent.origin, at: intent.now)
  for key in [intent.credential, intent.challenge].compactMap({ $0 }) {
    try ledger.insert(
      SpentCredential(
        key: key, expiresAt: intent.credentialExpiresAt, usedAt: intent.now, session: session.id,
        isNewUser: isNewUser, linkTarget: intent.link?.account, isFinal: intent.isPending))
  }
  if let code = intent.code {
    try ledger.insert(
      AppleWork(
        secret: code.secret, kind: .exchange, account: account.id, subject: intent.identity.subject,
        client: code.client, redirectURI: code.redirectURI, createdAt: intent.now, dueAt: intent.now,
        team: account.identity(at: intent.identity.provider)?.team(among: code.team, intent.formerTeam)))
  }
  return SessionGrant(account: account, session: session)
}

extension SignInIntent {
  /// What it decides on; nil when that is more than can be named, as who else has an address or an older subject.
  var decisionRows: DecisionRows? {
    guard link == nil, linking == .off, transferSubject == nil, formerTeam == nil, rules.maximum == 0
    else {
      return nil
    }
    var rows = DecisionRows()
    rows.identities = [identity]
    rows.credentials = [credential, challenge].compactMap { $0 }
    return rows
  }

  fileprivate var linkedIdentity: LinkedIdentity {
    LinkedIdentity(identity, email: profile.email?.text, client: client)
  }
}
