package import Domain
package import Storage

// Who goes to another developer team.
extension SQLLedger {
  package mutating func transferItems(
    _ query: TransferQuery, after subject: Subject?, limit: Int
  ) throws(StorageError) -> [TransferItem] {
    let bind: (inout Slots) -> Void = { slots in
      slots.add(appleProviderID)
      slots.add(subject?.text ?? "")
      slots.add(query.team.text)
      slots.add(query.retriesRefused)
      slots.add(Int64(limit))
      guard query.half == .toExport else { return }
      slots.add(query.own?.text)
      slots.add(query.replacesOthers)
    }
    let read: (inout Row) throws(StorageError) -> TransferItem = { (row) throws(StorageError) in
      TransferItem(
        subject: try row.identifier(), client: try row.optionalIdentifier(),
        transferSubject: try row.optionalIdentifier())
    }
    return switch query.half {
    case .toExport: try statements.transfers.toExport.all(bind, read)
    case .toImport: try statements.transfers.toImport.all(bind, read)
    }
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
    try statements.transfers.counts.all { slots in
      slots.add(appleProviderID)
    } _: { (row: inout Row) throws(StorageError) in
      TransferCount(
        team: try row.identifier(), state: try required(IdentityTransfer.State(rawValue: row.text())),
        count: try required(Int(exactly: row.number())))
    }
  }

  package mutating func transferConflicts(
    to team: TeamID, limit: Int
  ) throws(StorageError) -> [TransferConflict] {
    try statements.transfers.conflicts.all { slots in
      slots.add(appleProviderID)
      slots.add(team.text)
      slots.add(Int64(limit))
    } _: { (row: inout Row) throws(StorageError) in
      TransferConflict(account: try row.identifier(), other: try row.optionalText() ?? "")
    }
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
    return try statements.transfers.adoptWork.count(bind) + statements.transfers.adoptGrants.count(bind)
  }
}

extension SQLStatement {
  fileprivate func subject(_ wanted: Subject) throws(StorageError) -> Subject? {
    try first { slots in
      slots.add(appleProviderID)
      slots.add(wanted.text)
    } _: { (row: inout Row) throws(StorageError) in
      try row.identifier()
    }
  }
}
