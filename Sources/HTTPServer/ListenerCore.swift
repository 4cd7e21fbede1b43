internal import Synchronization

/// What the library's callbacks share: the limits, the responder, and the counts.
///
/// The library holds a pointer to it that it does not own; the listener keeps it until the daemon has stopped.
final class ListenerCore: Sendable {
  let configuration: ListenerConfiguration
  /// What of the configured limit the process can afford.
  let connectionLimit: Int
  let refusal: @Sendable (ListenerRefusal, Request?) -> Response
  let bodyLimit: @Sendable (Request) -> Int?
  let respond: @Sendable (Request) async -> Response
  let waiting = WaitingExchanges()
  let open = OpenConnections()
  let lingering = LingeringSockets()

  /// Open connections.
  let connections = Atomic<Int>(0)
  /// Connections that were accepted and that the library's threads have not taken over yet.
  let arriving = Atomic<Int>(0)
  /// Bytes of bodies that BodyShares hold.
  let bodyBytes = Atomic<Int>(0)
  /// Requests between a complete head and the last byte of the answer: what a graceful stop waits for.
  let begun = Atomic<Int>(0)
  /// Requests ever begun; a stop tells from it whether clients have fallen silent.
  let total = Atomic<Int>(0)
  /// Responders at work. One that a deadline overtook counts until it returns, so that responders which hang
  /// lead to refusals instead of ever more memory.
  let responding = Atomic<Int>(0)
  /// Whether every answer from now on closes its connection.
  let isDraining = Atomic<Bool>(false)

  init(
    configuration: ListenerConfiguration, connectionLimit: Int,
    refusal: @escaping @Sendable (ListenerRefusal, Request?) -> Response,
    bodyLimit: @escaping @Sendable (Request) -> Int?,
    respond: @escaping @Sendable (Request) async -> Response
  ) {
    self.configuration = configuration
    self.connectionLimit = connectionLimit
    self.refusal = refusal
    self.bodyLimit = bodyLimit
    self.respond = respond
  }

  /// Whether one more request would be refused.
  var isFull: Bool { responding.load(ordering: .relaxed) >= configuration.maxRequestsInFlight }

  /// Takes a place among the responders; false when there is none.
  func admit() -> Bool {
    let count = responding.add(1, ordering: .relaxed).newValue
    if count <= configuration.maxRequestsInFlight { return true }
    leave()
    return false
  }

  /// Gives the place back.
  func leave() {
    responding.subtract(1, ordering: .relaxed)
  }

  /// The answer to a request that the listener refuses; its connection closes when the rest of the request
  /// cannot be trusted or is not wanted.
  func response(to reason: ListenerRefusal, _ request: Request?) -> Response {
    var response = refusal(reason, request)
    switch reason {
    case .requestMalformed, .headerTooLarge, .bodyTooLarge, .requestTimeout, .shuttingDown:
      response.closesConnection = true
    case .deadlineExceeded, .overloaded:
      break
    }
    return response
  }
}
