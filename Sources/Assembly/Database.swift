package import Settings
package import Storage
internal import Domain
internal import PostgresStorage
internal import SQLiteStorage

/// Opens the database of the settings to be worked with, and brings its schema up to date.
///
/// - Parameters:
///   - observe: Is told of each commit: how many transactions were in it and how long it took.
///   - tell: Is told when the database goes or comes back.
package func openDatabase(
  _ settings: Settings, observe: (@Sendable (Int, Duration) -> Void)? = nil,
  tell: @escaping @Sendable (StorageNews) -> Void = { _ in }
) throws(StartFault) -> any CountedStorage {
  try opened(settings) { (announces) throws(StorageOpenError) in
    switch settings.database {
    case .sqlite(let path):
      try SQLiteStorage(
        path: path, options: SQLiteOptions(announces: announces), observe: observe, tell: tell)
    case .postgres(let url):
      try PostgresStorage(
        PostgresOptions(url: url.reveal(), announces: announces), observe: observe, tell: tell)
    }
  }
}

/// Opens the database of the settings to be looked at: it is not made, and its schema is left as it is.
package func inspectDatabase(_ settings: Settings) throws(StartFault) -> any CountedStorage {
  try opened(settings) { (_) throws(StorageOpenError) in
    switch settings.database {
    case .sqlite(let path): try SQLiteStorage(path: path, opening: .inspect)
    case .postgres(let url): try PostgresStorage(PostgresOptions(url: url.reveal()), opening: .command)
    }
  }
}

/// Opens the database of the settings to be changed by a command: it is not made, and its schema is left as it is.
package func openDatabaseForChange(_ settings: Settings) throws(StartFault) -> any CountedStorage {
  try opened(settings) { (announces) throws(StorageOpenError) in
    switch settings.database {
    case .sqlite(let path):
      try SQLiteStorage(path: path, opening: .change, options: SQLiteOptions(announces: announces))
    case .postgres(let url):
      try PostgresStorage(PostgresOptions(url: url.reveal(), announces: announces), opening: .command)
    }
  }
}

/// Refuses a database of which a part has still to come: what is made or read now is not what will be there.
package func demandWhole(_ storage: any CountedStorage) async throws(StartFault) {
  let arrival: String?
  do {
    arrival = try await storage.arrival()
  } catch {
    throw .storage(error)
  }
  if arrival != nil { throw .arrivalUnfinished }
}

private func opened(
  _ settings: Settings, _ open: (Bool) throws(StorageOpenError) -> any CountedStorage
) throws(StartFault) -> any CountedStorage {
  do throws(StorageOpenError) {
    return try open(settings.webhook != nil)
  } catch {
    throw .databaseUnusable(name: settings.database.name, error)
  }
}

/// What bringing the schema up to date does, or would do.
///
/// - Parameter changes: Whether it is done; a schema that would be refused is refused in either case.
package func migrateDatabase(_ settings: Settings, changes: Bool) throws(StartFault) -> MigrationReport {
  do throws(StorageOpenError) {
    if changes {
      switch settings.database {
      case .sqlite(let path): return try SQLiteStorage.migrate(path: path)
      case .postgres(let url): return try PostgresStorage.migrate(url: url.reveal())
      }
    }
    let (found, known) =
      switch settings.database {
      case .sqlite(let path): (try SQLiteStorage.schemaVersion(path: path), SQLiteStorage.knownSchemaVersion)
      case .postgres(let url):
        (try PostgresStorage.schemaVersion(url: url.reveal()), PostgresStorage.knownSchemaVersion)
      }
    guard found <= known else { throw .newerSchema(found: found, known: known) }
    return MigrationReport(from: found, to: known)
  } catch {
    throw .databaseUnusable(name: settings.database.name, error)
  }
}

/// Whether the database takes a write, which only a connection that may write can tell.
func probeWrite(_ settings: Settings) throws(StorageOpenError) {
  switch settings.database {
  case .sqlite(let path): try SQLiteStorage.probeWrite(path: path)
  case .postgres(let url): try PostgresStorage.probeWrite(url: url.reveal())
  }
}

extension Settings.Database {
  /// Whether nothing is there yet that could be opened. Of a server only it can tell.
  package var isAbsent: Bool {
    if case .sqlite(let path) = self { !isFile(path) } else { false }
  }
}
