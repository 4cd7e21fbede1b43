import Domain
import Testing

@Suite struct UnixTimeTests {
  @Test func `sums stop at the ends of the range`() {
    #expect(UnixTime(.max) + 1 == UnixTime(.max))
    #expect(UnixTime(.min) + -1 == UnixTime(.min))
    #expect(UnixTime(5) + 6 == UnixTime(11))
    #expect(UnixTime(.min) - 1 == UnixTime(.min))
    #expect(UnixTime(.max) - -1 == UnixTime(.max))
    #expect(UnixTime(0) - .min == UnixTime(.max))
    #expect(UnixTime(-5) - .min == UnixTime(.max - 4))
    #expect(UnixTime(5) - 6 == UnixTime(-1))
  }

  @Test func `differences stop at the ends of the range`() {
    #expect(UnixTime(.max).since(UnixTime(-1)) == .max)
    #expect(UnixTime(.min).since(UnixTime(1)) == .min)
    #expect(UnixTime(0).since(UnixTime(.min)) == .max)
    #expect(UnixTime(-1).since(UnixTime(.min)) == .max)
    #expect(UnixTime(-2).since(UnixTime(.max)) == .min)
    #expect(UnixTime(10).since(UnixTime(4)) == 6)
  }

  @Test func `times are in order`() {
    #expect(UnixTime(1) < UnixTime(2))
    #expect(UnixTime(-2) < UnixTime(-1))
    #expect(SteadyTime(milliseconds: 1) < SteadyTime(milliseconds: 2))
    #expect(SteadyTime(milliseconds: 7).milliseconds(since: SteadyTime(milliseconds: 9)) == -2)
  }

  @Test(
    arguments: [
      ("1970-01-01", 0), ("1970-12-31", 31_449_600), ("2000-02-29", 951_782_400),
      ("2024-02-29", 1_709_164_800), ("2026-11-30", 1_795_996_800), ("2101-01-01", 4_133_980_800),
    ] as [(String, Int64)])
  func `a day is its midnight`(_ text: String, _ seconds: Int64) {
    #expect(UnixTime(date: text) == UnixTime(seconds))
  }

  @Test(arguments: [
    "", "2026", "2026-1-1", "2026-00-10", "2026-13-10", "2026-04-31", "2023-02-29", "1969-12-31",
    "2100-02-29",
    "2026-01-01T", "+026-01-01", "2026/01/01",
  ])
  func `what is no day has no midnight`(_ text: String) {
    #expect(UnixTime(date: text) == nil)
  }
}
