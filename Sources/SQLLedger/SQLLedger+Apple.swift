package import Domain
package import Storage

// Calls to Apple that wait.
extension SQLLedger {
  package mutating func insert(_ work: AppleWork) throws(StorageError) {
    try statements.apple.insertWork.run { slots in
      slots.add(work.id.bytes)
      slots.add(work.kind.rawValue)
      slots.add(work.secret.kind.rawValue)
      slots.add(work.secret.sealed)
      slots.add(work.secret.masterKey.bytes)
      slots.add(work.account.text)
      slots.add(work.subject?.text)
      slots.add(work.client.text)
      slots.add(work.redirectURI)
      slots.add(work.createdAt)
      slots.add(work.dueAt)
      slots.add(Int64(work.attempts))
      slots.add(work.fault)
      slots.add(work.isSent)
      slots.add(work.team?.text)
      slots.add(work.isBrought)
    }
  }

  package mutating func update(_ work: AppleWork) throws(StorageError) {
    try statements.apple.updateWork.runOnOneRow { slots in
      slots.add(work.id.bytes)
      slots.add(work.kind.rawValue)
      slots.add(work.subject?.text)
      slots.add(work.dueAt)
      slots.add(Int64(work.attempts))
      slots.add(work.fault)
      slots.add(work.isSent)
    }
  }

  package mutating func deleteAppleWork(_ id: AppleSecretID) throws(StorageError) {
    try statements.apple.deleteWork.runOnOneRow { $0.add(id.bytes) }
  }

  package mutating func appleWork(_ id: AppleSecretID) throws(StorageError) -> AppleWork? {
    try statements.apple.work.first { slots in
      slots.add(id.bytes)
    } _: { (row: inout Row) throws(StorageError) in
      try row.appleWork()
    }
  }

  package mutating func appleWork(dueBy now: UnixTime, limit: Int) throws(StorageError) -> [AppleWork] {
    try statements.apple.workDueBy.appleWork { slots in
      slots.add(now)
      slots.add(Int64(limit))
    }
  }

  package mutating func appleWork(of account: AccountID) throws(StorageError) -> [AppleWork] {
    try statements.apple.workOfAccount.appleWork { slots in slots.add(account.text) }
  }

  package mutating func appleWork(after id: AppleSecretID?, limit: Int) throws(StorageError) -> [AppleWork] {
    try statements.apple.workAfter.appleWork { slots in
      slots.add(id?.bytes ?? [])
      slots.add(Int64(limit))
    }
  }

  package mutating func appleWorkCounts() throws(StorageError) -> [AppleWorkCount] {
    try statements.apple.workCounts.all { (row: inout Row) throws(StorageError) in
      AppleWorkCount(
        kind: try required(AppleWork.Kind(rawValue: row.text())),
        count: try required(Int(exactly: row.number())), oldest: try row.time())
    }
  }

  package mutating func hastenAppleWork(to now: UnixTime) throws(StorageError) -> Int {
    try statements.apple.hastenWork.count { slots in
      slots.add(now)
      slots.add(AppleWork.sending)
    }
  }
}

// Refresh tokens of Apple's.
extension SQLLedger {
  package mutating func insert(_ grant: AppleGrant) throws(StorageError) {
    try statements.apple.insertGrant.run { slots in
      slots.add(grant.id.bytes)
      slots.add(grant.subject.text)
      slots.add(grant.client.text)
      slots.add(grant.account.text)
      slots.add(grant.secret.sealed)
      slots.add(grant.secret.masterKey.bytes)
      slots.add(grant.obtainedAt)
      slots.add(grant.checkedAt)
      slots.add(grant.dueAt)
      slots.add(grant.team?.text)
    }
  }

  package mutating func update(_ grant: AppleGrant) throws(StorageError) {
    try statements.apple.updateGrant.runOnOneRow { slots in
      slots.add(grant.id.bytes)
      slots.add(grant.checkedAt)
      slots.add(grant.dueAt)
    }
  }

  package mutating func deleteAppleGrant(_ id: AppleSecretID) throws(StorageError) {
    try statements.apple.deleteGrant.runOnOneRow { $0.add(id.bytes) }
  }

  package mutating func appleGrant(_ id: AppleSecretID) throws(StorageError) -> AppleGrant? {
    try statements.apple.grant.appleGrants { slots in slots.add(id.bytes) }.first
  }

  package mutating func appleGrants(of subject: Subject) throws(StorageError) -> [AppleGrant] {
    try statements.apple.grantsOfSubject.appleGrants { slots in slots.add(subject.text) }
  }

  package mutating func appleGrants(dueBy now: UnixTime, limit: Int) throws(StorageError) -> [AppleGrant] {
    try statements.apple.grantsDueBy.appleGrants { slots in
      slots.add(now)
      slots.add(Int64(limit))
    }
  }

  package mutating func firstAppleDates() throws(StorageError) -> (work: UnixTime?, grant: UnixTime?) {
    let dates = try statements.apple.firstDates.first { (row: inout Row) throws(StorageError) in
      (work: try row.optionalTime(), grant: try row.optionalTime())
    }
    return try required(dates)
  }
}

// Both, as what master keys seal.
extension SQLLedger {
  package mutating func appleSecretCounts() throws(StorageError) -> [MasterKeyID: Int] {
    var counts: [MasterKeyID: Int] = [:]
    try statements.apple.secretCounts.each { (row: inout Row) throws(StorageError) in
      counts[try row.masterKey()] = Int(try row.number())
    }
    return counts
  }

  package mutating func appleSecrets(
    notSealedBy key: MasterKeyID, limit: Int
  ) throws(StorageError) -> [AppleSecret] {
    try statements.apple.secretsNotSealedBy.all { slots in
      slots.add(key.bytes)
      slots.add(Int64(limit))
    } _: { (row: inout Row) throws(StorageError) in
      let id = try row.appleSecretID()
      let kind = try required(AppleSecretKind(rawValue: row.text()))
      return AppleSecret(id: id, kind: kind, sealed: try row.bytes(), masterKey: try row.masterKey())
    }
  }

  package mutating func reseal(_ secret: AppleSecret) throws(StorageError) {
    // It is in one of the two.
    let bind: (inout Slots) -> Void = { slots in
      slots.add(secret.id.bytes)
      slots.add(secret.sealed)
      slots.add(secret.masterKey.bytes)
    }
    try statements.apple.resealWork.run(bind)
    try statements.apple.resealGrant.run(bind)
  }
}

extension SQLStatement {
  fileprivate func appleWork(
    _ bind: (inout Slots) -> Void
  ) throws(StorageError) -> [AppleWork] {
    try all(bind) { (row: inout Row) throws(StorageError) in try row.appleWork() }
  }

  fileprivate func appleGrants(
    _ bind: (inout Slots) -> Void
  ) throws(StorageError) -> [AppleGrant] {
    try all(bind) { (row: inout Row) throws(StorageError) in try row.appleGrant() }
  }
}

extension SQLRow {
  fileprivate mutating func appleSecretID() throws(StorageError) -> AppleSecretID {
    try required(AppleSecretID(bytes()))
  }

  fileprivate mutating func appleWork() throws(StorageError) -> AppleWork {
    let id = try appleSecretID()
    let kind = try required(AppleWork.Kind(rawValue: text()))
    let secret = try required(AppleSecretKind(rawValue: text()))
    return AppleWork(
      secret: AppleSecret(id: id, kind: secret, sealed: try bytes(), masterKey: try masterKey()), kind: kind,
      account: try identifier(), subject: try optionalIdentifier(), client: try identifier(),
      redirectURI: try optionalText(), createdAt: try time(), dueAt: try time(),
      attempts: try required(Int(exactly: number())), fault: try optionalText(), isSent: try flag(),
      team: try optionalIdentifier(), isBrought: try flag())
  }

  fileprivate mutating func appleGrant() throws(StorageError) -> AppleGrant {
    let id = try appleSecretID()
    let subject: Subject = try identifier()
    let client: ClientID = try identifier()
    let account: AccountID = try identifier()
    return AppleGrant(
      secret: AppleSecret(id: id, kind: .refreshToken, sealed: try bytes(), masterKey: try masterKey()),
      account: account, subject: subject, client: client, obtainedAt: try time(),
      checkedAt: try optionalTime(),
      dueAt: try time(), team: try optionalIdentifier())
  }
}
