internal import Assembly
internal import Settings
internal import Storage
internal import Wire

/// `bramley export FILE`.
func export(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(list)
  guard arguments.words.count == 1 else { throw .usage("export takes the name of a new file, or `-`") }
  let path = arguments.words[0]
  return try await withDatabase(arguments) { settings, storage throws(CommandFault) in
    let tally = try await moved { () throws(MoveFault) in
      try await Assembly.export(settings, from: storage, to: path)
    }
    // Standard output is the export.
    guard path != "-" else { return ExitStatus.done }
    report(tally, "\(path) has the whole database", arguments)
    return ExitStatus.done
  }
}

/// `bramley import FILE`.
func takeIn(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(list)
  guard arguments.words.count == 1 else { throw .usage("import takes the file of an export, or `-`") }
  let settings = try loadSettings(arguments)
  let storage: any CountedStorage
  do {
    storage = try openDatabase(settings)
  } catch {
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
  do throws(CommandFault) {
    let tally = try await moved { () throws(MoveFault) in
      try await Assembly.takeIn(settings, from: arguments.words[0], into: storage)
    }
    await storage.stop()
    report(tally, "the database has everything of the export", arguments)
    return ExitStatus.done
  } catch {
    await storage.stop()
    throw error
  }
}

private func moved(_ move: () async throws(MoveFault) -> MoveTally) async throws(CommandFault) -> MoveTally {
  do {
    return try await move()
  } catch {
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
}

private func report(_ tally: MoveTally, _ sentence: String, _ arguments: Arguments) {
  let tables = tally.tables.map { "  \($0.name)  \($0.rows)" }.joined(separator: "\n")
  tell(arguments, "\(sentence): \(tally.rows) rows\n\(tables)") { out in
    out.member("rows", tally.rows)
    out.object("tables") { out in
      for table in tally.tables { out.member(table.name, table.rows) }
    }
  }
}
