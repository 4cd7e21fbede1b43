package import Domain
package import Storage

// What was revoked.
extension SQLiteLedger {
  package mutating func append(_ revocation: Revocation) throws(StorageError) {
    try statements.insertRevocation.run { slots in
      slots.add(revocation.kind.rawValue)
      slots.add(revocation.account.text)
      slots.add(revocation.session?.bytes)
      slots.add(revocation.at)
      slots.add(revocation.until)
    }
  }

  package mutating func endOfRevocations(of account: AccountID) throws(StorageError) -> UnixTime? {
    try statements.endOfRevocations.first { slots in
      slots.add(account.text)
    } _: { (row: inout Row) throws(StorageError) in
      try row.optionalTime()
    } ?? nil
  }

  package mutating func revocations(after position: Int64, limit: Int) throws(StorageError) -> RevocationPage
  {
    let revocations = try statements.revocationsAfter.all { slots in
      slots.add(position)
      slots.add(Int64(limit))
    } _: { (row: inout Row) throws(StorageError) in
      Revocation(
        position: try row.number(), kind: try required(Revocation.Kind(rawValue: row.text())),
        account: try row.identifier(), session: try row.optionalSessionID(), at: try row.time(),
        until: try row.time())
    }
    let last = try statements.lastRevocation.first { (row: inout Row) throws(StorageError) in
      try row.number()
    }
    return RevocationPage(revocations: revocations, last: last ?? 0)
  }
}

// The audit.
extension SQLiteLedger {
  package mutating func append(_ entry: AuditEntry) throws(StorageError) {
    try statements.insertAuditEntry.run { slots in
      slots.add(entry.at)
      slots.add(entry.action.rawValue)
      slots.add(entry.actor)
      slots.add(entry.account?.text)
      slots.add(entry.session?.bytes)
      slots.add(entry.address)
      slots.add(entry.requestID)
      slots.add(entry.detail)
    }
  }

  package mutating func audit(_ query: AuditQuery) throws(StorageError) -> [ChainedEntry] {
    let read: (inout Row) throws(StorageError) -> ChainedEntry = { (row) throws(StorageError) in
      try row.chainedEntry()
    }
    if let account = query.account {
      return try statements.auditOfAccount.all(
        { slots in
          slots.add(account.text)
          slots.add(query.after)
          slots.add(Int64(query.limit))
        }, read)
    }
    return try statements.auditAfter.all(
      { slots in
        slots.add(query.after)
        slots.add(Int64(query.limit))
      }, read)
  }

  package mutating func auditChain() throws(StorageError) -> AuditChainState {
    AuditChainState(anchor: try auditSeal(.anchor), head: try auditSeal(.head))
  }

  package mutating func seal(_ digests: [[UInt8]], head: AuditSeal) throws(StorageError) {
    let after = try auditSeal(.head)?.position ?? 0
    let lines = try audit(AuditQuery(after: after, account: nil, limit: digests.count))
    guard lines.count == digests.count, lines.last?.entry.position == head.position else { throw .corrupt }
    for (line, digest) in zip(lines, digests) {
      try statements.sealAuditEntry.run { slots in
        slots.add(line.entry.position)
        slots.add(digest)
      }
    }
    try write(head, as: .head)
  }

  package mutating func truncateAudit(to anchor: AuditSeal) throws(StorageError) {
    try statements.deleteAuditUpTo.run { slots in slots.add(anchor.position) }
    try write(anchor, as: .anchor)
  }

  private func auditSeal(_ end: AuditEnd) throws(StorageError) -> AuditSeal? {
    try statements.auditSeal.first { slots in
      slots.add(end.rawValue)
    } _: { (row: inout Row) throws(StorageError) in
      AuditSeal(
        position: try row.number(), digest: try row.bytes(), code: try row.bytes(),
        masterKey: try row.masterKey())
    }
  }

  package mutating func write(_ seal: AuditSeal, as end: AuditEnd) throws(StorageError) {
    try statements.writeAuditSeal.run { slots in
      slots.add(end.rawValue)
      slots.add(seal.position)
      slots.add(seal.digest)
      slots.add(seal.code)
      slots.add(seal.masterKey.bytes)
    }
  }
}

// Leases.
extension SQLiteLedger {
  package mutating func lease(_ name: String) throws(StorageError) -> Lease? {
    try statements.lease.first { slots in
      slots.add(name)
    } _: { (row: inout Row) throws(StorageError) in
      Lease(name: name, holder: try row.text(), until: try row.time())
    }
  }

  package mutating func write(_ lease: Lease) throws(StorageError) {
    try statements.writeLease.run { slots in
      slots.add(lease.name)
      slots.add(lease.holder)
      slots.add(lease.until)
    }
  }
}

extension Row {
  /// A line as it stands, whatever was made of it: what nobody of ours would have written is for the chain's digests to
  /// tell, and must not hide the lines around it.
  fileprivate mutating func chainedEntry() throws(StorageError) -> ChainedEntry {
    let entry = AuditEntry(
      position: try number(), at: try time(), action: AuditAction(rawValue: try shownText() ?? ""),
      actor: try shownText() ?? "", account: try shownText().map { AccountID(unchecked: $0) },
      session: try optionalBytes().flatMap { SessionID($0) }, address: try optionalBytes() ?? [],
      requestID: try shownText(), detail: try shownText())
    return ChainedEntry(entry: entry, digest: try optionalBytes())
  }
}
