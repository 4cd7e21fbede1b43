internal import HTTPServer
internal import Wire

extension Failure {
  /// The answer in the one envelope (Google's, which Firebase's SDKs parse, with `details` added).
  ///
  /// - Parameters:
  ///   - retryAfter: Seconds, for a 503; drawn anew for each answer, so that clients do not come back at once.
  ///   - face: Whose words are expected.
  func response(requestID: String, retryAfter: Int64, face: Face = .bramley) -> Response {
    let words = face == .firebase ? keyWords ?? words : words
    var response = Response.json(envelope(words, requestID: requestID), status: words.status)
    if words.status == 503 || words.status == 429 {
      response.headers.append("Retry-After", String(self.retryAfter ?? retryAfter))
    }
    if words.status == 401 {
      // A request without a bearer is told the scheme and no error (RFC 6750 §3.1).
      let isMissing = challenge == .bearerMissing || reason == .adminTokenMissing
      response.headers.append(
        "WWW-Authenticate", isMissing ? "Bearer" : "Bearer error=\"invalid_token\"")
    }
    return response
  }

  private func envelope(_ words: Words, requestID: String) -> [UInt8] {
    var details = JSONWriter(reserving: 128)
    details.member("reason", reason.rawValue)
    details.member("requestId", requestID)
    details.member("field", field)
    var error = JSONWriter(reserving: 128)
    error.member("message", words.message)
    error.member("reason", words.classicReason)
    error.member("domain", "global")
    var out = JSONWriter(reserving: 512)
    out.object("error") { out in
      out.member("code", Int64(words.status))
      out.member("message", words.message)
      out.member("status", canonicalStatus(words.status))
      out.member("errors", jsonArray: [error.finish()])
      out.member("details", jsonArray: [details.finish()])
    }
    for member in beside { out.member(member.name, json: member.json) }
    return out.finish()
  }

  private struct Words {
    let status: Int
    let message: String
    let classicReason: String
  }

  /// The code, then space-colon-space, then a sentence: JavaScript splits there.
  var message: String { "\(reason.row.code.rawValue) : \(detail ?? "\(reason.row.sentence)")" }

  private var words: Words {
    Words(
      status: status, message: message,
      classicReason: reason == .adminTokenMissing ? "required" : API.classicReason(status))
  }

  /// What Google says of an API key, to the letter: iOS knows the fault by the classic reason, and JavaScript by the
  /// sentence, which stands there without a code.
  private var keyWords: Words? {
    switch reason {
    case .apiKeyMissing:
      Words(
        status: 403, message: "The request is missing a valid API key.",
        classicReason: API.classicReason(403))
    case .apiKeyInvalid:
      Words(
        status: 400, message: "API key not valid. Please pass a valid API key.", classicReason: "keyInvalid")
    default: nil
    }
  }
}

extension Failure.Member {
  /// A member that is a string.
  package init(_ name: String, text: String) {
    var json: [UInt8] = []
    appendJSONString(text, to: &json)
    self.init(name, json: json)
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

  /// A part of a page out of the program: its text, its script or its style. Nothing in it may be inline or come from
  /// elsewhere, no text may become markup, and no other page has a hold on it.
  static func page(_ body: [UInt8], _ type: String) -> Response {
    Response(
      status: 200,
      headers: [
        "Content-Type": "\(type); charset=utf-8", "Cache-Control": "no-store",
        "Content-Security-Policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
          + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
      ], body: body)
  }
}
