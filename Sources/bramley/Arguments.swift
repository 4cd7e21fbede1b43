internal import Assembly
internal import Glibc

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

/// A command line taken apart: what stands alone, and what begins with two dashes.
struct Arguments {
  private(set) var words: [String] = []
  private var values: [String: String] = [:]
  private var flags: Set<String> = []

  /// - Parameters:
  ///   - options: Names that take a value, as `--name VALUE` or `--name=VALUE`.
  ///   - switches: Names that take none.
  init(_ arguments: [String], options: Set<String>, switches: Set<String>) throws(CommandFault) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else {
        words.append(argument)
        continue
      }
      if argument == "--" {
        words += rest
        return
      }
      let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      if switches.contains(name), parts.count == 1 {
        flags.insert(name)
      } else if options.contains(name) {
        guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
          throw .usage("--\(name) needs a value")
        }
        guard values.updateValue(value, forKey: name) == nil else { throw .usage("--\(name) is given twice") }
      } else {
        throw .usage("there is no option --\(name) here")
      }
    }
  }

  func has(_ flag: String) -> Bool { flags.contains(flag) }

  subscript(option: String) -> String? { values[option] }

  /// A whole number; anything else is wrong usage.
  func number(_ option: String, _ range: ClosedRange<Int64>) throws(CommandFault) -> Int64? {
    guard let text = values[option] else { return nil }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text), range.contains(number)
    else { throw .usage("--\(option) takes a whole number from \(range.lowerBound) to \(range.upperBound)") }
    return number
  }
}

/// Writes a line to standard error.
func complain(_ message: String) {
  _ = writeAll(Array("bramley: \(message)\n".utf8), to: STDERR_FILENO)
}
