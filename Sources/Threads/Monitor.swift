internal import Glibc

/// A value behind a lock that threads of our own can wait on.
///
/// Two reasons not to use the standard library's `Mutex` between threads: it has no condition to wait for, and
/// on Linux the thread sanitiser does not see its contended path and reports races that are none. Never wait
/// here in a task, which would block a thread of the shared pool; reading and updating is as short as `Mutex`.
@safe
// Sendable because the pthread mutex guards every access to `state`; the thread sanitiser run of
// ThreadsTests would notice one that does not hold it.
package final class Monitor<State: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  /// Puts the lock around a first value.
  package init(_ state: State) {
    self.state = state
    unsafe mutex = .allocate(capacity: 1)
    unsafe changed = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe changed.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    // The monotonic clock, so that setting the time of day neither cuts a wait short nor stretches it.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(changed, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(changed)
    unsafe pthread_mutex_destroy(mutex)
    unsafe changed.deallocate()
    unsafe mutex.deallocate()
  }

  /// Reads or changes the value and wakes whoever waits for a change of it.
  package func update<Result>(_ body: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    let result = body(&state)
    // Signalling inside the lock: nobody waits most of the time, and then this is no system call.
    unsafe pthread_cond_broadcast(changed)
    unsafe pthread_mutex_unlock(mutex)
    return result
  }

  /// Reads the value.
  package func read<Result>(_ body: (State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body(state)
  }

  /// Waits until `body` finds what it looks for, and answers that.
  ///
  /// - Parameter milliseconds: The longest wait; nil for one without end.
  /// - Returns: What `body` answered, or nil when the time ran out.
  package func wait<Result>(atMost milliseconds: Int64? = nil, for body: (inout State) -> Result?) -> Result?
  {
    var deadline = timespec()
    if let milliseconds {
      unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
      let nanoseconds = deadline.tv_nsec + Int(milliseconds % 1000) * 1_000_000
      deadline.tv_sec += Int(milliseconds / 1000) + nanoseconds / 1_000_000_000
      deadline.tv_nsec = nanoseconds % 1_000_000_000
    }
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    var inTime = true
    while true {
      if let result = body(&state) { return result }
      guard inTime else { return nil }
      if milliseconds == nil {
        unsafe pthread_cond_wait(changed, mutex)
      } else {
        // One more look after the time is up: the change and the deadline may have come together.
        inTime = unsafe pthread_cond_timedwait(changed, mutex, &deadline) != ETIMEDOUT
      }
    }
  }
}
