internal import Glibc

/// One thread of the system that runs one body and ends.
///
/// All signals are blocked in it, so that they reach the thread that waits for them; a `SIGPIPE` that one of
/// its writes raises stays pending and the write answers `EPIPE`.
package final class DedicatedThread: Sendable {
  private enum Joining: Sendable { case open, claimed, done }

  private let thread: pthread_t
  private let end: ThreadEnd
  private let joining = Monitor(Joining.open)

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: What `ps -L` and a debugger show; the system keeps its first 15 bytes.
  ///   - body: Runs once on the new thread.
  package init(name: String, body: @escaping @Sendable () -> Void) throws(ThreadError) {
    let end = ThreadEnd()
    let launch = unsafe Unmanaged.passRetained(ThreadLaunch(name: name, body: body, end: end))

    // A thread inherits its creator's mask: blocking before and restoring after leaves no moment in which a
    // signal could reach the new one.
    var all = sigset_t()
    var previous = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &previous)
    var started = pthread_t()
    let code = unsafe pthread_create(&started, nil, runThread, launch.toOpaque())
    unsafe pthread_sigmask(SIG_SETMASK, &previous, nil)

    guard code == 0 else {
      unsafe launch.release()
      throw .notStarted(code: code)
    }
    thread = started
    self.end = end
  }

  deinit {
    // Nobody will ask for it again: the system may clear it away when it ends.
    if joining.read({ $0 == .open }) { pthread_detach(thread) }
  }

  /// Waits, blocking, until the thread has ended; every caller may, and the thread itself gets no wait.
  package func join() {
    guard pthread_equal(pthread_self(), thread) == 0 else { return }
    let isFirst = joining.update { phase in
      guard phase == .open else { return false }
      phase = .claimed
      return true
    }
    guard isFirst else {
      // The system lets a thread be joined once only.
      _ = joining.wait { $0 == .done ? true : nil }
      return
    }
    pthread_join(thread, nil)
    joining.update { $0 = .done }
  }

  /// Waits until the thread has ended, without blocking a thread of the shared pool.
  package func ended() async {
    await end.reached()
    // The body is over and the thread on its last few instructions.
    join()
  }
}

/// What a new thread is given; released by `runThread`.
private final class ThreadLaunch: Sendable {
  let name: String
  let body: @Sendable () -> Void
  let end: ThreadEnd

  init(name: String, body: @escaping @Sendable () -> Void, end: ThreadEnd) {
    self.name = name
    self.body = body
    self.end = end
  }
}

/// The end of a thread's body, and the tasks that wait for it.
private final class ThreadEnd: Sendable {
  private struct State {
    var isReached = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Monitor(State())

  func reach() {
    let waiting = state.update { state in
      state.isReached = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func reached() async {
    await withCheckedContinuation { continuation in
      let isReached = state.update { state in
        if !state.isReached { state.waiting.append(continuation) }
        return state.isReached
      }
      if isReached { continuation.resume() }
    }
  }
}

/// The first function of every thread started here.
private func runThread(_ raw: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let raw = unsafe raw else { return nil }
  let launch = unsafe Unmanaged<ThreadLaunch>.fromOpaque(raw).takeRetainedValue()
  nameThisThread(launch.name)
  launch.body()
  launch.end.reach()
  return nil
}

/// Names the calling thread; one that stays nameless works as well, so failures are passed over.
private func nameThisThread(_ name: String) {
  // `pthread_setname_np` is hidden from Swift behind `_GNU_SOURCE`; it writes this file.
  let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
  guard file >= 0 else { return }
  let bytes = Array(name.utf8.prefix(15))
  _ = unsafe write(file, bytes, bytes.count)
  close(file)
}
