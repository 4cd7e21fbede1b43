import Testing
import Wire

/// Somebody who calls the administrators' routes by our own names.
struct Operator: Sendable {
  let service: Service
  /// Where the routes are; the service's own port unless the operators have a listener of their own.
  var port: UInt16?
  var bearer: String? = Administrator.token

  /// Sends a request to a route below `/v1/admin`.
  func send(
    _ method: String, _ path: String, _ body: String? = nil, requestID: String? = nil
  ) async throws -> HTTPAnswer {
    var headers = bearer.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
    if body != nil { headers.append((name: "Content-Type", value: "application/json")) }
    if let requestID { headers.append((name: "X-Request-Id", value: requestID)) }
    let request = HTTPRequest(
      method: method, path: "/v1/admin" + path, headers: headers, body: Array((body ?? "").utf8))
    return try await exchange(request, port: port ?? service.port)
  }

  /// As ``send(_:_:_:requestID:)``, of what has to be done.
  @discardableResult
  func done(
    _ method: String, _ path: String, _ body: String? = nil, requestID: String? = nil,
    at location: SourceLocation = #_sourceLocation
  ) async throws -> JSONObject {
    let answer = try await send(method, path, body, requestID: requestID)
    try #require(answer.status == 200, "\(answer)", sourceLocation: location)
    return try answer.json
  }
}

/// Gives a test a service that has an administrator.
func withOperator(
  _ changes: [String: String] = [:], _ body: (Service, Operator) async throws -> Void
) async throws {
  try await withService(Administrator.settings.merging(changes) { $1 }) { service in
    try await body(service, Operator(service: service))
  }
}

extension Service {
  /// Whether a proxy that asks would be told that a session token is good.
  func admits(_ idToken: String) async throws -> Bool {
    try await get("/v1/verify", headers: [("Authorization", "Bearer \(idToken)")]).status == 200
  }

  /// Asks until it is so; with a generous end for slow machines.
  func waits(
    _ what: Comment, at location: SourceLocation = #_sourceLocation, until isSo: () async throws -> Bool
  ) async throws {
    let begun = ContinuousClock.now
    while try await !isSo() {
      try #require(ContinuousClock.now - begun < .seconds(20), what, sourceLocation: location)
    }
  }
}
