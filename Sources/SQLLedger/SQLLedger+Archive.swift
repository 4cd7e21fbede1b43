package import Storage

extension SQLLedger: ArchiveLedger {
  package mutating func rows(
    of table: ArchiveTable, after last: ArchiveRow?, limit: Int
  ) throws(StorageError) -> [ArchiveRow] {
    let key = last.map { Array($0.prefix(table.keyLength)) } ?? []
    return try statements.prepareText(table.selection(isFirst: last == nil)).get().all { slots in
      for value in key { slots.add(value) }
      slots.add(Int64(limit))
    } _: { (row: inout Row) throws(StorageError) in
      var values: ArchiveRow = []
      values.reserveCapacity(table.columns.count)
      for column in table.columns { values.append(try row.value(of: column.kind)) }
      return values
    }
  }

  package mutating func add(_ rows: [ArchiveRow], to table: ArchiveTable) throws(StorageError) {
    let statement = try statements.prepareText(table.insertion).get()
    for row in rows {
      guard row.count == table.columns.count else { throw .defect }
      try statement.run { slots in
        for value in row { slots.add(value) }
      }
    }
  }

  package mutating func settleArchive(signingKeyVersion: Int64) throws(StorageError) {
    try statements.updateSigningKeyVersion.run { slots in slots.add(signingKeyVersion) }
    if let text = statements.settlePlaces { try statements.prepareText(text).get().run() }
  }
}

extension SQLSlots {
  fileprivate mutating func add(_ value: ArchiveValue) {
    switch value {
    case .null: addNull()
    case .number(let number): add(number)
    case .text(let text): add(text)
    case .bytes(let bytes): add(bytes)
    }
  }
}

extension SQLRow {
  fileprivate mutating func value(of kind: ArchiveTable.Column.Kind) throws(StorageError) -> ArchiveValue {
    switch kind {
    case .number: try optionalNumber().map { .number($0) } ?? .null
    case .text: try optionalText().map { .text($0) } ?? .null
    case .bytes: try optionalBytes().map { .bytes($0) } ?? .null
    }
  }
}
