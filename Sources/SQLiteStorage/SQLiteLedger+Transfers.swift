package import Domain
package import Storage

// Who goes to another developer team.
extension SQLiteLedger {
  package mutating func transferItems(
    _ query: TransferQuery, after subject: Subject?, limit: Int
  ) throws(StorageError) -> [TransferItem] {
    let bind: (inout Slots) -> Void = { slots in
      slots.add(appleProviderID)
      slots.add(subject?.text ?? "")
      slots.add(query.team.text)
      slots.add(query.retriesRefused)
      slots.add(Int64(limit))
    }
    var items: [TransferItem] = []
    let take: (inout Row) throws(StorageError) -> Void = { (row) throws(StorageError) in
      items.append(
        TransferItem(
          subject: try row.identifier(), client: try row.optionalIdentifier(),
          transferSubject: try row.optionalIdentifier()))
    }
    switch query.half {
    case .toExport: try statements.transfers.toExport.each(bind, take)
    case .toImport: try statements.transfers.toImport.each(bind, take)
    }
    return items
  }

  package mutating func subject(
    transferredAs transferSubject: Subject
  ) throws(StorageError) -> Subject? {
    try statements.transfers.subjectTransferredAs.subject(transferSubject)
  }

  package mutating func subject(formerly subject: Subject) throws(StorageError) -> Subject? {
    try statements.transfers.subjectFormerly.subject(subject)
  }

  package mutating func transferCounts() throws(StorageError) -> [TransferCount] {
    var counts: [TransferCount] = []
    try statements.transfers.counts.each { slots in
      slots.add(appleProviderID)
    } _: { (row: inout Row) throws(StorageError) in
      counts.append(
        TransferCount(
          team: try row.identifier(), state: try required(IdentityTransfer.State(rawValue: row.text())),
          count: try required(Int(exactly: row.number()))))
    }
    return counts
  }

  package mutating func transferConflicts(
    to team: TeamID, limit: Int
  ) throws(StorageError) -> [TransferConflict] {
    var conflicts: [TransferConflict] = []
    try statements.transfers.conflicts.each { slots in
      slots.add(appleProviderID)
      slots.add(team.text)
      slots.add(Int64(limit))
    } _: { (row: inout Row) throws(StorageError) in
      conflicts.append(TransferConflict(account: try row.identifier(), other: try row.optionalText() ?? ""))
    }
    return conflicts
  }

  package mutating func identityCount(at provider: String) throws(StorageError) -> Int {
    let count = try statements.transfers.identityCount.first { slots in
      slots.add(provider)
    } _: { (row: inout Row) throws(StorageError) in
      try row.number()
    }
    return try required(count.flatMap { Int(exactly: $0) })
  }

  package mutating func adoptAppleSecrets(
    for team: TeamID, limit: Int
  ) throws(StorageError) -> Int {
    let bind: (inout Slots) -> Void = { slots in
      slots.add(team.text)
      slots.add(Int64(limit))
    }
    return try statements.transfers.adoptWork.run(bind) + statements.transfers.adoptGrants.run(bind)
  }
}

extension Statement {
  fileprivate borrowing func subject(_ wanted: Subject) throws(StorageError) -> Subject? {
    try first { slots in
      slots.add(appleProviderID)
      slots.add(wanted.text)
    } _: { (row: inout Row) throws(StorageError) in
      try row.identifier()
    }
  }
}
