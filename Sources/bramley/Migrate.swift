internal import Assembly
internal import Settings
internal import Storage
internal import Wire

/// `bramley migrate`, and with `--check` only the question whether it has something to do.
func migrate(_ list: [String]) throws(CommandFault) -> Int32 {
  let arguments = try parse(list, switches: ["json", "check"])
  guard arguments.words.isEmpty else { throw .usage("migrate takes no words") }
  let settings = try loadSettings(arguments)
  do throws(StartFault) {
    let report = try migrateDatabase(settings, changes: !arguments.has("check"))
    let isDone = !arguments.has("check") || report.from == report.to
    if arguments.has("json") {
      var out = JSONWriter()
      out.member("from", report.from)
      out.member("to", report.to)
      out.member("upToDate", isDone)
      printJSON(out)
    } else if report.from == report.to {
      print("the schema is up to date (version \(report.to))")
    } else {
      print("schema version \(report.from) \(isDone ? "was brought" : "has to be brought") to \(report.to)")
    }
    return isDone ? ExitStatus.done : ExitStatus.refused
  } catch {
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
}
