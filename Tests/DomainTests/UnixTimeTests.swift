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
}
