internal import CSQLite
internal import Storage

/// Why a database could not be opened or brought up to date.
package enum SQLiteOpenError: Error, Equatable, Sendable {
  /// The file cannot be made, read or written; the detail is for an operator.
  case cannotOpen(detail: String)
  /// The file is no SQLite database, or not one any more.
  case notADatabase
  /// A database, but of another program.
  case foreignDatabase
  /// A newer version of this program has been here; this one would not understand what it wrote.
  case newerSchema(found: Int64, known: Int64)
  /// The database was opened to be read, and its schema has yet to be brought up to date; `found` is zero where
  /// there is none.
  case olderSchema(found: Int64, known: Int64)
  /// A migration was undone; the database is as it was.
  case migrationFailed(version: Int64, detail: String)
  /// Another process held the database for longer than the busy timeout.
  case busy
}

/// A result code of SQLite (sqlite.org/rescode.html), extended, and the sentence that came with it.
///
/// The sentence names tables and columns, never values.
struct SQLiteError: Error, Equatable {
  let code: Int32
  let detail: String

  /// The code without its extension.
  var primaryCode: Int32 { code & 0xFF }

  /// Whether another connection held a lock for too long.
  var isBusy: Bool { primaryCode == SQLITE_BUSY }

  /// What it means to who asked for a transaction.
  ///
  /// The decisions read before they write, and in the same write transaction: a constraint that breaks, or a call that
  /// SQLite refuses, is a fault of this program. A statement that the schema does not take means a schema that is not
  /// ours, since all of them were prepared when the database was opened.
  var storageError: StorageError {
    switch primaryCode {
    case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_MISUSE, SQLITE_RANGE: .defect
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR: .corrupt
    default:
      .unavailable
    }
  }

  /// What it means to who opens a database.
  var openError: SQLiteOpenError {
    switch primaryCode {
    case SQLITE_BUSY: .busy
    case SQLITE_NOTADB, SQLITE_CORRUPT: .notADatabase
    default: .cannotOpen(detail: "\(detail) (SQLite \(code))")
    }
  }
}
