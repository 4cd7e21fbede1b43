internal import Assembly
internal import Wire

/// `bramley doctor`: everything that a service needs, looked at before it is missed.
func doctor(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(list)
  guard arguments.words.isEmpty else { throw .usage("doctor takes no words") }
  let findings = await examine(try loadSettings(arguments))
  let isWell = !findings.contains { $0.verdict == .failed }
  if arguments.has("json") {
    var out = JSONWriter()
    out.member("healthy", isWell)
    out.member(
      "findings",
      jsonArray: findings.map { finding in
        var out = JSONWriter()
        out.member("subject", finding.subject)
        out.member("verdict", finding.verdict.rawValue)
        out.member("detail", finding.detail)
        return out.finish()
      })
    printJSON(out)
  } else {
    for finding in findings { print("\(finding.verdict.rawValue)  \(finding.subject): \(finding.detail)") }
  }
  return isWell ? ExitStatus.done : ExitStatus.refused
}
