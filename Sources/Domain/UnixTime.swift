/// A moment in whole seconds since 1970-01-01T00:00:00Z (RFC 7519 §2, NumericDate without a fraction).
package struct UnixTime: Hashable, Comparable, Sendable {
  package let seconds: Int64

  package init(_ seconds: Int64) {
    self.seconds = seconds
  }

  /// Midnight UTC of a day as `2026-01-31` (RFC 3339 full-date); nil for what is none, and for days before 1970.
  package init?(date text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2],
      parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let year = Int64(parts[0]),
      let month = Int64(parts[1]), let day = Int64(parts[2]), year >= 1970, (1...12).contains(month)
    else { return nil }
    let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
    let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...lengths[Int(month - 1)]).contains(day) else { return nil }
    let leapDays = (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 - 477
    let days = (year - 1970) * 365 + leapDays + lengths.prefix(Int(month - 1)).reduce(0, +) + day - 1
    self.init(days * 86_400)
  }

  package static func < (a: UnixTime, b: UnixTime) -> Bool { a.seconds < b.seconds }

  /// The moment `seconds` later; stops at the ends of the range instead of trapping.
  package static func + (time: UnixTime, seconds: Int64) -> UnixTime {
    let (sum, overflow) = time.seconds.addingReportingOverflow(seconds)
    return UnixTime(overflow ? (seconds < 0 ? .min : .max) : sum)
  }

  /// The moment `seconds` earlier; stops at the ends of the range instead of trapping.
  package static func - (time: UnixTime, seconds: Int64) -> UnixTime {
    let (difference, overflow) = time.seconds.subtractingReportingOverflow(seconds)
    return UnixTime(overflow ? (seconds < 0 ? .max : .min) : difference)
  }

  /// Seconds from `earlier` to `self`; stops at the ends of the range instead of trapping.
  package func since(_ earlier: UnixTime) -> Int64 {
    let (difference, overflow) = seconds.subtractingReportingOverflow(earlier.seconds)
    return overflow ? (seconds < 0 ? .min : .max) : difference
  }
}
