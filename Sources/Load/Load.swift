//===-- Load ---------------------------------------------------------------===//
// Offers a server load over HTTP/1.1 and measures what comes back: arrivals on a schedule, keep-alive connections on
// an epoll loop, and workloads that know what to send and what an answer has to be. It knows the service by its HTTP
// alone.
//===------------------------------------------------------------------------===//

package import Domain
internal import Glibc

/// Why a run could not be made, or not to its end.
package enum LoadError: Error, Equatable, Sendable {
  /// The command line asks for something that cannot be.
  case usage(String)
  /// Something that is needed is not there.
  case unavailable(String)

  package var message: String {
    switch self {
    case .usage(let message), .unavailable(let message): message
    }
  }
}

/// Nanoseconds of the clock that never goes back.
package func steadyNanoseconds() -> Int { nanoseconds(of: CLOCK_MONOTONIC) }

/// CPU time of the calling thread, in nanoseconds.
package func threadNanoseconds() -> Int { nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }

func nanoseconds(of clock: clockid_t) -> Int {
  var time = timespec()
  guard unsafe clock_gettime(clock, &time) == 0 else { return 0 }
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The system's time of day.
package let systemClock = WallClock {
  var now = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &now)
  return UnixTime(Int64(now.tv_sec))
}

/// Cores that this process may use.
package func availableCores() -> Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

/// Whether standard error is a terminal, where a line may be written over and over.
package let hasTerminal = isatty(STDERR_FILENO) == 1

/// Writes over the line that is there, on a terminal only.
package func showProgress(_ text: String) {
  guard hasTerminal else { return }
  writeError("\r\u{1B}[K" + text)
}

/// Writes to standard error, passing over failures: there is nobody else to tell.
package func writeError(_ text: String) {
  let bytes = Array(text.utf8)
  _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
}
