internal import Assembly
internal import Glibc
internal import Wire

/// How a program ends (contract with operators' scripts; sysexits.h).
enum ExitStatus {
  static let done: Int32 = 0
  static let refused: Int32 = 1
  static let usage: Int32 = 64
  static let unavailable: Int32 = 69
  static let configuration: Int32 = 78
}

/// A command line that cannot be carried out as it was written, or could not be carried out.
struct CommandFault: Error {
  let status: Int32
  let message: String

  static func usage(_ message: String) -> CommandFault {
    CommandFault(status: ExitStatus.usage, message: message)
  }
}

/// Takes a command line apart; what it may not say is wrong usage.
func parse(
  _ list: [String], options: Set<String> = ["config"], switches: Set<String> = ["json"]
) throws(CommandFault) -> Arguments {
  do {
    return try Arguments(list, options: options, switches: switches)
  } catch {
    throw .usage(error.message)
  }
}

/// A whole number of an option; anything else is wrong usage.
func number(
  _ option: String, of arguments: Arguments, _ range: ClosedRange<Int64>
) throws(CommandFault) -> Int64? {
  do {
    return try arguments.number(option, range)
  } catch {
    throw .usage(error.message)
  }
}

/// Writes a line to standard error.
func complain(_ message: String) {
  _ = writeAll(Array("bramley: \(message)\n".utf8), to: STDERR_FILENO)
}
