internal import Domain

/// Puts JSON lines together in one buffer.
struct LineFormat {
  private var bytes: [UInt8] = []
  /// The text of the second it was last made for: under load, many lines share one.
  private var time: (second: UnixTime, text: [UInt8])?

  /// The lines so far; the next one begins anew.
  mutating func takeLines() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  mutating func append(_ entry: LogEntry) {
    bytes += #"{"time":""#.utf8
    appendTime(entry.time)
    bytes += #"","level":""#.utf8
    bytes += Self.name(of: entry.level).utf8
    bytes += #"","event":"#.utf8
    append(word: entry.event)
    for field in entry.fields {
      switch field {
      case .text(let name, let value):
        append(name: name)
        append(text: value)
      case .number(let name, let value):
        append(name: name)
        bytes += String(value).utf8
      case .flag(let name, let value):
        append(name: name)
        bytes += (value ? "true" : "false").utf8
      }
    }
    bytes += "}\n".utf8
  }

  private static func name(of level: Log.Level) -> String {
    switch level {
    case .debug: "debug"
    case .info: "info"
    case .warning: "warning"
    case .error: "error"
    }
  }

  private mutating func append(name: StaticString) {
    bytes.append(UInt8(ascii: ","))
    append(word: name)
    bytes.append(UInt8(ascii: ":"))
  }

  /// A word of the program's own, which needs no escape.
  private mutating func append(word: StaticString) {
    bytes.append(UInt8(ascii: "\""))
    word.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func appendTime(_ moment: UnixTime) {
    if let time, time.second == moment {
      bytes += time.text
      return
    }
    let text = Array(timestamp(of: moment).utf8)
    time = (moment, text)
    bytes += text
  }

  /// A JSON string (RFC 8259 §7).
  ///
  /// Beyond what JSON asks for, whatever a terminal or a reader of lines could take for a command or a line's
  /// end is escaped: DEL, the C1 controls, U+2028 and U+2029.
  private mutating func append(text: String) {
    bytes.append(UInt8(ascii: "\""))
    defer { bytes.append(UInt8(ascii: "\"")) }
    // Almost every text needs no escape, and its bytes can be taken over as they are.
    guard !isPlain(text.utf8.span) else {
      bytes += text.utf8
      return
    }
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22: bytes += #"\""#.utf8
      case 0x5C: bytes += #"\\"#.utf8
      case 0x0A: bytes += #"\n"#.utf8
      case 0x0D: bytes += #"\r"#.utf8
      case 0x09: bytes += #"\t"#.utf8
      case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: appendEscape(of: scalar)
      default: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
      }
    }
  }

  private mutating func appendEscape(of scalar: Unicode.Scalar) {
    let digits = Array("0123456789abcdef".utf8)
    bytes += #"\u"#.utf8
    for shift in stride(from: 12, through: 0, by: -4) {
      bytes.append(digits[Int(scalar.value >> UInt32(shift) & 15)])
    }
  }
}

/// Whether a text may stand in a JSON string as it is.
private func isPlain(_ text: Span<UInt8>) -> Bool {
  text.indices.allSatisfy { index in
    let byte = text[index]
    return byte >= 0x20 && byte <= 0x7E && byte != 0x22 && byte != 0x5C
  }
}

/// The moment as RFC 3339 writes it, in UTC and whole seconds; held to the years 1970 to 9999.
private func timestamp(of moment: UnixTime) -> String {
  let seconds = min(max(moment.seconds, 0), 253_402_300_799)
  let (year, month, day) = civilDate(daysSinceEpoch: seconds / 86_400)
  let clock = seconds % 86_400
  let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
  return "\(date)T\(padded(clock / 3600, 2)):\(padded(clock / 60 % 60, 2)):\(padded(clock % 60, 2))Z"
}

/// The Gregorian date of a day, by arithmetic alone: no time zone data, no allocation.
///
/// Years are counted from the first of March, which puts the leap day at a year's end: then months before any
/// month have (153 m + 2) / 5 days, and 400 years always have 146,097.
private func civilDate(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
  // 719,468 days lie between 0000-03-01 and 1970-01-01.
  let shifted = days + 719_468
  let era = shifted / 146_097
  let dayOfEra = shifted % 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let monthFromMarch = (5 * dayOfYear + 2) / 153
  let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
  let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
}

private func padded(_ number: Int64, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
