internal import AppleIdentity
internal import Assembly
internal import Domain
internal import Glibc
internal import SQLiteStorage
internal import Settings
internal import Storage
internal import Wire

/// `bramley apple transfer export`, `import` and `status`.
///
/// - Parameter list: The arguments behind `transfer`.
func transfer(_ list: [String]) async throws(CommandFault) -> Int32 {
  let halt = try haltOnSignal()
  let options: [String: Set<String>] = [
    "export": ["config", "target", "limit", "patience"],
    "import": ["config", "accepted", "limit", "patience"],
    "status": ["config", "target", "accepted"],
  ]
  let word = list.first ?? ""
  guard let known = options[word] else { throw .usage("apple transfer takes `export`, `import` or `status`") }
  let arguments = try parse(
    Array(list.dropFirst()), options: known,
    switches: word == "status" ? ["json"] : ["json", "dry-run", "retry-refused"])
  guard arguments.words.isEmpty else { throw .usage("apple transfer \(word) takes options only") }
  switch word {
  case "export": return try await exportPeople(arguments, halt)
  case "import": return try await importPeople(arguments, halt)
  default: return try await showTransfer(arguments)
  }
}

private func exportPeople(_ arguments: Arguments, _ halt: Halt) async throws(CommandFault) -> Int32 {
  guard let target = try target(arguments) else {
    throw .usage("--target is missing: the id of the team the app goes to")
  }
  return try await withDatabase(arguments, open: openDatabaseForChange) {
    settings, storage throws(CommandFault) in
    let own = try ownTeam(settings)
    guard !own.isSame(as: target) else {
      throw .usage(
        "--target \(target) is our own team: Apple would give out transfer subjects that nobody can use")
    }
    if let old = settings.oldAppleKey?.teamID, old.isSame(as: target) {
      throw .usage("--target \(target) is the team of BRAMLEY_APPLE_OLD_TEAM_ID, which the app came from")
    }
    let query = TransferQuery(half: .toExport, team: target, retriesRefused: arguments.has("retry-refused"))
    if arguments.has("dry-run") {
      let status = try await status(of: target, in: storage)
      let count = status.left + (query.retriesRefused ? status.count(.exportRefused) : 0)
      return report(dryRun: count, of: status, arguments)
    }
    let tally = try await run(query, settings, storage, arguments, halt)
    if tally.moved > 0 {
      try await fromStorage { () throws(StorageError) in
        try await storage.append(
          AuditEntry(
            at: WallClock.system.now(), action: .appleTransferExported, actor: Actor.command.text,
            account: nil, session: nil, address: [], requestID: nil, detail: "\(target) \(tally.moved)"))
      }
    }
    let present = try await status(of: target, in: storage)
    report(tally, "exported", present, left: present.left, arguments)
    return tally.isHalted || present.count(.exportRefused) > 0 ? ExitStatus.refused : ExitStatus.done
  }
}

private func importPeople(_ arguments: Arguments, _ halt: Halt) async throws(CommandFault) -> Int32 {
  let accepted = try acceptance(arguments)
  return try await withDatabase(arguments, open: openDatabaseForChange) {
    settings, storage throws(CommandFault) in
    let own = try ownTeam(settings)
    let query = TransferQuery(half: .toImport, team: own, retriesRefused: arguments.has("retry-refused"))
    let before = try await status(of: own, in: storage)
    if before.counts.isEmpty, let other = before.otherTeams.first {
      throw CommandFault(
        status: ExitStatus.configuration,
        message:
          "nobody was exported for team \(own), but for \(other): import runs with the key of the team that "
          + "the app went to (BRAMLEY_APPLE_TEAM_ID)")
    }
    if arguments.has("dry-run") {
      let count = before.toImport + (query.retriesRefused ? before.count(.importRefused) : 0)
      return report(dryRun: count, of: before, arguments)
    }
    if accepted != nil || before.toImport > 0 {
      try await fromStorage { () throws(StorageError) in
        try await storage.noteTransferAcceptance(
          by: own, at: accepted ?? WallClock.system.now(), replacesOther: accepted != nil)
      }
    }
    let tally = try await run(query, settings, storage, arguments, halt)
    let present = try await status(of: own, in: storage)
    report(tally, "rekeyed", present, left: present.toImport, arguments)
    let isWhole = present.count(.importRefused) == 0 && present.count(.conflict) == 0
    return tally.isHalted || !isWhole ? ExitStatus.refused : ExitStatus.done
  }
}

private func showTransfer(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  let wanted = try target(arguments)
  let accepted = try acceptance(arguments)
  return try await withDatabase(arguments) { settings, storage throws(CommandFault) in
    let team: TeamID
    if let wanted { team = wanted } else { team = try ownTeam(settings) }
    var shown = try await status(of: team, in: storage)
    // Before the app has gone, those that are on the way are on the way to somebody else.
    if wanted == nil, shown.counts.isEmpty, let other = shown.otherTeams.first {
      shown = try await status(of: other, in: storage)
    }
    let end = accepted.map { $0 + Limits.transferSeconds } ?? shown.endsAt
    if arguments.has("json") {
      var out = JSONWriter(reserving: 512)
      out.write(shown, end: end)
      printJSON(out)
    } else {
      print(shown.text(end: end))
    }
    return ExitStatus.done
  }
}

private func target(_ arguments: Arguments) throws(CommandFault) -> TeamID? {
  guard let text = arguments["target"] else { return nil }
  guard let team = TeamID(text), team.isUsual else {
    throw .usage("--target `\(text)` is no team id: those are ten capital letters and digits")
  }
  return team
}

/// `--accepted YYYY-MM-DD`, midnight UTC.
private func acceptance(_ arguments: Arguments) throws(CommandFault) -> UnixTime? {
  guard let text = arguments["accepted"] else { return nil }
  guard let moment = UnixTime(date: text), moment <= WallClock.system.now() else {
    throw .usage("--accepted takes the day on which the transfer was accepted, as 2026-01-31")
  }
  return moment
}

private func ownTeam(_ settings: Settings) throws(CommandFault) -> TeamID {
  guard let team = settings.appleKey?.teamID else {
    throw CommandFault(
      status: TransferFault.keyMissing.exitStatus, message: TransferFault.keyMissing.sentence)
  }
  return team
}

private func status(of team: TeamID, in storage: SQLiteStorage) async throws(CommandFault) -> TransferStatus {
  try await fromStorage { () throws(StorageError) in try await storage.transferStatus(to: team) }
}

private func run(
  _ query: TransferQuery, _ settings: Settings, _ storage: SQLiteStorage, _ arguments: Arguments, _ halt: Halt
) async throws(CommandFault) -> TransferTally {
  let limit = try arguments.number("limit", 1...(1 << 40)).map { Int($0) }
  let patience = try arguments.number("patience", 1...604_800) ?? 3600
  let line = ProgressLine()
  let move = AppleTransfer(settings, storage: storage, halt: halt) { word in line.complain(word) }
  do {
    let order = TransferOrder(query: query, limit: limit, patience: patience)
    let tally = try await move.run(order) {
      line.show("\($0.asked) asked about, \($0.moved) moved, \($0.refused) refused")
    }
    line.end()
    return tally
  } catch {
    line.end()
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
}

private func report(dryRun count: Int, of status: TransferStatus, _ arguments: Arguments) -> Int32 {
  tell(arguments, "\(count) people would be asked about\n\(status.text(end: status.endsAt))") { out in
    out.member("dryRun", true)
    out.member("wouldAsk", Int64(count))
    out.write(status, end: status.endsAt)
  }
  return ExitStatus.done
}

private func report(
  _ tally: TransferTally, _ done: String, _ status: TransferStatus, left: Int, _ arguments: Arguments
) {
  let words = done == "exported" ? "exported" : "re-keyed"
  let conflicts = tally.conflicts > 0 ? ", \(tally.conflicts) met another account" : ""
  let halted = tally.isHalted ? "; it was stopped, and the same command goes on" : ""
  tell(
    arguments,
    "\(tally.moved) \(words), \(tally.refused) refused by Apple\(conflicts), \(left) left\(halted)"
  ) { out in
    out.member("target", status.team.text)
    out.member("asked", Int64(tally.asked))
    out.member(done, Int64(tally.moved))
    out.member("refused", Int64(tally.refused))
    out.member("conflicts", Int64(tally.conflicts))
    out.member("overtaken", Int64(tally.overtaken))
    out.member("left", Int64(left))
    out.member("interrupted", tally.isHalted)
  }
}

extension TeamID {
  /// Whether both name one team, however it is written.
  fileprivate func isSame(as other: TeamID) -> Bool { text.uppercased() == other.text.uppercased() }
}

extension TransferStatus {
  fileprivate var toImport: Int { count(.exported) + count(.conflict) }
  fileprivate var exported: Int {
    count(.exported) + count(.rekeyed) + count(.importRefused) + count(.conflict)
  }

  fileprivate func text(end: UnixTime?) -> String {
    var lines = [
      "to team           \(team)", "identities        \(identities)", "exported          \(exported)",
      "re-keyed          \(count(.rekeyed))",
      "refused           \(count(.exportRefused)) at the export, \(count(.importRefused)) at the import",
      "met another       \(count(.conflict))", "left to export    \(left)", "left to import    \(toImport)",
    ]
    if let end { lines.append("days left         \(daysLeft(until: end))") }
    for conflict in conflicts { lines.append("conflict          \(conflict.account) and \(conflict.other)") }
    for other in otherTeams { lines.append("also              \(other)") }
    return lines.joined(separator: "\n")
  }

  fileprivate func daysLeft(until end: UnixTime) -> Int64 {
    max((end.since(WallClock.system.now()) + 86_399) / 86_400, 0)
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ status: TransferStatus, end: UnixTime?) {
    member("target", status.team.text)
    member("identities", Int64(status.identities))
    member("exported", Int64(status.exported))
    member("rekeyed", Int64(status.count(.rekeyed)))
    member("refused", Int64(status.count(.exportRefused) + status.count(.importRefused)))
    member("exportRefused", Int64(status.count(.exportRefused)))
    member("importRefused", Int64(status.count(.importRefused)))
    member("conflicts", Int64(status.count(.conflict)))
    member("left", Int64(status.left))
    member("toImport", Int64(status.toImport))
    if let end {
      member("endsAt", end.seconds)
      member("daysLeft", status.daysLeft(until: end))
    }
    member(
      "conflictAccounts",
      jsonArray: status.conflicts.map { conflict in
        var out = JSONWriter()
        out.member("localId", conflict.account.text)
        out.member("otherLocalId", conflict.other)
        return out.finish()
      })
    member("otherTargets", status.otherTeams.map(\.text))
  }
}
