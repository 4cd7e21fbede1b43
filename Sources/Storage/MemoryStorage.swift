package import Domain
internal import Synchronization

/// The reference engine: everything in dictionaries, each intention under one lock. For tests; it forgets.
package final class MemoryStorage: LedgerStorage {
  private let book: Mutex<MemoryLedger>

  /// - Parameter announces: Whether there is an app's back end that is told of accounts.
  package init(announces: Bool = false) {
    book = Mutex(MemoryLedger(announces: announces))
  }

  package func transact<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout MemoryLedger) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    let result: Result<Outcome, StorageError> = book.withLock { book in
      var draft = book
      do throws(StorageError) {
        let outcome = try body(&draft)
        book = draft
        return .success(outcome)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  package func read<Outcome: Sendable>(
    _ body: @escaping @Sendable (inout MemoryLedger) throws(StorageError) -> Outcome
  ) async throws(StorageError) -> Outcome {
    try await transact(body)
  }

  package func stop() async {}
}

/// Rows as dictionaries.
package struct MemoryLedger: Ledger {
  package let announces: Bool
  private var spent: [CredentialKey: SpentCredential] = [:]
  var accounts: [AccountID: Account] = [:]
  private var imports: [AccountID: UnixTime] = [:]
  private var order: [AccountID] = []
  private var holders: [ProviderIdentity: AccountID] = [:]
  private var allSessions: [SessionID: Session] = [:]
  /// The order in which the sessions were opened.
  private var openings: [SessionID: Int] = [:]
  private var lastOpening = 0
  private var keys = SigningKeyBook(version: 0, keys: [])
  private var revoked: [Revocation] = []
  private var lastRevocation: Int64 = 0
  private var lines: [ChainedEntry] = []
  private var lastLine: Int64 = 0
  private var chain = AuditChainState(anchor: nil, head: nil)
  private var leases: [String: Lease] = [:]
  var appleQueue: [AppleSecretID: AppleWork] = [:]
  var appleTokens: [AppleSecretID: AppleGrant] = [:]
  var notifications: [AppleNotificationRecord] = []
  var outbox: [WebhookEvent] = []
  var lastWebhook: Int64 = 0

  init(announces: Bool) { self.announces = announces }

  package mutating func spentCredential(_ key: CredentialKey) throws(StorageError) -> SpentCredential? {
    spent[key]
  }

  package mutating func insert(_ credential: SpentCredential) throws(StorageError) {
    guard spent.updateValue(credential, forKey: credential.key) == nil else { throw .defect }
  }

  package mutating func account(_ id: AccountID) throws(StorageError) -> Account? { accounts[id] }

  package mutating func account(holding identity: ProviderIdentity) throws(StorageError) -> Account? {
    holders[identity].flatMap { accounts[$0] }
  }

  package mutating func accounts(holding email: EmailAddress) throws(StorageError) -> [Account] {
    let held = order.compactMap { accounts[$0] }.filter { $0.profile.email == email }
    let (verified, others) = (
      held.filter(\.profile.isEmailVerified), held.filter { !$0.profile.isEmailVerified }
    )
    return Array((verified + others).prefix(Limits.accountsOfOneEmail))
  }

  package mutating func insert(_ account: Account) throws(StorageError) {
    guard accounts[account.id] == nil else { throw .defect }
    accounts[account.id] = account
    accounts[account.id]?.identities = []
    order.append(account.id)
  }

  package mutating func update(_ account: Account) throws(StorageError) {
    guard let known = accounts[account.id] else { throw .defect }
    accounts[account.id] = account
    accounts[account.id]?.identities = known.identities
  }

  package mutating func delete(_ account: AccountID) throws(StorageError) {
    guard let gone = accounts.removeValue(forKey: account) else { throw .defect }
    order.removeAll { $0 == account }
    imports[account] = nil
    for identity in gone.identities { holders[identity.identity] = nil }
  }

  package mutating func markImported(_ account: AccountID, at now: UnixTime) throws(StorageError) {
    guard accounts[account] != nil, imports.updateValue(now, forKey: account) == nil else { throw .defect }
  }

  package mutating func importDate(of account: AccountID) throws(StorageError) -> UnixTime? {
    imports[account]
  }

  package mutating func insert(_ identity: LinkedIdentity, of account: AccountID) throws(StorageError) {
    guard holders[identity.identity] == nil, let known = accounts[account],
      known.identity(at: identity.provider) == nil
    else { throw .defect }
    holders[identity.identity] = account
    accounts[account]?.identities.append(identity)
    accounts[account]?.identities.sort { isText($0.provider, before: $1.provider) }
  }

  package mutating func update(_ identity: LinkedIdentity) throws(StorageError) {
    guard let account = holders[identity.identity],
      let place = accounts[account]?.identities.firstIndex(where: { $0.identity == identity.identity })
    else { throw .defect }
    accounts[account]?.identities[place] = identity
  }

  package mutating func delete(_ identity: ProviderIdentity) throws(StorageError) {
    guard let account = holders.removeValue(forKey: identity) else { throw .defect }
    accounts[account]?.identities.removeAll { $0.identity == identity }
  }

  package mutating func accounts(after position: Int64, limit: Int) throws(StorageError) -> AccountPage {
    let start = min(max(Int(position), 0), order.count)
    let page = order[start...].prefix(limit)
    let end = start + page.count
    return AccountPage(
      accounts: page.compactMap { accounts[$0] },
      next: end < order.count ? AccountCursor(position: Int64(end)) : nil)
  }

  package mutating func accounts(before position: Int64, limit: Int) throws(StorageError) -> AccountPage {
    // An account's position is its place counted from one.
    let end = min(max(Int(position), 1) - 1, order.count)
    let page = order[..<end].suffix(limit)
    return AccountPage(
      accounts: page.reversed().compactMap { accounts[$0] },
      next: page.startIndex > 0 && !page.isEmpty ? AccountCursor(position: Int64(page.startIndex) + 1) : nil)
  }

  package mutating func accounts(
    in wanted: AccountOrder, offset: Int, limit: Int
  ) throws(StorageError) -> [Account] {
    let all = order.compactMap { accounts[$0] }
    // Stable, as the position is the last thing that is compared.
    let sorted = all.enumerated().sorted { a, b in
      let (first, second) = wanted.isDescending ? (b, a) : (a, b)
      if wanted.field.isOrdered(first.element, before: second.element) { return true }
      if wanted.field.isOrdered(second.element, before: first.element) { return false }
      return a.offset < b.offset
    }
    return Array(sorted.map(\.element).dropFirst(offset).prefix(limit))
  }

  package mutating func accountCount() throws(StorageError) -> Int { accounts.count }

  package mutating func session(_ id: SessionID) throws(StorageError) -> Session? { allSessions[id] }

  package mutating func insert(_ session: Session) throws(StorageError) {
    guard allSessions.updateValue(session, forKey: session.id) == nil else { throw .defect }
    lastOpening += 1
    openings[session.id] = lastOpening
  }

  package mutating func update(_ session: Session) throws(StorageError) {
    guard allSessions.updateValue(session, forKey: session.id) != nil else { throw .defect }
  }

  package mutating func sessions(of account: AccountID) throws(StorageError) -> [Session] {
    allSessions.values.filter { $0.account == account && $0.end == nil }
      .sorted { openings[$0.id] ?? 0 > openings[$1.id] ?? 0 }
  }

  package mutating func sessionCounts(
    openedAfter opening: UnixTime, refreshedAfter refresh: UnixTime
  ) throws(StorageError) -> [MasterKeyID: Int] {
    allSessions.values.reduce(into: [:]) { counts, session in
      guard session.end == nil, session.createdAt > opening, session.rotatedAt > refresh else { return }
      counts[session.masterKey, default: 0] += 1
    }
  }

  package mutating func signingKeys() throws(StorageError) -> SigningKeyBook { keys }

  package mutating func longestTokenLifetime() throws(StorageError) -> Int64? {
    keys.keys.map(\.longestLifetime).max()
  }

  package mutating func writeSigningKeys(_ book: SigningKeyBook) throws(StorageError) { keys = book }

  package mutating func sweep(_ rules: SweepRules) throws(StorageError) -> Int {
    let credentials = spent.values.filter { $0.expiresAt < rules.credentialsBefore }.prefix(rules.limit)
    for credential in credentials { spent[credential.key] = nil }
    let sessions = allSessions.values.filter { ($0.endedAt ?? $0.rotatedAt) < rules.sessionsBefore }
      .prefix(rules.limit)
    for session in sessions {
      allSessions[session.id] = nil
      openings[session.id] = nil
    }
    for account in Set(sessions.map(\.account)) where accounts[account]?.isAnonymous ?? false {
      if try self.sessions(of: account).isEmpty { try delete(account) }
    }
    let old = Set(
      revoked.dropLast().filter { $0.until < rules.revocationsBefore }.prefix(rules.limit).map(\.position))
    revoked.removeAll { old.contains($0.position) }
    let forgotten = appleQueue.values.filter { $0.dueAt < rules.appleWorkBefore }.prefix(rules.limit)
    for work in forgotten { appleQueue[work.id] = nil }
    return max(
      credentials.count, sessions.count, old.count, forgotten.count, sweepNotifications(rules),
      sweepWebhooks(rules))
  }

  package mutating func touch() throws(StorageError) {}
}

// What happened.
extension MemoryLedger {
  package mutating func append(_ revocation: Revocation) throws(StorageError) {
    lastRevocation += 1
    revoked.append(
      Revocation(
        position: lastRevocation, kind: revocation.kind, account: revocation.account,
        session: revocation.session, at: revocation.at, until: revocation.until))
  }

  package mutating func endOfRevocations(of account: AccountID) throws(StorageError) -> UnixTime? {
    revoked.lazy.filter { $0.session == nil && $0.account == account }.map(\.until).max()
  }

  package mutating func revocations(after position: Int64, limit: Int) throws(StorageError) -> RevocationPage
  {
    RevocationPage(
      revocations: Array(revoked.lazy.filter { $0.position > position }.prefix(limit)), last: lastRevocation)
  }

  package mutating func append(_ entry: AuditEntry) throws(StorageError) {
    lastLine += 1
    lines.append(
      ChainedEntry(
        entry: AuditEntry(
          position: lastLine, at: entry.at, action: entry.action, actor: entry.actor, account: entry.account,
          session: entry.session, address: entry.address, requestID: entry.requestID, detail: entry.detail),
        digest: nil))
  }

  package mutating func audit(_ query: AuditQuery) throws(StorageError) -> [ChainedEntry] {
    let wanted = lines.filter { query.account == nil || $0.entry.account == query.account }
    return switch query.start {
    case .after(let place): Array(wanted.drop { $0.entry.position <= place }.prefix(query.limit))
    case .before(let place): wanted.prefix { $0.entry.position < place }.suffix(query.limit).reversed()
    }
  }

  package mutating func auditChain() throws(StorageError) -> AuditChainState { chain }

  package mutating func seal(_ digests: [[UInt8]], head: AuditSeal) throws(StorageError) {
    let after = chain.head?.position ?? 0
    guard let first = lines.firstIndex(where: { $0.entry.position > after }),
      lines.count >= first + digests.count,
      lines[first + digests.count - 1].entry.position == head.position
    else { throw .corrupt }
    for (offset, digest) in digests.enumerated() {
      lines[first + offset] = ChainedEntry(entry: lines[first + offset].entry, digest: digest)
    }
    chain = AuditChainState(anchor: chain.anchor, head: head)
  }

  package mutating func truncateAudit(to anchor: AuditSeal) throws(StorageError) {
    lines.removeAll { $0.entry.position <= anchor.position }
    chain = AuditChainState(anchor: anchor, head: chain.head)
  }

  package mutating func write(_ seal: AuditSeal, as end: AuditEnd) throws(StorageError) {
    switch end {
    case .anchor: chain = AuditChainState(anchor: seal, head: chain.head)
    case .head: chain = AuditChainState(anchor: chain.anchor, head: seal)
    }
  }

  package mutating func lease(_ name: String) throws(StorageError) -> Lease? { leases[name] }

  package mutating func write(_ lease: Lease) throws(StorageError) { leases[lease.name] = lease }
}

extension AccountOrder.Field {
  fileprivate func isOrdered(_ a: Account, before b: Account) -> Bool {
    switch self {
    case .id: isText(a.id.text, before: b.id.text)
    case .email: isText(a.profile.email?.text, before: b.profile.email?.text)
    case .name: isText(a.chosenName ?? a.name?.givenName, before: b.chosenName ?? b.name?.givenName)
    case .createdAt: a.createdAt < b.createdAt
    case .lastSignInAt: a.lastSignInAt < b.lastSignInAt
    }
  }
}

/// Whether a text comes first, byte by byte; one that is not there comes before all.
private func isText(_ a: String?, before b: String?) -> Bool {
  guard let b else { return false }
  return a.map { $0.utf8.lexicographicallyPrecedes(b.utf8) } ?? true
}
