import Load
import Testing

@Suite struct ScheduleTests {
  @Test func `a constant rate has even distances`() {
    let schedule = Schedule(.constant(500), warmUp: 0, duration: 2_000_000_000)
    #expect(schedule.count == 1000)
    #expect(schedule.intended(0) == 0)
    #expect(schedule.intended(1) == 2_000_000)
    #expect(schedule.intended(999) == 1_998_000_000)
  }

  @Test func `a ramp begins with the one rate and ends with the other`() {
    let schedule = Schedule(.ramp(from: 100, to: 300), warmUp: 0, duration: 10_000_000_000)
    #expect(schedule.count == 2000)
    let times = (0..<schedule.count).map(schedule.intended)
    #expect(times == times.sorted())
    #expect(times[0] == 0)
    #expect(times.last! < 10_000_000_000)
    // The first second has its mean rate, and so has the last.
    #expect(abs(times.count { $0 < 1_000_000_000 } - 110) <= 1)
    #expect(abs(times.count { $0 >= 9_000_000_000 } - 290) <= 1)
  }

  @Test func `a ramp may go down, and from nowhere`() {
    let down = Schedule(.ramp(from: 300, to: 100), warmUp: 0, duration: 1_000_000_000)
    #expect(down.intended(down.count - 1) < 1_000_000_000)
    #expect(down.count == 200)
  }

  @Test func `the warm-up is at the first rate, and before the rest`() {
    let schedule = Schedule(.ramp(from: 100, to: 200), warmUp: 1_000_000_000, duration: 1_000_000_000)
    #expect(schedule.warmUpRequests == 100)
    #expect(schedule.intended(99) < 1_000_000_000)
    #expect(schedule.intended(100) == 1_000_000_000)
    #expect(schedule.count == 250)
  }

  @Test func `a number of requests bounds an open loop`() {
    let plan = LoadPlan(
      arrival: .constant(50), connections: 1, threads: 1, warmUp: 0, duration: 1_000_000_000, count: 20)
    #expect(plan.requestCount == 20)
    #expect(plan.schedule.intended(19) == 380_000_000)
  }
}
