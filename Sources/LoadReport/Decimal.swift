/// A number with a fixed count of decimals; without Foundation there is no formatter.
package func decimal(_ value: Double, _ places: Int) -> String {
  guard value.isFinite else { return "0" }
  let scale = (0..<places).reduce(1.0) { factor, _ in factor * 10 }
  let scaled = (abs(value) * scale).rounded()
  guard scaled < 9e15 else { return String(Int64(clamping: Int(exactly: value.rounded()) ?? .max)) }
  let digits = String(Int64(scaled))
  let padded = String(repeating: "0", count: max(0, places + 1 - digits.utf8.count)) + digits
  let sign = value < 0 && scaled > 0 ? "-" : ""
  guard places > 0 else { return sign + padded }
  return sign + padded.dropLast(places) + "." + padded.suffix(places)
}

/// A duration in the unit that a person would choose.
package func durationText(_ nanoseconds: Int) -> String {
  switch nanoseconds {
  case ..<1000: "\(nanoseconds) ns"
  case ..<1_000_000: decimal(Double(nanoseconds) / 1e3, 1) + " µs"
  case ..<1_000_000_000: decimal(Double(nanoseconds) / 1e6, 2) + " ms"
  default: decimal(Double(nanoseconds) / 1e9, 2) + " s"
  }
}

/// Reads a number without a sign, with at most one point and no exponent.
package func decimalNumber(_ text: some StringProtocol) -> Double? {
  guard !text.isEmpty, text.utf8.count <= 15, text.utf8.first != UInt8(ascii: "."),
    text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
  else { return nil }
  return Double(String(text))
}

/// Reads a duration such as `20ms`, `1.5s`, `250us` or `2m`, in nanoseconds.
package func durationNumber(_ text: some StringProtocol) -> Int? {
  let units: [(String, Double)] = [
    ("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 6e10), ("h", 3.6e12),
  ]
  for (unit, factor) in units where text.hasSuffix(unit) {
    if let number = decimalNumber(text.dropLast(unit.count)) {
      return Int(exactly: (number * factor).rounded())
    }
  }
  return nil
}

/// Text in a column: padded on the left, so that numbers end below each other.
func column(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}
