internal import CMicroHTTPD
internal import Glibc

/// The library's running threads and the socket they accept from; dropping it stops both.
///
/// Stopping joins the threads. No connection may be asleep by then: the library aborts or leaks.
@safe struct Daemon: ~Copyable {
  private let raw: OpaquePointer
  private let socket: ListeningSocket

  /// Starts the threads. The core must stay alive until the daemon is gone.
  init(accepting socket: consuming ListeningSocket, for core: ListenerCore) throws(HTTPListenerError) {
    var settings = unsafe cmicrohttpd_settings()
    unsafe settings.listen_socket = socket.descriptor
    unsafe settings.threads = UInt32(core.configuration.threads)
    unsafe settings.connection_limit = UInt32(core.configuration.connectionLimit)
    unsafe settings.idle_seconds = UInt32(core.configuration.idleSeconds)
    unsafe settings.connection_memory_limit = core.configuration.connectionMemoryLimit
    unsafe settings.context = Unmanaged.passUnretained(core).toOpaque()
    unsafe settings.access = accessed
    unsafe settings.target = targetArrived
    unsafe settings.completed = requestCompleted
    unsafe settings.connection_changed = connectionChanged
    guard let started = unsafe cmicrohttpd_start_daemon(&settings) else { throw .startFailed }
    self.socket = socket
    unsafe raw = started
  }

  /// Accepts no more connections. The descriptor stays open until the threads are gone, which may watch it yet.
  borrowing func quiesce() {
    _ = unsafe MHD_quiesce_daemon(raw)
    socket.refuseNewcomers()
  }

  deinit {
    // Takes the listening socket from the library, which would close it as well as its owner.
    _ = unsafe MHD_quiesce_daemon(raw)
    unsafe MHD_stop_daemon(raw)
  }
}
