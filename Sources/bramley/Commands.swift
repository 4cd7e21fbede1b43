internal import Wire

/// One subcommand.
struct Command {
  let name: String
  let usage: String
  let summary: String
  let run: @Sendable ([String]) async throws(CommandFault) -> Int32
}

/// All subcommands, in the order in which help lists them.
private let commands: [Command] = [
  Command(
    name: "serve", usage: "serve [--config FILE]", summary: "run the service",
    run: { arguments throws(CommandFault) in try await serve(arguments) }),
  Command(
    name: "config", usage: "config check|print [--config FILE] [--json]",
    summary: "judge or show the settings", run: { arguments throws(CommandFault) in try config(arguments) }),
  Command(
    name: "keys",
    usage: "keys list|rewrap [--config FILE] [--json]\n"
      + "       bramley keys rotate [--now|--force] [--config FILE] [--json]\n"
      + "       bramley keys revoke [--config FILE] [--json] [--] KID",
    summary: "show, rotate or withdraw the signing keys, or seal them with the first master key",
    run: { arguments throws(CommandFault) in try await keys(arguments) }),
  Command(
    name: "users",
    usage: "users list [--newest] [--limit N] [--after CURSOR] [--config FILE] [--json]\n"
      + "       bramley users list --id ID | --email ADDRESS | --provider ID --subject SUBJECT\n"
      + "       bramley users show|disable|enable|delete [--config FILE] [--json] [--] ID\n"
      + "       bramley users end-sessions [--config FILE] [--json] [--] ID [SESSION]\n"
      + "       bramley users set-claims [--config FILE] [--json] [--] ID JSON",
    summary: "show, search and change accounts, and end their sessions",
    run: { arguments throws(CommandFault) in try await users(arguments) }),
  Command(
    name: "audit",
    usage: "audit list [--account ID] [--after POSITION] [--limit N] [--config FILE] [--json]\n"
      + "       bramley audit verify [--head POSITION:DIGEST] [--config FILE] [--json]\n"
      + "       bramley audit restart [--config FILE] [--json]",
    summary: "show what was done to accounts and keys, or see whether somebody changed the record of it",
    run: { arguments throws(CommandFault) in try await audit(arguments) }),
  Command(
    name: "apple",
    usage: "apple queue list [--limit N] [--after ID] [--config FILE] [--json]\n"
      + "       bramley apple queue retry [--config FILE] [--json] ID|--all\n"
      + "       bramley apple notifications [--limit N] [--config FILE] [--json]\n"
      + "       bramley apple transfer export --target TEAM [--dry-run] [--limit N] [--patience SECONDS]\n"
      + "           [--retry-refused] [--replace] [--config FILE] [--json]\n"
      + "       bramley apple transfer import [--accepted DATE] [--dry-run] [--limit N] [--patience SECONDS]\n"
      + "           [--retry-refused] [--config FILE] [--json]\n"
      + "       bramley apple transfer status [--target TEAM] [--accepted DATE] [--config FILE] [--json]",
    summary: "show the calls to Apple that wait, or have them made now; move people to another team",
    run: { arguments throws(CommandFault) in try await apple(arguments) }),
  Command(
    name: "import-firebase",
    usage: "import-firebase [--dry-run] [--since DATE] [--errors FILE] [--without-apple] [--csv]\n"
      + "           [--config FILE] [--json] FILE|-",
    summary: "take in the users of a `firebase auth:export`, their ids kept",
    run: { arguments throws(CommandFault) in try await importFirebase(arguments) }),
  Command(
    name: "export-firebase", usage: "export-firebase [--csv] [--config FILE] FILE|-",
    summary: "write all accounts in the form that `firebase auth:import` takes",
    run: { arguments throws(CommandFault) in try await exportFirebase(arguments) }),
  Command(
    name: "webhooks",
    usage: "webhooks list [--all] [--after POSITION] [--limit N] [--config FILE] [--json]\n"
      + "       bramley webhooks retry [--config FILE] [--json] ID | --all",
    summary: "show what the app's back end did not take, or send it again",
    run: { arguments throws(CommandFault) in try await webhooks(arguments) }),
  Command(
    name: "token",
    usage: "token explain [--jwks FILE] [--audience ID] [--issuer URL] [--nonce RAW] [--now SECONDS]\n"
      + "          [--config FILE] [--json] TOKEN|-",
    summary: "say what an Apple token says and why it is refused",
    run: { arguments throws(CommandFault) in try await token(arguments) }),
  Command(
    name: "migrate", usage: "migrate [--check] [--config FILE] [--json]",
    summary: "bring the database's schema up to date",
    run: { arguments throws(CommandFault) in try migrate(arguments) }),
  Command(
    name: "backup", usage: "backup [--config FILE] [--json] FILE",
    summary: "copy the database into a new file while the service runs, without the master key",
    run: { arguments throws(CommandFault) in try backup(arguments) }),
  Command(
    name: "restore", usage: "restore [--end-sessions] [--config FILE] [--json] FILE",
    summary: "put a backup where the database was",
    run: { arguments throws(CommandFault) in try await restore(arguments) }),
  Command(
    name: "export", usage: "export [--config FILE] [--json] FILE|-",
    summary: "write the whole database as lines of JSON, for another kind of database",
    run: { arguments throws(CommandFault) in try await export(arguments) }),
  Command(
    name: "import", usage: "import [--config FILE] [--json] FILE|-",
    summary: "take an export into an empty database",
    run: { arguments throws(CommandFault) in try await takeIn(arguments) }),
  Command(
    name: "doctor", usage: "doctor [--config FILE] [--json]",
    summary: "look at the clock, the keys, the database and Apple's endpoint",
    run: { arguments throws(CommandFault) in try await doctor(arguments) }),
  Command(
    name: "version", usage: "version [--json]", summary: "print the version",
    run: { arguments throws(CommandFault) in try version(arguments) }),
]

/// Runs the subcommand that the arguments name.
///
/// - Returns: The exit status.
func runCommand(_ arguments: [String]) async -> Int32 {
  guard let name = arguments.first, name != "help", name != "--help", name != "-h" else {
    print(overview)
    return arguments.isEmpty ? ExitStatus.usage : ExitStatus.done
  }
  guard let command = commands.first(where: { $0.name == name }) else {
    complain("there is no command `\(name)`; `bramley --help` lists them")
    return ExitStatus.usage
  }
  let rest = Array(arguments.dropFirst())
  if rest.contains("--help") || rest.contains("-h") {
    print("\(command.summary)\n\nusage: bramley \(command.usage)\n\n\(exitStatuses)")
    return ExitStatus.done
  }
  do {
    return try await command.run(rest)
  } catch {
    complain(error.message)
    if error.status == ExitStatus.usage { complain("usage: bramley \(command.usage)") }
    return error.status
  }
}

private let exitStatuses =
  "exit status: 0 done; 1 refused or not found; 64 wrong usage; 69 something needed is not there; "
  + "78 wrong configuration"

private var overview: String {
  let width = commands.map(\.name.count).max() ?? 0
  let lines = commands.map { command in
    "  " + command.name + String(repeating: " ", count: width - command.name.count + 2) + command.summary
  }
  return "Bramley, an auth bridge for Sign in with Apple\n\nusage: bramley COMMAND …\n\n"
    + lines.joined(separator: "\n") + "\n\n`bramley COMMAND --help` says more. \(exitStatuses)"
}
