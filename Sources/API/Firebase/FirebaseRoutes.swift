internal import Domain
internal import HTTPServer
internal import Wire

/// Every route of Firebase's, by its present name and by the older one that the mobile SDKs use. One handler stands
/// behind each operation; where there is one of ours for it, that one.
struct FirebaseRoutes: Sendable {
  let signIn: SignIn
  let refresh: TokenRefresh
  let wellKnown: WellKnown
  let accounts: FirebaseAccounts
  let sessions: FirebaseSessions
  let administration: FirebaseAdministration
  let bulk: FirebaseBulk
  let configuration: FirebaseConfiguration

  var all: [Route] { apps + refused + administrators + keys }

  /// What apps call.
  private var apps: [Route] {
    [
      both("accounts:signInWithIdp", "verifyAssertion", .signIn) { call throws(Failure) in
        try await signIn.respond(to: call)
      },
      both("accounts:lookup", "getAccountInfo", .accountLookup) { call throws(Failure) in
        try await accounts.lookup(call)
      },
      both("accounts:update", "setAccountInfo", .accountUpdate) { call throws(Failure) in
        try await accounts.update(call)
      },
      both("accounts:delete", "deleteAccount", .accountDelete) { call throws(Failure) in
        try await accounts.delete(call)
      },
      both("accounts:signUp", "signupNewUser", .signUp) { call throws(Failure) in
        try await sessions.signUp(call)
      },
      both("accounts:signInWithCustomToken", "verifyCustomToken", .customToken) { call throws(Failure) in
        try await sessions.signInWithCustomToken(call)
      },
      both("accounts:createAuthUri", "createAuthUri", .authURI) { call throws(Failure) in
        try configuration.createAuthURI(call)
      },
      [
        app("POST", "/v2/accounts:revokeToken", .identityToolkit, .revokeToken) { call throws(Failure) in
          try await accounts.revokeToken(call)
        },
        app("POST", "/v1/token", .secureToken, .token) { call throws(Failure) in
          try await refresh.respond(to: call)
        },
        app("GET", "/v1/projects", .identityToolkit, .projectConfig) { call in configuration.project(call) },
        app("GET", older("getProjectConfig"), .googleAPIs, .projectConfig) { call in
          configuration.project(call)
        },
        app("GET", "/v2/recaptchaConfig", .identityToolkit, .recaptchaConfig) { call in
          configuration.recaptcha(call)
        },
      ],
    ].flatMap { $0 }
  }

  /// Ways to sign in that this server does not have: the SDKs have a word for that, and none for 404.
  private var refused: [Route] {
    let names = [
      ("accounts:signInWithPassword", "verifyPassword"), ("accounts:signInWithEmailLink", "emailLinkSignin"),
      ("accounts:sendOobCode", "getOobConfirmationCode"), ("accounts:resetPassword", "resetPassword"),
      ("accounts:sendVerificationCode", "sendVerificationCode"),
      ("accounts:signInWithPhoneNumber", "verifyPhoneNumber"),
    ]
    let routes = names.flatMap { present, older in
      both(present, older, .notEnabled) { call throws(Failure) in try configuration.notEnabled(call) }
    }
    let mail = administrator("POST", "accounts:sendOobCode", .notEnabled) { call throws(Failure) in
      try configuration.notEnabled(call)
    }
    return routes + [mail]
  }

  /// What the Admin SDKs call.
  private var administrators: [Route] {
    [
      administrator("POST", "accounts", .accountCreate) { call throws(Failure) in
        try await administration.create(call.firebaseBody(), by: call.origin)
      },
      administrator("POST", "accounts:lookup", .accountLookup) { call throws(Failure) in
        try await administration.lookup(call.firebaseBody())
      },
      administrator("POST", "accounts:update", .accountUpdate) { call throws(Failure) in
        try await administration.update(call.firebaseBody(), by: call.origin)
      },
      administrator("POST", "accounts:delete", .accountDelete) { call throws(Failure) in
        try await administration.delete(call.firebaseBody(), by: call.origin)
      },
      administrator(
        "POST", "accounts:batchDelete", .accountBatchDelete, bodyLimit: Limits.batchBodyBytes
      ) { call throws(Failure) in
        try await administration.deleteBatch(call.firebaseBody(), by: call.origin)
      },
      administrator("GET", "accounts:batchGet", .accountBatchGet) { call throws(Failure) in
        try await administration.list(call.request.queryFields())
      },
      administrator(
        "POST", "accounts:batchCreate", .accountBatchCreate, bodyLimit: Limits.batchBodyBytes
      ) { call throws(Failure) in
        try await bulk.importAccounts(call.firebaseBody(), by: call.origin)
      },
      administrator("POST", "accounts:query", .accountQuery) { call throws(Failure) in
        try await bulk.query(call.firebaseBody())
      },
      Route(
        "POST", "/v1/projects/{project}:createSessionCookie", name: RouteName.sessionCookie.rawValue,
        host: .identityToolkit, face: .firebase, access: .administrator
      ) { call throws(Failure) in try await bulk.sessionCookie(call.firebaseBody()) },
      Route(
        "POST", older("downloadAccount"), name: RouteName.accountBatchGet.rawValue, host: .googleAPIs,
        face: .firebase, access: .administrator
      ) { call throws(Failure) in
        try await administration.download(configuration.ownProject(call.firebaseBody()))
      },
      Route(
        "POST", older("uploadAccount"), name: RouteName.accountBatchCreate.rawValue, host: .googleAPIs,
        face: .firebase, access: .administrator, bodyLimit: Limits.batchBodyBytes
      ) { call throws(Failure) in
        try await bulk.importAccounts(configuration.ownProject(call.firebaseBody()), by: call.origin)
      },
    ] + tenants
  }

  private var tenants: [Route] {
    ["GET", "POST"].flatMap { method in
      [
        "/v1/projects/{project}/tenants/{tenant}/{operation}",
        "/v1/projects/{project}/tenants/{tenant}:createSessionCookie",
      ].map { path in
        Route(
          method, path, name: RouteName.tenant.rawValue, host: .identityToolkit, face: .firebase,
          access: .administrator
        ) { call throws(Failure) in try configuration.noTenant(call) }
      }
    }
  }

  /// What verifiers have built in: with private DNS they find our keys where they look for Google's.
  private var keys: [Route] {
    let account = "securetoken@system.gserviceaccount.com"
    return [
      open("/robot/v1/metadata/x509/\(account)", .googleAPIs, .certificates) { call in
        wellKnown.certificates(call)
      },
      open("/service_accounts/v1/jwk/\(account)", .googleAPIs, .keySet) { call in wellKnown.keySet(call) },
      open(older("publicKeys"), .googleAPIs, .certificates) { call in wellKnown.certificates(call) },
      open("/v1/publicKeys", .identityToolkit, .certificates) { call in wellKnown.certificates(call) },
      open("/v1/sessionCookiePublicKeys", .identityToolkit, .keySet) { call in wellKnown.keySet(call) },
      open("/{project}/.well-known/openid-configuration", .secureTokenIssuer, .discovery) { call in
        wellKnown.discovery(call)
      },
    ]
  }

  /// What Firebase's emulator has besides, for the tools around it: in development mode only.
  var emulator: [Route] {
    let accounts = "/emulator/v1/projects/{project}/accounts"
    let settings = "/emulator/v1/projects/{project}/config"
    return [
      Route("GET", "/", name: RouteName.emulator.rawValue, face: .firebase, access: .open) { call in
        configuration.emulator(call)
      },
      Route(
        "DELETE", accounts, name: RouteName.emulator.rawValue, face: .firebase, access: .administrator
      ) { call throws(Failure) in try await administration.deleteAll(by: call.origin) },
      Route("GET", settings, name: RouteName.emulator.rawValue, face: .firebase, access: .administrator) {
        call in configuration.emulatorConfiguration(call)
      },
    ]
  }

  /// One operation under its present name and its older one.
  private func both(
    _ present: String, _ old: String, _ name: RouteName, _ handler: @escaping Handler
  ) -> [Route] {
    [
      app("POST", "/v1/\(present)", .identityToolkit, name, handler),
      app("POST", older(old), .googleAPIs, name, handler),
    ]
  }

  private func older(_ verb: String) -> String { "/identitytoolkit/v3/relyingparty/\(verb)" }

  private func app(
    _ method: String, _ path: String, _ host: GoogleHost, _ name: RouteName, _ handler: @escaping Handler
  ) -> Route {
    Route(
      method, path, name: name.rawValue, host: host, face: .firebase, access: .app, handler: handler)
  }

  private func administrator(
    _ method: String, _ operation: String, _ name: RouteName, bodyLimit: Int = Limits.bodyBytes,
    _ handler: @escaping Handler
  ) -> Route {
    Route(
      method, "/v1/projects/{project}/\(operation)", name: name.rawValue, host: .identityToolkit,
      face: .firebase, access: .administrator, bodyLimit: bodyLimit, handler: handler)
  }

  private func open(
    _ path: String, _ host: GoogleHost, _ name: RouteName, _ handler: @escaping Handler
  ) -> Route {
    Route("GET", path, name: name.rawValue, host: host, face: .firebase, access: .open, handler: handler)
  }
}
