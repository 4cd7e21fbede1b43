internal import API
internal import Assembly
internal import Domain
internal import Settings
internal import Synchronization
internal import Wire

/// `bramley import-firebase`.
func importFirebase(_ list: [String]) async throws(CommandFault) -> Int32 {
  let halt = try haltOnSignal()
  let arguments = try parse(
    list, options: ["config", "since", "errors"], switches: ["json", "dry-run", "without-apple", "csv"])
  guard arguments.words.count == 1, let path = arguments.words.first else {
    throw .usage("import-firebase takes one file, or `-` for standard input")
  }
  let order = ImportOrder(
    path: path, format: exportFormat(of: path, arguments), isTrial: arguments.has("dry-run"),
    since: try day(arguments), admitsNoApple: arguments.has("without-apple"))
  let refusals = try RefusalList(arguments["errors"])
  let open = order.isTrial ? inspectDatabase : openDatabaseForChange
  return try await withDatabase(arguments, open: open) { settings, storage throws(CommandFault) in
    let line = ProgressLine()
    let work = FirebaseImport(
      storage: storage, linking: settings.accountLinking, halt: halt, clock: .system,
      refuse: { refusals.add($1, at: $0) })
    do {
      let tally = try await work.run(order) {
        line.show("\($0.users) users read, \($0.imported) imported, \($0.refused) refused")
      }
      line.end()
      try refusals.finish()
      report(tally, order, arguments)
      return try outcome(of: tally, order)
    } catch let fault as ImportFault {
      line.end()
      try refusals.finish()
      throw CommandFault(fault)
    } catch let fault as CommandFault {
      throw fault
    } catch {
      throw .unavailable("\(error)")
    }
  }
}

/// A request to stop sets what is returned; a second one ends the program at once.
func haltOnSignal() throws(CommandFault) -> Halt {
  let halt = Halt()
  try onStopSignal { halt.set() }
  return halt
}

/// Has a request to stop do something.
func onStopSignal(_ stop: @escaping @Sendable () -> Void) throws(CommandFault) {
  do {
    let signals = try nodeSignals()
    Task { for await signal in signals where signal == .stop { stop() } }
  } catch {
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
}

/// By the option, else by the file's name.
func exportFormat(of path: String, _ arguments: Arguments) -> ExportFormat {
  arguments.has("csv") || path.lowercased().hasSuffix(".csv") ? .csv : .json
}

/// `--since YYYY-MM-DD`, midnight UTC.
private func day(_ arguments: Arguments) throws(CommandFault) -> UnixTime? {
  guard let text = arguments["since"] else { return nil }
  guard let moment = UnixTime(date: text) else { throw .usage("--since takes a day, as 2026-01-31") }
  return moment
}

private func outcome(of tally: ImportTally, _ order: ImportOrder) throws(CommandFault) -> Int32 {
  if order.isTrial, tally.lacksAppleIDs, !order.admitsNoApple, !tally.isHalted {
    throw CommandFault(.noAppleIDs)
  }
  return tally.refused > 0 || tally.isHalted ? ExitStatus.refused : ExitStatus.done
}

private func report(_ tally: ImportTally, _ order: ImportOrder, _ arguments: Arguments) {
  let halted = tally.isHalted ? "\nit was stopped, and the same command goes on" : ""
  let lines = tally.figures.map { figure in
    figure.words + String(repeating: " ", count: 20 - figure.words.count) + "\(figure.count)"
  }
  let head = order.isTrial ? ["nothing was written; an import would come to this:"] : []
  tell(arguments, (head + lines).joined(separator: "\n") + halted) { out in
    out.member("dryRun", order.isTrial)
    for figure in tally.figures { out.member(figure.name, Int64(figure.count)) }
    out.member("interrupted", tally.isHalted)
  }
}

extension ImportTally {
  fileprivate var figures: [(name: String, words: String, count: Int)] {
    [
      ("users", "users", users), ("older", "older", older), ("imported", "imported", imported),
      ("present", "here already", present), ("linked", "got an Apple id", linked),
      ("refused", "refused", refused), ("noAppleID", "without Apple id", withoutApple),
      ("passwordOnly", "password only", passwordOnly), ("phoneOnly", "telephone only", phoneOnly),
      ("anonymous", "anonymous", anonymous), ("relayEmail", "relay addresses", relayEmails),
      ("duplicateEmails", "address twice", duplicateEmails),
      ("duplicateAppleIDs", "Apple id twice", duplicateAppleIDs), ("disabled", "disabled", disabled),
      ("claimsTooLarge", "claims too large", claimsTooLarge),
    ]
  }
}

extension CommandFault {
  fileprivate init(_ fault: ImportFault) {
    switch fault {
    case .unreadable(let code):
      self = .unavailable("the export cannot be read: errno \(code)")
    case .malformed(let fault):
      self.init(
        status: ExitStatus.refused,
        message:
          "the export is \(fault.kind.words) at byte \(fault.offset); what was taken in before stays, and the same command "
          + "goes on once the file is whole")
    case .noAppleIDs:
      self.init(
        status: ExitStatus.refused,
        message:
          "not one user has an Apple id, and nothing is imported: exports by firebase-tools of before May 2026 left "
          + "`apple.com` out. Export again with a newer one, or fetch the users with accounts:batchGet, which names all "
          + "providers (the README shows how); --without-apple imports them as they are")
    case .storage(let error):
      let fault = StartFault.storage(error)
      self.init(
        status: fault.exitStatus,
        message: "\(fault.sentence); what was taken in stays, and the same command goes on")
    }
  }
}

extension StreamFault.Kind {
  fileprivate var words: String {
    switch self {
    case .unexpectedByte: "no export that can be read"
    case .truncated: "broken off"
    case .duplicateMember: "one with `users` twice, the second"
    case .memberMissing: "one without `users`, which ends"
    }
  }
}

/// Who was refused: all of them as JSON Lines in a file, or the first on standard error. Never an address or a name.
private final class RefusalList: Sendable {
  private struct State: ~Copyable {
    var file: NewFile?
    var shown = 0
    var total = 0
    var fault: FileFault?
  }

  private let state: Mutex<State>

  init(_ path: String?) throws(CommandFault) {
    do {
      state = Mutex(State(file: try path.map { (path) throws(FileFault) in try NewFile(path) }))
    } catch {
      throw .unavailable(error.sentence)
    }
  }

  func add(_ refusal: ExportRefusal, at index: Int) {
    state.withLock { state in
      state.total += 1
      guard state.file != nil else {
        state.shown += 1
        if state.shown <= Limits.shownImportRefusals { complain(refusal.words(at: index)) }
        return
      }
      do throws(FileFault) {
        try state.file?.write(refusal.line(at: index))
      } catch {
        state.fault = error
      }
    }
  }

  func finish() throws(CommandFault) {
    let (rest, fault) = state.withLock { state -> (Int, FileFault?) in
      (state.shown - Limits.shownImportRefusals, state.fault)
    }
    if rest > 0 { complain("and \(rest) more; --errors FILE keeps all of them") }
    if let fault { throw .unavailable(fault.sentence) }
  }
}

extension ExportRefusal {
  fileprivate func words(at index: Int) -> String {
    "user \(index)\(account.map { ", \($0)," } ?? "") is refused: \(reason)\(field.map { " (\($0))" } ?? "")"
  }

  fileprivate func line(at index: Int) -> [UInt8] {
    var out = JSONWriter(reserving: 128)
    out.member("index", Int64(index))
    out.member("localId", account?.text)
    out.member("reason", reason)
    out.member("field", field)
    return out.finish() + [0x0A]
  }
}
