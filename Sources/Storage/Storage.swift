//===-- Storage ------------------------------------------------------------===//
// What must be remembered, as one protocol of intentions. Each intention is one transaction; its decision is a
// pure function over a `Ledger`, written once here, so that every engine decides alike: an engine brings a
// ledger and a way to run transactions, and the conformance suite holds it to the rest.
//===------------------------------------------------------------------------===//

package import Domain

/// Why nothing could be decided. An outage is never "not found".
package enum StorageError: Error, Equatable, Sendable {
  /// The database cannot answer now; nothing was changed, or it is not known whether anything was.
  case unavailable
  /// More waits than the engine takes; nothing was changed.
  case overloaded
  /// What was read is not what this version writes, or the file is damaged: as good as no answer, and for who asked
  /// an outage like any other.
  case corrupt
  /// What was to be written breaks a rule of the schema: a fault of this program.
  case defect
}

/// Everything the service asks of its memory. A value that is returned is on disk already.
package protocol Storage: Sendable {
  func signIn(_ intent: SignInIntent) async throws(StorageError) -> SignInOutcome
  func refresh(_ intent: RefreshIntent) async throws(StorageError) -> RefreshOutcome

  /// The signing keys and the version that ``replaceSigningKeys(expecting:with:audited:)`` compares.
  func signingKeys() async throws(StorageError) -> SigningKeyBook
  /// Compare-and-swap: with several nodes, one wins and the others learn what it wrote.
  ///
  /// - Parameter entries: Lines of the audit, written if this one wins.
  func replaceSigningKeys(
    expecting version: Int64, with keys: [SigningKeyRecord], audited entries: [AuditEntry]
  ) async throws(StorageError) -> SigningKeyReplacement

  /// Opens a session without an identity provider, making the account if it is wanted.
  func openSession(_ intent: AccountSessionIntent) async throws(StorageError) -> AccountSessionOutcome
  /// Opens a session for who is signed in at another system; see ``decideHandOver(_:in:)``.
  func handOver(_ intent: HandOverIntent) async throws(StorageError) -> HandOverOutcome
  /// A bearer's account and session, if both live.
  func grant(to bearer: SessionBearer) async throws(StorageError) -> Result<SessionGrant, BearerRefusal>
  func change(_ intent: AccountChangeIntent) async throws(StorageError) -> AccountChangeOutcome
  /// Deletes accounts in one transaction; each has an outcome of its own.
  func delete(_ intents: [AccountDeletionIntent]) async throws(StorageError) -> [AccountDeletionOutcome]
  /// Makes accounts in one transaction; each has an outcome of its own.
  ///
  /// - Parameter areImported: Whether another system had them before.
  func create(
    _ accounts: [Account], sharingEmails: Bool, areImported: Bool, by origin: Origin, at now: UnixTime
  ) async throws(StorageError) -> [AccountCreationOutcome]
  /// Takes accounts of another system in; see ``decideImport(_:in:)``.
  func importAccounts(_ intent: AccountImportIntent) async throws(StorageError) -> [AccountImportOutcome]
  /// What an import of each account would come to; writes nothing.
  func tryImport(
    of accounts: [Account], sharingEmails: Bool
  ) async throws(StorageError) -> [AccountImportOutcome]

  func account(_ id: AccountID) async throws(StorageError) -> Account?
  /// The accounts of several keys, each once, in the order of the keys; a key that nobody has adds none.
  func find(_ keys: [AccountKey]) async throws(StorageError) -> [Account]
  /// When each account was last refreshed or signed in to, as far as a session of it lives.
  func lastUses(of accounts: [AccountID]) async throws(StorageError) -> [AccountID: UnixTime]
  /// Accounts out of an order; what comes before is walked over, so this is for administrators.
  func accounts(in order: AccountOrder, offset: Int, limit: Int) async throws(StorageError) -> AccountList
  /// Accounts in the order of their creation, and where the next page begins.
  func accounts(after cursor: AccountCursor?, limit: Int) async throws(StorageError) -> AccountPage
  /// As ``accounts(after:limit:)``, from the newest on.
  func accounts(before cursor: AccountCursor?, limit: Int) async throws(StorageError) -> AccountPage
  func endSessions(_ intent: SessionEndingIntent) async throws(StorageError) -> SessionEndingOutcome
  /// What a session's tokens hang on; nil for a session that is not there.
  func state(of session: SessionID) async throws(StorageError) -> SessionState?
  /// What was revoked behind a place, oldest first.
  func revocations(after position: Int64, limit: Int) async throws(StorageError) -> RevocationPage
  /// As ``revocations(after:limit:)``, for who may remember another database than this one.
  func revocations(behind mark: RevocationMark, limit: Int) async throws(StorageError) -> RevocationNews

  /// Writes a line of the audit by itself; what an intention does, it audits in its own transaction.
  func append(_ entry: AuditEntry) async throws(StorageError)
  func audit(_ query: AuditQuery) async throws(StorageError) -> [ChainedEntry]
  func auditChain() async throws(StorageError) -> AuditChainState
  /// Chains the lines behind the head; false when the head is another one by now.
  func sealAudit(
    expecting head: AuditSeal?, digests: [[UInt8]], head next: AuditSeal
  ) async throws(StorageError) -> Bool
  /// Forgets what lies before a seal; false when the anchor is another one by now.
  func truncateAudit(expecting anchor: AuditSeal?, to next: AuditSeal) async throws(StorageError) -> Bool
  /// Gives the ends other codes; false when they are other ones by now.
  func resealAudit(
    expecting chain: AuditChainState, with next: AuditChainState
  ) async throws(StorageError) -> Bool
  /// Throws lines away and writes a first one behind them; false when the ends are other ones by now.
  ///
  /// - Parameters:
  ///   - last: The place of the last line that goes.
  ///   - ends: The ends of the new chain, for the place before its first line.
  func restartAudit(
    expecting chain: AuditChainState, behind last: Int64, with entry: AuditEntry,
    ends: @escaping @Sendable (Int64) -> AuditChainState
  ) async throws(StorageError) -> Bool
  /// Takes a piece of work, or keeps it; false while another node has it.
  func take(_ lease: Lease, at now: UnixTime) async throws(StorageError) -> Bool

  /// Begins calls to Apple that are due; see ``decideAppleWorkClaim(limit:until:at:in:)``.
  func beginAppleWork(limit: Int, until: UnixTime, at now: UnixTime) async throws(StorageError) -> [AppleWork]
  /// Writes what a call to Apple came to.
  func settle(_ settlement: AppleWorkSettlement) async throws(StorageError)
  /// Calls to Apple that wait, in the order in which they were asked for.
  func appleWork(after id: AppleSecretID?, limit: Int) async throws(StorageError) -> [AppleWork]
  func appleWorkCounts() async throws(StorageError) -> [AppleWorkCount]
  /// Has one call to Apple, or all, come due now; returns how many there were.
  func hastenAppleWork(_ id: AppleSecretID?, at now: UnixTime) async throws(StorageError) -> Int
  /// Has a token or a code of Apple's revoked that a bearer brings.
  func revokeAppleSecret(_ intent: AppleRevocationIntent) async throws(StorageError) -> AppleRevocationOutcome
  /// Takes out grants whose turn it is; see ``decideAppleGrantClaim(limit:at:in:)``.
  func claimAppleGrants(limit: Int, at now: UnixTime) async throws(StorageError) -> [AppleGrant]
  /// Writes what Apple said of a grant; returns whether the consent is gone, which was not known before.
  func report(_ report: AppleGrantReport) async throws(StorageError) -> Bool
  /// What is kept of Apple's for a person.
  func appleGrants(of subject: Subject) async throws(StorageError) -> [AppleGrant]
  func appleAgenda() async throws(StorageError) -> AppleAgenda
  /// Has no node look at grants before a moment.
  func pauseAppleGrants(until moment: UnixTime) async throws(StorageError)
  /// Takes a notification of Apple's, once; see ``decideAppleNotification(_:in:)``.
  func take(_ notification: AppleNotificationIntent) async throws(StorageError) -> AppleNotificationOutcome
  /// Notifications with events that nobody here understands, the newest first.
  func keptNotifications(limit: Int) async throws(StorageError) -> [AppleNotificationRecord]
  /// Takes note of somebody who came back from Apple's page; see ``decideWebReturn(_:in:)``.
  func take(_ visit: WebReturn) async throws(StorageError) -> WebReturnOutcome
  /// Begins events that are due; see ``decideWebhookClaim(limit:until:at:in:)``.
  func beginWebhooks(limit: Int, until: UnixTime, at now: UnixTime) async throws(StorageError)
    -> [WebhookEvent]
  /// Writes what an attempt to deliver came to.
  func settle(
    _ event: WebhookEvent, _ result: WebhookResult, at now: UnixTime
  ) async throws(StorageError) -> WebhookFate
  /// When the first event for the app's back end is due.
  func firstWebhookDate() async throws(StorageError) -> UnixTime?
  func webhookCounts() async throws(StorageError) -> WebhookCounts
  /// Events for the app's back end in their order, behind a place; only those that were given up, or all.
  func webhooks(after position: Int64, limit: Int, deadOnly: Bool) async throws(StorageError)
    -> [WebhookEvent]
  /// Has events tried anew; returns how many there were.
  func retryWebhooks(_ ids: [WebhookID], at now: UnixTime) async throws(StorageError) -> Int
  /// Identities at Apple that are still to be moved to another team, in the order of their subjects, behind one of them.
  func transferPage(
    _ query: TransferQuery, after subject: Subject?, limit: Int
  ) async throws(StorageError) -> [TransferItem]
  /// Writes what Apple said of a person that goes out; see ``decideTransferExport(_:by:in:)``.
  func write(_ export: TransferExport, by origin: Origin) async throws(StorageError) -> TransferOutcome
  /// Writes what Apple said of a person that comes in; see ``decideTransferImport(_:by:in:)``.
  func write(_ arrival: TransferImport, by origin: Origin) async throws(StorageError) -> TransferOutcome
  func transferStatus(to team: TeamID) async throws(StorageError) -> TransferStatus
  /// Notes when a team accepted the app.
  ///
  /// - Parameter replacesOther: Whether a moment that was noted before gives way.
  func noteTransferAcceptance(
    by team: TeamID, at moment: UnixTime, replacesOther: Bool
  ) async throws(StorageError)
  /// Has tokens and calls that were kept before they named a team belong to one; returns how many those were.
  func adoptAppleSecrets(for team: TeamID, limit: Int) async throws(StorageError) -> Int
  func appleSecretCounts() async throws(StorageError) -> [MasterKeyID: Int]
  /// Secrets of Apple's that another master key seals.
  func appleSecrets(notSealedBy key: MasterKeyID, limit: Int) async throws(StorageError) -> [AppleSecret]
  /// Puts other seals in the place of those; what has gone or was resealed meanwhile stays as it is.
  func resealAppleSecrets(_ changes: [AppleResealing]) async throws(StorageError)

  /// Sessions of an account that nobody ended, newest first.
  func sessions(of account: AccountID) async throws(StorageError) -> [Session]
  /// How many sessions that live at a moment each master key serves.
  func sessionCounts(
    within limits: SessionLimits, at now: UnixTime
  ) async throws(StorageError) -> [MasterKeyID: Int]

  /// Forgets a bounded number of rows that decide nothing any more.
  /// - Returns: Whether more is left.
  func sweep(_ rules: SweepRules) async throws(StorageError) -> Bool
  /// Returns when a transaction that writes has been committed, with every table there that a sign-in or a refresh needs.
  /// It says nothing of their columns, nor of what administration alone needs.
  func probe() async throws(StorageError)

  /// Finishes what was asked and closes; everything asked later is ``StorageError/unavailable``.
  func stop() async
}

extension Storage {
  /// Sessions of an account that live at a moment, newest first.
  package func sessions(
    of account: AccountID, within limits: SessionLimits, at now: UnixTime
  ) async throws(StorageError) -> [Session] {
    try await sessions(of: account).filter { !$0.isSpent(by: limits, at: now) }
  }

  /// What is kept of Apple's for an account.
  package func appleGrants(of account: Account) async throws(StorageError) -> [AppleGrant] {
    guard let apple = account.identity(at: appleProviderID) else { return [] }
    return try await appleGrants(of: apple.subject).filter { $0.account == account.id }
  }

  /// As ``replaceSigningKeys(expecting:with:audited:)``, of what the audit has no word for.
  package func replaceSigningKeys(
    expecting version: Int64, with keys: [SigningKeyRecord]
  ) async throws(StorageError) -> SigningKeyReplacement {
    try await replaceSigningKeys(expecting: version, with: keys, audited: [])
  }
}

extension Storage {
  /// A page of the accounts in the order of their creation, or from the newest on.
  package func accounts(
    from cursor: AccountCursor?, isNewestFirst: Bool, limit: Int
  ) async throws(StorageError) -> AccountPage {
    isNewestFirst
      ? try await accounts(before: cursor, limit: limit) : try await accounts(after: cursor, limit: limit)
  }
}

/// Where a page of accounts ends.
package struct AccountCursor: Sendable, Equatable {
  package let position: Int64

  package init(position: Int64) { self.position = position }
}

/// Accounts in the order of their creation or its reverse, and where the next page begins.
package struct AccountPage: Sendable, Equatable {
  package let accounts: [Account]
  /// Nil on the last page.
  package let next: AccountCursor?

  package init(accounts: [Account], next: AccountCursor?) {
    self.accounts = accounts
    self.next = next
  }
}

/// From when on rows decide nothing any more. Everything here lies well in the past, so that a clock that was
/// wrong for an hour costs nobody a session.
package struct SweepRules: Sendable {
  /// Spent credentials, and notifications of Apple's, that expired before this.
  package let credentialsBefore: UnixTime
  /// Sessions last refreshed, or over, before this.
  package let sessionsBefore: UnixTime
  /// Revocations that ended before this, but for the last one: who follows remembers it.
  package let revocationsBefore: UnixTime
  /// Calls to Apple that were due before this and that nobody made: there is no key for them.
  package let appleWorkBefore: UnixTime
  package let limit: Int

  package init(
    credentialsBefore: UnixTime, sessionsBefore: UnixTime, revocationsBefore: UnixTime,
    appleWorkBefore: UnixTime, limit: Int
  ) {
    self.credentialsBefore = credentialsBefore
    self.sessionsBefore = sessionsBefore
    self.revocationsBefore = revocationsBefore
    self.appleWorkBefore = appleWorkBefore
    self.limit = limit
  }

  /// What can decide nothing any more.
  ///
  /// - Parameter leeway: Seconds by which the clocks of nodes and of verifiers differ.
  package init(at now: UnixTime, limits: SessionLimits, leeway: Int64, limit: Int) {
    // A clock that was a day fast must not cost a session or open a way for a used token.
    let margin: Int64 = 86_400
    // Of the verifier that takes the last token, and of the node that forgets.
    let differences = 2 * max(leeway, 60)
    self.init(
      credentialsBefore: now - (leeway + margin), sessionsBefore: now - (limits.idle + margin),
      revocationsBefore: now - differences, appleWorkBefore: now - (Limits.appleWorkSeconds + margin),
      limit: limit)
  }
}
