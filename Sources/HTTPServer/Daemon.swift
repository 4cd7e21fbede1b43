internal import CMicroHTTPD
internal import Glibc

/// The threads of a listener: one that accepts, and the library's, which serve. Dropping it ends them all.
///
/// The library is given no listening socket: taking one back from running threads (`MHD_quiesce_daemon`) races
/// in 0.9.75, and the loser aborts the process. Accepting here also spreads connections evenly, over one
/// daemon of one thread each; the library's own pool leaves that to chance.
///
/// Dropping joins threads. No connection may be asleep by then: the library aborts or leaks.
@safe struct Daemon: ~Copyable {
  private let socket: ListeningSocket
  private let servers: [OpaquePointer]
  private let accepting: pthread_t

  /// Starts the threads. The core must stay alive until the daemon is gone.
  init(accepting socket: consuming ListeningSocket, for core: ListenerCore) throws(HTTPListenerError) {
    let started = unsafe startServers(for: core)
    let acceptor = unsafe Acceptor(
      descriptor: socket.descriptor, servers: started, core: core)
    guard unsafe started.count == core.configuration.threads, let thread = acceptor.start() else {
      unsafe stopServers(started)
      // The library does not say why. With threads to be had, it is the certificate.
      throw unsafe started.isEmpty && core.configuration.tls != nil ? .tlsIdentityUnusable : .startFailed
    }
    self.socket = socket
    accepting = thread
    unsafe servers = started
  }

  /// Accepts no more connections.
  borrowing func refuseNewcomers() {
    socket.refuseNewcomers()
  }

  deinit {
    socket.refuseNewcomers()
    // A server that stops must not be given connections.
    pthread_join(accepting, nil)
    unsafe stopServers(servers)
  }
}

/// Starts as many servers as the configuration says, or fewer when one fails.
private func startServers(for core: ListenerCore) -> [OpaquePointer] {
  var settings = unsafe cmicrohttpd_settings()
  // The acceptor keeps the limit over all servers; one of them may have all connections.
  unsafe settings.connection_limit = UInt32(core.connectionLimit)
  unsafe settings.idle_seconds = UInt32(core.configuration.idleSeconds)
  unsafe settings.connection_memory_limit = core.configuration.connectionMemoryLimit
  unsafe settings.context = Unmanaged.passUnretained(core).toOpaque()
  unsafe settings.access = accessed
  unsafe settings.target = targetArrived
  unsafe settings.completed = requestCompleted
  unsafe settings.connection_changed = connectionChanged
  guard let tls = core.configuration.tls else {
    return unsafe startServers(core.configuration.threads, settings)
  }
  return unsafe withText(tls.certificate) { certificate in
    unsafe withText(tls.privateKey) { key in
      unsafe settings.certificate = certificate
      unsafe settings.private_key = key
      return unsafe startServers(core.configuration.threads, settings)
    }
  }
}

private func startServers(_ count: Int, _ settings: cmicrohttpd_settings) -> [OpaquePointer] {
  var settings = unsafe settings
  var servers: [OpaquePointer] = unsafe []
  for _ in 0..<count {
    guard let server = unsafe cmicrohttpd_start_daemon(&settings) else { break }
    unsafe servers.append(server)
  }
  return unsafe servers
}

/// Lends bytes as C text.
private func withText(
  _ bytes: [UInt8], _ body: (UnsafePointer<CChar>?) -> [OpaquePointer]
) -> [OpaquePointer] {
  let text = bytes.map { CChar(bitPattern: $0) } + [0]
  return unsafe text.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
}

/// Joins the servers' threads and closes their connections.
private func stopServers(_ servers: [OpaquePointer]) {
  for index in unsafe servers.indices { unsafe MHD_stop_daemon(servers[index]) }
}
