internal import CSQLite
internal import Domain
internal import SQLLedger
package import Storage

/// A row, read column by column in their order; lent until the next step.
///
/// What this version would not have written is ``StorageError/corrupt``, never a trap.
@safe package struct SQLiteRow: SQLRow {
  private let raw: OpaquePointer
  private var next: Int32 = 0

  init(lending raw: OpaquePointer) { unsafe self.raw = raw }

  package mutating func optionalNumber() throws(StorageError) -> Int64? {
    guard let column = try column(of: SQLITE_INTEGER) else { return nil }
    return unsafe sqlite3_column_int64(raw, column)
  }

  package mutating func optionalText() throws(StorageError) -> String? {
    guard let column = try column(of: SQLITE_TEXT) else { return nil }
    guard let start = unsafe sqlite3_column_text(raw, column) else { throw .unavailable }
    let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column)))
    guard let text = unsafe String(validating: bytes, as: UTF8.self) else { throw .corrupt }
    return text
  }

  package mutating func shownText() throws(StorageError) -> String? {
    guard let column = try column(of: SQLITE_TEXT) else { return nil }
    guard let start = unsafe sqlite3_column_text(raw, column) else { throw .unavailable }
    let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column)))
    return unsafe String(validating: bytes, as: UTF8.self) ?? hexText(bytes)
  }

  package mutating func optionalBytes() throws(StorageError) -> [UInt8]? {
    guard let column = try column(of: SQLITE_BLOB) else { return nil }
    // Null is a blob without bytes (sqlite.org/c3ref/column_blob.html).
    guard let start = unsafe sqlite3_column_blob(raw, column) else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
  }

  /// The place of the next column; nil for a NULL, an error for a value of another type.
  private mutating func column(of type: Int32) throws(StorageError) -> Int32? {
    defer { next += 1 }
    switch unsafe sqlite3_column_type(raw, next) {
    case type: return next
    case SQLITE_NULL: return nil
    default: throw .corrupt
    }
  }
}
