internal import Storage

/// One step of the schema, compiled in.
struct Migration: Sendable {
  let version: Int64
  let script: String

  /// All steps, from the first on and without a gap.
  static let all = [
    Migration(
      version: 1, script: String(decoding: PackageResources.V0001_initial_sql, as: UTF8.self))
  ]

  /// The schema that this program writes.
  static var known: Int64 { all.last?.version ?? 0 }
}

extension Connection {
  /// The version of the schema; zero where there is none.
  func schemaVersion() throws(StorageOpenError) -> Int64 {
    do throws(PostgresFault) {
      if let count = try number(SchemaSQL.countVersionTables) {
        return count == 1 ? try number(SchemaSQL.version) ?? 0 : 0
      }
    } catch {
      let isForbidden = error.state == "42501"
      throw .cannotOpen(
        detail: (isForbidden ? "its tables are there, and this role may not read them: " : "") + error.detail)
    }
    throw .cannotOpen(detail: "this role may use no schema of its search path, or there is none")
  }

  /// Refuses a schema that is not the one of this program.
  func demandKnownSchema() throws(StorageOpenError) {
    let found = try schemaVersion()
    if found > Migration.known { throw .newerSchema(found: found, known: Migration.known) }
    if found < Migration.known { throw .olderSchema(found: found, known: Migration.known) }
  }

  /// Applies every step that is missing, each in a transaction of its own. Nodes that start at once wait for each other
  /// on a lock, and look again under it.
  func migrate(with steps: [Migration] = Migration.all) throws(StorageOpenError) -> MigrationReport {
    let known = steps.last?.version ?? 0
    let found = try schemaVersion()
    guard found <= known else { throw .newerSchema(found: found, known: known) }
    for step in steps where step.version > found { try apply(step) }
    let reached = try schemaVersion()
    guard reached <= known else { throw .newerSchema(found: reached, known: known) }
    return MigrationReport(from: found, to: reached)
  }

  private func apply(_ step: Migration) throws(StorageOpenError) {
    do throws(PostgresFault) {
      try execute(OwnSQL.beginWriting)
      try execute(SchemaSQL.lock)
      try execute(SchemaSQL.createVersion)
      try execute(SchemaSQL.fillVersion)
      if let present = try number(SchemaSQL.lockRow), present < step.version {
        try execute(step.script)
        try execute(SchemaSQL.setVersion(step.version))
      }
      try execute(OwnSQL.commit)
    } catch {
      // The transaction that is left open ends with the connection.
      throw .migrationFailed(version: step.version, detail: error.detail)
    }
  }
}
