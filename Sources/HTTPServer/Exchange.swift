internal import CMicroHTTPD
internal import Synchronization

/// One request on its way through the responder, and the connection that may sleep meanwhile.
///
/// The listener's thread and the responder's task meet here. Suspending happens inside the lock that answering
/// takes: an answer comes either before (and is delivered inline) or after (and wakes the connection), never
/// between. Waking happens inside it too: the woken thread must take the lock before it can deliver, complete
/// and be stopped, so the library's call has returned by then.
///
/// The connection belongs to the library and lives at least as long as it is suspended; it is touched only to
/// suspend it, from its own thread, and to wake it, once, while it sleeps.
@safe final class Exchange: Sendable {
  private enum Phase {
    /// The responder runs and the listener's thread has not looked yet.
    case running
    /// The connection sleeps until an answer comes.
    case suspended(Task<Void, Never>)
    /// The answer waits for the listener's thread.
    case answered(Response)
    /// The answer was taken, or the connection is gone: later answers are dropped.
    case over
  }

  let request: Request
  /// As long as the request: a responder that was overtaken still has the body.
  private let share: BodyShare?
  private let core: ListenerCore
  // Immutable, and used as the type's comment says; the library's own locks guard what it points at.
  nonisolated(unsafe) private let connection: OpaquePointer
  private let phase = Mutex(Phase.running)

  init(_ request: Request, holding share: BodyShare?, on connection: OpaquePointer, core: ListenerCore) {
    self.request = request
    self.share = share
    self.core = core
    unsafe self.connection = connection
  }

  /// When the connection is woken at the latest.
  var expires: ContinuousClock.Instant {
    let configuration = core.configuration
    return request.arrived.advanced(by: configuration.deadlines[request.path] ?? configuration.deadline)
  }

  /// Runs the responder on the calling thread until it first waits.
  ///
  /// - Returns: The answer, when there is one already; nil when the connection sleeps, and ``take()`` has the
  ///   answer after it woke.
  func start() -> Response? {
    let task = Task.immediate {
      let response = await self.core.respond(self.request)
      self.core.leave()
      self.answer(response)
    }
    let (response, sleeps): (Response?, Bool) = phase.withLock { phase in
      if case .answered(let response) = phase {
        phase = .over
        return (response, false)
      }
      guard core.waiting.add(self) else {
        phase = .over
        return (nil, false)
      }
      unsafe MHD_suspend_connection(connection)
      phase = .suspended(task)
      return (nil, true)
    }
    if sleeps || response != nil { return response }
    // Too late to wait: the listener is about to join its threads.
    task.cancel()
    return core.response(to: .shuttingDown, request)
  }

  /// The answer for which the connection was woken; nil when there is none.
  func take() -> Response? {
    phase.withLock { phase in
      guard case .answered(let response) = phase else { return nil }
      phase = .over
      return response
    }
  }

  /// Answers in place of the responder, whose task is cancelled and whose own answer will be dropped.
  func overrule(with reason: ListenerRefusal) {
    answer(core.response(to: reason, request))?.cancel()
  }

  /// Nothing can be delivered any more: the connection is being closed by the library.
  func abandon() {
    phase.withLock { $0 = .over }
  }

  /// Keeps the first answer and wakes the connection if it sleeps; returns the task that was waited for.
  @discardableResult
  private func answer(_ response: Response) -> Task<Void, Never>? {
    let awaited: Task<Void, Never>? = phase.withLock { phase in
      switch phase {
      case .running:
        phase = .answered(response)
        return nil
      case .suspended(let task):
        phase = .answered(response)
        unsafe MHD_resume_connection(connection)
        return task
      case .answered, .over:
        return nil
      }
    }
    if awaited != nil { core.waiting.remove(self) }
    return awaited
  }
}
