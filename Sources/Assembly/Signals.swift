internal import Glibc
internal import Threads

/// Runs a program's work to its end while the main thread does nothing but wait.
///
/// An asynchronous `main` would hand the main thread to the runtime, which lets signals through there; so the
/// signals that the service waits for are blocked first, in every thread that will ever exist.
///
/// - Returns: The exit status.
package func runProgram(_ work: @escaping @Sendable () async -> Int32) -> Int32 {
  // A client that hangs up early is no reason to die.
  signal(SIGPIPE, SIG_IGN)
  var set = stopSignals()
  unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  let outcome = Monitor<Int32?>(nil)
  Task.detached {
    let status = await work()
    outcome.update { $0 = status }
  }
  return outcome.wait { $0 } ?? 1
}

/// Waits for SIGTERM or SIGINT.
package func stopSignal() async throws(StartFault) {
  do throws(ThreadError) {
    let thread = try DedicatedThread(name: "signals") {
      var set = stopSignals()
      var number: Int32 = 0
      unsafe sigwait(&set, &number)
    }
    await thread.ended()
  } catch {
    throw .threadsUnavailable
  }
}

private func stopSignals() -> sigset_t {
  var set = sigset_t()
  unsafe sigemptyset(&set)
  unsafe sigaddset(&set, SIGTERM)
  unsafe sigaddset(&set, SIGINT)
  return set
}
