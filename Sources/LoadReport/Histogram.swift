//===-- LoadReport ---------------------------------------------------------===//
// What a load run found: counts, latencies, what they cost, and how all of it is written, read again, compared and
// held against thresholds. Pure values: nothing here sends, measures or reads a clock.
//===------------------------------------------------------------------------===//

/// Durations in nanoseconds, counted in cells whose width grows with the value: three significant digits from one
/// nanosecond to eighteen minutes in a fixed quarter of a megabyte. After the idea of HdrHistogram (hdrhistogram.org).
package struct Histogram: Sendable, Equatable {
  /// Cells of one power of two: the relative error is at most one in this many.
  private static let half = 1024
  /// Whatever takes longer is counted as this.
  package static let largest = 1 << 40 - 1
  private static let cellCount = 31 * half

  private var counts = [Int](repeating: 0, count: cellCount)
  /// Values that were recorded.
  package private(set) var count = 0
  package private(set) var maximum = 0

  package init() {}

  /// Counts one duration; a negative one counts as none.
  package mutating func record(_ nanoseconds: Int) { record(nanoseconds, times: 1) }

  /// Counts a duration several times.
  package mutating func record(_ nanoseconds: Int, times: Int) {
    let value = min(max(nanoseconds, 0), Self.largest)
    counts[Self.cell(of: value)] += times
    count += times
    if value > maximum { maximum = value }
  }

  /// Adds what another one has counted.
  package mutating func merge(_ other: Histogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    count += other.count
    maximum = max(maximum, other.maximum)
  }

  /// From the cells, so that a histogram that was written and read again has the same one.
  package var mean: Double {
    count == 0 ? 0 : cells.reduce(0.0) { $0 + Double($1.upperEnd) * Double($1.count) } / Double(count)
  }

  /// The duration that `percent` of the values do not exceed; 0 when there is none.
  package func percentile(_ percent: Double) -> Int {
    let rank = Int((Double(count) * percent / 100).rounded(.up))
    var seen = 0
    for (index, count) in counts.enumerated() where count > 0 {
      seen += count
      if seen >= max(rank, 1) { return min(Self.upperEnd(of: index), maximum) }
    }
    return maximum
  }

  /// The cells that are not empty: the largest duration of each, and how many fell into it.
  package var cells: [(upperEnd: Int, count: Int)] {
    counts.enumerated().filter { $0.element > 0 }.map {
      (min(Self.upperEnd(of: $0.offset), maximum), $0.element)
    }
  }

  private static func cell(of value: Int) -> Int {
    guard value >= 2 * half else { return value }
    let shift = Int.bitWidth - 1 - value.leadingZeroBitCount - half.trailingZeroBitCount
    return shift * half + value >> shift
  }

  private static func upperEnd(of cell: Int) -> Int {
    guard cell >= 2 * half else { return cell }
    let shift = cell / half - 1
    return (cell - shift * half + 1) << shift - 1
  }
}
