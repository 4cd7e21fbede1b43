internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Telemetry
internal import Wire

/// `POST /v1/token`: a refresh token for its successor and a fresh session token, or the one-time code of the web flow
/// for a session; as a form or as JSON, in snake or camel case.
struct TokenRefresh: Sendable {
  let issuer: SessionIssuer
  let web: WebSignIn
  let projectID: String
  let log: Log
  let metrics: APIMetrics

  func respond(to call: Call) async throws(Failure) -> Response {
    let (isCode, fields) = try await counted { () throws(Failure) in try read(call) }
    // Counted among the sign-ins, whatever comes of it.
    if isCode { return .json(answer(try await web.trade(fields, call))) }
    let response = try await counted { () throws(Failure) in try await refresh(fields, call) }
    metrics.countRefresh("refreshed")
    return response
  }

  private func counted<Value>(_ body: () async throws(Failure) -> Value) async throws(Failure) -> Value {
    do {
      return try await body()
    } catch {
      metrics.countRefresh(error.reason.rawValue)
      throw error
    }
  }

  private func read(_ call: Call) throws(Failure) -> (isCode: Bool, fields: RequestFields) {
    let limits = call.policy.limits
    try limits.take(call.address, from: limits.refreshesByAddress)
    let fields = try call.request.jsonOrFormBody()
    switch try fields.text("grant_type", "grantType") {
    case "refresh_token": return (false, fields)
    case "authorization_code": return (true, fields)
    default: throw Failure(.invalidGrantType)
    }
  }

  private func refresh(_ fields: RequestFields, _ call: Call) async throws(Failure) -> Response {
    let limits = call.policy.limits
    guard let text = try fields.text("refresh_token", "refreshToken") else {
      throw Failure(.missingRefreshToken)
    }
    let token: RefreshToken
    do {
      token = try issuer.refreshToken(from: text)
    } catch {
      throw Failure(refusing: error)
    }
    try limits.take(token.session.bytes, from: limits.refreshesBySession)
    let issued: IssuedSession
    let remark: RefreshRemark?
    do {
      (issued, remark) = try await issuer.refresh(token, by: call.origin(.person))
    } catch {
      if error == .refreshTokenReused {
        metrics.reuses.add()
        log.warning("refresh_token_reused", [.text("requestId", call.requestID)])
      }
      throw Failure(refusing: error)
    }
    if let remark {
      if remark == .lateRepeat { metrics.lateRepeats.add() }
      log.warning(
        "refresh_remark",
        [
          .text("remark", remark.rawValue), .text("account", issued.account.id.text),
          .text("session", issued.session.id.description), .text("requestId", call.requestID),
        ])
    }
    return .json(answer(issued))
  }

  private func answer(_ issued: IssuedSession) -> [UInt8] {
    let idToken = issued.idToken.reveal()
    var out = JSONWriter(reserving: 2560)
    out.member("access_token", idToken)
    out.member("id_token", idToken)
    out.member("refresh_token", issued.refreshToken.reveal())
    out.member("expires_in", String(issued.expiresIn))
    out.member("token_type", "Bearer")
    out.member("user_id", issued.account.id.text)
    out.member("project_id", projectID)
    return out.finish()
  }
}
