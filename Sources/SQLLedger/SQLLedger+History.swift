package import Domain
package import Storage

// What was revoked.
extension SQLLedger {
  package mutating func append(_ revocation: Revocation) throws(StorageError) {
    if statements.takeRevocationPlaces == nil {
      try insert(revocation, placesBehind: nil)
    } else {
      unwritten.revocations.append(revocation)
    }
  }

  private func insert(_ revocation: Revocation, placesBehind: Int64?) throws(StorageError) {
    try statements.insertRevocation.run { slots in
      slots.add(revocation.kind.rawValue)
      slots.add(revocation.account.text)
      slots.add(revocation.session?.bytes)
      slots.add(revocation.at)
      slots.add(revocation.until)
      if let placesBehind { slots.add(placesBehind) }
    }
  }

  /// Writes the lines and revocations that were put off: the lock on their counters is held from here to the commit.
  package mutating func writeHistory() throws(StorageError) {
    let (revocations, lines) = (unwritten.revocations, unwritten.lines)
    unwritten = UnwrittenHistory()
    if !revocations.isEmpty {
      try statements.takeRevocationPlaces?.run { slots in slots.add(Int64(revocations.count)) }
    }
    for (index, revocation) in revocations.enumerated() {
      try insert(revocation, placesBehind: Int64(revocations.count - 1 - index))
    }
    if !lines.isEmpty { try statements.takeAuditPlaces?.run { slots in slots.add(Int64(lines.count)) } }
    for (index, line) in lines.enumerated() {
      try insert(line, placesBehind: Int64(lines.count - 1 - index))
    }
  }

  package mutating func endOfRevocations(of account: AccountID) throws(StorageError) -> UnixTime? {
    try writeHistory()
    return try statements.endOfRevocations.first { slots in
      slots.add(account.text)
    } _: { (row: inout Row) throws(StorageError) in
      try row.optionalTime()
    } ?? nil
  }

  package mutating func revocations(after position: Int64, limit: Int) throws(StorageError) -> RevocationPage
  {
    try writeHistory()
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
extension SQLLedger {
  package mutating func append(_ entry: AuditEntry) throws(StorageError) {
    if statements.takeAuditPlaces == nil {
      try insert(entry, placesBehind: nil)
    } else {
      unwritten.lines.append(entry)
    }
  }

  private func insert(_ entry: AuditEntry, placesBehind: Int64?) throws(StorageError) {
    try statements.audit.insert.run { slots in
      slots.add(entry.at)
      slots.add(entry.action.rawValue)
      slots.add(entry.actor)
      slots.add(entry.account?.text)
      slots.add(entry.session?.bytes)
      slots.add(entry.address)
      slots.add(entry.requestID)
      slots.add(entry.detail)
      if let placesBehind { slots.add(placesBehind) }
    }
  }

  package mutating func audit(_ query: AuditQuery) throws(StorageError) -> [ChainedEntry] {
    try writeHistory()
    let read: (inout Row) throws(StorageError) -> ChainedEntry = { (row) throws(StorageError) in
      try row.chainedEntry()
    }
    let (place, ofAccount, ofAll) =
      switch query.start {
      case .after(let place): (place, statements.audit.ofAccountAfter, statements.audit.after)
      case .before(let place): (place, statements.audit.ofAccountBefore, statements.audit.before)
      }
    return try (query.account == nil ? ofAll : ofAccount).all(
      { slots in
        if let account = query.account { slots.add(account.text) }
        slots.add(place)
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
      try statements.audit.sealEntry.run { slots in
        slots.add(line.entry.position)
        slots.add(digest)
      }
    }
    try write(head, as: .head)
  }

  package mutating func truncateAudit(to anchor: AuditSeal) throws(StorageError) {
    try statements.audit.deleteUpTo.run { slots in slots.add(anchor.position) }
    try write(anchor, as: .anchor)
  }

  private func auditSeal(_ end: AuditEnd) throws(StorageError) -> AuditSeal? {
    try statements.audit.seal.first { slots in
      slots.add(end.rawValue)
    } _: { (row: inout Row) throws(StorageError) in
      AuditSeal(
        position: try row.number(), digest: try row.bytes(), code: try row.bytes(),
        masterKey: try row.masterKey())
    }
  }

  package mutating func write(_ seal: AuditSeal, as end: AuditEnd) throws(StorageError) {
    try statements.audit.writeSeal.run { slots in
      slots.add(end.rawValue)
      slots.add(seal.position)
      slots.add(seal.digest)
      slots.add(seal.code)
      slots.add(seal.masterKey.bytes)
    }
  }
}

/// What is written last in a transaction, where places come from counters.
struct UnwrittenHistory {
  var revocations: [Revocation] = []
  var lines: [AuditEntry] = []
}

// Leases.
extension SQLLedger {
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

extension SQLRow {
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
