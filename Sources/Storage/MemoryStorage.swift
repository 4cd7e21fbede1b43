package import Domain
internal import Synchronization

/// The reference engine: everything in dictionaries, each intention under one lock. For tests; it forgets.
package final class MemoryStorage: LedgerStorage {
  private let book = Mutex(MemoryLedger())

  package init() {}

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

  package func stop() async {}
}

/// Rows as dictionaries.
package struct MemoryLedger: Ledger {
  private var spent: [CredentialKey: SpentCredential] = [:]
  private var accounts: [AccountID: Account] = [:]
  private var order: [AccountID] = []
  private var holders: [ProviderIdentity: AccountID] = [:]
  private var allSessions: [SessionID: Session] = [:]
  private var keys = SigningKeyBook(version: 0, keys: [])

  package mutating func spentCredential(_ key: CredentialKey) throws(StorageError) -> SpentCredential? {
    spent[key]
  }

  package mutating func insert(_ credential: SpentCredential) throws(StorageError) {
    guard spent.updateValue(credential, forKey: credential.key) == nil else { throw .corrupt }
  }

  package mutating func account(_ id: AccountID) throws(StorageError) -> Account? { accounts[id] }

  package mutating func account(holding identity: ProviderIdentity) throws(StorageError) -> Account? {
    holders[identity].flatMap { accounts[$0] }
  }

  package mutating func insert(_ account: Account) throws(StorageError) {
    guard accounts[account.id] == nil else { throw .corrupt }
    accounts[account.id] = account
    accounts[account.id]?.identities = []
    order.append(account.id)
  }

  package mutating func update(_ account: Account) throws(StorageError) {
    guard let known = accounts[account.id] else { throw .corrupt }
    accounts[account.id] = account
    accounts[account.id]?.identities = known.identities
  }

  package mutating func insert(_ identity: ProviderIdentity, of account: AccountID) throws(StorageError) {
    guard holders[identity] == nil, let known = accounts[account],
      !known.identities.contains(where: { $0.provider == identity.provider })
    else { throw .corrupt }
    holders[identity] = account
    accounts[account]?.identities.append(identity)
  }

  package mutating func accounts(after position: Int64, limit: Int) throws(StorageError) -> AccountPage {
    let start = min(max(Int(position), 0), order.count)
    let page = order[start...].prefix(limit)
    let end = start + page.count
    return AccountPage(
      accounts: page.compactMap { accounts[$0] },
      next: end < order.count ? AccountCursor(position: Int64(end)) : nil)
  }

  package mutating func session(_ id: SessionID) throws(StorageError) -> Session? { allSessions[id] }

  package mutating func insert(_ session: Session) throws(StorageError) {
    guard allSessions.updateValue(session, forKey: session.id) == nil else { throw .corrupt }
  }

  package mutating func update(_ session: Session) throws(StorageError) {
    guard allSessions.updateValue(session, forKey: session.id) != nil else { throw .corrupt }
  }

  package mutating func endSessions(
    of account: AccountID, as end: SessionEnd, at now: UnixTime
  ) throws(StorageError) {
    for (id, session) in allSessions where session.account == account && session.end == nil {
      allSessions[id]?.end = end
      allSessions[id]?.endedAt = now
    }
  }

  package mutating func sessions(of account: AccountID) throws(StorageError) -> [Session] {
    allSessions.values.filter { $0.account == account && $0.end == nil }
      .sorted { ($0.createdAt, $0.id.description) > ($1.createdAt, $1.id.description) }
  }

  package mutating func sessionCounts() throws(StorageError) -> [MasterKeyID: Int] {
    allSessions.values.reduce(into: [:]) { counts, session in
      if session.end == nil { counts[session.masterKey, default: 0] += 1 }
    }
  }

  package mutating func signingKeys() throws(StorageError) -> SigningKeyBook { keys }

  package mutating func writeSigningKeys(_ book: SigningKeyBook) throws(StorageError) { keys = book }

  package mutating func sweep(_ rules: SweepRules) throws(StorageError) -> Int {
    let credentials = spent.values.filter { $0.expiresAt < rules.credentialsBefore }.prefix(rules.limit)
    for credential in credentials { spent[credential.key] = nil }
    let sessions = allSessions.values.filter { ($0.endedAt ?? $0.rotatedAt) < rules.sessionsBefore }
      .prefix(rules.limit)
    for session in sessions { allSessions[session.id] = nil }
    return max(credentials.count, sessions.count)
  }

  package mutating func touch() throws(StorageError) {}
}
