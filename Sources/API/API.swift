//===-- API ----------------------------------------------------------------===//
// Routes, handlers and the one error table: HTTP on one side, the rules on the other. A handler turns a body into
// typed input, asks the rules, and writes the answer; it decides nothing itself.
//===------------------------------------------------------------------------===//

package import AppleIdentity
package import Domain
package import Sessions
package import Telemetry

/// What the handlers need of the world.
package struct Endpoints: Sendable {
  package let directory: KeyDirectory
  package let issuer: SessionIssuer
  package let projectID: String
  package let publicURL: String
  package let clock: WallClock
  package let log: Log
  package let metrics: Metrics
  package let readiness: @Sendable () async -> Readiness

  package init(
    directory: KeyDirectory, issuer: SessionIssuer, projectID: String, publicURL: String, clock: WallClock,
    log: Log, metrics: Metrics, readiness: @escaping @Sendable () async -> Readiness
  ) {
    self.directory = directory
    self.issuer = issuer
    self.projectID = projectID
    self.publicURL = publicURL
    self.clock = clock
    self.log = log
    self.metrics = metrics
    self.readiness = readiness
  }

  /// The route tables, one line a route: for everybody, and for operators.
  package func tables(_ counts: APIMetrics) -> (open: [Route], operators: [Route]) {
    let signIn = SignIn(directory: directory, issuer: issuer, clock: clock, metrics: counts)
    let refresh = TokenRefresh(issuer: issuer, projectID: projectID, log: log, metrics: counts)
    let nonces = Nonces(issuer: issuer)
    let wellKnown = WellKnown(issuer: issuer, publicURL: publicURL)
    let health = Health(readiness: readiness)
    let documents = Documents(metrics: metrics)
    return (
      [
        app("POST", "/v1/signInWithIdp", .signIn) { call throws(Failure) in try await signIn.respond(to: call)
        },
        app("POST", "/v1/token", .token) { call throws(Failure) in try await refresh.respond(to: call) },
        app("POST", "/v1/nonces", .nonces) { call in nonces.respond(to: call) },
        open("GET", "/.well-known/jwks.json", .keySet) { call in wellKnown.keySet(call) },
        open("GET", "/.well-known/openid-configuration", .discovery) { call in wellKnown.discovery(call) },
        open("GET", "/v1/certs", .certificates) { call in wellKnown.certificates(call) },
        open("GET", "/openapi.yaml", .contract) { call in documents.contract(call) },
        open("GET", "/livez", .live) { call in health.live(call) },
        open("GET", "/readyz", .ready) { call in await health.ready(call) },
      ],
      [
        open("GET", "/metrics", .metrics) { call in documents.metrics(call) }
      ]
    )
  }

  private func app(_ method: String, _ path: String, _ name: RouteName, _ handler: @escaping Handler) -> Route
  {
    Route(method, path, name: name.rawValue, access: .app, handler: handler)
  }

  private func open(_ method: String, _ path: String, _ name: RouteName, _ handler: @escaping Handler)
    -> Route
  {
    Route(method, path, name: name.rawValue, access: .open, handler: handler)
  }
}

/// What a route is called in logs and metrics.
package enum RouteName: String, Sendable, CaseIterable {
  case signIn = "sign_in"
  case token
  case nonces
  case keySet = "key_set"
  case discovery
  case certificates
  case contract
  case live
  case ready
  case metrics
}
