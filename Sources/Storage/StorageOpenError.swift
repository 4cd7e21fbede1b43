/// Why a database could not be opened or brought up to date.
package enum StorageOpenError: Error, Equatable, Sendable {
  /// It cannot be made, reached, read or written; the detail is for an operator.
  case cannotOpen(detail: String)
  /// The file is no database of its engine.
  case notADatabase
  /// A database whose pages do not belong together any more.
  case damaged
  /// A database whose encoding has no place for every letter; by the server's name for it.
  case encoding(String)
  /// A database, but of another program.
  case foreignDatabase
  /// A newer version of this program has been here; this one would not understand what it wrote.
  case newerSchema(found: Int64, known: Int64)
  /// Nothing was to be migrated, and the schema has yet to be brought up to date; `found` is zero where
  /// there is none.
  case olderSchema(found: Int64, known: Int64)
  /// A migration was undone; the database is as it was.
  case migrationFailed(version: Int64, detail: String)
  /// Another process held the database for longer than the busy timeout.
  case busy
}
