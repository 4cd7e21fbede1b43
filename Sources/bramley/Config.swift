internal import Assembly
internal import Settings
internal import Wire

/// `bramley config check` and `bramley config print`.
func config(_ list: [String]) throws(CommandFault) -> Int32 {
  let arguments = try parse(list)
  switch arguments.words {
  case ["check"]: return checkConfig(arguments)
  case ["print"]: return printConfig(arguments)
  default: throw .usage("config takes `check` or `print`")
  }
}

private func checkConfig(_ arguments: Arguments) -> Int32 {
  var faults: [SettingsFault] = []
  var warnings: [String] = []
  do {
    warnings = try readSettings(
      environment: processEnvironment(), file: arguments["config"], cores: availableCores(),
      contents: readFile
    ).warnings
  } catch {
    faults = error.faults
  }
  if arguments.has("json") {
    var out = JSONWriter()
    out.member("valid", faults.isEmpty)
    out.member("faults", jsonArray: faults.map(json))
    out.member("warnings", warnings)
    printJSON(out)
  } else {
    for fault in faults { complain("\(fault.setting) \(fault.problem)") }
    for warning in warnings { complain("warning: \(warning)") }
    if faults.isEmpty { print("the configuration is right") }
  }
  return faults.isEmpty ? ExitStatus.done : ExitStatus.configuration
}

private func json(_ fault: SettingsFault) -> [UInt8] {
  var out = JSONWriter()
  out.member("setting", fault.setting)
  out.member("problem", fault.problem)
  return out.finish()
}

private func printConfig(_ arguments: Arguments) -> Int32 {
  let settings = printedSettings(
    environment: processEnvironment(), file: arguments["config"], contents: readFile)
  guard arguments.has("json") else {
    for setting in settings {
      print("\(setting.variable)=\(setting.text)\(setting.source == nil ? "  # default" : "")")
    }
    return ExitStatus.done
  }
  var out = JSONWriter()
  for setting in settings {
    out.object(setting.variable) { out in
      out.member("value", setting.text)
      out.member("source", setting.source ?? "default")
    }
  }
  printJSON(out)
  return ExitStatus.done
}

/// Prints one JSON object on a line.
func printJSON(_ out: JSONWriter) { printJSON(out.finish()) }

/// Prints one JSON object on a line.
func printJSON(_ object: [UInt8]) { print(String(decoding: object, as: UTF8.self)) }

/// Prints what was done, in words or as one object.
func tell(_ arguments: Arguments, _ sentence: String, _ json: (inout JSONWriter) -> Void) {
  guard arguments.has("json") else { return print(sentence) }
  var out = JSONWriter()
  json(&out)
  printJSON(out)
}
