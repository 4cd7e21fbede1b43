/// A command line taken apart: what stands alone, and what begins with two dashes.
package struct Arguments: Sendable {
  /// What stands alone, in order.
  package private(set) var words: [String] = []
  private var values: [String: [String]] = [:]
  private var flags: Set<String> = []

  /// - Parameters:
  ///   - options: Names that take a value, as `--name VALUE` or `--name=VALUE`.
  ///   - lists: Such names that may be given several times.
  ///   - switches: Names that take none.
  package init(
    _ arguments: [String], options: Set<String>, lists: Set<String> = [], switches: Set<String>
  ) throws(CommandFault) {
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
      } else if options.contains(name) || lists.contains(name) {
        guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
          throw .usage("--\(name) needs a value")
        }
        values[name, default: []].append(value)
        guard lists.contains(name) || values[name]?.count == 1 else {
          throw .usage("--\(name) is given twice")
        }
      } else {
        throw .usage("there is no option --\(name) here")
      }
    }
  }

  /// Whether a switch is given.
  package func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// The value of an option.
  package subscript(option: String) -> String? { values[option]?.first }

  /// All values of a list, in order.
  package func all(_ option: String) -> [String] { values[option] ?? [] }

  /// The value of an option that is a whole number.
  package func number(_ option: String, _ range: ClosedRange<Int64>) throws(CommandFault) -> Int64? {
    guard let text = self[option] else { return nil }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
      range.contains(number)
    else {
      throw .usage("--\(option) takes a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
