package import Domain

/// What a secret of Apple's is, by the word that OAuth has for it.
package enum AppleSecretKind: String, Sendable, CaseIterable {
  case code
  case refreshToken = "refresh_token"
  case accessToken = "access_token"
}

/// A secret of Apple's as it is kept: sealed, with its id and its kind bound into the seal.
package struct AppleSecret: Sendable, Equatable {
  package let id: AppleSecretID
  package let kind: AppleSecretKind
  package let sealed: [UInt8]
  package let masterKey: MasterKeyID

  package init(id: AppleSecretID, kind: AppleSecretKind, sealed: [UInt8], masterKey: MasterKeyID) {
    self.id = id
    self.kind = kind
    self.sealed = sealed
    self.masterKey = masterKey
  }
}

/// One call to Apple that has to be made, for as long as it has not been.
package struct AppleWork: Sendable, Equatable {
  /// What is to be done with the secret.
  package enum Kind: String, Sendable, CaseIterable {
    /// A code becomes a refresh token, which is kept.
    case exchange
    case revoke
    /// A code becomes a refresh token, which is revoked.
    case exchangeThenRevoke = "exchange_then_revoke"
  }

  package let secret: AppleSecret
  package var kind: Kind
  package let account: AccountID
  /// Whose it has to be; nil once nobody here is known by it any more.
  package var subject: Subject?
  /// The client that the secret was given out to.
  package let client: ClientID
  package let redirectURI: String?
  package let createdAt: UnixTime
  package var dueAt: UnixTime
  /// How often it was begun. Also tells one beginning from the next.
  package var attempts: Int
  /// What the last attempt met, in a word.
  package var fault: String?
  /// Whether Apple may have had it, and the answer did not arrive.
  package var isSent: Bool
  /// The team whose client that is; nil for work that was kept before teams were.
  package let team: TeamID?
  /// Whether an app brought the secret, to have it revoked: then it is only guessed which client it is of, and whether it
  /// is what the app says.
  package let isBrought: Bool

  package init(
    secret: AppleSecret, kind: Kind, account: AccountID, subject: Subject?, client: ClientID,
    redirectURI: String?, createdAt: UnixTime, dueAt: UnixTime, attempts: Int = 0, fault: String? = nil,
    isSent: Bool = false, team: TeamID? = nil, isBrought: Bool = false
  ) {
    self.secret = secret
    self.kind = kind
    self.account = account
    self.subject = subject
    self.client = client
    self.redirectURI = redirectURI
    self.createdAt = createdAt
    self.dueAt = dueAt
    self.attempts = attempts
    self.fault = fault
    self.isSent = isSent
    self.team = team
    self.isBrought = isBrought
  }

  package var id: AppleSecretID { secret.id }
}

/// How much of one kind waits.
package struct AppleWorkCount: Sendable, Equatable {
  package let kind: AppleWork.Kind
  package let count: Int
  package let oldest: UnixTime

  package init(kind: AppleWork.Kind, count: Int, oldest: UnixTime) {
    self.kind = kind
    self.count = count
    self.oldest = oldest
  }
}

/// When there is something to do next; nil for never.
package struct AppleAgenda: Sendable, Equatable {
  package let workDueAt: UnixTime?
  package let grantDueAt: UnixTime?
  /// Until when no grant is looked at, since Apple said that it is too much.
  package let pausedUntil: UnixTime?

  package init(workDueAt: UnixTime?, grantDueAt: UnixTime?, pausedUntil: UnixTime?) {
    self.workDueAt = workDueAt
    self.grantDueAt = grantDueAt
    self.pausedUntil = pausedUntil
  }
}

/// What a call to Apple came to.
package enum AppleWorkResult: Sendable, Equatable {
  /// A refresh token for the code.
  ///
  /// - client: Whose code it was.
  /// - nextCheck: When the token is first looked at again.
  case exchanged(AppleSecret, client: ClientID, nextCheck: UnixTime)
  /// - by: The client that had it revoked.
  case revoked(by: ClientID)
  /// Nothing more can come of it; the word says why.
  case dropped(String)
  /// - isSent: Whether Apple may have had it.
  case postponed(until: UnixTime, fault: String, isSent: Bool)
}

/// What became of a piece of work that was begun.
package struct AppleWorkSettlement: Sendable {
  /// As it was begun.
  package let work: AppleWork
  package let result: AppleWorkResult
  package let now: UnixTime

  package init(work: AppleWork, result: AppleWorkResult, now: UnixTime) {
    self.work = work
    self.result = result
    self.now = now
  }
}

/// Begins what is due: it is marked as sent, and comes due again when nothing is heard of it.
///
/// - Parameter until: When it comes due again.
/// - Returns: The work as it was before but for its attempts, so that ``AppleWork/isSent`` tells of an earlier attempt.
package func decideAppleWorkClaim(
  limit: Int, until: UnixTime, at now: UnixTime, in ledger: inout some Ledger
) throws(StorageError) -> [AppleWork] {
  var begun: [AppleWork] = []
  for var work in try ledger.appleWork(dueBy: now, limit: limit) {
    work.attempts += 1
    begun.append(work)
    (work.isSent, work.fault, work.dueAt) = (true, AppleWork.sending, until)
    try ledger.update(work)
  }
  return begun
}

/// Decides what a call's outcome changes, inside a transaction.
package func decideAppleWorkSettlement(
  _ settlement: AppleWorkSettlement, in ledger: inout some Ledger
) throws(StorageError) {
  let present = try ledger.appleWork(settlement.work.id)
  // Nothing heard for too long, it was begun anew: of failures the later one counts, of successes the first.
  let isCurrent = present.map { $0.attempts == settlement.work.attempts } ?? false
  let work = present ?? settlement.work
  switch settlement.result {
  case .exchanged(let secret, let client, let nextCheck):
    if present != nil { try ledger.deleteAppleWork(work.id) }
    try keep(secret, of: work, for: client, nextCheck: nextCheck, at: settlement.now, in: &ledger)
  case .revoked(let client):
    guard present != nil else { return }
    try ledger.deleteAppleWork(work.id)
    try noteRevocation(of: work, by: client, at: settlement.now, in: &ledger)
  case .dropped(let word):
    guard isCurrent else { return }
    try ledger.deleteAppleWork(work.id)
    try ledger.audit(
      .appleWorkGivenUp, by: Origin(actor: .system), at: settlement.now, account: work.account,
      detail: "\(work.kind.rawValue) \(word)")
    // A code that a sign-in brought before was used then: what came of it is what is to be revoked.
    if work.isBrought, work.secret.kind == .code {
      try revokeKept(for: work, by: work.client, at: settlement.now, in: &ledger)
    }
  case .postponed(let until, let fault, let isSent):
    guard isCurrent, var later = present else { return }
    (later.dueAt, later.fault, later.isSent) = (until, fault, isSent)
    try ledger.update(later)
  }
}

/// A new refresh token is kept for a person who is still here and has not taken the consent back meanwhile, and revoked
/// otherwise.
private func keep(
  _ secret: AppleSecret, of work: AppleWork, for client: ClientID, nextCheck: UnixTime, at now: UnixTime,
  in ledger: inout some Ledger
) throws(StorageError) {
  try ledger.audit(
    .appleCodeExchanged, by: Origin(actor: .system), at: now, account: work.account, detail: client.text)
  var isHere = false
  if let subject = work.subject {
    let identity = ProviderIdentity(provider: appleProviderID, subject: subject)
    let holder = try ledger.account(holding: identity)
    let hasConsent = ![.revoked, .notFound].contains(holder?.credentialState)
    isHere = holder?.id == work.account && hasConsent
    // It came too late for a team that the person has left: revoking it would take back what he gave the app.
    if !isHere, try ledger.subject(formerly: subject) != nil { return }
  }
  guard work.kind == .exchange, isHere, let subject = work.subject else {
    return try ledger.insert(
      AppleWork(
        secret: secret, kind: .revoke, account: work.account, subject: isHere ? work.subject : nil,
        client: client, redirectURI: nil, createdAt: work.createdAt, dueAt: now, team: work.team))
  }
  for older in try ledger.appleGrants(of: subject) where older.client == client {
    try ledger.deleteAppleGrant(older.id)
  }
  try ledger.insert(
    AppleGrant(
      secret: secret, account: work.account, subject: subject, client: client, obtainedAt: now,
      checkedAt: nil, dueAt: nextCheck, team: work.team))
}

/// What Apple was told to revoke is over here as well. Apple says the same of a token that it does not know, so what is
/// kept here of the person and the client is revoked too, and not just forgotten.
private func noteRevocation(
  of work: AppleWork, by client: ClientID, at now: UnixTime, in ledger: inout some Ledger
) throws(StorageError) {
  try ledger.audit(
    .appleTokenRevoked, by: Origin(actor: .system), at: now, account: work.account, detail: client.text)
  try revokeKept(for: work, by: client, isProved: true, at: now, in: &ledger)
}

/// Has what is kept of a person and a client revoked, as far as it is older than the work, and writes that the consent is
/// over.
///
/// - Parameter isProved: Whether Apple was told already, so that it is over though nothing is kept.
private func revokeKept(
  for work: AppleWork, by client: ClientID, isProved: Bool = false, at now: UnixTime,
  in ledger: inout some Ledger
) throws(StorageError) {
  guard let subject = work.subject else { return }
  // What was given out later has its own day to be asked about.
  let older = try ledger.appleGrants(of: subject).filter {
    $0.client == client && $0.obtainedAt <= work.createdAt
  }
  guard isProved || !older.isEmpty else { return }
  for grant in older { try ledger.queueRevocation(of: grant, for: work.account, at: now) }
  let identity = ProviderIdentity(provider: appleProviderID, subject: subject)
  // Who signed in again since then has consented again.
  guard let holder = try ledger.account(holding: identity), !holder.hasReturnedToApple(since: work.createdAt)
  else { return }
  try ledger.endConsent(.revoked, of: identity, in: holder, because: .revokedHere, at: now)
}

extension Ledger {
  /// Writes that a person lets the app know no more who he is, and tells the app's back end, if that is news.
  mutating func endConsent(
    _ state: CredentialState, of identity: ProviderIdentity, in account: Account, because cause: WebhookCause,
    at now: UnixTime
  ) throws(StorageError) {
    guard var linked = account.identities.first(where: { $0.identity == identity }),
      linked.credentialState != state
    else { return }
    linked.credentialState = state
    try update(linked)
    try announce(.consentRevoked, of: account.id, provider: identity.provider, cause: cause, at: now)
  }

  /// A token that is kept becomes a call that has it revoked.
  fileprivate mutating func queueRevocation(
    of grant: AppleGrant, for account: AccountID, at now: UnixTime
  ) throws(StorageError) {
    try deleteAppleGrant(grant.id)
    try insert(
      AppleWork(
        secret: grant.secret, kind: .revoke, account: account, subject: nil, client: grant.client,
        redirectURI: nil, createdAt: now, dueAt: now, team: grant.team))
  }

  /// Lets go of a person: the tokens that Apple gave for him are to be revoked, and codes that wait as well. Where another
  /// account is the same person's, under the subject of another team, they are only forgotten: it is his consent still.
  ///
  /// - Parameter linked: At Apple.
  /// - Returns: A word for the audit where nothing is revoked.
  @discardableResult
  mutating func relinquish(
    _ linked: LinkedIdentity, of account: AccountID, at now: UnixTime
  ) throws(StorageError) -> String? {
    let grants = try appleGrants(of: linked.subject)
    let waiting = try appleWork(of: account).filter { $0.subject == linked.subject }
    if try isKnown(linked, otherwiseThanBy: account) {
      for grant in grants { try deleteAppleGrant(grant.id) }
      for work in waiting { try deleteAppleWork(work.id) }
      return "apple_consent_stays"
    }
    for grant in grants { try queueRevocation(of: grant, for: account, at: now) }
    for var work in waiting {
      switch work.kind {
      case .exchange: work.kind = .exchangeThenRevoke
      case .revoke: work.subject = nil
      case .exchangeThenRevoke: continue
      }
      try update(work)
    }
    let isGivenBack = linked.credentialState != .authorized
    return grants.isEmpty && waiting.isEmpty && !isGivenBack ? "apple_nothing_to_revoke" : nil
  }

  /// Whether a person has another account, under the subject that he has, or had, at the other team.
  private mutating func isKnown(
    _ linked: LinkedIdentity, otherwiseThanBy account: AccountID
  ) throws(StorageError) -> Bool {
    let others = [linked.formerSubject, try subject(formerly: linked.subject)]
    for other in others.compactMap(\.self) {
      let holder = try self.account(holding: ProviderIdentity(provider: linked.provider, subject: other))
      if let holder, holder.id != account { return true }
    }
    return false
  }
}
