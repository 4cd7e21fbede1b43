//===-- API ----------------------------------------------------------------===//
// Routes, handlers and the one error table: HTTP on one side, the rules on the other. A handler turns a body into
// typed input, asks the rules, and writes the answer; it decides nothing itself.
//===------------------------------------------------------------------------===//

package import Domain
package import ProviderTokens
package import Sessions
package import Storage
package import Telemetry

/// What the handlers need of the world.
package struct Endpoints: Sendable {
  /// Apple's keys.
  package let directory: KeyDirectory
  /// Nil: no sessions are handed over.
  package let firebase: FirebaseSource?
  package let issuer: SessionIssuer
  package let storage: any Storage
  package let signingKeyRules: SigningKeyRules
  package let projectID: String
  package let publicURL: String
  /// Where Apple's page for browsers is.
  package let appleBaseURL: String
  package let linking: AccountLinking
  package let allowsAnonymous: Bool
  /// Whether the routes of Firebase's emulator are there.
  package let isDevMode: Bool
  package let entropy: Entropy
  package let clock: WallClock
  package let log: Log
  package let metrics: Metrics
  package let readiness: @Sendable () async -> Readiness

  package init(
    directory: KeyDirectory, firebase: FirebaseSource?, issuer: SessionIssuer, storage: any Storage,
    signingKeyRules: SigningKeyRules, projectID: String,
    publicURL: String, appleBaseURL: String,
    linking: AccountLinking, allowsAnonymous: Bool, isDevMode: Bool, entropy: Entropy, clock: WallClock,
    log: Log, metrics: Metrics, readiness: @escaping @Sendable () async -> Readiness
  ) {
    self.directory = directory
    self.firebase = firebase
    self.issuer = issuer
    self.storage = storage
    self.signingKeyRules = signingKeyRules
    self.projectID = projectID
    self.publicURL = publicURL
    self.appleBaseURL = appleBaseURL
    self.linking = linking
    self.allowsAnonymous = allowsAnonymous
    self.isDevMode = isDevMode
    self.entropy = entropy
    self.clock = clock
    self.log = log
    self.metrics = metrics
    self.readiness = readiness
  }

  /// The route tables, one line a route: for everybody, and for operators.
  package func tables(_ counts: APIMetrics) -> (open: [Route], operators: [Route]) {
    let bearers = BearerReader(issuer: issuer)
    let operation = SignInOperation(directory: directory, issuer: issuer, clock: clock, metrics: counts)
    let signIn = SignIn(operation: operation, bearers: bearers)
    let web = WebSignIn(
      operation: operation, issuer: issuer, publicURL: publicURL, appleBaseURL: appleBaseURL,
      entropy: entropy,
      demoURL: isDevMode ? publicURL + SignInDemo.path : nil)
    let refresh = TokenRefresh(issuer: issuer, web: web, projectID: projectID, log: log, metrics: counts)
    let handOver = FirebaseHandOver(source: firebase, issuer: issuer, clock: clock, metrics: counts)
    let nonces = Nonces(issuer: issuer)
    let notifications = AppleNotifications(
      directory: directory, storage: storage, watch: issuer.watch, clock: clock, log: log, metrics: counts)
    let wellKnown = WellKnown(issuer: issuer, publicURL: publicURL)
    let health = Health(readiness: readiness)
    let documents = Documents(metrics: metrics)
    let firebaseRoutes = firebaseRoutes(signIn, refresh, wellKnown, bearers)
    let sessions = OwnSessions(issuer: issuer, bearers: bearers)
    let account = OwnAccount(issuer: issuer, bearers: bearers)
    let introspection = Introspection(issuer: issuer, bearers: bearers)
    let revocations = Revocations(issuer: issuer, storage: storage)
    return (
      [
        app("POST", "/v1/signInWithIdp", .signIn) { call throws(Failure) in
          try await signIn.respond(to: call)
        },
        app("POST", "/v1/token", .token) { call throws(Failure) in try await refresh.respond(to: call) },
        app("POST", "/v1/migrate/firebase", .firebaseHandOver) { call throws(Failure) in
          try await handOver.respond(to: call)
        },
        app("POST", "/v1/nonces", .nonces) { call in nonces.respond(to: call) },
        open("POST", "/v1/apple/notifications", .appleNotifications) { call throws(Failure) in
          try await notifications.respond(to: call)
        },
        app("GET", "/v1/account", .account) { call throws(Failure) in try await account.show(call) },
        app("PATCH", "/v1/account", .account) { call throws(Failure) in try await account.change(call) },
        app("DELETE", "/v1/account", .account) { call throws(Failure) in try await account.delete(call) },
        app("GET", "/v1/sessions", .sessions) { call throws(Failure) in try await sessions.list(call) },
        app("DELETE", "/v1/sessions/{session}", .sessions) { call throws(Failure) in
          try await sessions.end(call)
        },
        app("POST", "/v1/signOut", .signOut) { call throws(Failure) in try await sessions.signOut(call) },
        app("POST", "/v1/revoke", .revoke) { call throws(Failure) in try await revocations.revoke(call) },
        service("POST", "/v1/introspect", .introspect, bodyLimit: Limits.introspectionBodyBytes) {
          call throws(Failure) in
          try await introspection.introspect(call)
        },
        service("GET", "/v1/revocations", .revocations) { call throws(Failure) in
          try await revocations.feed(call)
        },
        open("*", "/v1/verify/*", .verify) { call throws(Failure) in try await introspection.verify(call) },
        open("GET", "/v1/apple/authorize", .appleAuthorize, face: .browser) { call throws(Failure) in
          try web.authorize(call)
        },
        open("POST", "/v1/apple/callback", .appleCallback, face: .browser) { call throws(Failure) in
          try await web.callback(call)
        },
        open("GET", "/.well-known/jwks.json", .keySet) { call in wellKnown.keySet(call) },
        open("GET", "/.well-known/openid-configuration", .discovery) { call in wellKnown.discovery(call) },
        open("GET", "/v1/certs", .certificates) { call in wellKnown.certificates(call) },
        open("GET", "/openapi.yaml", .contract) { call in documents.contract(call) },
        open("GET", "/livez", .live) { call in health.live(call) },
        open("GET", "/readyz", .ready) { call in await health.ready(call) },
      ] + firebaseRoutes.all + (isDevMode ? firebaseRoutes.emulator + demoRoutes : []),
      [open("GET", "/metrics", .metrics) { call in documents.metrics(call) }]
        + administratorRoutes(counts) + Console.routes
    )
  }

  /// A page that shows the web flow, in development.
  private var demoRoutes: [Route] {
    [
      open("GET", SignInDemo.path, .signInDemo) { call in SignInDemo.page(call, publicURL: publicURL) },
      open("GET", SignInDemo.path + ".js", .signInDemo) { _ in SignInDemo.script },
      open("GET", SignInDemo.path + ".css", .signInDemo) { _ in SignInDemo.style },
    ]
  }

  /// What administrators call by our own names.
  private func administratorRoutes(_ counts: APIMetrics) -> [Route] {
    let users = UserAdministration(accounts: accounts, limits: issuer.rules.limits)
    let records = OperatorRecords(
      storage: storage, limits: issuer.rules.limits, keyRules: signingKeyRules, now: accounts.now)
    let overview = NodeOverview(storage: storage, metrics: counts, readiness: readiness, now: accounts.now)
    let (user, sessions) = ("/v1/admin/users/{user}", "/v1/admin/users/{user}/sessions")
    return [
      administrator("GET", "/v1/admin/users", .adminUsers) { call throws(Failure) in
        try await users.list(call)
      },
      administrator("GET", user, .adminUser) { call throws(Failure) in try await users.show(call) },
      administrator("PATCH", user, .adminUser) { call throws(Failure) in try await users.change(call) },
      administrator("DELETE", user, .adminUser) { call throws(Failure) in try await users.delete(call) },
      administrator("GET", sessions, .adminSessions) { call throws(Failure) in
        try await users.sessions(call)
      },
      administrator("DELETE", sessions, .adminSessions) { call throws(Failure) in
        try await users.endSessions(call)
      },
      administrator("DELETE", sessions + "/{session}", .adminSessions) { call throws(Failure) in
        try await users.endSessions(call)
      },
      administrator("GET", "/v1/admin/audit", .adminAudit) { call throws(Failure) in
        try await records.audit(call)
      },
      administrator("GET", "/v1/admin/keys", .adminKeys) { call throws(Failure) in
        try await records.signingKeys(call)
      },
      administrator("GET", "/v1/admin/activity", .adminActivity) { call in await overview.activity(call) },
      administrator("GET", "/v1/admin/queues", .adminQueues) { call throws(Failure) in
        try await overview.queues(call)
      },
    ]
  }

  private var accounts: AccountAdministration {
    AccountAdministration(
      storage: storage, watch: issuer.watch, appleBell: issuer.appleBell, clock: clock)
  }

  private func firebaseRoutes(
    _ signIn: SignIn, _ refresh: TokenRefresh, _ wellKnown: WellKnown, _ bearers: BearerReader
  ) -> FirebaseRoutes {
    let administration = FirebaseAdministration(
      accounts: accounts, linking: linking, entropy: entropy)
    return FirebaseRoutes(
      signIn: signIn, refresh: refresh, wellKnown: wellKnown,
      accounts: FirebaseAccounts(issuer: issuer, bearers: bearers, administration: administration),
      sessions: FirebaseSessions(
        issuer: issuer, clock: clock, allowsAnonymous: allowsAnonymous, administration: administration),
      administration: administration,
      bulk: FirebaseBulk(administration: administration, issuer: issuer, bearers: bearers),
      configuration: FirebaseConfiguration(
        projectID: projectID, domain: Authority(origin: publicURL)?.host, linking: linking, entropy: entropy))
  }

  private func app(_ method: String, _ path: String, _ name: RouteName, _ handler: @escaping Handler) -> Route
  {
    Route(method, path, name: name.rawValue, access: .app, handler: handler)
  }

  private func service(
    _ method: String, _ path: String, _ name: RouteName, bodyLimit: Int = Limits.bodyBytes,
    _ handler: @escaping Handler
  ) -> Route {
    Route(method, path, name: name.rawValue, access: .service, bodyLimit: bodyLimit, handler: handler)
  }

  private func administrator(
    _ method: String, _ path: String, _ name: RouteName, _ handler: @escaping Handler
  ) -> Route {
    Route(method, path, name: name.rawValue, access: .administrator, handler: handler)
  }

  private func open(
    _ method: String, _ path: String, _ name: RouteName, face: Face = .bramley, _ handler: @escaping Handler
  ) -> Route {
    Route(method, path, name: name.rawValue, face: face, access: .open, handler: handler)
  }
}

/// What a route is called in logs and metrics.
package enum RouteName: String, Sendable, CaseIterable {
  case signIn = "sign_in"
  case token
  case firebaseHandOver = "firebase_hand_over"
  case nonces
  case appleNotifications = "apple_notifications"
  case account
  case sessions
  case signOut = "sign_out"
  case revoke
  case introspect
  case revocations
  case verify
  case appleAuthorize = "apple_authorize"
  case appleCallback = "apple_callback"
  case adminUsers = "admin_users"
  case adminUser = "admin_user"
  case adminSessions = "admin_sessions"
  case adminAudit = "admin_audit"
  case adminKeys = "admin_keys"
  case adminActivity = "admin_activity"
  case adminQueues = "admin_queues"
  case console
  case accountLookup = "account_lookup"
  case accountUpdate = "account_update"
  case accountDelete = "account_delete"
  case accountCreate = "account_create"
  case accountBatchGet = "account_batch_get"
  case accountBatchCreate = "account_batch_create"
  case accountBatchDelete = "account_batch_delete"
  case accountQuery = "account_query"
  case signUp = "sign_up"
  case customToken = "custom_token"
  case sessionCookie = "session_cookie"
  case revokeToken = "revoke_token"
  case authURI = "auth_uri"
  case projectConfig = "project_config"
  case recaptchaConfig = "recaptcha_config"
  case notEnabled = "not_enabled"
  case tenant
  case emulator
  case signInDemo = "signin_demo"
  case keySet = "key_set"
  case discovery
  case certificates
  case contract
  case live
  case ready
  case metrics
}
