internal import Glibc
internal import Threads

/// Runs a program's work to its end while the main thread does nothing but wait.
///
/// An asynchronous `main` would hand the main thread to the runtime, which lets signals through there; so the
/// signals that ``nodeSignals()`` waits for are blocked first, in every thread that will ever exist.
///
/// - Parameter waitsForSignals: Whether the work asks for them; otherwise they end the program as ever.
/// - Returns: The exit status.
package func runProgram(waitsForSignals: Bool, _ work: @escaping @Sendable () async -> Int32) -> Int32 {
  // A client that hangs up early is no reason to die.
  signal(SIGPIPE, SIG_IGN)
  if waitsForSignals {
    var set = waitedForSignals()
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  }
  let outcome = Monitor<Int32?>(nil)
  Task.detached {
    let status = await work()
    outcome.update { $0 = status }
  }
  return outcome.wait { $0 } ?? 1
}

/// A signal that the service answers to.
package enum NodeSignal: Sendable {
  /// SIGTERM or SIGINT.
  case stop
  /// SIGHUP.
  case reload
}

/// The signals that arrive, up to and with the first that means to stop; a second one of those ends the program at
/// once.
package func nodeSignals() throws(StartFault) -> AsyncStream<NodeSignal> {
  let (signals, arrived) = AsyncStream<NodeSignal>.makeStream()
  do throws(ThreadError) {
    _ = try DedicatedThread(name: "signals") {
      var set = waitedForSignals()
      while true {
        var number: Int32 = 0
        guard unsafe sigwait(&set, &number) == 0, number == SIGHUP else { break }
        arrived.yield(.reload)
      }
      arrived.yield(.stop)
      arrived.finish()
      // Whoever asks twice does not want to wait for what has begun.
      var number: Int32 = SIGHUP
      while number == SIGHUP, unsafe sigwait(&set, &number) == 0 {}
      _exit(1)
    }
  } catch {
    throw .threadsUnavailable
  }
  return signals
}

private func waitedForSignals() -> sigset_t {
  var set = sigset_t()
  unsafe sigemptyset(&set)
  unsafe sigaddset(&set, SIGTERM)
  unsafe sigaddset(&set, SIGINT)
  unsafe sigaddset(&set, SIGHUP)
  return set
}
