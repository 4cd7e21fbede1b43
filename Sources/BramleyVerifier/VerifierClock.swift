package import Domain
internal import Glibc

/// The time of day, for what tokens say, and a clock that never goes back, for everything else.
package struct VerifierClock: Sendable {
  package let wall: WallClock
  package let steady: SteadyClock

  package init(wall: WallClock, steady: SteadyClock) {
    self.wall = wall
    self.steady = steady
  }

  /// The system's.
  static var system: VerifierClock {
    VerifierClock(
      wall: WallClock { UnixTime(seconds(of: CLOCK_REALTIME).whole) },
      steady: SteadyClock {
        // CLOCK_MONOTONIC stands still in suspend (clock_gettime(2)): keys would not grow old meanwhile.
        let time = seconds(of: CLOCK_BOOTTIME)
        return SteadyTime(milliseconds: time.whole * 1000 + time.nanoseconds / 1_000_000)
      })
  }
}

private func seconds(of clock: clockid_t) -> (whole: Int64, nanoseconds: Int64) {
  var time = timespec()
  unsafe clock_gettime(clock, &time)
  return (Int64(time.tv_sec), Int64(time.tv_nsec))
}
