internal import CSQLite
internal import Storage

/// One step of the schema, compiled in; it sets `user_version` to its own number as its last act.
struct Migration: Sendable {
  let version: Int64
  let script: String

  /// All steps, from the first on and without a gap.
  static let all = [
    Migration(version: 1, script: text(of: PackageResources.V0001_initial_sql)),
    Migration(version: 2, script: text(of: PackageResources.V0002_accounts_sql)),
    Migration(version: 3, script: text(of: PackageResources.V0003_signing_keys_sql)),
    Migration(version: 4, script: text(of: PackageResources.V0004_revocations_audit_sql)),
    Migration(version: 5, script: text(of: PackageResources.V0005_apple_sql)),
    Migration(version: 6, script: text(of: PackageResources.V0006_notifications_sql)),
    Migration(version: 7, script: text(of: PackageResources.V0007_transfers_sql)),
    Migration(version: 8, script: text(of: PackageResources.V0008_apple_evidence_sql)),
    Migration(version: 9, script: text(of: PackageResources.V0009_imports_sql)),
  ]
}

/// A resource of this program: what is no UTF-8 stops at the first statement that it breaks.
private func text(of resource: [UInt8]) -> String { String(decoding: resource, as: UTF8.self) }

extension Connection {
  /// The version of the schema; zero in an empty database.
  func schemaVersion() throws(StorageOpenError) -> Int64 {
    do throws(SQLiteError) {
      let version = try number(Pragma.schemaVersion)
      // An empty database is everyone's; one with another program's tables must not get ours. In this order: a
      // first migration by another process makes tables and name in one commit.
      if try number(SQL.countSchemaEntries) == 0 { return version }
      if try number(Pragma.applicationID) == Pragma.ourApplicationID { return version }
    } catch {
      throw error.openError
    }
    throw .foreignDatabase
  }

  /// The version of the schema, of a connection that only reads.
  ///
  /// A log is read through an index in memory that is shared with whoever writes; where there is none, even a
  /// reader makes one (sqlite.org/wal.html#readonly).
  func schemaVersionToRead() throws(StorageOpenError) -> Int64 {
    do throws(StorageOpenError) {
      return try schemaVersion()
    } catch {
      guard case .cannotOpen(let detail) = error else { throw error }
      throw .cannotOpen(
        detail: detail
          + "; reading it takes its `-shm` and `-wal` files, which only who may write its folder can make")
    }
  }

  /// Refuses a schema that is not the one of this program.
  func demandKnownSchema(found: Int64) throws(StorageOpenError) {
    let known = SQLiteStorage.knownSchemaVersion
    if found > known { throw .newerSchema(found: found, known: known) }
    if found < known { throw .olderSchema(found: found, known: known) }
  }

  /// Applies every step that is missing, each in a transaction of its own.
  ///
  /// Two processes may start at once: the write lock and a second look at the version under it decide who
  /// applies a step.
  func migrate(with steps: [Migration] = Migration.all) throws(StorageOpenError) -> MigrationReport {
    let known = steps.last?.version ?? 0
    let found = try schemaVersion()
    guard found <= known else { throw .newerSchema(found: found, known: known) }
    for step in steps where step.version > found {
      try apply(step)
    }
    // Another process may have gone on to a version that this one does not know.
    let reached = try schemaVersion()
    guard reached <= known else { throw .newerSchema(found: reached, known: known) }
    return MigrationReport(from: found, to: reached)
  }

  private func apply(_ step: Migration) throws(StorageOpenError) {
    do throws(SQLiteError) {
      try prepare(SQL.beginWriting).runPlainly()
      if try number(Pragma.schemaVersion) < step.version { try execute(step.script) }
      try prepare(SQL.commit).runPlainly()
    } catch {
      // The transaction that is left open ends with the connection.
      if error.primaryCode == SQLITE_BUSY { throw .busy }
      throw .migrationFailed(version: step.version, detail: "\(error.detail) (SQLite \(error.code))")
    }
  }
}
