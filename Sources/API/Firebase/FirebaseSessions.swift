internal import Domain
internal import HTTPServer
internal import Sessions
internal import Wire

/// Sessions that Apple has nothing to do with: of anonymous accounts, and of custom tokens.
struct FirebaseSessions: Sendable {
  let issuer: SessionIssuer
  let clock: WallClock
  let allowsAnonymous: Bool
  let administration: FirebaseAdministration

  /// `accounts:signUp`, or `signupNewUser`: an anonymous account; for an administrator any account.
  func signUp(_ call: Call) async throws(Failure) -> Response {
    let body = try call.firebaseBody()
    if call.administrator != nil { return try await administration.create(body, by: call.origin) }
    try body.refuseTenant()
    try body.refuse(["targetProjectId"], as: .insufficientPermission)
    try body.refuse(["email", "password", "phoneNumber", "idToken"], as: .providerNotEnabled)
    guard allowsAnonymous else { throw Failure(.adminOnlyOperation) }
    let limits = call.policy.limits
    try limits.take(call.address, from: limits.newAccountsByAddress)
    let session = try await asking { () throws(SessionRefusal) in
      try await issuer.openAnonymousSession(by: call.origin)
    }
    return .json(answer("identitytoolkit#SignupNewUserResponse", session))
  }

  /// `accounts:signInWithCustomToken`, or `verifyCustomToken`.
  func signInWithCustomToken(_ call: Call) async throws(Failure) -> Response {
    let limits = call.policy.limits
    try limits.take(call.address, from: limits.signInsByAddress)
    let body = try call.firebaseBody()
    try body.refuseTenant()
    try body.refuse(["targetProjectId"], as: .insufficientPermission)
    guard let text = try body.text("token") else { throw Failure(.missingCustomToken) }
    let keys = call.policy.customTokenKeys
    guard !keys.isEmpty else { throw Failure(.customTokensNotEnabled) }
    let token: CustomToken
    do throws(CustomTokenError) {
      token = try CustomToken(verifying: text, keys: keys, leeway: issuer.rules.leeway, now: clock.now())
    } catch {
      throw Failure(refusing: error)
    }
    try limits.take(Array(token.account.text.utf8), from: limits.signInsByAccount)
    do {
      let session = try await call.openingAccount(isWanted: true) { (makesAccount) throws(SessionRefusal) in
        try await issuer.signIn(with: token, createsAccount: makesAccount, by: call.origin)
      }
      return .json(answer("identitytoolkit#VerifyCustomTokenResponse", session))
    } catch {
      throw Failure(refusing: error)
    }
  }

  private func answer(_ kind: String, _ session: IssuedSession) -> [UInt8] {
    var out = JSONWriter(reserving: 2048)
    out.member("kind", kind)
    out.session(session)
    out.member("localId", session.account.id.text)
    out.member("isNewUser", session.isNewUser)
    return out.finish()
  }
}
