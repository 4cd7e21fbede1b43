import LoadReport
import Testing
import Wire

/// Pseudo-random numbers that are the same in every run (Marsaglia's xorshift64).
struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

@Suite struct HistogramTests {
  /// Durations as they occur: most are short, a few very long.
  private func durations(_ count: Int, seed: UInt64) -> [Int] {
    var random = Seeded(seed)
    return (0..<count).map { _ in
      Int.random(in: 1...(1 << Int.random(in: 4...38, using: &random)), using: &random)
    }
  }

  @Test(arguments: [1, 7, 4711] as [UInt64])
  func `a percentile is as exact as sorting, but for three significant digits`(_ seed: UInt64) {
    let values = durations(20_000, seed: seed)
    var histogram = Histogram()
    for value in values { histogram.record(value) }
    let sorted = values.sorted()
    for percent in [0.01, 1, 25, 50, 75, 90, 99, 99.9, 99.99, 100] {
      let rank = max(1, Int((Double(sorted.count) * percent / 100).rounded(.up)))
      let (exact, found) = (sorted[rank - 1], histogram.percentile(percent))
      #expect(found >= exact, "\(percent)")
      #expect(Double(found - exact) <= Double(exact) / 1000, "\(percent)")
    }
    #expect(histogram.maximum == sorted.last)
    #expect(histogram.count == values.count)
  }

  @Test func `merging is recording into one`() {
    let (first, second) = (durations(3000, seed: 3), durations(500, seed: 5))
    var (a, b, both) = (Histogram(), Histogram(), Histogram())
    for value in first { a.record(value) }
    for value in second { b.record(value) }
    for value in first + second { both.record(value) }
    a.merge(b)
    #expect(a == both)
  }

  @Test func `what is negative counts as nothing, and what is too long as the longest`() {
    var histogram = Histogram()
    histogram.record(-5)
    histogram.record(.max)
    #expect(histogram.percentile(50) == 0)
    #expect(histogram.maximum == Histogram.largest)
    #expect(histogram.percentile(100) == Histogram.largest)
  }

  @Test func `an empty one has no percentile`() {
    #expect(Histogram().percentile(99) == 0)
    #expect(Histogram().mean == 0)
    #expect(Histogram().cells.isEmpty)
  }
}
