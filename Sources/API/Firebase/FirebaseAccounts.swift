internal import AppleIdentity
internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// What a signed-in person does with his own account, by Firebase's names. The session stands in the body.
struct FirebaseAccounts: Sendable {
  let issuer: SessionIssuer
  let bearers: BearerReader
  let administration: FirebaseAdministration

  /// `accounts:lookup`, or `getAccountInfo`.
  func lookup(_ call: Call) async throws(Failure) -> Response {
    let body = try call.firebaseBody()
    if call.administrator != nil, !body.has("idToken") { return try await administration.lookup(body) }
    let claims = try bearer(of: body)
    let account = try await outOfBody { () throws(Failure) in
      try await asking { () throws(SessionRefusal) in try await issuer.account(of: claims) }
    }
    return .users([account])
  }

  /// `accounts:update`, or `setAccountInfo`.
  ///
  /// No tokens are in the answer: who has a session token only shall not get a refresh token for it. The SDKs keep the
  /// ones that they have.
  func update(_ call: Call) async throws(Failure) -> Response {
    let body = try call.firebaseBody()
    if call.administrator != nil, !body.has("idToken") {
      return try await administration.update(body, by: call.origin)
    }
    guard body.has("idToken") else { throw Failure(.invalidReqType) }
    try body.refuse(["disableUser"], as: .disableNotAllowed)
    try body.refuse(
      [
        "customAttributes", "validSince", "emailVerified", "linkProviderUserInfo", "createdAt", "lastLoginAt",
      ],
      as: .insufficientPermission)
    try body.refuse(["email", "password", "phoneNumber", "oobCode"], as: .providerNotEnabled)
    let claims = try bearer(of: body)
    var change = AccountChange()
    change.displayName = try body.displayName()
    change.photoURL = try body.photoURL()
    change.removedProviders = try body.removedProviders()
    for attribute in try body.enumerations("deleteAttribute", of: DeletableAttribute.self) {
      switch attribute {
      case .displayName: change.displayName = .clear
      case .photoURL: change.photoURL = .clear
      case .provider, .password: break
      case .email: throw Failure(.insufficientPermission, field: "deleteAttribute")
      }
    }
    let wanted = change
    let outcome = try await asking { () throws(SessionRefusal) in
      try await issuer.change(wanted, of: claims, by: call.origin(.person))
    }
    return .json(accountInfo(try outcome.account(inBody: true)))
  }

  /// `accounts:delete`, or `deleteAccount`.
  func delete(_ call: Call) async throws(Failure) -> Response {
    let body = try call.firebaseBody()
    if call.administrator != nil, !body.has("idToken") {
      return try await administration.delete(body, by: call.origin)
    }
    let claims = try bearer(of: body)
    if let named = try body.localID(), named != claims.account {
      throw Failure(.insufficientPermission, field: "localId")
    }
    try await outOfBody { () throws(Failure) in
      try await asking { () throws(SessionRefusal) in
        try await issuer.deleteAccount(of: claims, by: call.origin(.person))
      }
    }
    return .kind("identitytoolkit#DeleteAccountResponse")
  }

  /// `accounts:revokeToken`: Apple's consent, by a code or a token of Apple's. It is on disk when this answers, and goes
  /// to Apple at once; the app may delete the account without waiting for that.
  func revokeToken(_ call: Call) async throws(Failure) -> Response {
    let body = try call.firebaseBody()
    let claims = try bearer(of: body)
    let provider = try body.text("providerId").map(asciiLowercase)
    guard provider == appleProviderID else { throw Failure(.invalidProviderID) }
    guard let type = try body.enumeration("tokenType", of: RevocableTokenType.self) else {
      throw Failure(.fieldMissing, field: "tokenType")
    }
    guard let token = try body.text("token", atMost: Limits.codeBytes) else {
      throw Failure(.fieldMissing, field: "token")
    }
    let redirectURI = try body.text("redirectUri", atMost: Limits.codeBytes)
    let account = try await outOfBody { () throws(Failure) in
      try await asking { () throws(SessionRefusal) in try await issuer.account(of: claims) }
    }
    let clients = call.policy.appleRules.clients.keys.map(\.text).sorted()
    guard call.policy.hasAppleKey, let client = clients.first.flatMap(ClientID.init) else {
      throw Failure(.appleKeyMissing)
    }
    try call.policy.limits.take(Array(account.id.text.utf8), from: call.policy.limits.signInsByAccount)
    let outcome = try await outOfBody { () throws(Failure) in
      try await asking { () throws(SessionRefusal) in
        try await issuer.revokeAtApple(
          Secret(token), type.secretKind, redirectURI: redirectURI, fallbackClient: client, of: claims,
          by: call.origin(.person))
      }
    }
    switch outcome {
    case .queued: return .json(Array("{}".utf8))
    case .tooMany: throw Failure(tooManyAttempts: 60)
    case .noIdentity: throw Failure(.noAppleIdentity)
    case .refused(let refusal):
      throw Failure(refusing: SessionRefusal.bearer(refusal)).withoutChallenge
    }
  }

  private func bearer(of body: FirebaseBody) throws(Failure) -> SessionTokenClaims {
    try body.refuseTenant()
    try body.refuse(["targetProjectId"], as: .insufficientPermission)
    guard let claims = try bearers.claims(of: body.text("idToken")) else { throw Failure(.missingIDToken) }
    return claims
  }
}

extension RevocableTokenType {
  fileprivate var secretKind: AppleSecretKind {
    switch self {
    case .refreshToken: .refreshToken
    case .accessToken: .accessToken
    case .code: .code
    }
  }
}

/// Asks the rules; what they refuse is a failure.
func asking<R>(_ ask: () async throws(SessionRefusal) -> R) async throws(Failure) -> R {
  do {
    return try await ask()
  } catch {
    throw Failure(refusing: error)
  }
}

/// The answer to a change of an account.
func accountInfo(_ account: Account) -> [UInt8] {
  var out = JSONWriter(reserving: 512)
  out.member("kind", "identitytoolkit#SetAccountInfoResponse")
  out.member("localId", account.id.text)
  out.profile(of: account)
  return out.finish()
}

extension AccountChangeOutcome {
  /// The changed account.
  func account(inBody: Bool) throws(Failure) -> Account {
    switch self {
    case .changed(let account): return account
    case .refused(let refusal):
      let failure = Failure(refusing: SessionRefusal.bearer(refusal))
      throw inBody ? failure.withoutChallenge : failure
    case .emailTaken: throw Failure(.emailExists)
    case .identityTaken: throw Failure(.duplicateRawID)
    }
  }
}

extension Response {
  /// Accounts; with none there is no such member, since some SDKs mishandle an empty list.
  ///
  /// - Parameter lastUses: When they were last refreshed, for administrators.
  static func users(_ accounts: [Account], lastUses: [AccountID: UnixTime] = [:]) -> Response {
    var out = JSONWriter(reserving: 1024)
    out.member("kind", "identitytoolkit#GetAccountInfoResponse")
    if !accounts.isEmpty {
      out.member("users", jsonArray: accounts.map { $0.userRecord(lastUse: lastUses[$0.id]) })
    }
    return .json(out.finish())
  }

  /// An answer that says no more than that it was done.
  static func kind(_ kind: String) -> Response {
    var out = JSONWriter(reserving: 64)
    out.member("kind", kind)
    return .json(out.finish())
  }
}

extension Call {
  func firebaseBody() throws(Failure) -> FirebaseBody { FirebaseBody(try request.jsonBody()) }
}
