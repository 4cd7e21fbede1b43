internal import CSQLite
internal import SQLLedger
package import Storage

// Pointers given to SQLite here: none for later. Bound bytes are copied (SQLITE_TRANSIENT), and what a column
// points at is copied before the next step.

/// One prepared statement: bound, stepped, reset and cleared by each use.
@safe package final class SQLiteStatement: SQLStatement {
  private let raw: OpaquePointer

  init(owning raw: OpaquePointer) { unsafe self.raw = raw }

  deinit { unsafe sqlite3_finalize(raw) }

  package func run(_ bind: (inout SQLiteSlots) -> Void) throws(StorageError) {
    _ = try count(bind)
  }

  package func count(_ bind: (inout SQLiteSlots) -> Void) throws(StorageError) -> Int {
    defer { rewind() }
    try fill(bind)
    while try advance() {}
    return unsafe Int(sqlite3_changes64(sqlite3_db_handle(raw)))
  }

  package func runOnOneRow(_ bind: (inout SQLiteSlots) -> Void) throws(StorageError) {
    guard try count(bind) == 1 else { throw .defect }
  }

  package func visit(
    _ bind: (inout SQLiteSlots) -> Void, _ read: (inout SQLiteRow) throws(StorageError) -> Bool
  ) throws(StorageError) {
    defer { rewind() }
    try fill(bind)
    while try advance() {
      var row = unsafe SQLiteRow(lending: raw)
      guard try read(&row) else { return }
    }
  }

  private func fill(_ bind: (inout SQLiteSlots) -> Void) throws(StorageError) {
    var slots = unsafe SQLiteSlots(lending: raw)
    bind(&slots)
    guard slots.code == SQLITE_OK else { throw failure(slots.code).storageError }
  }

  private func advance() throws(StorageError) -> Bool {
    let code = unsafe sqlite3_step(raw)
    if code == SQLITE_ROW { return true }
    guard code == SQLITE_DONE else { throw failure(code).storageError }
    return false
  }

  /// Back to the start, with nothing bound, so that no secret or large value lingers. The code that `reset`
  /// returns is that of the last step, which has been dealt with.
  private func rewind() {
    unsafe sqlite3_reset(raw)
    unsafe sqlite3_clear_bindings(raw)
  }

  private func failure(_ code: Int32) -> SQLiteError {
    unsafe SQLiteError(code: code, detail: lastMessage(of: sqlite3_db_handle(raw)))
  }
}

// For who wants to know SQLite's own reason when a statement fails.
extension SQLiteStatement {
  /// Runs to the end.
  func runPlainly(_ bind: (inout SQLiteSlots) -> Void = { _ in }) throws(SQLiteError) {
    defer { rewind() }
    var slots = unsafe SQLiteSlots(lending: raw)
    bind(&slots)
    guard slots.code == SQLITE_OK else { throw failure(slots.code) }
    while try advancePlainly() {}
  }

  /// The number in the first column of the first row; zero when there is none.
  func firstNumber() throws(SQLiteError) -> Int64 {
    defer { rewind() }
    return try advancePlainly() ? unsafe sqlite3_column_int64(raw, 0) : 0
  }

  /// The text in the first column of the first row; empty when there is none.
  func firstText() throws(SQLiteError) -> String {
    defer { rewind() }
    guard try advancePlainly(), let text = unsafe sqlite3_column_text(raw, 0) else { return "" }
    return unsafe String(cString: text)
  }

  private func advancePlainly() throws(SQLiteError) -> Bool {
    let code = unsafe sqlite3_step(raw)
    if code == SQLITE_ROW { return true }
    guard code == SQLITE_DONE else { throw failure(code) }
    return false
  }
}

/// The sentence of SQLite about the last call that failed.
func lastMessage(of handle: OpaquePointer?) -> String {
  guard let text = unsafe sqlite3_errmsg(handle) else { return "" }
  return unsafe String(cString: text)
}
