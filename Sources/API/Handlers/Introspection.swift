internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// `POST /v1/introspect` (RFC 7662) and `/v1/verify`: whether a session token is good now, ended sessions and disabled
/// accounts included. Both answer from memory in the common case.
struct Introspection: Sendable {
  let issuer: SessionIssuer
  let bearers: BearerReader

  /// Of a token that is not good nothing is told but that (RFC 7662 §2.2): not why, and not that it ever was.
  func introspect(_ call: Call) async throws(Failure) -> Response {
    guard let token = try call.request.jsonOrFormBody().text("token") else {
      throw Failure(.fieldMissing, field: "token")
    }
    guard let claims = try claims(of: token), try await refusal(of: claims) == nil else {
      var out = JSONWriter(reserving: 32)
      out.member("active", false)
      return .json(out.finish())
    }
    return .json(answer(claims))
  }

  /// Nil for a token that is not good. One that nobody here can judge is no such token.
  private func claims(of token: String) throws(Failure) -> SessionTokenClaims? {
    do {
      return try issuer.verify(token)
    } catch {
      if error == .keyUnavailable { throw Failure(.signingKeyUnavailable) }
      return nil
    }
  }

  private func answer(_ claims: SessionTokenClaims) -> [UInt8] {
    var out = JSONWriter(reserving: 512)
    out.member("active", true)
    out.member("token_type", "Bearer")
    out.member("iss", issuer.rules.issuer)
    out.member("aud", issuer.rules.audience)
    out.member("sub", claims.account.text)
    out.member("sid", claims.session.description)
    out.member("iat", claims.issuedAt.seconds)
    out.member("exp", claims.expiresAt.seconds)
    out.member("auth_time", claims.authenticatedAt.seconds)
    if let email = claims.email {
      out.member("email", email.text)
      out.member("email_verified", claims.isEmailVerified)
    }
    return out.finish()
  }

  /// For proxies that ask before they pass a request on: who it is, in headers.
  func verify(_ call: Call) async throws(Failure) -> Response {
    let claims = try bearers.required(of: call.request)
    // Whatever it is, the proxy is told 401: of everything else it makes a fault of its own.
    if let refusal = try await refusal(of: claims) { throw Failure(refusing: .bearer(refusal)).withChallenge }
    var response = Response(status: 200, headers: ["Cache-Control": "no-store"])
    response.headers.append("X-Auth-User", claims.account.text)
    response.headers.append("X-Auth-Session", claims.session.description)
    // Only one that somebody verified, and that a header can hold (RFC 9110 §5.5).
    if claims.isEmailVerified, let email = claims.email, email.text.utf8.allSatisfy({ $0 < 0x80 }) {
      response.headers.append("X-Auth-Email", email.text)
    }
    return response
  }

  private func refusal(of claims: SessionTokenClaims) async throws(Failure) -> BearerRefusal? {
    try await asking { () throws(SessionRefusal) in try await issuer.watch.refusal(of: claims.session) }
  }
}
