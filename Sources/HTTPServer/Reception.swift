internal import CMicroHTTPD

/// One request while it arrives, from its first line to its answer.
///
/// The library holds it as the request's context from the target callback to the completed callback, and calls
/// with it only on the connection's own thread: it needs no lock and is not Sendable.
final class Reception {
  /// What the next call of the access callback means.
  enum Stage {
    /// The head is complete.
    case head
    /// The body arrives.
    case body(Request, limit: Int)
    /// The body arrives and is thrown away; then the refusal is sent, since the library takes no answer while
    /// a body is arriving.
    case discarding(ListenerRefusal, Request, allowance: Int)
    /// The connection slept and woke.
    case responding(Exchange)
    /// The answer is the library's now.
    case answered
  }

  /// The target as sent, before the library cut it at `?`.
  let target: [UInt8]
  let connection: OpenConnection
  var stage = Stage.head
  var body: [UInt8] = []
  /// The body's part of the memory for bodies; nil while nothing has come.
  private var share: BodyShare?
  /// Whether the request is counted as begun.
  var isCounted = false
  /// Whether the connection ends after this request in any case.
  ///
  /// True of every chunked request: the library takes a bare LF for the end of a chunk's size line, also after
  /// an extension, so a proxy before it may see the body end elsewhere. What follows is then never read as a
  /// second request.
  var isLast = false

  init(target: [UInt8], on connection: OpenConnection) {
    self.target = target
    self.connection = connection
  }

  /// Bytes of an unwanted body that are read for the sake of an answer; beyond them the connection breaks.
  static let discardAllowance = 1 << 20
}

/// What the access callback does next.
enum Step {
  /// Waits for more of the request, or for the connection to wake.
  case wait
  case deliver(Response)
  /// Closes the connection without an answer.
  case breakOff
}

extension Reception {
  /// Decides about a request whose head is complete, before any of its body.
  ///
  /// Whatever is answered here ends the connection, since the library takes the body for unwanted.
  func begin(_ head: Result<RequestHead, HeadFault>, peer: PeerAddress?, _ core: ListenerCore) -> Step {
    guard let peer else { return .breakOff }
    let read: RequestHead
    switch head {
    case .success(let head): read = head
    case .failure(.malformed): return .deliver(core.response(to: .requestMalformed, nil))
    case .failure(.tooLarge): return .deliver(core.response(to: .headerTooLarge, nil))
    }
    let request = Request(
      method: read.method, path: read.path, query: read.query, headers: read.headers, peer: peer,
      arrived: .now)
    let limit = bodyLimit(of: read, request, core)
    switch read.framing {
    case .none:
      // Not answered yet, though it is complete: the library closes a connection that is answered in this call.
      stage = .body(request, limit: 0)
      return .wait
    case .length(let length) where length > limit:
      connection.leaveBody()
      return .deliver(core.response(to: .bodyTooLarge, request))
    case .length, .chunked:
      // Not worth receiving.
      if core.isFull {
        connection.leaveBody()
        return .deliver(core.response(to: .overloaded, request))
      }
      // No room is made for what a head only announces.
      if read.framing == .chunked { isLast = true }
      stage = .body(request, limit: limit)
      return .wait
    }
  }

  /// Bytes that a body may have. Whoever may send more than usual has said in the head who he is; he is not asked when
  /// he sends less.
  private func bodyLimit(of head: RequestHead, _ request: Request, _ core: ListenerCore) -> Int {
    let usual = core.configuration.bodyLimit
    switch head.framing {
    case .none: return 0
    case .length(let length) where length <= usual: return usual
    case .length, .chunked: return core.bodyLimit(request) ?? usual
    }
  }

  /// Takes a piece of the body.
  func receive(_ piece: UnsafeRawBufferPointer, _ core: ListenerCore) -> Step {
    switch stage {
    case .body(let request, let limit):
      guard let reason = reasonToRefuse(piece.count, of: request, limit: limit, core) else {
        unsafe body.append(contentsOf: piece)
        return .wait
      }
      body = []
      share = nil
      isLast = true
      stage = .discarding(reason, request, allowance: Self.discardAllowance - piece.count)
      return .wait
    case .discarding(let reason, let request, let allowance):
      let end = request.arrived.advanced(by: core.configuration.patience)
      guard piece.count <= allowance, end > .now else { return .breakOff }
      stage = .discarding(reason, request, allowance: allowance - piece.count)
      return .wait
    case .head, .responding, .answered:
      return .breakOff
    }
  }

  /// Why so many bytes more are not taken, or nil when they are, with the memory for them.
  private func reasonToRefuse(
    _ count: Int, of request: Request, limit: Int, _ core: ListenerCore
  ) -> ListenerRefusal? {
    if request.arrived.advanced(by: core.configuration.deadline) <= .now { return .requestTimeout }
    if count > limit - body.count { return .bodyTooLarge }
    let share = share ?? BodyShare(of: core)
    self.share = share
    return share.grow(by: count) ? nil : .overloaded
  }

  /// Goes on where no piece of a body came: at the body's end, or after the connection woke.
  func proceed(on connection: OpaquePointer, _ core: ListenerCore) -> Step {
    switch stage {
    case .body(let request, _):
      if body.isEmpty { return unsafe respond(to: request, on: connection, core) }
      let whole = Request(
        method: request.method, path: request.path, query: request.query, headers: request.headers,
        body: body, peer: request.peer, arrived: request.arrived)
      body = []
      return unsafe respond(to: whole, on: connection, core)
    case .discarding(let reason, let request, _):
      return .deliver(core.response(to: reason, request))
    case .responding(let exchange):
      guard let response = exchange.take() else { return .breakOff }
      return .deliver(response)
    case .head, .answered:
      return .breakOff
    }
  }

  private func respond(to request: Request, on connection: OpaquePointer, _ core: ListenerCore) -> Step {
    self.connection.requestArrived()
    guard core.admit() else { return .deliver(core.response(to: .overloaded, request)) }
    let exchange = unsafe Exchange(request, holding: share, on: connection, core: core)
    stage = .responding(exchange)
    guard let response = exchange.start() else { return .wait }
    return .deliver(response)
  }
}
