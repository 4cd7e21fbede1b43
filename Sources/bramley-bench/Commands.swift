internal import Load
internal import Wire

/// One subcommand.
struct Command {
  let name: String
  let summary: String
  /// What `--help` says beyond the summary.
  let help: String
  let run: @Sendable ([String], StopFlag) throws(CommandFault) -> Int32
}

/// All subcommands, in the order in which help lists them.
private let commands: [Command] =
  WorkloadName.allCases.map { name in
    Command(
      name: name.rawValue, summary: name.summary, help: loadHelp(name),
      run: { list, stop throws(CommandFault) in try runWorkload(name, list, stop) })
  } + [
    Command(
      name: "ceiling",
      summary: "measure what a request cannot do without: cryptography, a commit, an empty request",
      help: ceilingHelp, run: { list, stop throws(CommandFault) in try ceiling(list, stop) }),
    Command(
      name: "start", summary: "measure how soon the server is ready, and its memory when idle",
      help: startHelp,
      run: { list, _ throws(CommandFault) in try start(list) }),
    Command(
      name: "compare", summary: "two reports beside each other", help: compareHelp,
      run: { list, _ throws(CommandFault) in try compare(list) }),
    Command(
      name: "mint", summary: "mint Apple tokens ahead", help: mintHelp,
      run: { list, stop throws(CommandFault) in try mint(list, stop) }),
  ]

/// Runs the subcommand that the arguments name.
///
/// - Returns: The exit status.
func runCommand(_ arguments: [String], _ stop: StopFlag) -> Int32 {
  guard let name = arguments.first, name != "help", name != "--help", name != "-h" else {
    print(overview)
    return arguments.isEmpty ? ExitStatus.usage : ExitStatus.done
  }
  let rest = Array(arguments.dropFirst())
  if name == "--compare" { return runCommand(["compare"] + rest, stop) }
  // Started by this program itself, for the ceiling.
  if name == "listener" { return runListener(rest) }
  guard let command = commands.first(where: { $0.name == name }) else {
    complain("there is no workload or command `\(name)`; `bramley-bench --help` lists them")
    return ExitStatus.usage
  }
  if rest.contains("--help") || rest.contains("-h") {
    print("\(command.summary)\n\n\(command.help)\n\n\(exitStatuses)")
    return ExitStatus.done
  }
  do {
    return try command.run(rest, stop)
  } catch {
    complain(error.message)
    if error.status == ExitStatus.usage { complain("`bramley-bench \(name) --help` says more") }
    return error.status
  }
}

private let exitStatuses =
  "exit status: 0 done; 1 a --fail-if holds or a promise was broken; 64 wrong usage; "
  + "69 something needed is not there"

private var overview: String {
  let width = commands.map(\.name.count).max() ?? 0
  let lines = commands.map { command in
    "  " + command.name + String(repeating: " ", count: width - command.name.count + 2) + command.summary
  }
  return "Load for Bramley, and what it costs\n\nusage: bramley-bench WORKLOAD [OPTIONS]\n"
    + "       bramley-bench COMMAND [OPTIONS]\n\n" + lines.joined(separator: "\n")
    + "\n\n`bramley-bench NAME --help` says more. \(exitStatuses)"
}
