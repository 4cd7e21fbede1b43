internal import CSQLite
internal import Glibc
internal import Storage

/// Has the library count no allocations, of which a sign-in makes a hundred and more: each would take a lock that all
/// threads share (sqlite.org/c3ref/c_config_covering_index_scan.html, SQLITE_CONFIG_MEMSTATUS). Where another user of
/// the library in this process was first it goes on counting, which is only slower.
private let areStatisticsOff: Bool = csqlite_keep_no_statistics() == SQLITE_OK

/// One open database; closing is dropping it.
///
/// Opened without SQLite's own mutex (sqlite.org/threadsafe.html): one thread at a time has it.
@safe struct Connection: ~Copyable {
  private let raw: OpaquePointer

  init(path: String, busyMilliseconds: Int32, isReadOnly: Bool = false) throws(StorageOpenError) {
    _ = areStatisticsOff
    let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(plainName(of: path), &opened, flags, nil)
    guard code == SQLITE_OK, let handle = unsafe opened else {
      let error = unsafe SQLiteError(code: code, detail: lastMessage(of: opened))
      // Opening can fail and still leave a handle (sqlite.org/c3ref/open.html).
      unsafe sqlite3_close_v2(opened)
      throw error.openError
    }
    unsafe sqlite3_busy_timeout(handle, busyMilliseconds)
    // sqlite.org/security.html, "Untrusted SQLite database files": a file that was tampered with shall break
    // loudly, not run functions from its schema. Quoted text is never a column here (sqlite.org/quirks.html#dblquote).
    unsafe csqlite_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    unsafe csqlite_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    unsafe csqlite_set_flag(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    unsafe csqlite_set_flag(handle, SQLITE_DBCONFIG_DQS_DDL, 0)
    unsafe csqlite_set_flag(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1)
    unsafe raw = handle
  }

  deinit {
    // With statements still open this becomes the close that follows the last of them; the last close of a
    // file checkpoints and removes its log (sqlite.org/wal.html#avoiding_excessively_large_wal_files).
    unsafe sqlite3_close_v2(raw)
  }

  /// Whether a transaction is open; SQLite ends one by itself after some faults
  /// (sqlite.org/lang_transaction.html §3).
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(raw) == 0 }

  /// How long a lock of another process is waited for from now on.
  func setBusyTimeout(_ milliseconds: Int32) {
    unsafe sqlite3_busy_timeout(raw, milliseconds)
  }

  /// The extended code of the last call that failed.
  var lastCode: Int32 { unsafe sqlite3_extended_errcode(raw) }

  /// Compiles one statement, to be run many times.
  func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    var prepared: OpaquePointer?
    // A length of -1: up to the zero that Swift puts behind the text.
    let code = unsafe sqlite3_prepare_v3(
      raw, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let statement = unsafe prepared else { throw failure(code) }
    return unsafe SQLiteStatement(owning: statement)
  }

  /// Runs a script of statements without parameters.
  func execute(_ script: String) throws(SQLiteError) {
    let code = unsafe sqlite3_exec(raw, script, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  private func failure(_ code: Int32) -> SQLiteError {
    unsafe SQLiteError(code: code, detail: lastMessage(of: raw))
  }
}

extension Connection {
  /// Reads one number that a pragma answers.
  func number(_ sql: String) throws(SQLiteError) -> Int64 {
    let statement = try prepare(sql)
    return try statement.firstNumber()
  }

  /// Makes the database durable and fast for one writer and readers of other processes.
  func prepareForService(pageLimit: Int64?) throws(StorageOpenError) {
    do throws(SQLiteError) {
      try enterLogMode()
      try execute(Pragma.service)
      if let pageLimit { try execute(Pragma.limit(pages: pageLimit)) }
    } catch {
      throw error.openError
    }
  }

  /// The mode is a property of the file, and entering it takes the file alone: SQLite answers busy at once to
  /// the slower of two processes that start together, without the wait that other locks have.
  private func enterLogMode() throws(SQLiteError) {
    var attemptsLeft = 100
    while true {
      do throws(SQLiteError) {
        let statement = try prepare(Pragma.enterLogMode)
        guard try statement.firstText() == "wal" else {
          throw SQLiteError(code: SQLITE_CANTOPEN, detail: "the file system has no shared memory for a log")
        }
        return
      } catch {
        attemptsLeft -= 1
        guard error.primaryCode == SQLITE_BUSY, attemptsLeft > 0 else { throw error }
        sqlite3_sleep(20)
      }
    }
  }
}

/// Makes an empty file that only its owner may read, unless there is one; SQLite gives its log and the log's
/// index the same mode (sqlite.org/src/file/src/os_unix.c, `findCreateFileMode`).
///
/// `mknod` and not `open`: closing a descriptor of our own would drop the locks that another connection of this
/// process holds on the file (sqlite.org/howtocorrupt.html §2.2).
func createPrivateFile(at path: String) throws(StorageOpenError) {
  let code = unsafe mknod(plainName(of: path), S_IFREG | S_IRUSR | S_IWUSR, 0)
  let number = errno
  guard code == 0 || number == EEXIST else {
    throw .cannotOpen(detail: "cannot make the file (errno \(number))")
  }
}

/// Whether there is something under that name.
func fileExists(at path: String) -> Bool {
  unsafe access(plainName(of: path), F_OK) == 0
}

/// A name that SQLite takes for a file's and nothing else: not `:memory:`, nor a URI, nor the empty name of a
/// database that is forgotten (sqlite.org/c3ref/open.html).
func plainName(of path: String) -> String {
  path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
}
