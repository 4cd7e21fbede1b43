internal import CMicroHTTPD
internal import Synchronization

// The functions that libmicrohttpd calls, on its own threads. Named and at file level: a closure literal would
// inherit the isolation of the place where it is written.
//
// `context` is the ListenerCore, unretained: the listener keeps it until the daemon has stopped. A request's
// context is its Reception, retained in `targetArrived` and released in `requestCompleted` and nowhere else;
// the library promises the second after the first, whatever becomes of the connection. A socket's context is
// its OpenConnection, retained and released in `connectionChanged`: it outlives the socket's requests.

/// The request line was read: keeps the target before the library changes it.
func targetArrived(
  _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let target = unsafe target, let connection = unsafe connection,
    let socket = unsafe cmicrohttpd_get_socket_context(connection)
  else { return nil }
  let bytes = unsafe UnsafeRawBufferPointer(start: target, count: strlen(target))
  let reception = unsafe Reception(
    target: Array(bytes), on: Unmanaged<OpenConnection>.fromOpaque(socket).takeUnretainedValue())
  return unsafe Unmanaged.passRetained(reception).toOpaque()
}

/// A request is over, answered or not; gives its reception back.
func requestCompleted(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ held: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
  guard let context = unsafe context, let held = unsafe held, let raw = unsafe held.pointee else { return }
  unsafe held.pointee = nil
  let reception = unsafe Unmanaged<Reception>.fromOpaque(raw).takeRetainedValue()
  if case .responding(let exchange) = reception.stage { exchange.abandon() }
  reception.connection.requestEnded()
  guard reception.isCounted else { return }
  unsafe core(context).begun.subtract(1, ordering: .releasing)
}

/// A connection came, or is about to be closed.
func connectionChanged(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ held: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
  guard let context = unsafe context, let connection = unsafe connection, let held = unsafe held else {
    return
  }
  let core = unsafe core(context)
  if change == .CONNECTION_NOTIFY_STARTED {
    let opened = unsafe OpenConnection(cmicrohttpd_get_socket(connection), core.configuration)
    unsafe held.pointee = Unmanaged.passRetained(opened).toOpaque()
    core.open.add(opened)
    core.connections.add(1, ordering: .relaxed)
    core.arriving.subtract(1, ordering: .relaxed)
  } else {
    core.connections.subtract(1, ordering: .relaxed)
    guard let raw = unsafe held.pointee else { return }
    unsafe held.pointee = nil
    let closed = unsafe Unmanaged<OpenConnection>.fromOpaque(raw).takeRetainedValue()
    core.open.remove(closed)
    if closed.leavesBody { core.lingering.take(closed.descriptor) }
  }
}

/// The head is complete, a piece of the body came, the body is complete, or the connection woke.
func accessed(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ piece: UnsafePointer<CChar>?,
  _ pieceSize: UnsafeMutablePointer<Int>?, _ held: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let context = unsafe context, let connection = unsafe connection, let url = unsafe url,
    let method = unsafe method, let version = unsafe version, let pieceSize = unsafe pieceSize,
    let raw = unsafe held?.pointee
  else { return .NO }
  let core = unsafe core(context)
  let reception = unsafe Unmanaged<Reception>.fromOpaque(raw).takeUnretainedValue()
  let step: Step
  if case .head = reception.stage {
    reception.isCounted = true
    reception.connection.requestBegan()
    core.begun.add(1, ordering: .relaxed)
    core.total.add(1, ordering: .relaxed)
    let head = unsafe readHead(
      reception.target, connection, url, method, version, core.configuration.headLimit)
    let peer = unsafe cmicrohttpd_get_client_address(connection).flatMap { unsafe peerAddress($0) }
    step = reception.begin(head, peer: peer, core)
  } else if unsafe pieceSize.pointee > 0 {
    step = unsafe reception.receive(UnsafeRawBufferPointer(start: piece, count: pieceSize.pointee), core)
    unsafe pieceSize.pointee = 0
  } else {
    step = unsafe reception.proceed(on: connection, core)
  }
  switch step {
  case .wait:
    return .YES
  case .deliver(let response):
    reception.stage = .answered
    let isLast = reception.isLast || core.isDraining.load(ordering: .relaxed)
    return unsafe deliver(response, on: connection, closing: isLast)
  case .breakOff:
    return .NO
  }
}

private func core(_ context: UnsafeMutableRawPointer) -> ListenerCore {
  unsafe Unmanaged<ListenerCore>.fromOpaque(context).takeUnretainedValue()
}

/// Collects the head's lines and checks them.
private func readHead(
  _ target: [UInt8], _ connection: OpaquePointer, _ url: UnsafePointer<CChar>,
  _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>, _ limit: Int
) -> Result<RequestHead, HeadFault> {
  let size = unsafe cmicrohttpd_get_head_size(connection)
  guard size <= limit else { return .failure(.tooLarge) }
  var layout = unsafe HeadLayout(
    method: method, target: url, targetLength: target.count, version: version)
  unsafe withUnsafeMutablePointer(to: &layout) { layout in
    _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, addLine, layout)
  }
  layout.end(headSize: size)
  let isHTTP10 = unsafe strcmp(version, "HTTP/1.0") == 0
  // The library lets any minor version pass that has one digit.
  guard layout.isPlain, unsafe isHTTP10 || strcmp(version, "HTTP/1.1") == 0 else {
    return .failure(.malformed)
  }
  let methodBytes = unsafe Array(UnsafeRawBufferPointer(start: method, count: strlen(method)))
  return RequestHead.read(
    method: methodBytes, target: target, isHTTP10: isHTTP10, headers: layout.headers)
}

/// One field line, while `readHead` iterates over them; `context` is its HeadLayout.
private func addLine(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
  _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
  guard let context = unsafe context else { return .NO }
  let layout = unsafe context.assumingMemoryBound(to: HeadLayout.self)
  unsafe layout.pointee.add(
    name: UnsafeRawBufferPointer(start: name, count: nameSize),
    value: UnsafeRawBufferPointer(start: value, count: valueSize))
  return .YES
}
