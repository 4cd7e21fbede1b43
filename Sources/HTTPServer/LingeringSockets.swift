// Some of the C library's socket types reach Swift through whichever module included them first: both are imported.
internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// Connections that the library has closed while their clients may still send a body that nobody wants.
///
/// A socket that is closed with bytes unread resets the connection (RFC 1122 §4.2.2.13), and a client or a proxy that
/// is still sending sees that instead of the answer (RFC 9112 §9.6). So a second descriptor keeps each for a moment, and
/// what comes is thrown away. Time, bytes and number are bounded: beyond them a socket is closed as it would be anyway.
final class LingeringSockets: Sendable {
  fileprivate struct Socket {
    let descriptor: Int32
    let end: ContinuousClock.Instant
    var allowance = LingeringSockets.allowance
  }

  private struct State {
    var sockets: [Socket] = []
    var isWatched = false
    var isClosed = false
  }

  private let state = Mutex(State())

  /// The most at a time, of one listener: a part of the descriptors that connections leave to the rest of the program.
  private static let limit = 32
  /// How long a client may go on sending: a proxy that streams a megabyte on a busy machine needs seconds.
  private static let patience = Duration.seconds(5)
  /// Bytes that it may send: what the proxies before us let through, since one that streams sends it all.
  private static let allowance = 2 << 20
  private static let interval = Duration.milliseconds(20)

  /// How many there are.
  var count: Int { state.withLock { $0.sockets.count } }

  /// Takes a connection over whose descriptor is about to be closed.
  func take(_ descriptor: Int32) {
    let needsWatch = state.withLock { state in
      guard !state.isClosed, state.sockets.count < Self.limit else { return false }
      let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
      guard own >= 0 else { return false }
      state.sockets.append(Socket(descriptor: own, end: .now.advanced(by: Self.patience)))
      defer { state.isWatched = true }
      return !state.isWatched
    }
    if needsWatch { Task { await self.watch() } }
  }

  /// Closes all, and takes no more.
  func close() {
    state.withLock { state in
      state.isClosed = true
      for socket in state.sockets { Glibc.close(socket.descriptor) }
      state.sockets = []
    }
  }

  private func watch() async {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let isOver = state.withLock { state in
        let now = ContinuousClock.now
        state.sockets = state.sockets.compactMap { $0.drained(at: now, through: &buffer) }
        if state.sockets.isEmpty { state.isWatched = false }
        return state.sockets.isEmpty
      }
      if isOver { return }
      // The task is nobody's child and never cancelled, so sleeping cannot fail.
      try? await Task.sleep(for: Self.interval)
    }
  }
}

extension LingeringSockets.Socket {
  /// Throws away what has come; nil when that was the end, or all that is borne with, and it is closed.
  fileprivate func drained(at now: ContinuousClock.Instant, through buffer: inout [UInt8]) -> Self? {
    var rest = self
    while now < end, rest.allowance > 0 {
      let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count < 0, errno == EAGAIN { return rest }
      guard count > 0 else { break }
      rest.allowance -= count
    }
    Glibc.close(descriptor)
    return nil
  }
}
