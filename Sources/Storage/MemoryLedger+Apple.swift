package import Domain

// What Apple gave out and what is to be asked of it, as dictionaries.
extension MemoryLedger {
  package mutating func insert(_ work: AppleWork) throws(StorageError) {
    guard appleQueue.updateValue(work, forKey: work.id) == nil else { throw .defect }
  }

  package mutating func update(_ work: AppleWork) throws(StorageError) {
    guard appleQueue.updateValue(work, forKey: work.id) != nil else { throw .defect }
  }

  package mutating func deleteAppleWork(_ id: AppleSecretID) throws(StorageError) {
    guard appleQueue.removeValue(forKey: id) != nil else { throw .defect }
  }

  package mutating func appleWork(_ id: AppleSecretID) throws(StorageError) -> AppleWork? { appleQueue[id] }

  package mutating func appleWork(dueBy now: UnixTime, limit: Int) throws(StorageError) -> [AppleWork] {
    let due = sortedQueue.filter { $0.dueAt <= now }.enumerated().sorted { a, b in
      (a.element.dueAt, a.offset) < (b.element.dueAt, b.offset)
    }
    return Array(due.map(\.element).prefix(limit))
  }

  package mutating func appleWork(of account: AccountID) throws(StorageError) -> [AppleWork] {
    sortedQueue.filter { $0.account == account }
  }

  package mutating func appleWork(after id: AppleSecretID?, limit: Int) throws(StorageError) -> [AppleWork] {
    Array(sortedQueue.filter { id?.bytes.lexicographicallyPrecedes($0.id.bytes) ?? true }.prefix(limit))
  }

  package mutating func appleWorkCounts() throws(StorageError) -> [AppleWorkCount] {
    AppleWork.Kind.allCases.sorted { $0.rawValue < $1.rawValue }.compactMap { kind in
      let all = appleQueue.values.filter { $0.kind == kind }
      return all.map(\.createdAt).min().map { AppleWorkCount(kind: kind, count: all.count, oldest: $0) }
    }
  }

  package mutating func hastenAppleWork(to now: UnixTime) throws(StorageError) -> Int {
    let waiting = appleQueue.values.filter { $0.fault != AppleWork.sending }
    for work in waiting { appleQueue[work.id]?.dueAt = min(work.dueAt, now) }
    return waiting.count
  }

  package mutating func insert(_ grant: AppleGrant) throws(StorageError) {
    let isTaken = appleTokens.values.contains { $0.subject == grant.subject && $0.client == grant.client }
    guard !isTaken, appleTokens.updateValue(grant, forKey: grant.id) == nil else { throw .defect }
  }

  package mutating func update(_ grant: AppleGrant) throws(StorageError) {
    guard appleTokens.updateValue(grant, forKey: grant.id) != nil else { throw .defect }
  }

  package mutating func deleteAppleGrant(_ id: AppleSecretID) throws(StorageError) {
    guard appleTokens.removeValue(forKey: id) != nil else { throw .defect }
  }

  package mutating func appleGrant(_ id: AppleSecretID) throws(StorageError) -> AppleGrant? {
    appleTokens[id]
  }

  package mutating func appleGrants(of subject: Subject) throws(StorageError) -> [AppleGrant] {
    appleTokens.values.filter { $0.subject == subject }.sorted { $0.client.text < $1.client.text }
  }

  package mutating func appleGrants(dueBy now: UnixTime, limit: Int) throws(StorageError) -> [AppleGrant] {
    let due = appleTokens.values.filter { $0.dueAt <= now }.sorted { $0.dueAt < $1.dueAt }
    return Array(due.prefix(limit))
  }

  package mutating func firstAppleDates() throws(StorageError) -> (work: UnixTime?, grant: UnixTime?) {
    (appleQueue.values.map(\.dueAt).min(), appleTokens.values.map(\.dueAt).min())
  }

  package mutating func appleSecretCounts() throws(StorageError) -> [MasterKeyID: Int] {
    appleSecrets.reduce(into: [:]) { $0[$1.masterKey, default: 0] += 1 }
  }

  package mutating func appleSecrets(
    notSealedBy key: MasterKeyID, limit: Int
  ) throws(StorageError) -> [AppleSecret] {
    Array(appleSecrets.filter { $0.masterKey != key }.prefix(limit))
  }

  package mutating func reseal(_ secret: AppleSecret) throws(StorageError) {
    if let work = appleQueue[secret.id] {
      appleQueue[secret.id] = AppleWork(
        secret: secret, kind: work.kind, account: work.account, subject: work.subject, client: work.client,
        redirectURI: work.redirectURI, createdAt: work.createdAt, dueAt: work.dueAt, attempts: work.attempts,
        fault: work.fault, isSent: work.isSent, team: work.team)
    }
    if let grant = appleTokens[secret.id] {
      appleTokens[secret.id] = AppleGrant(
        secret: secret, account: grant.account, subject: grant.subject, client: grant.client,
        obtainedAt: grant.obtainedAt, checkedAt: grant.checkedAt, dueAt: grant.dueAt,
        team: grant.team)
    }
  }

  private var sortedQueue: [AppleWork] {
    appleQueue.values.sorted { $0.id.bytes.lexicographicallyPrecedes($1.id.bytes) }
  }

  private var appleSecrets: [AppleSecret] {
    appleQueue.values.map(\.secret) + appleTokens.values.map(\.secret)
  }
}
