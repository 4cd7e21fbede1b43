internal import CSQLite
internal import Storage

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

  /// What it means to who asks whether the database is there; nil where that is not the question.
  var trouble: StorageTrouble? {
    switch primaryCode {
    case SQLITE_OK, SQLITE_ROW, SQLITE_DONE, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_MISUSE, SQLITE_RANGE:
      nil
    case SQLITE_BUSY, SQLITE_LOCKED: .held
    case SQLITE_FULL: .full
    case SQLITE_READONLY: .readOnly
    case SQLITE_CANTOPEN, SQLITE_IOERR: .unreachable
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR: .damaged
    default: .refused
    }
  }

  /// What it means to who opens a database.
  var openError: StorageOpenError {
    switch primaryCode {
    case SQLITE_BUSY: .busy
    case SQLITE_NOTADB: .notADatabase
    case SQLITE_CORRUPT: .damaged
    default: .cannotOpen(detail: "\(detail) (SQLite \(code))")
    }
  }
}
