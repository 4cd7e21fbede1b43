package import Domain

// Who goes to another developer team, found by looking at everybody.
extension MemoryLedger {
  package mutating func transferItems(
    _ query: TransferQuery, after subject: Subject?, limit: Int
  ) throws(StorageError) -> [TransferItem] {
    let wanted = applesIdentities.filter { _, identity in
      query.admits(identity.stage)
        && (subject?.text.utf8.lexicographicallyPrecedes(identity.subject.text.utf8) ?? true)
    }
    let sorted = wanted.map(\.1).sorted {
      $0.subject.text.utf8.lexicographicallyPrecedes($1.subject.text.utf8)
    }
    return sorted.prefix(limit).map { identity in
      let transfer = identity.transfer?.team == query.team ? identity.transfer : nil
      return TransferItem(
        subject: identity.subject, client: identity.client, transferSubject: transfer?.subject)
    }
  }

  package mutating func subject(
    transferredAs transferSubject: Subject
  ) throws(StorageError) -> Subject? {
    applesIdentities.first { $0.1.transfer?.subject == transferSubject }?.1.subject
  }

  package mutating func subject(formerly subject: Subject) throws(StorageError) -> Subject? {
    applesIdentities.first { $0.1.formerSubject == subject }?.1.subject
  }

  package mutating func transferCounts() throws(StorageError) -> [TransferCount] {
    let transfers = applesIdentities.compactMap(\.1.transfer)
    let teams = Set(transfers.map(\.team)).sorted { $0.text < $1.text }
    return teams.flatMap { team in
      IdentityTransfer.State.allCases.compactMap { state in
        let count = transfers.count { $0.team == team && $0.state == state }
        return count > 0 ? TransferCount(team: team, state: state, count: count) : nil
      }
    }
  }

  package mutating func transferConflicts(
    to team: TeamID, limit: Int
  ) throws(StorageError) -> [TransferConflict] {
    let conflicts = applesIdentities.filter {
      $0.1.transfer?.team == team && $0.1.transfer?.state == .conflict
    }
    .sorted { $0.1.subject.text.utf8.lexicographicallyPrecedes($1.1.subject.text.utf8) }
    return conflicts.prefix(limit).map {
      TransferConflict(account: $0.0, other: $0.1.transfer?.detail ?? "")
    }
  }

  package mutating func identityCount(at provider: String) throws(StorageError) -> Int {
    accounts.values.count { $0.identity(at: provider) != nil }
  }

  package mutating func adoptAppleSecrets(
    for team: TeamID, limit: Int
  ) throws(StorageError) -> Int {
    let work = appleQueue.values.filter { $0.team == nil }.prefix(limit)
    for item in work {
      appleQueue[item.id] = AppleWork(
        secret: item.secret, kind: item.kind, account: item.account, subject: item.subject,
        client: item.client, redirectURI: item.redirectURI, createdAt: item.createdAt, dueAt: item.dueAt,
        attempts: item.attempts, fault: item.fault, isSent: item.isSent, team: team)
    }
    let grants = appleTokens.values.filter { $0.team == nil }.prefix(limit)
    for grant in grants {
      appleTokens[grant.id] = AppleGrant(
        secret: grant.secret, account: grant.account, subject: grant.subject, client: grant.client,
        obtainedAt: grant.obtainedAt, checkedAt: grant.checkedAt, dueAt: grant.dueAt, team: team)
    }
    return work.count + grants.count
  }

  private var applesIdentities: [(AccountID, LinkedIdentity)] {
    accounts.values.compactMap { account in account.identity(at: appleProviderID).map { (account.id, $0) } }
  }
}
