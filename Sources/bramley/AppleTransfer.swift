internal import AppleIdentity
internal import Assembly
internal import Domain
internal import Glibc
internal import Settings
internal import Storage
internal import Wire

/// `bramley apple transfer export`, `import` and `status`.
///
/// - Parameter list: The arguments behind `transfer`.
func transfer(_ list: [String]) async throws(CommandFault) -> Int32 {
  let conduct = Conduct()
  try onStopSignal { conduct.stop() }
  let options: [String: Set<String>] = [
    "export": ["config", "target", "limit", "patience"],
    "import": ["config", "accepted", "limit", "patience"],
    "status": ["config", "target", "accepted"],
  ]
  let switches: [String: Set<String>] = [
    "export": ["json", "dry-run", "retry-refused", "replace"],
    "import": ["json", "dry-run", "retry-refused"],
  ]
  let word = list.first ?? ""
  guard let known = options[word] else { throw .usage("apple transfer takes `export`, `import` or `status`") }
  let arguments = try parse(
    Array(list.dropFirst()), options: known, switches: switches[word] ?? ["json"])
  guard arguments.words.isEmpty else { throw .usage("apple transfer \(word) takes options only") }
  switch word {
  case "export": return try await exportPeople(arguments, conduct)
  case "import": return try await importPeople(arguments, conduct)
  default: return try await showTransfer(arguments)
  }
}

/// What a run is stopped by, and what it says on the way.
private struct Conduct: Sendable {
  let halt = Halt()
  let line = ProgressLine()

  func stop() {
    halt.set()
    line.stop(after: halt.underWay)
  }
}

private func exportPeople(_ arguments: Arguments, _ conduct: Conduct) async throws(CommandFault) -> Int32 {
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
    let query = TransferQuery(
      half: .toExport, team: target, own: own, retriesRefused: arguments.has("retry-refused"),
      replacesOthers: arguments.has("replace"))
    let before = try await status(of: target, in: storage)
    try before.checkOthers(query)
    if arguments.has("dry-run") { return report(dryRun: query, of: before, end: before.endsAt, arguments) }
    let tally = try await run(query, settings, storage, arguments, conduct)
    let present = try await status(of: target, in: storage)
    report(tally, "exported", present, query, arguments)
    return tally.isHalted || present.count(.exportRefused) > 0 ? ExitStatus.refused : ExitStatus.done
  }
}

private func importPeople(_ arguments: Arguments, _ conduct: Conduct) async throws(CommandFault) -> Int32 {
  let accepted = try acceptance(arguments)
  return try await withDatabase(arguments, open: openDatabaseForChange) {
    settings, storage throws(CommandFault) in
    let own = try ownTeam(settings)
    let query = TransferQuery(
      half: .toImport, team: own, own: own, retriesRefused: arguments.has("retry-refused"))
    let before = try await status(of: own, in: storage)
    if !before.isBegun, let other = before.otherTeams.first {
      throw CommandFault(
        status: ExitStatus.configuration,
        message:
          "nobody was exported for team \(own), but for \(other): import runs with the key of the team that "
          + "the app went to (BRAMLEY_APPLE_TEAM_ID)")
    }
    let end = accepted.map { $0 + Limits.transferSeconds } ?? before.endsAt
    if let end, end < WallClock.system.now() {
      complain("warning: the 60 days since the acceptance are over: Apple may name nobody any more")
    }
    if arguments.has("dry-run") { return report(dryRun: query, of: before, end: end, arguments) }
    if accepted != nil || before.toImport > 0 {
      try await fromStorage { () throws(StorageError) in
        try await storage.noteTransferAcceptance(
          by: own, at: accepted ?? WallClock.system.now(), replacesOther: accepted != nil)
      }
    }
    let tally = try await run(query, settings, storage, arguments, conduct)
    let present = try await status(of: own, in: storage)
    report(tally, "rekeyed", present, query, arguments)
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
    if wanted == nil, !shown.isBegun, let other = shown.otherTeams.first {
      shown = try await status(of: other, in: storage)
    }
    let end = accepted.map { $0 + Limits.transferSeconds } ?? shown.endsAt
    let own = settings.appleKey?.teamID
    if arguments.has("json") {
      var out = JSONWriter(reserving: 512)
      out.write(shown, from: own, end: end)
      printJSON(out)
    } else {
      print(shown.text(from: own, end: end))
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

private func status(of team: TeamID, in storage: any Storage) async throws(CommandFault) -> TransferStatus {
  try await fromStorage { () throws(StorageError) in try await storage.transferStatus(to: team) }
}

private func run(
  _ query: TransferQuery, _ settings: Settings, _ storage: any Storage, _ arguments: Arguments,
  _ conduct: Conduct
) async throws(CommandFault) -> TransferTally {
  let limit = try arguments.number("limit", 1...(1 << 40)).map { Int($0) }
  let patience = try arguments.number("patience", 1...604_800) ?? 3600
  let line = conduct.line
  let move = AppleTransfer(settings, storage: storage, halt: conduct.halt) { word in line.complain(word) }
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

private func report(
  dryRun query: TransferQuery, of status: TransferStatus, end: UnixTime?, _ arguments: Arguments
) -> Int32 {
  let count = status.left(of: query)
  tell(
    arguments, "\(count) people would be asked about\n\(status.text(from: query.own, end: end))"
  ) { out in
    out.member("dryRun", true)
    out.member("wouldAsk", Int64(count))
    out.write(status, from: query.own, end: end)
  }
  return ExitStatus.done
}

private func report(
  _ tally: TransferTally, _ done: String, _ status: TransferStatus, _ query: TransferQuery,
  _ arguments: Arguments
) {
  let left = query.half == .toExport ? status.left(from: query.own) : status.toImport
  let words = done == "exported" ? "exported" : "re-keyed"
  let conflicts = tally.conflicts > 0 ? ", \(tally.conflicts) met another account" : ""
  let refused = status.count(query.half == .toExport ? .exportRefused : .importRefused)
  let earlier =
    refused > tally.refused ? "; \(refused) are refused in all, and --retry-refused asks again" : ""
  let halted = tally.isHalted ? "; it was stopped, and the same command goes on" : ""
  tell(
    arguments,
    "\(tally.moved) \(words), \(tally.refused) refused by Apple\(conflicts), \(left) left\(earlier)\(halted)"
  ) { out in
    out.member("target", status.team.text)
    out.member("asked", Int64(tally.asked))
    out.member(done, Int64(tally.moved))
    out.member("refused", Int64(tally.refused))
    out.member("refusedInAll", Int64(refused))
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

  /// How many the team that asks can still export; everybody before the first export, when nobody has said where to.
  fileprivate func left(from own: TeamID?) -> Int {
    left(of: TransferQuery(half: .toExport, team: team, own: movers.isEmpty ? nil : own))
  }

  /// Nobody loses what Apple gave for another team unless that is asked for; who is still to come in to the team that asks
  /// is left alone, and it is said.
  fileprivate func checkOthers(_ query: TransferQuery) throws(CommandFault) {
    let count = replaced(by: query)
    guard count == 0 || query.replacesOthers else {
      let teams = otherTeams.filter { $0 != query.own }.map(\.text).joined(separator: ", ")
      throw CommandFault(
        status: ExitStatus.refused,
        message: "\(count) people were exported for \(teams) and would lose that: if \(query.team) is meant, "
          + "--replace exports them for it instead")
    }
    let arriving = movers.filter { $0.team == query.own && $0.state != .rekeyed }.reduce(0) { $0 + $1.count }
    if arriving > 0 {
      complain(
        "\(arriving) people have not come in to our own team yet, which cannot export them: they are left alone"
      )
    }
  }

  fileprivate func text(from own: TeamID?, end: UnixTime?) -> String {
    var lines = [
      "to team           \(team)", "identities        \(identities)", "exported          \(exported)",
      "re-keyed          \(count(.rekeyed))",
      "refused           \(count(.exportRefused)) at the export, \(count(.importRefused)) at the import",
      "met another       \(count(.conflict))", "left to export    \(left(from: own))",
      "left to import    \(toImport)",
    ]
    if let end {
      let days = daysLeft(until: end)
      lines.append("days left         \(days)\(days == 0 ? ": Apple may name nobody any more" : "")")
    }
    for conflict in conflicts { lines.append("conflict          \(conflict.account) and \(conflict.other)") }
    for other in otherTeams { lines.append("also              \(other)") }
    return lines.joined(separator: "\n")
  }

  fileprivate func daysLeft(until end: UnixTime) -> Int64 {
    max((end.since(WallClock.system.now()) + 86_399) / 86_400, 0)
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ status: TransferStatus, from own: TeamID?, end: UnixTime?) {
    member("target", status.team.text)
    member("identities", Int64(status.identities))
    member("exported", Int64(status.exported))
    member("rekeyed", Int64(status.count(.rekeyed)))
    member("refused", Int64(status.count(.exportRefused) + status.count(.importRefused)))
    member("exportRefused", Int64(status.count(.exportRefused)))
    member("importRefused", Int64(status.count(.importRefused)))
    member("conflicts", Int64(status.count(.conflict)))
    member("left", Int64(status.left(from: own)))
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
