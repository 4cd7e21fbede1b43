internal import Bench
internal import Load
internal import LoadReport
internal import Wire

let ceilingHelp = """
  usage: bramley-bench ceiling [--quick] [--data FOLDER] [--json]

    --quick         half a second for each, instead of two
    --data FOLDER   where files are written: the speed of a commit is that of this file system (\(temporaryFolder))
    --json          one JSON object
  """

/// `bramley-bench ceiling`.
func ceiling(_ list: [String], _ stop: StopFlag) throws(CommandFault) -> Int32 {
  let arguments = try Arguments(list, options: ["data"], switches: ["quick", "json"])
  guard arguments.words.isEmpty else { throw .usage("ceiling takes options only") }
  let figures = try attempt { () throws(LoadError) in
    try measureCeiling(
      seconds: arguments.has("quick") ? 0.5 : 2, in: arguments["data"] ?? temporaryFolder, stop: stop)
  }
  if arguments.has("json") {
    var out = JSONWriter(reserving: 2048)
    out.member("cores", Int64(availableCores()))
    out.member("figures", jsonArray: figures.map(json))
    printBytes(out.finish() + [10])
  } else {
    printBytes(Array((table(figures) + "\n").utf8))
  }
  return ExitStatus.done
}

private func json(_ figure: Figure) -> [UInt8] {
  var out = JSONWriter(reserving: 128)
  out.member("name", figure.name)
  out.member("callers", Int64(figure.callers))
  if let cost = figure.microseconds { out.member("microseconds", json: decimal(cost, 3).utf8) }
  out.member("perSecond", json: decimal(figure.perSecond, 1).utf8)
  return out.finish()
}

private func table(_ figures: [Figure]) -> String {
  func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
  let width = figures.map(\.name.count).max() ?? 0
  let lines = figures.map { figure in
    figure.name + String(repeating: " ", count: width - figure.name.count) + padded("\(figure.callers)", 9)
      + padded(figure.microseconds.map { decimal($0, 1) + " µs" } ?? "", 13)
      + padded(decimal(figure.perSecond, 0) + "/s", 14)
  }
  let head =
    String(repeating: " ", count: width) + padded("at once", 9) + padded("CPU of each", 13)
    + padded("rate", 14)
  return ([head] + lines).joined(separator: "\n")
}

/// The child that the ceiling's empty requests go to.
func runListener(_ list: [String]) -> Int32 {
  do {
    let arguments = try Arguments(list, options: ["threads"], switches: [])
    try attempt { [threads = try number("threads", of: arguments, 1...1024)] () throws(LoadError) in
      try runEmptyListener(threads: threads ?? 1)
    }
    return ExitStatus.done
  } catch {
    complain(error.message)
    return error.status
  }
}
