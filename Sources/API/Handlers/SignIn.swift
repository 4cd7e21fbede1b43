internal import AppleIdentity
internal import Domain
internal import HTTPServer
internal import Sessions
internal import Telemetry
internal import Wire

/// `POST /v1/signInWithIdp`: Apple's ID token, the raw nonce and the person's name for a session.
///
/// The order is from cheap to dear: shapes, the bearer, the token's own checks, the nonce, and one transaction.
struct SignIn: Sendable {
  let directory: KeyDirectory
  let issuer: SessionIssuer
  let clock: WallClock
  let metrics: APIMetrics

  func respond(to call: Call) async throws(Failure) -> Response {
    do throws(Failure) {
      let (response, outcome) = try await signIn(call)
      metrics.countSignIn(outcome)
      return response
    } catch {
      if error.reason == .keyUnknown { metrics.unknownKeyIDs.add() }
      metrics.countSignIn(error.reason.rawValue)
      throw error
    }
  }

  /// - Returns: The answer, and what the sign-in is counted as.
  private func signIn(_ call: Call) async throws(Failure) -> (Response, outcome: String) {
    let limits = call.policy.limits
    try limits.take(call.address, from: limits.signInsByAddress)
    let body = try SignInBody(call.request.jsonBody())
    let link = try bearer(of: call.request)
    let (token, rawUserInfo) = try await verified(body, rules: call.policy.appleRules)
    do {
      try token.nonceRule.check(raw: body.rawNonce, claim: token.claims.nonce)
    } catch {
      throw Failure(FailureReason(error))
    }
    try limits.take(Array(token.claims.subject.text.utf8), from: limits.signInsByAccount)
    let session = try await openSession(
      call, request(for: token, body, link), createsAccount: body.autoCreate)
    let outcome = session.isRepeat ? "repeated" : session.isNewUser ? "new_account" : "returning"
    return (.json(answer(session, body, token, rawUserInfo)), outcome)
  }

  /// Whether somebody is new only the transaction knows. It is told beforehand whether he may be, and what was
  /// taken for a new account is put back when none was made.
  private func openSession(
    _ call: Call, _ request: SignInRequest, createsAccount: Bool
  ) async throws(Failure) -> IssuedSession {
    let limits = call.policy.limits
    let limiter = createsAccount ? limits.newAccountsByAddress : nil
    let wait = limits.reserve(call.address, from: limiter)
    do {
      let session = try await issuer.signIn(request, createsAccount: createsAccount && wait == nil)
      if wait == nil, session.isRepeat || !session.isNewUser { limits.giveBack(call.address, to: limiter) }
      return session
    } catch {
      if let wait, error == .unknownIdentity { throw Failure(tooManyAttempts: wait) }
      if wait == nil { limits.giveBack(call.address, to: limiter) }
      throw Failure(refusing: error)
    }
  }

  private func verified(_ body: SignInBody, rules: IdentityTokenRules) async throws(Failure) -> (
    VerifiedIdentityToken, String
  ) {
    do {
      let token = try UnverifiedIdentityToken(parsing: body.idToken, rules: rules)
      let key = try await directory.key(token.keyID)
      return (try token.verified(by: key, rules: rules, now: clock.now()), token.claimsText)
    } catch {
      throw Failure(FailureReason(error))
    }
  }

  /// The session that the identity is to be added to. A bad bearer is refused, never a plain sign-in.
  private func bearer(of request: Request) throws(Failure) -> SessionTokenClaims? {
    let token: String
    switch request.authorization {
    case .absent: return nil
    case .other: throw Failure(.sessionTokenInvalid, isBearer: true)
    case .bearer(let text): token = text
    }
    do {
      return try issuer.verify(token)
    } catch {
      throw Failure(error == .expired ? .sessionTokenExpired : .sessionTokenInvalid, isBearer: true)
    }
  }

  private func request(
    for token: VerifiedIdentityToken, _ body: SignInBody, _ link: SessionTokenClaims?
  ) -> SignInRequest {
    SignInRequest(
      identity: ProviderIdentity(provider: appleProviderID, subject: token.claims.subject),
      audience: token.claims.audience, profile: token.claims.profile, name: body.name, device: body.device, tokenDigest: token.digest,
      tokenIssuedAt: token.claims.issuedAt, tokenExpiresAt: token.claims.expiresAt,
      isTokenTooOld: token.isTooOld, rawNonce: body.rawNonce,
      demandsChallenge: token.nonceRule.demandsChallenge, link: link)
  }

  /// Firebase's names, and ours. Unknown values are left out.
  private func answer(
    _ issued: IssuedSession, _ body: SignInBody, _ token: VerifiedIdentityToken, _ rawUserInfo: String
  ) -> [UInt8] {
    let account = issued.account
    var out = JSONWriter(reserving: 4096)
    out.member("idToken", issued.idToken.reveal())
    out.member("refreshToken", issued.refreshToken.reveal())
    out.member("expiresIn", String(issued.expiresIn))
    out.member("localId", account.id.text)
    out.member("providerId", appleProviderID)
    out.member("federatedId", token.claims.subject.text)
    if let email = account.profile.email {
      out.member("email", email.text)
      out.member("emailVerified", account.profile.isEmailVerified)
      out.member("isPrivateEmail", account.profile.isPrivateEmail)
    }
    out.member("isNewUser", issued.isNewUser)
    out.member("displayName", account.displayName)
    out.member("firstName", account.name?.givenName)
    out.member("lastName", account.name?.familyName)
    out.member("fullName", account.name?.fullName)
    out.member("rawUserInfo", rawUserInfo)
    out.member("oauthIdToken", body.idToken)
    out.member("sessionId", issued.session.id.description)
    if let status = account.profile.realUserStatus { out.member("realUserStatus", status.rawValue) }
    return out.finish()
  }
}

/// The body of a sign-in, each field of its one type. An e-mail address in it is not read.
private struct SignInBody {
  let idToken: String
  let rawNonce: String
  let name: PersonName?
  let device: Device?
  let autoCreate: Bool

  init(_ body: JSONObject) throws(Failure) {
    let provider = try body.field(text: "providerId")
    guard provider == nil || provider == appleProviderID else { throw Failure(.invalidProviderID) }
    guard let idToken = try body.field(text: "idToken") else {
      throw Failure(.fieldMissing, field: "idToken")
    }
    guard let rawNonce = try body.field(text: "rawNonce", atMost: Limits.nonceBytes) else {
      throw Failure(.nonceMissing, field: "rawNonce")
    }
    self.idToken = idToken
    self.rawNonce = rawNonce
    name = try body.field(object: "fullName").map { fields throws(Failure) in
      try inside("fullName") { () throws(Failure) in try personName(fields) }
    }
    device = try body.field(object: "device").map { fields throws(Failure) in
      try inside("device") { () throws(Failure) in try makeDevice(fields) }
    }
    autoCreate = try body.field(flag: "autoCreate") ?? true
    // Of the right type or refused, so that an app finds out before the day they are needed.
    _ = try body.field(text: "authorizationCode", atMost: Limits.codeBytes)
    _ = try body.field(text: "redirectUri", atMost: Limits.codeBytes)
  }
}

/// Names the field of a failure by its path.
private func inside<R>(_ object: String, _ read: () throws(Failure) -> R) throws(Failure) -> R {
  do {
    return try read()
  } catch {
    throw Failure(error.reason, field: error.field.map { "\(object).\($0)" })
  }
}

private func personName(_ fields: JSONObject) throws(Failure) -> PersonName {
  PersonName(
    givenName: try fields.field(text: "givenName"), familyName: try fields.field(text: "familyName"),
    middleName: try fields.field(text: "middleName"), namePrefix: try fields.field(text: "namePrefix"),
    nameSuffix: try fields.field(text: "nameSuffix"), nickname: try fields.field(text: "nickname"))
}

private func makeDevice(_ fields: JSONObject) throws(Failure) -> Device {
  Device(
    name: try fields.field(text: "name"), model: try fields.field(text: "model"),
    os: try fields.field(text: "os"), appVersion: try fields.field(text: "appVersion"))
}
