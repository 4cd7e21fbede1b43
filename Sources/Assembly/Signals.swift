internal import Glibc
internal import Threads

/// Blocks the signals that one thread of ours waits for, and ignores the one that a closed connection raises.
/// To be called before any other thread exists: threads inherit it.
package func takeOverSignals() {
  signal(SIGPIPE, SIG_IGN)
  var set = stopSignals()
  unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
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
