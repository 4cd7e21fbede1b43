internal import Assembly
internal import Glibc
internal import Wire

/// Takes a command line apart; most commands take a settings file and can print JSON.
func parse(
  _ list: [String], options: Set<String> = ["config"], switches: Set<String> = ["json"]
) throws(CommandFault) -> Arguments {
  try Arguments(list, options: options, switches: switches)
}

/// Writes a line to standard error.
func complain(_ message: String) {
  _ = writeAll(Array("bramley: \(message)\n".utf8), to: STDERR_FILENO)
}
