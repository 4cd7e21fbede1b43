import CSQLite
import Testing

/// Another program with a hand on the file.
final class RawDatabase {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    sqlite3_busy_timeout(handle, 5000)
  }

  deinit { sqlite3_close_v2(handle) }

  func run(_ script: String) throws {
    try #require(
      sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
  }

  /// The first column of the first row.
  func text(_ query: String) throws -> String? {
    var statement: OpaquePointer?
    try #require(sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
    return sqlite3_column_text(statement, 0).map { String(cString: $0) }
  }
}
