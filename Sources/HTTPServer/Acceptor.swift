internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// The thread that accepts connections and deals them out to the servers in turn.
///
/// Blocking in `accept` is what it is for; it ends when the listening socket is shut down.
@safe final class Acceptor: Sendable {
  private let descriptor: Int32
  // Immutable; each server outlives this thread, which is joined first, and takes connections from any thread.
  nonisolated(unsafe) private let servers: [OpaquePointer]
  private let core: ListenerCore

  init(descriptor: Int32, servers: [OpaquePointer], core: ListenerCore) {
    self.descriptor = descriptor
    self.core = core
    unsafe self.servers = servers
  }

  /// Starts the thread, which somebody must join; nil when there is none to be had.
  func start() -> pthread_t? {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self)
    if unsafe pthread_create(&thread, nil, runAcceptor, context.toOpaque()) == 0 { return thread }
    unsafe context.release()
    return nil
  }

  /// Accepts until the socket is shut down.
  fileprivate func run() {
    var (turn, pauses) = (0, 0)
    while true {
      let arriving = core.arriving.load(ordering: .relaxed)
      if core.connections.load(ordering: .relaxed) + arriving >= core.connectionLimit {
        // Newcomers wait in the backlog.
        pause()
        if isShut { return }
        pauses += 1
        // Who has not arrived after a second never will: the library drops one for want of memory unsaid.
        if pauses.isMultiple(of: 100) { core.arriving.subtract(max(0, arriving), ordering: .relaxed) }
        continue
      }
      pauses = 0
      switch unsafe acceptOne(for: servers[turn]) {
      case 0: turn = (turn + 1) % (unsafe servers.count)
      // The client was gone already, or a signal came.
      case ECONNABORTED, EPROTO, EINTR, EPERM: continue
      // Out of descriptors or memory: the connections that end will give some back.
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: pause()
      case let code:
        // EINVAL is the shut socket. Of any other fault, such as the network being down, the next try decides.
        if code == EINVAL || code == EBADF { return }
        pause()
      }
    }
  }

  /// Takes one connection and hands it over; 0, or the `errno` of accepting.
  private func acceptOne(for server: OpaquePointer) -> Int32 {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &address) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let connection = unsafe accept(descriptor, address, &length)
        if connection < 0 { return errno }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        core.arriving.add(1, ordering: .relaxed)
        // On failure the library has closed the connection: there is nobody left to tell.
        if unsafe MHD_add_connection(server, connection, address, length) != .YES {
          core.arriving.subtract(1, ordering: .relaxed)
        }
        return 0
      }
    }
  }

  /// Whether the listening socket was shut down.
  private var isShut: Bool {
    var isListening: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) != 0
      || isListening == 0
  }

  private func pause() {
    poll(nil, 0, 10)
  }
}

/// The main function of the accepting thread; `context` is the retained Acceptor, released here.
private func runAcceptor(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  unsafe Unmanaged<Acceptor>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
