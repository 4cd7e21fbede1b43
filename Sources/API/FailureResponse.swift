internal import HTTPServer
internal import Wire

extension Failure {
  /// The answer in the one envelope (Google's, which Firebase's SDKs parse, with `details` added).
  ///
  /// - Parameters:
  ///   - retryAfter: Seconds, for a 503; drawn anew for each answer, so that clients do not come back at once.
  ///   - extra: Further members beside `error`.
  func response(
    requestID: String, retryAfter: Int64, extra: (inout JSONWriter) -> Void = { _ in }
  ) -> Response {
    let row = reason.row
    let message = "\(row.code.rawValue) : \(row.sentence)"
    var details = JSONWriter(reserving: 128)
    details.member("reason", reason.rawValue)
    details.member("requestId", requestID)
    details.member("field", field)
    var error = JSONWriter(reserving: 128)
    error.member("message", message)
    error.member("reason", classicReason(status))
    error.member("domain", "global")
    var out = JSONWriter(reserving: 512)
    out.object("error") { out in
      out.member("code", Int64(status))
      out.member("message", message)
      out.member("status", canonicalStatus(status))
      out.member("errors", jsonArray: [error.finish()])
      out.member("details", jsonArray: [details.finish()])
    }
    extra(&out)
    var response = Response.json(out.finish(), status: status)
    if status == 503 || status == 429 {
      response.headers.append("Retry-After", String(self.retryAfter ?? retryAfter))
    }
    if status == 401 {
      response.headers.append("WWW-Authenticate", "Bearer error=\"invalid_token\"")
    }
    return response
  }
}

/// `google.rpc.Code` names by HTTP status.
private func canonicalStatus(_ status: Int) -> String {
  switch status {
  case 401: "UNAUTHENTICATED"
  case 403: "PERMISSION_DENIED"
  case 404: "NOT_FOUND"
  case 429: "RESOURCE_EXHAUSTED"
  case 500: "INTERNAL"
  case 503: "UNAVAILABLE"
  default: "INVALID_ARGUMENT"
  }
}

/// The older `errors[].reason` by HTTP status.
private func classicReason(_ status: Int) -> String {
  switch status {
  case 401: "authError"
  case 403: "forbidden"
  case 404: "notFound"
  case 429: "rateLimitExceeded"
  case 500, 503: "backendError"
  default: "invalid"
  }
}

extension Response {
  /// A JSON answer that nobody stores; a handler whose answer is public replaces the header.
  static func json(_ body: [UInt8], status: Int = 200, cacheControl: String = "no-store") -> Response {
    Response(
      status: status,
      headers: ["Content-Type": "application/json; charset=utf-8", "Cache-Control": cacheControl], body: body)
  }
}
