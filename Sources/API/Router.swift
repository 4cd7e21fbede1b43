package import Domain
package import HTTPServer
package import Telemetry
internal import Wire

/// One request on its way to a handler, with the id that finds it in the log.
package struct Call: Sendable {
  package let request: Request
  package let requestID: String
  /// The settings in force when it came.
  package let policy: RequestPolicy
  /// What rates count it under: an IPv4 address, or the first half of an IPv6 one.
  let address: [UInt8]
}

/// The one kind of handler. It runs on the listener's thread until it first waits for something.
package typealias Handler = @Sendable (Call) async throws(Failure) -> Response

/// One line of the route table.
package struct Route: Sendable {
  package let method: String
  package let path: String
  /// A label for logs and metrics; never the request's own path.
  package let name: String
  /// Whether the caller names itself with an API key, when any are set.
  package let asksForKey: Bool
  package let handler: Handler

  package init(
    _ method: String, _ path: String, name: String, asksForKey: Bool, handler: @escaping Handler
  ) {
    self.method = method
    self.path = path
    self.name = name
    self.asksForKey = asksForKey
    self.handler = handler
  }
}

/// Takes a request to its handler, and gives every answer what all answers have: a request id, CORS headers, the
/// envelope where it is a refusal, and a log line.
package struct Router: Sendable {
  private let routes: [String: [String: Route]]
  private let policies: PolicyHolder
  private let metrics: APIMetrics
  private let entropy: Entropy
  private let log: Log

  package init(
    routes: [Route], policies: PolicyHolder, metrics: APIMetrics, entropy: Entropy, log: Log
  ) {
    self.routes = Dictionary(grouping: routes, by: \.path).mapValues { routes in
      Dictionary(uniqueKeysWithValues: routes.map { ($0.method, $0) })
    }
    self.policies = policies
    self.metrics = metrics
    self.entropy = entropy
    self.log = log
  }

  /// Answers a request.
  package func respond(to request: Request) async -> Response {
    let call = makeCall(request)
    if request.method == "OPTIONS" { return finished(preflight(call), call, route: "preflight") }
    var routeName = "none"
    var response: Response
    do throws(Failure) {
      let route = try route(for: request)
      routeName = route.name
      if route.asksForKey { try call.policy.apiKeys.check(request) }
      response = try await route.handler(call)
    } catch {
      response = failureResponse(error, call)
      return finished(response, call, route: routeName, reason: error.reason)
    }
    return finished(response, call, route: routeName)
  }

  /// What the listener's own refusals say; the request is there unless its head could not be read.
  package func refuse(_ refusal: ListenerRefusal, _ request: Request?) -> Response {
    let failure = Failure(FailureReason(refusal))
    guard let request else {
      let requestID = hexText(entropy.bytes(16))
      var response = failure.response(requestID: requestID, retryAfter: retryAfter)
      response.headers.append("X-Request-Id", requestID)
      report(
        route: "none", status: response.status, reason: failure.reason, requestID: requestID, request: nil)
      return response
    }
    let call = makeCall(request)
    return finished(failureResponse(failure, call), call, route: "none", reason: failure.reason)
  }

  private func makeCall(_ request: Request) -> Call {
    let policy = policies.current
    return Call(
      request: request, requestID: requestID(of: request), policy: policy,
      address: countedAddress(of: request, trusting: policy.trustedProxies))
  }

  private func route(for request: Request) throws(Failure) -> Route {
    guard let methods = routes[request.path] else { throw Failure(.notFound) }
    if let route = methods[request.method] { return route }
    if request.method == "HEAD", let route = methods["GET"] { return route }
    throw Failure(.methodNotAllowed)
  }

  private func failureResponse(_ failure: Failure, _ call: Call) -> Response {
    var response = failure.response(requestID: call.requestID, retryAfter: retryAfter)
    if failure.reason == .methodNotAllowed {
      response.headers.append("Allow", allowedMethods(call.request.path))
    }
    return response
  }

  private func preflight(_ call: Call) -> Response {
    var response = Response(status: 204)
    response.headers.append("Allow", allowedMethods(call.request.path))
    if call.request.headers.first("Access-Control-Request-Method") != nil {
      call.policy.crossOrigin.addPreflight(to: &response, for: call.request)
    }
    return response
  }

  private func allowedMethods(_ path: String) -> String {
    let methods = routes[path].map { Set($0.keys) } ?? []
    let implied: Set = methods.contains("GET") ? ["HEAD", "OPTIONS"] : ["OPTIONS"]
    return methods.union(implied).sorted().joined(separator: ", ")
  }

  /// The caller's own id where it is 1 to 128 printable ASCII characters, else a new one.
  private func requestID(of request: Request) -> String {
    if let given = request.headers.first("X-Request-Id"), (1...128).contains(given.utf8.count),
      given.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    {
      return given
    }
    return hexText(entropy.bytes(16))
  }

  /// One to five seconds.
  private var retryAfter: Int64 { 1 + Int64(entropy.bytes(1).first ?? 0) % 5 }

  private func finished(
    _ response: Response, _ call: Call, route: String, reason: FailureReason? = nil
  ) -> Response {
    var response = response
    response.headers.append("X-Request-Id", call.requestID)
    response.headers.append("X-Content-Type-Options", "nosniff")
    call.policy.crossOrigin.add(to: &response, for: call.request)
    report(
      route: route, status: response.status, reason: reason, requestID: call.requestID, request: call.request)
    return response
  }

  /// Counts and logs an answer.
  private func report(
    route: String, status: Int, reason: FailureReason?, requestID: String, request: Request?
  ) {
    var fields: [Log.Field] = [
      .text("route", route), .number("status", Int64(status)), .text("requestId", requestID),
    ]
    if let reason { fields.append(.text("reason", reason.rawValue)) }
    var elapsed: Double?
    if let request {
      let (seconds, attoseconds) = (ContinuousClock.now - request.arrived).components
      let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
      elapsed = Double(microseconds) / 1_000_000
      fields.append(.number("microseconds", microseconds))
      if let trace = request.headers.first("traceparent"), isTraceParent(trace) {
        fields.append(.text("traceparent", trace))
      }
    }
    metrics.count(route: route, status: status, seconds: elapsed)
    log.info("request", fields)
  }
}

/// `00-<32 hex>-<16 hex>-<2 hex>` (W3C Trace Context §3.2); anything else does not go into a log.
private func isTraceParent(_ text: String) -> Bool {
  let parts = text.split(separator: "-", omittingEmptySubsequences: false)
  return parts.map(\.utf8.count) == [2, 32, 16, 2]
    && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || $0 == 0x2D }
}

extension FailureReason {
  init(_ refusal: ListenerRefusal) {
    self =
      switch refusal {
      case .requestMalformed: .requestMalformed
      case .headerTooLarge: .headerTooLarge
      case .bodyTooLarge: .bodyTooLarge
      case .requestTimeout: .requestTimeout
      case .deadlineExceeded: .deadlineExceeded
      case .overloaded: .overloaded
      case .shuttingDown: .shuttingDown
      }
  }
}
