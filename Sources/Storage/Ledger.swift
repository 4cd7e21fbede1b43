package import Domain

/// The rows of one transaction: what intentions read and write. Nothing here decides anything.
package protocol Ledger {
  mutating func spentCredential(_ key: CredentialKey) throws(StorageError) -> SpentCredential?
  mutating func insert(_ spent: SpentCredential) throws(StorageError)

  mutating func account(_ id: AccountID) throws(StorageError) -> Account?
  mutating func account(holding identity: ProviderIdentity) throws(StorageError) -> Account?
  /// Accounts that hold an address, at most ``Limits/accountsOfOneEmail``: those that hold it verified first, and of
  /// each kind the oldest first.
  mutating func accounts(holding email: EmailAddress) throws(StorageError) -> [Account]
  mutating func accounts(after position: Int64, limit: Int) throws(StorageError) -> AccountPage
  mutating func accounts(before position: Int64, limit: Int) throws(StorageError) -> AccountPage
  mutating func accounts(in order: AccountOrder, offset: Int, limit: Int) throws(StorageError) -> [Account]
  mutating func accountCount() throws(StorageError) -> Int
  /// Writes everything but the identities.
  mutating func insert(_ account: Account) throws(StorageError)
  /// Writes everything but the identities.
  mutating func update(_ account: Account) throws(StorageError)
  /// Removes the account and its identities. Its sessions stay, to be told from sessions that never were.
  mutating func delete(_ account: AccountID) throws(StorageError)
  /// Writes that an import brought an account; this goes with the account and with nothing else.
  mutating func markImported(_ account: AccountID, at now: UnixTime) throws(StorageError)
  /// When an import brought the account; nil for every other.
  mutating func importDate(of account: AccountID) throws(StorageError) -> UnixTime?

  mutating func insert(_ identity: LinkedIdentity, of account: AccountID) throws(StorageError)
  /// Writes what the provider says of the person.
  mutating func update(_ identity: LinkedIdentity) throws(StorageError)
  mutating func delete(_ identity: ProviderIdentity) throws(StorageError)

  mutating func session(_ id: SessionID) throws(StorageError) -> Session?
  mutating func insert(_ session: Session) throws(StorageError)
  /// Writes what changes in a session's life.
  mutating func update(_ session: Session) throws(StorageError)
  /// Sessions that nobody ended, newest first.
  mutating func sessions(of account: AccountID) throws(StorageError) -> [Session]
  /// How many of those that were opened and last refreshed after these moments each master key serves.
  mutating func sessionCounts(
    openedAfter opening: UnixTime, refreshedAfter refresh: UnixTime
  ) throws(StorageError) -> [MasterKeyID: Int]

  mutating func signingKeys() throws(StorageError) -> SigningKeyBook
  mutating func writeSigningKeys(_ book: SigningKeyBook) throws(StorageError)

  /// Seconds that the longest session token lives that any signing key may have signed; nil while there is no key.
  mutating func longestTokenLifetime() throws(StorageError) -> Int64?

  mutating func append(_ revocation: Revocation) throws(StorageError)
  /// When the last revocation that is about the whole account ends, or takes another back; nil when there is none.
  mutating func endOfRevocations(of account: AccountID) throws(StorageError) -> UnixTime?
  mutating func revocations(after position: Int64, limit: Int) throws(StorageError) -> RevocationPage

  mutating func append(_ entry: AuditEntry) throws(StorageError)
  mutating func audit(_ query: AuditQuery) throws(StorageError) -> [ChainedEntry]
  mutating func auditChain() throws(StorageError) -> AuditChainState
  /// Writes digests to the lines in their order behind the present head, and the new head.
  mutating func seal(_ digests: [[UInt8]], head: AuditSeal) throws(StorageError)
  /// Forgets the lines up to a seal, which becomes the anchor of what is left.
  mutating func truncateAudit(to anchor: AuditSeal) throws(StorageError)
  /// Writes one end of the chain and nothing else.
  mutating func write(_ seal: AuditSeal, as end: AuditEnd) throws(StorageError)

  mutating func lease(_ name: String) throws(StorageError) -> Lease?
  mutating func write(_ lease: Lease) throws(StorageError)

  mutating func insert(_ work: AppleWork) throws(StorageError)
  /// Writes what changes in the life of a piece of work.
  mutating func update(_ work: AppleWork) throws(StorageError)
  mutating func deleteAppleWork(_ id: AppleSecretID) throws(StorageError)
  mutating func appleWork(_ id: AppleSecretID) throws(StorageError) -> AppleWork?
  /// What is due at a moment, the longest due first.
  mutating func appleWork(dueBy now: UnixTime, limit: Int) throws(StorageError) -> [AppleWork]
  mutating func appleWork(of account: AccountID) throws(StorageError) -> [AppleWork]
  /// Work in the order of its ids, behind one of them.
  mutating func appleWork(after id: AppleSecretID?, limit: Int) throws(StorageError) -> [AppleWork]
  mutating func appleWorkCounts() throws(StorageError) -> [AppleWorkCount]
  /// Has everything come due that is not under way.
  /// - Returns: How much there was that was not due.
  mutating func hastenAppleWork(to now: UnixTime) throws(StorageError) -> Int

  mutating func insert(_ grant: AppleGrant) throws(StorageError)
  /// Writes when it was and will be looked at.
  mutating func update(_ grant: AppleGrant) throws(StorageError)
  mutating func deleteAppleGrant(_ id: AppleSecretID) throws(StorageError)
  mutating func appleGrant(_ id: AppleSecretID) throws(StorageError) -> AppleGrant?
  mutating func appleGrants(of subject: Subject) throws(StorageError) -> [AppleGrant]
  /// What is due at a moment, the longest due first.
  mutating func appleGrants(dueBy now: UnixTime, limit: Int) throws(StorageError) -> [AppleGrant]
  /// When the first work, and the first look at a grant, is due.
  mutating func firstAppleDates() throws(StorageError) -> (work: UnixTime?, grant: UnixTime?)

  /// Identities that are still to be moved, in the order of their subjects, behind one of them.
  mutating func transferItems(
    _ query: TransferQuery, after subject: Subject?, limit: Int
  ) throws(StorageError) -> [TransferItem]
  /// The subject at Apple whose identity has this transfer subject.
  mutating func subject(transferredAs transferSubject: Subject) throws(StorageError) -> Subject?
  /// The subject at Apple of the identity that had this one at another team.
  mutating func subject(formerly subject: Subject) throws(StorageError) -> Subject?
  mutating func transferCounts() throws(StorageError) -> [TransferCount]
  mutating func transferConflicts(to team: TeamID, limit: Int) throws(StorageError) -> [TransferConflict]
  mutating func identityCount(at provider: String) throws(StorageError) -> Int
  /// Writes a team to at most so many tokens, and as many calls, that name none.
  /// - Returns: How many there were of both.
  mutating func adoptAppleSecrets(for team: TeamID, limit: Int) throws(StorageError) -> Int

  /// Writes that a notification has come; false when it had before.
  mutating func insert(_ notification: AppleNotificationRecord) throws(StorageError) -> Bool
  /// How many there are with events that nobody here understands.
  mutating func keptNotificationCount() throws(StorageError) -> Int
  /// Those, the newest first.
  mutating func keptNotifications(limit: Int) throws(StorageError) -> [AppleNotificationRecord]

  /// Writes an event under an id that no other was ever given.
  mutating func append(_ news: WebhookNews, dueAt: UnixTime?) throws(StorageError)
  /// Writes what changes in the life of an event.
  mutating func update(_ event: WebhookEvent) throws(StorageError)
  mutating func deleteWebhook(_ id: WebhookID) throws(StorageError)
  mutating func webhook(_ id: WebhookID) throws(StorageError) -> WebhookEvent?
  /// What is due at a moment, the longest due first.
  mutating func webhooks(dueBy now: UnixTime, limit: Int) throws(StorageError) -> [WebhookEvent]
  /// The oldest event of an account that was not given up.
  mutating func firstWebhook(of account: AccountID) throws(StorageError) -> WebhookEvent?
  /// Events in their order, behind a place; only those that were given up, or all.
  mutating func webhooks(
    after position: Int64, limit: Int, deadOnly: Bool
  ) throws(StorageError) -> [WebhookEvent]
  /// When the first event is due.
  mutating func firstWebhookDate() throws(StorageError) -> UnixTime?
  mutating func webhookCounts() throws(StorageError) -> WebhookCounts

  /// How many secrets of Apple's each master key seals.
  mutating func appleSecretCounts() throws(StorageError) -> [MasterKeyID: Int]
  /// Secrets that another master key seals.
  mutating func appleSecrets(notSealedBy key: MasterKeyID, limit: Int) throws(StorageError) -> [AppleSecret]
  /// Writes the seal of the secret of this id, wherever it is kept.
  mutating func reseal(_ secret: AppleSecret) throws(StorageError)

  /// Returns how many rows went. With the last session of an anonymous account the account goes.
  mutating func sweep(_ rules: SweepRules) throws(StorageError) -> Int
  /// Writes one small row, and fails where a table is not there that a sign-in or a refresh needs.
  mutating func touch() throws(StorageError)

  /// Whether there is an app's back end that is told of accounts.
  var announces: Bool { get }
}

/// The rows that a transaction decides on, of those that are known beforehand: an engine of many connections locks and
/// reads those of a whole group at once.
package struct DecisionRows: Sendable {
  package var sessions: [SessionID] = []
  package var identities: [ProviderIdentity] = []
  package var credentials: [CredentialKey] = []

  package init() {}
}

/// An engine: it runs functions over its ledger as transactions, and every intention follows from that.
package protocol LedgerStorage: Storage {
  associatedtype Book: Ledger

  /// Runs `body` in a transaction and returns when that is committed. A throw undoes everything. `body` may be
  /// run again from the start, so it must do nothing but use the ledger.
  func transact<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout Book) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome

  /// As ``transact(_:)``, of what decides on the rows that it names and on no others: of two that run at once and name
  /// none in common, neither can make the other's decision wrong.
  func transact<Outcome: Sendable>(
    on rows: DecisionRows, _ body: @escaping @Sendable (inout Book) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome

  /// As ``transact(_:)``, of what writes nothing.
  func read<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout Book) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome
}

extension LedgerStorage {
  package func transact<Outcome: Sendable>(
    on rows: DecisionRows, _ body: @escaping @Sendable (inout Book) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    try await transact(body)
  }

  package func signIn(_ intent: SignInIntent) async throws(StorageError) -> SignInOutcome {
    guard let rows = intent.decisionRows else {
      return try await transact { (book) throws(StorageError) in try decideSignIn(intent, in: &book) }
    }
    return try await transact(on: rows) { (book) throws(StorageError) in try decideSignIn(intent, in: &book) }
  }

  package func refresh(_ intent: RefreshIntent) async throws(StorageError) -> RefreshOutcome {
    var rows = DecisionRows()
    rows.sessions = [intent.session]
    return try await transact(on: rows) { (book) throws(StorageError) in try decideRefresh(intent, in: &book)
    }
  }

  package func signingKeys() async throws(StorageError) -> SigningKeyBook {
    try await read { (book) throws(StorageError) in try book.signingKeys() }
  }

  package func replaceSigningKeys(
    expecting version: Int64, with keys: [SigningKeyRecord], audited entries: [AuditEntry]
  ) async throws(StorageError) -> SigningKeyReplacement {
    try await transact { (book) throws(StorageError) in
      let present = try book.signingKeys()
      guard present.version == version else { return .conflict(present) }
      let next = SigningKeyBook(version: version + 1, keys: keys)
      try book.writeSigningKeys(next)
      for entry in entries { try book.append(entry) }
      return .replaced(next)
    }
  }

  package func account(_ id: AccountID) async throws(StorageError) -> Account? {
    try await read { (book) throws(StorageError) in try book.account(id) }
  }

  package func openSession(
    _ intent: AccountSessionIntent
  ) async throws(StorageError) -> AccountSessionOutcome {
    try await transact { (book) throws(StorageError) in try decideAccountSession(intent, in: &book) }
  }

  package func grant(
    to bearer: SessionBearer
  ) async throws(StorageError) -> Result<SessionGrant, BearerRefusal> {
    try await read { (book) throws(StorageError) in try decideGrant(to: bearer, in: &book) }
  }

  package func change(_ intent: AccountChangeIntent) async throws(StorageError) -> AccountChangeOutcome {
    try await transact { (book) throws(StorageError) in try decideAccountChange(intent, in: &book) }
  }

  package func delete(
    _ intents: [AccountDeletionIntent]
  ) async throws(StorageError) -> [AccountDeletionOutcome] {
    try await transact { (book) throws(StorageError) in
      var outcomes: [AccountDeletionOutcome] = []
      for intent in intents { outcomes.append(try decideAccountDeletion(intent, in: &book)) }
      return outcomes
    }
  }

  package func create(
    _ accounts: [Account], sharingEmails: Bool, areImported: Bool, by origin: Origin, at now: UnixTime
  ) async throws(StorageError) -> [AccountCreationOutcome] {
    try await transact { (book) throws(StorageError) in
      var outcomes: [AccountCreationOutcome] = []
      for account in accounts {
        outcomes.append(
          try decideCreation(
            of: account, sharesEmail: sharingEmails, isImport: areImported, by: origin, at: now, in: &book))
      }
      return outcomes
    }
  }

  package func endSessions(
    _ intent: SessionEndingIntent
  ) async throws(StorageError) -> SessionEndingOutcome {
    try await transact { (book) throws(StorageError) in try decideSessionEnding(intent, in: &book) }
  }

  package func state(of session: SessionID) async throws(StorageError) -> SessionState? {
    try await read { (book) throws(StorageError) in try book.state(of: session) }
  }

  package func revocations(after position: Int64, limit: Int) async throws(StorageError) -> RevocationPage {
    try await read { (book) throws(StorageError) in try book.revocations(after: position, limit: limit) }
  }

  package func revocations(
    behind mark: RevocationMark, limit: Int
  ) async throws(StorageError) -> RevocationNews {
    try await read { (book) throws(StorageError) in try book.revocations(behind: mark, limit: limit) }
  }

  package func append(_ entry: AuditEntry) async throws(StorageError) {
    try await transact { (book) throws(StorageError) in try book.append(entry) }
  }

  package func audit(_ query: AuditQuery) async throws(StorageError) -> [ChainedEntry] {
    try await read { (book) throws(StorageError) in try book.audit(query) }
  }

  package func auditChain() async throws(StorageError) -> AuditChainState {
    try await read { (book) throws(StorageError) in try book.auditChain() }
  }

  package func sealAudit(
    expecting head: AuditSeal?, digests: [[UInt8]], head next: AuditSeal
  ) async throws(StorageError) -> Bool {
    try await transact { (book) throws(StorageError) in
      guard try book.auditChain().head == head else { return false }
      try book.seal(digests, head: next)
      return true
    }
  }

  package func truncateAudit(expecting anchor: AuditSeal?, to next: AuditSeal) async throws(StorageError)
    -> Bool
  {
    try await transact { (book) throws(StorageError) in
      guard try book.auditChain().anchor == anchor else { return false }
      try book.truncateAudit(to: next)
      return true
    }
  }

  package func resealAudit(
    expecting chain: AuditChainState, with next: AuditChainState
  ) async throws(StorageError) -> Bool {
    try await transact { (book) throws(StorageError) in
      guard try book.auditChain() == chain else { return false }
      for (end, seal) in next.ends { try book.write(seal, as: end) }
      return true
    }
  }

  package func restartAudit(
    expecting chain: AuditChainState, behind last: Int64, with entry: AuditEntry,
    ends: @escaping @Sendable (Int64) -> AuditChainState
  ) async throws(StorageError) -> Bool {
    try await transact { (book) throws(StorageError) in
      guard try book.auditChain() == chain else { return false }
      try book.append(entry)
      // Places may have been given out, and their lines be gone: it begins where a line is.
      guard let first = try book.audit(AuditQuery(after: last, account: nil, limit: 1)).first else {
        throw .defect
      }
      let ends = ends(first.entry.position - 1)
      if let anchor = ends.anchor { try book.truncateAudit(to: anchor) }
      if let head = ends.head { try book.write(head, as: .head) }
      return true
    }
  }

  package func take(_ lease: Lease, at now: UnixTime) async throws(StorageError) -> Bool {
    try await transact { (book) throws(StorageError) in
      if let held = try book.lease(lease.name), held.keepsOut(lease, at: now) { return false }
      try book.write(lease)
      return true
    }
  }

  package func find(_ keys: [AccountKey]) async throws(StorageError) -> [Account] {
    try await read { (book) throws(StorageError) in try decideLookup(of: keys, in: &book) }
  }

  package func lastUses(of accounts: [AccountID]) async throws(StorageError) -> [AccountID: UnixTime] {
    try await read { (book) throws(StorageError) in
      var uses: [AccountID: UnixTime] = [:]
      for id in accounts { uses[id] = try book.sessions(of: id).map(\.rotatedAt).max() }
      return uses
    }
  }

  package func accounts(
    in order: AccountOrder, offset: Int, limit: Int
  ) async throws(StorageError) -> AccountList {
    try await read { (book) throws(StorageError) in
      AccountList(
        accounts: try book.accounts(in: order, offset: offset, limit: limit), count: try book.accountCount())
    }
  }

  package func accounts(after cursor: AccountCursor?, limit: Int) async throws(StorageError) -> AccountPage {
    try await read { (book) throws(StorageError) in
      try book.accounts(after: cursor?.position ?? 0, limit: limit)
    }
  }

  package func accounts(before cursor: AccountCursor?, limit: Int) async throws(StorageError) -> AccountPage {
    try await read { (book) throws(StorageError) in
      try book.accounts(before: cursor?.position ?? .max, limit: limit)
    }
  }

  package func sessions(of account: AccountID) async throws(StorageError) -> [Session] {
    try await read { (book) throws(StorageError) in try book.sessions(of: account) }
  }

  package func sessionCounts(
    within limits: SessionLimits, at now: UnixTime
  ) async throws(StorageError) -> [MasterKeyID: Int] {
    try await read { (book) throws(StorageError) in
      try book.sessionCounts(openedAfter: now - limits.absolute, refreshedAfter: now - limits.idle)
    }
  }

  package func sweep(_ rules: SweepRules) async throws(StorageError) -> Bool {
    try await transact { (book) throws(StorageError) in try book.sweep(rules) >= rules.limit }
  }

  package func probe() async throws(StorageError) {
    try await transact { (book) throws(StorageError) in try book.touch() }
  }
}
