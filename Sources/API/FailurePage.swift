internal import HTTPServer

extension Request {
  /// Whether a browser asks that shows what it gets (RFC 9110 §12.5.1); programs ask for JSON, or for anything.
  var wantsPage: Bool {
    headers.all("Accept").contains { asciiLowercase($0).contains("text/html") }
  }
}

extension Failure {
  /// The same refusal for a person: a page that says what is wrong and nothing of what was sent.
  func page(instead response: Response, requestID: String) -> Response {
    var page = Response(
      status: response.status,
      headers: [
        "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store",
        "Content-Security-Policy":
          "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      ])
    if let seconds = response.headers.first("Retry-After") { page.headers.append("Retry-After", seconds) }
    page.body = Array(
      """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Sign in with Apple</title>
      <h1>This sign-in cannot go on</h1>
      <p>\(htmlText("\(reason.row.sentence)"))</p>
      <p>Go back to the app and begin again. For whoever runs it: <code>\(reason.rawValue)</code>, request
      <code>\(htmlText(requestID))</code>.</p>
      </html>

      """.utf8)
    return page
  }
}

/// Text as it may stand between tags; a request's id is its sender's to choose.
private func htmlText(_ text: String) -> String {
  text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
}
