internal import Crypto
internal import Domain
internal import Glibc
internal import SQLiteStorage
internal import Sessions
package import Settings
package import Storage

/// Why a database was not backed up, or not put back. Nothing was changed.
package enum BackupFault: Error, Sendable, Equatable {
  /// There is a file of that name, which is never written over.
  case inTheWay(String)
  case unwritable(String, code: Int32)
  case unusable(path: String, StorageOpenError)
  /// What is to be put back is no backup.
  case noBackup(path: String, StorageOpenError)
  /// It was one.
  case damaged(path: String)
  /// A server looks after its own backups.
  case onServer
  case start(StartFault)
  case storage(StorageError)

  /// As that of a ``StartFault``.
  package var exitStatus: Int32 {
    switch self {
    case .inTheWay, .noBackup, .damaged: 1
    case .unwritable: 69
    case .unusable(let path, let error): StartFault.databaseUnusable(name: path, error).exitStatus
    case .onServer: 78
    case .start(let fault): fault.exitStatus
    case .storage(let error): StartFault.storage(error).exitStatus
    }
  }

  /// A sentence for an operator.
  package var sentence: String {
    switch self {
    case .inTheWay(let path):
      "there is a file \(path) already, and none is written over: move it away, with those of the same name and "
        + "`-wal` and `-shm`"
    case .unwritable(let path, let code): "\(path) cannot be written: \(words(forSystemError: code))"
    case .unusable(let path, let error): "\(path) cannot be used: \(error.sentence)"
    case .noBackup(let path, let error):
      "\(path) is no backup, or is damaged from its beginning on: \(error.sentence)"
    case .damaged(let path): "\(path) is damaged: put back another backup, or another copy of it"
    case .onServer:
      "this copies SQLite's file; PostgreSQL has its own ways (pg_dump, pg_basebackup), and `bramley export` writes either"
    case .start(let fault): fault.sentence
    case .storage(let error): StartFault.storage(error).sentence
    }
  }
}

/// Copies the database of the settings into a new file, as it is at one moment, beside a running service. The master key
/// is not in it: whoever finds the copy gets in nowhere.
///
/// - Returns: The size of the copy in bytes.
package func backUp(_ settings: Settings, to path: String) throws(BackupFault) -> Int64 {
  let database = try databasePath(settings)
  let file = WholeFile(path, suffix: hexText(Entropy.system.bytes(8)))
  guard !isFile(path) else { throw .inTheWay(path) }
  do {
    try copy(database, to: file)
  } catch {
    throw .unusable(path: database, error)
  }
  try publish(file)
  return size(of: path)
}

/// What was put back.
package struct Restoration: Sendable, Equatable {
  /// Sessions that live in it; none when they were ended.
  package let liveSessions: Int
  /// Sessions that were ended.
  package let endedSessions: Int
}

/// Puts a backup in the place of the database of the settings, where there must be none: that may be needed yet,
/// and a service may be at work with it. The backup is looked through, brought up to date, and opened with the master keys
/// before it gets its name.
///
/// - Parameter endsSessions: Whether sessions end that lived at the time of the backup: who signed out since is signed in
///   again otherwise.
package func restore(
  _ settings: Settings, from path: String, endsSessions: Bool
) async throws(BackupFault) -> Restoration {
  let place = try databasePath(settings)
  // A log that lies there would be played into the backup (sqlite.org/howtocorrupt.html §1.4).
  for name in ["", "-wal", "-shm", "-journal"].map({ place + $0 }) where isFile(name) {
    throw .inTheWay(name)
  }
  let file = WholeFile(place, suffix: hexText(Entropy.system.bytes(8)))
  do {
    try SQLiteStorage.demandSound(path)
    try copy(path, to: file)
  } catch {
    switch error {
    case .notADatabase, .foreignDatabase: throw .noBackup(path: path, error)
    case .damaged: throw .damaged(path: path)
    default: throw .unusable(path: path, error)
    }
  }
  let restoration: Restoration
  do throws(BackupFault) {
    restoration = try await prepare(file.temporary, settings, endsSessions: endsSessions)
  } catch {
    removeLog(of: file.temporary)
    file.discard()
    throw error
  }
  try publish(file)
  return restoration
}

/// Where the database of the settings is.
private func databasePath(_ settings: Settings) throws(BackupFault) -> String {
  guard case .sqlite(let path) = settings.database else { throw .onServer }
  return path
}

private func copy(_ path: String, to file: WholeFile) throws(StorageOpenError) {
  guard isFile(path) else { throw .cannotOpen(detail: "there is no such file") }
  do {
    try SQLiteStorage.copy(path, to: file.temporary)
  } catch {
    file.discard()
    throw error
  }
}

private func publish(_ file: WholeFile) throws(BackupFault) {
  switch file.publish() {
  case 0: return
  case EEXIST: throw .inTheWay(file.path)
  case let code: throw .unwritable(file.path, code: code)
  }
}

/// Brings a copy up to date and sees to it that the settings' master keys open it.
private func prepare(
  _ path: String, _ settings: Settings, endsSessions: Bool
) async throws(BackupFault) -> Restoration {
  let storage: SQLiteStorage
  do {
    storage = try SQLiteStorage(path: path)
  } catch {
    throw .unusable(path: path, error)
  }
  let result = await revive(storage, settings, endsSessions: endsSessions)
  // The last connection folds the log into the file; what is left of it must be empty, since it keeps its name.
  await storage.stop()
  let restoration = try result.get()
  guard size(of: path + "-wal") == 0 else { throw .storage(.unavailable) }
  removeLog(of: path)
  return restoration
}

private func removeLog(of path: String) {
  for name in [path + "-wal", path + "-shm"] { unsafe unlink(name) }
}

private func revive(
  _ storage: SQLiteStorage, _ settings: Settings, endsSessions: Bool
) async -> Result<Restoration, BackupFault> {
  do throws(StorageError) {
    let book = try await storage.signingKeys()
    if !book.keys.isEmpty {
      do throws(StartFault) {
        let ring = try masterKeyRing(of: settings, mayCreate: false, entropy: .system)
        if let stranger = book.keys.first(where: { ring[$0.masterKey] == nil }) {
          throw .signingKeys(.sealedByAnotherKey(stranger.id))
        }
      } catch {
        return .failure(.start(error))
      }
    }
    let now = WallClock.system.now()
    let ended = endsSessions ? try await endAllSessions(in: storage, at: now) : 0
    let counts = try await storage.sessionCounts(within: settings.sessionLimits, at: now)
    try await storage.append(
      AuditEntry(
        at: now, action: .databaseRestored, actor: Actor.command.text, account: nil, session: nil,
        address: [],
        requestID: nil, detail: endsSessions ? "sessions ended" : "sessions kept"))
    return .success(
      Restoration(liveSessions: counts.values.reduce(0, +), endedSessions: ended))
  } catch {
    return .failure(.storage(error))
  }
}

/// - Returns: How many there were.
private func endAllSessions(
  in storage: SQLiteStorage, at now: UnixTime
) async throws(StorageError) -> Int {
  var (count, cursor) = (0, AccountCursor?.none)
  repeat {
    let page = try await storage.accounts(after: cursor, limit: 256)
    // Together, so that they share a commit.
    let results = await withTaskGroup(of: Result<Int, StorageError>.self) { group in
      for account in page.accounts {
        group.addTask { await endSessions(of: account.id, in: storage, at: now) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for result in results { count += try result.get() }
    cursor = page.next
  } while cursor != nil
  return count
}

private func endSessions(
  of account: AccountID, in storage: SQLiteStorage, at now: UnixTime
) async -> Result<Int, StorageError> {
  let intent = SessionEndingIntent(
    target: .administered(account, nil), origin: Origin(actor: .command), now: now)
  do throws(StorageError) {
    guard case .ended(_, let count) = try await storage.endSessions(intent) else { return .success(0) }
    return .success(count)
  } catch {
    return .failure(error)
  }
}

private func size(of path: String) -> Int64 {
  var status = stat()
  return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : 0
}
