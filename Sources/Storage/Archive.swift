internal import Domain

/// One value of a row, of the types that every engine keeps.
package enum ArchiveValue: Sendable, Equatable {
  case null
  case number(Int64)
  case text(String)
  case bytes([UInt8])
}

/// A table as it is moved to another engine: every column, in an order in which no row comes twice.
package struct ArchiveTable: Sendable, Equatable {
  /// A column and what it holds when it is not null.
  package struct Column: Sendable, Equatable {
    /// As which it is read and written.
    package enum Kind: Sendable { case number, text, bytes }

    package let name: String
    package let kind: Kind

    /// A column of whole numbers.
    package static func number(_ name: String) -> Column { Column(name: name, kind: .number) }
    /// A column of text.
    package static func text(_ name: String) -> Column { Column(name: name, kind: .text) }
    /// A column of bytes.
    package static func bytes(_ name: String) -> Column { Column(name: name, kind: .bytes) }
  }

  package let name: String
  package let columns: [Column]
  /// How many of the first columns are the key that rows are ordered by.
  package let keyLength: Int

  package init(_ name: String, keyLength: Int = 1, _ columns: [Column]) {
    self.name = name
    self.columns = columns
    self.keyLength = keyLength
  }
}

/// A row of an ``ArchiveTable``, a value for each column.
package typealias ArchiveRow = [ArchiveValue]

/// A ledger whose rows can be moved as they are.
package protocol ArchiveLedger: Ledger {
  /// Rows in the order of their keys, behind one of them.
  mutating func rows(of table: ArchiveTable, after last: ArchiveRow?, limit: Int) throws(StorageError)
    -> [ArchiveRow]
  /// Writes rows; one whose key is there already stays as it is.
  mutating func add(_ rows: [ArchiveRow], to table: ArchiveTable) throws(StorageError)
  /// Has the signing keys that were added be those of a version, and new places come behind those that were added.
  mutating func settleArchive(signingKeyVersion: Int64) throws(StorageError)
}

/// An engine that a whole database can be moved out of and into.
package protocol Archive: Storage {
  /// Rows of a table in the order of their keys, behind one of them.
  func rows(of table: ArchiveTable, after last: ArchiveRow?, limit: Int) async throws(StorageError)
    -> [ArchiveRow]
  /// Writes rows in one transaction; one whose key is there already stays as it is.
  func add(_ rows: [ArchiveRow], to table: ArchiveTable) async throws(StorageError)
  /// Who has begun to move a database in and has not ended it; nil when nobody has.
  func arrival() async throws(StorageError) -> String?
  /// Notes who moves a database in.
  func beginArrival(of archive: String) async throws(StorageError)
  /// Notes that it is all there.
  ///
  /// - Returns: Whether it was not known yet.
  func endArrival(signingKeyVersion: Int64) async throws(StorageError) -> Bool
}

/// Nobody else may work on a database that is half there; unlike other leases this one does not run out.
private let arrivalLease = "arrival"

extension LedgerStorage where Book: ArchiveLedger {
  package func rows(
    of table: ArchiveTable, after last: ArchiveRow?, limit: Int
  ) async throws(StorageError) -> [ArchiveRow] {
    try await read { (book) throws(StorageError) in try book.rows(of: table, after: last, limit: limit) }
  }

  package func add(_ rows: [ArchiveRow], to table: ArchiveTable) async throws(StorageError) {
    try await transact { (book) throws(StorageError) in try book.add(rows, to: table) }
  }

  package func arrival() async throws(StorageError) -> String? {
    try await read { (book) throws(StorageError) in try arrivingArchive(in: &book) }
  }

  package func beginArrival(of archive: String) async throws(StorageError) {
    try await transact { (book) throws(StorageError) in
      try book.write(Lease(name: arrivalLease, holder: archive, until: UnixTime(.max)))
    }
  }

  package func endArrival(signingKeyVersion: Int64) async throws(StorageError) -> Bool {
    try await transact { (book) throws(StorageError) in
      guard try arrivingArchive(in: &book) != nil else { return false }
      try book.settleArchive(signingKeyVersion: signingKeyVersion)
      try book.write(Lease(name: arrivalLease, holder: "", until: UnixTime(0)))
      return true
    }
  }
}

private func arrivingArchive(in book: inout some Ledger) throws(StorageError) -> String? {
  let lease = try book.lease(arrivalLease)
  return lease.flatMap { $0.until == UnixTime(.max) ? $0.holder : nil }
}
