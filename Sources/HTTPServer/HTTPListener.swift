internal import Glibc
internal import Synchronization

/// A running listener: accepts connections from its making until ``stop(within:)`` or its end.
///
/// The program must ignore SIGPIPE: a client that hangs up early is no reason to die.
package final class HTTPListener: Sendable {
  /// The port that is listened on, also when the configuration left it to the system.
  package let port: UInt16
  /// `host:port` as configured, with the real port; for a log line.
  package let address: String
  private let core: ListenerCore
  private let daemon: Mutex<Daemon?>

  /// Binds where the configuration says, and starts the threads: ``init(_:on:refusal:bodyLimit:respond:)``.
  package convenience init(
    _ configuration: ListenerConfiguration,
    refusal: @escaping @Sendable (ListenerRefusal, Request?) -> Response,
    bodyLimit: @escaping @Sendable (Request) -> Int? = { _ in nil },
    respond: @escaping @Sendable (Request) async -> Response
  ) throws(HTTPListenerError) {
    let socket = try ListeningSocket(host: configuration.host, port: configuration.port)
    try self.init(configuration, on: socket, refusal: refusal, bodyLimit: bodyLimit, respond: respond)
  }

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - configuration: The limits; its host and port are not looked at.
  ///   - socket: Where to accept connections.
  ///   - refusal: What the listener's own refusals say. The request is given, without its body when that did
  ///     not arrive, unless its head could not be read. Called on the listener's threads; must not block.
  ///   - bodyLimit: Bytes of a request's body where it is another number than the configuration's; nil for that.
  ///     Asked with the head alone, on the listener's threads; must not block.
  ///   - respond: Answers one request. Runs on the listener's thread until it first suspends, and must not
  ///     block; its task is cancelled when the deadline passes.
  package init(
    _ configuration: ListenerConfiguration, on socket: consuming ListeningSocket,
    refusal: @escaping @Sendable (ListenerRefusal, Request?) -> Response,
    bodyLimit: @escaping @Sendable (Request) -> Int? = { _ in nil },
    respond: @escaping @Sendable (Request) async -> Response
  ) throws(HTTPListenerError) {
    if let name = configuration.invalidLimit { throw .limitInvalid(name) }
    let descriptors = raiseOpenFileLimit()
    (port, address) = (socket.port, socket.address)
    let core = ListenerCore(
      configuration: configuration,
      connectionLimit: affordableConnections(configuration.connectionLimit, descriptors: descriptors),
      refusal: refusal, bodyLimit: bodyLimit, respond: respond)
    let started = try Daemon(accepting: socket, for: core)
    self.core = core
    daemon = Mutex(started)
  }

  /// An unstopped listener stops at once: waiting requests are refused, and the threads joined here.
  deinit {
    wakeAll()
    daemon.withLock { $0 = nil }
  }

  /// Requests that responders are working on.
  package var requestsInFlight: Int { core.responding.load(ordering: .relaxed) }

  /// Open connections, idle ones too.
  package var openConnections: Int { core.connections.load(ordering: .relaxed) }

  /// Connections that are closed, whose clients may go on sending for a moment.
  package var lingeringConnections: Int { core.lingering.count }

  /// Connections at a time: the configured limit, or less when the process may not open as many files.
  package var connectionLimit: Int { core.connectionLimit }

  /// Bytes of bodies that are held for requests which are not over.
  package var bodyBytesHeld: Int { core.bodyBytes.load(ordering: .relaxed) }

  /// Requests whose heads have come, since the start; never goes down.
  package var requestsBegun: Int { core.total.load(ordering: .relaxed) }

  /// Stops: turns newcomers away, answers what has begun and what still comes on open connections, closing
  /// each, and returns when the threads are gone.
  ///
  /// - Parameter patience: How long responders and slow senders may take. Then whoever still waits is refused
  ///   with ``ListenerRefusal/shuttingDown``, and half-sent requests are cut. A cancelled stop has no patience.
  package func stop(within patience: Duration) async {
    core.isDraining.store(true, ordering: .relaxed)
    daemon.withLock { $0?.refuseNewcomers() }
    await waitUntilIdle(since: Self.lull, for: patience)
    wakeAll()
    // The refusals must be written before the threads end.
    await waitUntilIdle(since: .zero, for: Self.farewell)
    await withCheckedContinuation { continuation in
      joinThreads { continuation.resume() }
    }
  }

  /// How long the refusals of a stop may take to be written.
  private static let farewell = Duration.seconds(1)

  /// How long nothing must have happened on connections that are still open: a request may be on its way from
  /// a client that was not told yet that its connection closes.
  private static let lull = Duration.milliseconds(100)

  /// Waits until no request is being answered and either no connection is open or none sent one for a while.
  private func waitUntilIdle(since lull: Duration, for patience: Duration) async {
    let end = ContinuousClock.now.advanced(by: patience)
    var lastChange = ContinuousClock.now
    var total = requestsBegun
    while true {
      let now = ContinuousClock.now
      let isBusy = core.begun.load(ordering: .acquiring) > 0
      if isBusy || requestsBegun != total {
        lastChange = now
        total = requestsBegun
      }
      if !isBusy, openConnections == 0 || now - lastChange >= lull { return }
      guard now < end else { return }
      do { try await Task.sleep(for: .milliseconds(2)) } catch { return }
    }
  }

  /// Leaves no connection asleep, and lets none fall asleep again.
  private func wakeAll() {
    for exchange in core.waiting.close() { exchange.overrule(with: .shuttingDown) }
  }

  /// Drops the daemon on a thread of its own: joining blocks, which neither a listener's thread nor the shared
  /// pool may do.
  private func joinThreads(_ done: @escaping @Sendable () -> Void) {
    let end = ListenerEnd {
      self.daemon.withLock { $0 = nil }
      self.core.lingering.close()
      done()
    }
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(end).toOpaque()
    if unsafe pthread_create(&thread, nil, runListenerEnd, context) == 0 {
      pthread_detach(thread)
    } else {
      // Out of threads: blocking here for a moment beats not stopping.
      _ = unsafe runListenerEnd(context)
    }
  }
}

/// What the thread that ends a listener does.
private final class ListenerEnd: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}

/// The main function of that thread; `context` is the retained ListenerEnd, released here.
private func runListenerEnd(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context = unsafe context {
    unsafe Unmanaged<ListenerEnd>.fromOpaque(context).takeRetainedValue().run()
  }
  return nil
}
