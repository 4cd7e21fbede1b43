internal import Assembly
internal import Wire

/// `bramley version`.
func version(_ list: [String]) throws(CommandFault) -> Int32 {
  let arguments = try parse(list, options: [])
  guard arguments.words.isEmpty else { throw .usage("version takes no words") }
  if arguments.has("json") {
    var out = JSONWriter()
    out.member("version", bramleyVersion)
    printJSON(out)
  } else {
    print("bramley \(bramleyVersion)")
  }
  return ExitStatus.done
}
