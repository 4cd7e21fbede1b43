package import Storage

extension SQLiteStorage {
  /// Writes a database as it is at one moment into an empty file of its owner's, while a service goes on writing: one
  /// reading transaction, so that nobody waits for it (sqlite.org/lang_vacuum.html#vacuuminto). The copy is synced by
  /// whoever gives it its name.
  ///
  /// - Throws: ``StorageOpenError/foreignDatabase`` and the like for what is no database of this program, or of a newer one.
  package static func copy(_ path: String, to copy: String) throws(StorageOpenError) {
    let connection = try openAnyKnownSchema(path)
    try createPrivateFile(at: copy)
    do throws(SQLiteError) {
      try connection.prepare(SQL.copyInto).runPlainly { slots in slots.add(plainName(of: copy)) }
    } catch {
      throw error.openError
    }
  }

  /// Looks through a whole file for damage; takes as long as reading it does (sqlite.org/pragma.html#pragma_integrity_check).
  package static func demandSound(_ path: String) throws(StorageOpenError) {
    guard fileExists(at: path) else { throw .cannotOpen(detail: "there is no such file") }
    let connection = try openAnyKnownSchema(path)
    let finding: String
    do throws(SQLiteError) {
      finding = try connection.prepare(SQL.findDamage).firstText()
    } catch {
      throw error.openError
    }
    guard finding == "ok" else { throw .damaged }
  }
}

/// A database of this program, of this version or an older one, to be read.
private func openAnyKnownSchema(_ path: String) throws(StorageOpenError) -> Connection {
  let connection = try Connection(
    path: path, busyMilliseconds: SQLiteOptions().busyMilliseconds, isReadOnly: true)
  let (found, known) = (try connection.schemaVersionToRead(), SQLiteStorage.knownSchemaVersion)
  guard found > 0 else { throw .notADatabase }
  guard found <= known else { throw .newerSchema(found: found, known: known) }
  return connection
}
