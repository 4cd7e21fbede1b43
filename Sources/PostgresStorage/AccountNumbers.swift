internal import Glibc
internal import Synchronization

/// Makes the numbers by which accounts are in the order of creation: milliseconds since 1970 and twenty bits of chance,
/// and never one that is not larger than the last of this node. Two nodes that make the same one meet on a unique key.
final class AccountNumbers: Sendable {
  private let last = Mutex<Int64>(0)

  func next() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    let milliseconds = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    let candidate = milliseconds << 20 | Int64.random(in: 0..<1 << 20)
    return last.withLock { last in
      last = max(last + 1, candidate)
      return last
    }
  }
}
