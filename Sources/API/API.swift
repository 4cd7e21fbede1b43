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
  package let appleRules: IdentityTokenRules
  package let directory: KeyDirectory
  package let issuer: SessionIssuer
  package let projectID: String
  package let publicURL: String
  package let clock: WallClock
  package let log: Log
  package let readiness: @Sendable () async -> Readiness

  package init(
    appleRules: IdentityTokenRules, directory: KeyDirectory, issuer: SessionIssuer, projectID: String,
    publicURL: String, clock: WallClock, log: Log, readiness: @escaping @Sendable () async -> Readiness
  ) {
    self.appleRules = appleRules
    self.directory = directory
    self.issuer = issuer
    self.projectID = projectID
    self.publicURL = publicURL
    self.clock = clock
    self.log = log
    self.readiness = readiness
  }

  /// The route table, one line a route.
  package var routes: [Route] {
    let signIn = SignIn(rules: appleRules, directory: directory, issuer: issuer, clock: clock)
    let refresh = TokenRefresh(issuer: issuer, projectID: projectID, log: log)
    let nonces = Nonces(issuer: issuer)
    let wellKnown = WellKnown(issuer: issuer, publicURL: publicURL)
    let health = Health(readiness: readiness)
    return [
      app("POST", "/v1/signInWithIdp", "sign_in") { call throws(Failure) in try await signIn.respond(to: call)
      },
      app("POST", "/v1/token", "token") { call throws(Failure) in try await refresh.respond(to: call) },
      app("POST", "/v1/nonces", "nonces") { call in nonces.respond(to: call) },
      open("GET", "/.well-known/jwks.json", "key_set") { call in wellKnown.keySet(call) },
      open("GET", "/.well-known/openid-configuration", "discovery") { call in wellKnown.discovery(call) },
      open("GET", "/v1/certs", "certificates") { call in wellKnown.certificates(call) },
      open("GET", "/livez", "live") { call in health.live(call) },
      open("GET", "/readyz", "ready") { call in await health.ready(call) },
    ]
  }

  private func app(_ method: String, _ path: String, _ name: String, _ handler: @escaping Handler) -> Route {
    Route(method, path, name: name, asksForKey: true, handler: handler)
  }

  private func open(_ method: String, _ path: String, _ name: String, _ handler: @escaping Handler) -> Route {
    Route(method, path, name: name, asksForKey: false, handler: handler)
  }
}
