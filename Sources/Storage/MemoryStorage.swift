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

  package mutating func accounts(holding email: EmailAddress) throws(StorageError) -> [Account] {
    let held = order.lazy.compactMap { [accounts] id in accounts[id] }.filter { $0.profile.email == email }
    return Array(held.prefix(Limits.accountsOfOneEmail))
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

  package mutating func delete(_ account: AccountID) throws(StorageError) {
    guard let gone = accounts.removeValue(forKey: account) else { throw .corrupt }
    order.removeAll { $0 == account }
    for identity in gone.identities { holders[identity.identity] = nil }
  }

  package mutating func insert(_ identity: LinkedIdentity, of account: AccountID) throws(StorageError) {
    guard holders[identity.identity] == nil, let known = accounts[account],
      known.identity(at: identity.provider) == nil
    else { throw .corrupt }
    holders[identity.identity] = account
    accounts[account]?.identities.append(identity)
    accounts[account]?.identities.sort { isText($0.provider, before: $1.provider) }
  }

  package mutating func update(_ identity: LinkedIdentity) throws(StorageError) {
    guard let account = holders[identity.identity],
      let place = accounts[account]?.identities.firstIndex(where: { $0.identity == identity.identity })
    else { throw .corrupt }
    accounts[account]?.identities[place] = identity
  }

  package mutating func delete(_ identity: ProviderIdentity) throws(StorageError) {
    guard let account = holders.removeValue(forKey: identity) else { throw .corrupt }
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
    guard allSessions.updateValue(session, forKey: session.id) == nil else { throw .corrupt }
  }

  package mutating func update(_ session: Session) throws(StorageError) {
    guard allSessions.updateValue(session, forKey: session.id) != nil else { throw .corrupt }
  }

  package mutating func endSessions(
    of account: AccountID, openedUpTo limit: UnixTime, as end: SessionEnd, at now: UnixTime
  ) throws(StorageError) {
    for (id, session) in allSessions
    where session.account == account && session.end == nil && session.createdAt <= limit {
      allSessions[id]?.finish(as: end, at: now)
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
    for account in Set(sessions.map(\.account)) where accounts[account]?.isAnonymous ?? false {
      if try self.sessions(of: account).isEmpty { try delete(account) }
    }
    return max(credentials.count, sessions.count)
  }

  package mutating func touch() throws(StorageError) {}
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
