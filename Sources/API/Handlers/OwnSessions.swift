internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// `GET /v1/sessions`, `DELETE /v1/sessions/{id}` and `POST /v1/signOut`: where a person is signed in, and an end of it.
struct OwnSessions: Sendable {
  let issuer: SessionIssuer
  let bearers: BearerReader

  func list(_ call: Call) async throws(Failure) -> Response {
    let claims = try bearers.required(of: call.request)
    let sessions = try await asking { () throws(SessionRefusal) in try await issuer.sessions(of: claims) }
    let limits = issuer.rules.limits
    var out = JSONWriter(reserving: 256 * (sessions.count + 1))
    out.member(
      "sessions", jsonArray: sessions.map { $0.json(limits: limits, isCurrent: $0.id == claims.session) })
    return .json(out.finish())
  }

  /// A session that is over already is as ended as can be; one of somebody else is not there.
  func end(_ call: Call) async throws(Failure) -> Response {
    let claims = try bearers.required(of: call.request)
    guard let id = call.parameters["session"].flatMap({ SessionID(hex: $0) }) else {
      throw Failure(.notFound)
    }
    let outcome = try await asking { () throws(SessionRefusal) in
      try await issuer.endSessions(id, of: claims, by: call.origin(.person))
    }
    return try response(to: outcome)
  }

  /// Ends this session, or all; by the bearer, or by a refresh token when the session token has expired. Of a bearer
  /// that is good and a refresh token of another session each does what it would alone.
  func signOut(_ call: Call) async throws(Failure) -> Response {
    let body = call.request.body.isEmpty ? nil : try call.request.jsonBody()
    let everywhere = try body?.field(flag: "everywhere") ?? false
    if let text = try body?.field(text: "refreshToken") {
      let token = try await asking { () throws(SessionRefusal) in try issuer.refreshToken(from: text) }
      if let claims = try? bearers.bearer(of: call.request), claims.session != token.session {
        // What it may not end is over already.
        _ = try await end(everywhere, of: claims, call)
      }
      let outcome = try await asking { () throws(SessionRefusal) in
        try await issuer.endSessions(with: token, everywhere: everywhere, by: call.origin(.person))
      }
      return try response(to: outcome)
    }
    let claims = try bearers.required(of: call.request)
    return try response(to: try await end(everywhere, of: claims, call))
  }

  private func end(
    _ everywhere: Bool, of claims: SessionTokenClaims, _ call: Call
  ) async throws(Failure) -> SessionEndingOutcome {
    try await asking { () throws(SessionRefusal) in
      try await issuer.endSessions(everywhere ? nil : claims.session, of: claims, by: call.origin(.person))
    }
  }

  private func response(to outcome: SessionEndingOutcome) throws(Failure) -> Response {
    switch outcome {
    case .ended: return .json(Array("{}".utf8))
    case .refused(let refusal): throw Failure(refusing: SessionRefusal.bearer(refusal))
    case .notFound: throw Failure(.notFound)
    }
  }
}
