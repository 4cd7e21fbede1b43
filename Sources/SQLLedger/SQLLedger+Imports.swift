package import Domain
package import Storage

// Which accounts an import brought.
extension SQLLedger {
  package mutating func markImported(_ account: AccountID, at now: UnixTime) throws(StorageError) {
    try statements.imports.mark.runOnOneRow { slots in
      slots.add(account.text)
      slots.add(now)
    }
  }

  package mutating func importDate(of account: AccountID) throws(StorageError) -> UnixTime? {
    try statements.imports.date.first { slots in
      slots.add(account.text)
    } _: { (row: inout Row) throws(StorageError) in
      try row.time()
    }
  }
}
