internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Telemetry
internal import Wire

/// `POST /v1/token`: a refresh token for its successor and a fresh session token, as a form or as JSON, in
/// snake or camel case.
struct TokenRefresh: Sendable {
  let issuer: SessionIssuer
  let projectID: String
  let log: Log
  let metrics: APIMetrics

  func respond(to call: Call) async throws(Failure) -> Response {
    do throws(Failure) {
      let response = try await refresh(call)
      metrics.countRefresh("refreshed")
      return response
    } catch {
      metrics.countRefresh(error.reason.rawValue)
      throw error
    }
  }

  private func refresh(_ call: Call) async throws(Failure) -> Response {
    let limits = call.policy.limits
    try limits.take(call.address, from: limits.refreshesByAddress)
    let fields = try call.request.jsonOrFormBody()
    guard try fields.text("grant_type", "grantType") == "refresh_token" else {
      throw Failure(.invalidGrantType)
    }
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
