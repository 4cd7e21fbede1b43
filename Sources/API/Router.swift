package import Domain
package import HTTPServer
package import Telemetry

/// Takes a request to its handler, and gives every answer what all answers have: a request id, CORS headers, the
/// envelope where it is a refusal, and a log line.
package final class Router: Sendable {
  private let table: RouteTable
  private let projectID: String
  private let policies: PolicyHolder
  private let metrics: APIMetrics
  private let entropy: Entropy
  private let requestIDs: RequestIDs
  private let log: Log

  /// - Parameter projectID: What `{project}` in a path has to be.
  package init(
    routes: [Route], projectID: String, policies: PolicyHolder, metrics: APIMetrics, entropy: Entropy,
    log: Log
  ) {
    table = RouteTable(routes)
    self.projectID = projectID
    self.policies = policies
    self.metrics = metrics
    self.entropy = entropy
    requestIDs = RequestIDs(entropy)
    self.log = log
  }

  /// Answers a request.
  package func respond(to request: Request) async -> Response {
    let call = makeCall(request)
    let match = match(call)
    // Where every method has an answer, this one has no other: a proxy that asks whether to let a request pass takes
    // any 2xx for a yes.
    if request.method == "OPTIONS", match?.methods["*"] == nil {
      return finished(preflight(call, match), call, match, route: "preflight")
    }
    var route: Route?
    var wasAdmitted = false
    do throws(Failure) {
      guard let match else { throw Failure(.notFound) }
      let found = try match.route(for: request.method)
      route = found
      let own = try admitted(call, to: found, match.parameters)
      wasAdmitted = true
      return finished(try await found.handler(own), call, match, route: found.name)
    } catch {
      if let route, !wasAdmitted { metrics.count(error.reason, turnedAwayFrom: route.name) }
      var response = failureResponse(error, call, face: route?.face ?? .bramley)
      if error.reason == .methodNotAllowed { response.headers.append("Allow", allowedMethods(match)) }
      return finished(response, call, match, route: route?.name ?? "none", reason: error.reason)
    }
  }

  /// Bytes that the body of a request may have, judged by its head: more than usual only where the route takes more
  /// and the request is let in, since a stranger is not worth the memory.
  package func bodyLimit(of request: Request) -> Int? {
    let call = makeCall(request)
    guard let match = match(call), let route = try? match.route(for: request.method),
      route.bodyLimit > Limits.bodyBytes, (try? admitted(call, to: route, match.parameters)) != nil
    else { return nil }
    return route.bodyLimit
  }

  /// What the listener's own refusals say; the request is there unless its head could not be read.
  package func refuse(_ refusal: ListenerRefusal, _ request: Request?) -> Response {
    let failure = Failure(FailureReason(refusal))
    guard let request else {
      let requestID = requestIDs.next()
      var response = failure.response(requestID: requestID, retryAfter: retryAfter)
      response.headers.append("X-Request-Id", requestID)
      report(
        route: "none", status: response.status, reason: failure.reason, requestID: requestID, request: nil)
      return response
    }
    let call = makeCall(request)
    let match = match(call)
    if let route = try? match?.route(for: request.method) {
      metrics.count(failure.reason, turnedAwayFrom: route.name)
    }
    return finished(
      failureResponse(failure, call, face: .bramley), call, match, route: "none", reason: failure.reason)
  }

  private func makeCall(_ request: Request) -> Call {
    let policy = policies.current
    return Call(
      request: request, requestID: requestID(of: request), policy: policy,
      address: countedAddress(of: request, trusting: policy.trustedProxies))
  }

  /// What the path names, of what somebody may be let in to.
  private func match(_ call: Call) -> PathMatch? {
    table.match(call.request)?.limited { call.policy.admitsAnybody($0.access) }
  }

  /// The call as the handler gets it: let in, and with the right project.
  private func admitted(
    _ call: Call, to route: Route, _ parameters: [String: String]
  ) throws(Failure) -> Call {
    var call = call
    call.face = route.face
    call.administrator = try call.policy.admit(call.request, to: route)
    call.parameters = parameters
    if let project = parameters["project"], !project.utf8.elementsEqual(projectID.utf8) {
      throw Failure(.configurationNotFound)
    }
    return call
  }

  private func failureResponse(_ failure: Failure, _ call: Call, face: Face) -> Response {
    let response = failure.response(requestID: call.requestID, retryAfter: retryAfter, face: face)
    guard face == .browser, call.request.wantsPage else { return response }
    return failure.page(instead: response, requestID: call.requestID)
  }

  private func preflight(_ call: Call, _ match: PathMatch?) -> Response {
    var response = Response(status: 204)
    response.headers.append("Allow", allowedMethods(match))
    if call.request.headers.first("Access-Control-Request-Method") != nil,
      call.policy.crossOrigin.allows(call.request, ofOperators: match?.isOfOperators ?? false)
    {
      call.policy.crossOrigin.addPreflight(to: &response, for: call.request)
    }
    return response
  }

  private func allowedMethods(_ match: PathMatch?) -> String {
    var methods = Set(match?.methods.keys.map { $0 } ?? [])
    if methods.remove("*") != nil { methods.formUnion(["DELETE", "GET", "PATCH", "POST", "PUT"]) }
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
    return requestIDs.next()
  }

  /// One to five seconds.
  private var retryAfter: Int64 { 1 + Int64(entropy.bytes(1).first ?? 0) % 5 }

  private func finished(
    _ response: Response, _ call: Call, _ match: PathMatch?, route: String, reason: FailureReason? = nil
  ) -> Response {
    var response = response
    response.headers.append("X-Request-Id", call.requestID)
    response.headers.append("X-Content-Type-Options", "nosniff")
    call.policy.crossOrigin.add(
      to: &response, for: call.request, ofOperators: match?.isOfOperators ?? false)
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
