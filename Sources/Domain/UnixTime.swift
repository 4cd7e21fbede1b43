/// A moment in whole seconds since 1970-01-01T00:00:00Z (RFC 7519 §2, NumericDate without a fraction).
package struct UnixTime: Hashable, Comparable, Sendable {
  package let seconds: Int64

  package init(_ seconds: Int64) {
    self.seconds = seconds
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
