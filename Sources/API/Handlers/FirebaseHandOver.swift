package import FirebaseIdentity
package import ProviderTokens
internal import Domain
internal import HTTPServer
internal import Sessions
internal import Wire

/// Where people come over from: the Firebase project and the keys that Google signs its tokens with.
package struct FirebaseSource: Sendable {
  let rules: FirebaseTokenRules
  let directory: KeyDirectory

  /// - Parameter directory: Google's keys. Ours are never in it, and these never verify a bearer.
  package init(rules: FirebaseTokenRules, directory: KeyDirectory) {
    self.rules = rules
    self.directory = directory
  }
}

/// `POST /v1/migrate/firebase`: the ID token of a person who is signed in at Firebase for a session here, without Apple's
/// page. As JSON in our form, or as a form in that of RFC 8693 §2.1.
struct FirebaseHandOver: Sendable {
  /// Nil: nobody comes over.
  let source: FirebaseSource?
  let issuer: SessionIssuer
  let clock: WallClock
  let metrics: APIMetrics

  func respond(to call: Call) async throws(Failure) -> Response {
    do throws(Failure) {
      let limits = call.policy.limits
      try limits.take(call.address, from: limits.signInsByAddress)
      let fields = try call.request.jsonOrFormBody()
      let (session, response) = try await exchanged(fields, call)
      metrics.countHandOver(session.isRepeat ? "repeated" : "handed_over")
      return response
    } catch {
      metrics.countHandOver(error.reason.rawValue)
      throw error
    }
  }

  private func exchanged(
    _ fields: RequestFields, _ call: Call
  ) async throws(Failure) -> (IssuedSession, Response) {
    switch fields {
    case .json(let body):
      guard let token = try body.field(text: "idToken") else {
        throw Failure(.fieldMissing, field: "idToken")
      }
      let session = try await session(for: token, device: body.device(), call)
      return (session, .json(answer(session)))
    case .form(let form):
      let session = try await session(for: subjectToken(of: form), device: nil, call)
      return (session, .json(exchange(session)))
    }
  }

  private func session(
    for text: String, device: Device?, _ call: Call
  ) async throws(Failure) -> IssuedSession {
    guard let source else { throw Failure(.handOverNotEnabled) }
    let token: FirebaseToken
    do throws(IdentityTokenRefusal) {
      let unverified = try UnverifiedFirebaseToken(parsing: text, rules: source.rules)
      let key = try await source.directory.key(unverified.keyID)
      token = try unverified.verified(by: key, rules: source.rules, now: clock.now())
    } catch {
      throw Failure(FailureReason(error, withoutKeys: .firebaseKeysUnavailable))
    }
    let limits = call.policy.limits
    try limits.take(Array(token.account.text.utf8), from: limits.signInsByAccount)
    let request = HandOverRequest(
      account: token.account, provider: token.signInProvider, authenticatedAt: token.authenticatedAt,
      tokenDigest: token.digest, tokenIssuedAt: token.issuedAt, tokenExpiresAt: token.expiresAt,
      device: device)
    do {
      return try await issuer.handOver(request, by: call.origin(.person))
    } catch {
      throw Failure(refusing: error)
    }
  }

  private func answer(_ session: IssuedSession) -> [UInt8] {
    var out = JSONWriter(reserving: 2560)
    out.session(session)
    out.member("localId", session.account.id.text)
    out.person(session.account, isNewUser: false)
    out.member("sessionId", session.session.id.description)
    return out.finish()
  }

  /// RFC 8693 §2.2.1, where the lifetime is a number.
  private func exchange(_ session: IssuedSession) -> [UInt8] {
    var out = JSONWriter(reserving: 2048)
    out.member("access_token", session.idToken.reveal())
    out.member("issued_token_type", accessTokenType)
    out.member("token_type", "Bearer")
    out.member("expires_in", session.expiresIn)
    out.member("refresh_token", session.refreshToken.reveal())
    return out.finish()
  }
}

/// The token of a request of RFC 8693: what is asked for there and cannot be done is refused.
private func subjectToken(of form: FormBody) throws(Failure) -> String {
  guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange" else {
    throw Failure(.invalidGrantType)
  }
  guard let token = form["subject_token"] else { throw Failure(.fieldMissing, field: "subject_token") }
  let types = ["urn:ietf:params:oauth:token-type:id_token", "urn:ietf:params:oauth:token-type:jwt"]
  guard let type = form["subject_token_type"] else {
    throw Failure(.fieldMissing, field: "subject_token_type")
  }
  guard types.contains(type) else { throw Failure(.fieldInvalid, field: "subject_token_type") }
  guard [nil, accessTokenType].contains(form["requested_token_type"]) else {
    throw Failure(.fieldInvalid, field: "requested_token_type")
  }
  // Nobody acts for another here.
  guard form["actor_token"] == nil else { throw Failure(.fieldInvalid, field: "actor_token") }
  return token
}

private let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
