// Some of the C library's socket types reach Swift through whichever module included them first: both are imported.
internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// The open connections of a listener, and the watch that hangs up on those that are overdue.
///
/// The library's timeout is one of silence: a byte now and then keeps a half-sent head, or a chunk's size line
/// without end, open for good. So each connection always has an instant by which something must be complete,
/// and nothing that trickles in moves it.
///
/// The watch is a task that looks four times a second while a connection is open.
final class OpenConnections: Sendable {
  private struct State {
    var connections: [ObjectIdentifier: OpenConnection] = [:]
    var isWatched = false
  }

  private let state = Mutex(State())

  /// How often the watch looks; an instant is kept to within this.
  private static let interval = Duration.milliseconds(250)

  func add(_ connection: OpenConnection) {
    let needsWatch = state.withLock { state in
      state.connections[ObjectIdentifier(connection)] = connection
      defer { state.isWatched = true }
      return !state.isWatched
    }
    if needsWatch { Task { await self.watch() } }
  }

  /// Lets a connection go whose descriptor is about to be closed.
  func remove(_ connection: OpenConnection) {
    _ = state.withLock { $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  private func watch() async {
    while true {
      // The task is nobody's child and never cancelled, so sleeping cannot fail.
      try? await Task.sleep(for: Self.interval)
      let isOver = state.withLock { state in
        let now = ContinuousClock.now
        // Inside the lock, which removing takes: a descriptor that was closed, and may be somebody else's by
        // now, is not in here. Hanging up does not block.
        for connection in state.connections.values { connection.hangUp(ifOverdue: now) }
        if state.connections.isEmpty { state.isWatched = false }
        return state.connections.isEmpty
      }
      if isOver { return }
    }
  }
}

/// One open connection, and when it must have got on at the latest.
///
/// The library holds it as the socket's context, from the connection's start to its close.
final class OpenConnection: Sendable {
  let descriptor: Int32
  private let head: Duration
  private let patience: Duration
  private let idle: Duration
  private let leavesRest = Atomic(false)
  /// Nil after hanging up.
  private let due: Mutex<ContinuousClock.Instant?>

  /// A newcomer, whose first head is due, after a handshake if there is one.
  init(_ descriptor: Int32, _ configuration: ListenerConfiguration) {
    self.descriptor = descriptor
    head = .seconds(configuration.headSeconds)
    patience = configuration.patience
    idle = .seconds(configuration.idleSeconds)
    due = Mutex(.now.advanced(by: head))
  }

  /// Whether it ends with a body unread that its client may still send.
  var leavesBody: Bool { leavesRest.load(ordering: .relaxed) }

  /// It ends so.
  func leaveBody() { leavesRest.store(true, ordering: .relaxed) }

  /// A head is complete: the rest of the request is due.
  func requestBegan() {
    move(to: .now.advanced(by: patience))
  }

  /// The request is complete: its answer is due, which the responder's deadline bounds, and then the idle time
  /// for the client to take it.
  func requestArrived() {
    move(to: .now.advanced(by: patience + idle))
  }

  /// An answer is sent: the next head may begin within the idle time, which the library keeps, and then has
  /// as long as any. The library does not tell when a head begins.
  func requestEnded() {
    move(to: .now.advanced(by: idle + head))
  }

  /// How much longer unread bytes keep a connection.
  private static let excuse = Duration.seconds(30)

  private var hasUnread: Bool {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
  }

  private func move(to instant: ContinuousClock.Instant) {
    due.withLock { due in
      if due != nil { due = instant }
    }
  }

  /// Ends the connection in both directions when its instant has passed; the library notices and closes it.
  ///
  /// What waits unread is the listener's own delay in a flood, and no fault of the client's; that excuse wears
  /// off.
  fileprivate func hangUp(ifOverdue now: ContinuousClock.Instant) {
    let isOverdue = due.withLock { due in
      guard let instant = due, instant <= now else { return false }
      if hasUnread, now < instant.advanced(by: Self.excuse) { return false }
      due = nil
      return true
    }
    if isOverdue { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }
}
