internal import Assembly
internal import Domain
internal import Settings
internal import Storage
internal import Wire

/// Runs a command's work on the database of the settings, if the whole of it is there; it is only read: a service that runs meanwhile, of
/// another version too, is not disturbed.
func withDatabase(
  _ arguments: Arguments, _ work: (Settings, any CountedStorage) async throws(CommandFault) -> Int32
) async throws(CommandFault) -> Int32 {
  try await withDatabase(arguments, open: inspectDatabase, work)
}

/// Runs a command's work on the database of the settings, if the whole of it is there.
func withDatabase(
  _ arguments: Arguments, open: (Settings) throws(StartFault) -> any CountedStorage,
  _ work: (Settings, any CountedStorage) async throws(CommandFault) -> Int32
) async throws(CommandFault) -> Int32 {
  let settings = try loadSettings(arguments)
  guard !settings.database.isAbsent else {
    throw CommandFault(
      status: ExitStatus.unavailable,
      message:
        "there is no database at \(settings.database.name): `bramley migrate` or the first start makes it")
  }
  let storage: any CountedStorage
  do {
    storage = try open(settings)
  } catch {
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
  let status: Int32
  do throws(CommandFault) {
    do throws(StartFault) {
      try await demandWhole(storage)
    } catch {
      throw CommandFault(status: error.exitStatus, message: error.sentence)
    }
    status = try await work(settings, storage)
  } catch {
    await storage.stop()
    throw error
  }
  await storage.stop()
  return status
}

/// Turns an outage into the end of a command.
func fromStorage<R>(_ ask: () async throws(StorageError) -> R) async throws(CommandFault) -> R {
  do {
    return try await ask()
  } catch {
    let fault = StartFault.storage(error)
    throw CommandFault(status: fault.exitStatus, message: fault.sentence)
  }
}
