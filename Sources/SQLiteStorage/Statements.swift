// The SQL texts that only this engine has, besides the migrations.

/// What is run once, or frames the rest.
enum SQL {
  // The write lock from the start: a transaction that reads first and then wants to write could only be told
  // SQLITE_BUSY_SNAPSHOT when another process has written meanwhile (sqlite.org/isolation.html). One that then
  // writes nothing costs no sync.
  static let beginWriting = "BEGIN IMMEDIATE"
  static let beginReading = "BEGIN DEFERRED"
  static let commit = "COMMIT"
  static let rollback = "ROLLBACK"

  static let copyInto = "VACUUM INTO ?1"
  static let findDamage = "PRAGMA integrity_check(1)"

  static let countSchemaEntries = "SELECT count(*) FROM sqlite_schema"
}

/// Settings of the file and of the connection (sqlite.org/pragma.html).
enum Pragma {
  static let schemaVersion = "PRAGMA user_version"
  static let applicationID = "PRAGMA application_id"
  /// "BRAM"; the first migration writes it.
  static let ourApplicationID: Int64 = 0x4252_414D

  static let enterLogMode = "PRAGMA journal_mode = WAL"
  // Answers 1 when somebody who reads or writes was in the way (sqlite.org/pragma.html#pragma_wal_checkpoint).
  static let foldLog = "PRAGMA wal_checkpoint(TRUNCATE)"

  // synchronous: FULL syncs the log at each commit; NORMAL would lose the last ones with the power.
  // secure_delete: what is deleted is overwritten, whatever the library was built with: names and addresses go with the
  // account.
  // cache_size: KiB, when negative. A checkpoint each 4 MiB of log; after one that was held up by a reader the
  // log shrinks to 16 MiB again.
  static let service = """
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA journal_size_limit = 16777216;
    PRAGMA cache_size = -8192;
    PRAGMA temp_store = MEMORY;
    PRAGMA secure_delete = ON;
    """

  static func limit(pages: Int64) -> String { "PRAGMA max_page_count = \(pages)" }
}
