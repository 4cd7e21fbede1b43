internal import Domain
internal import HTTPServer
internal import Synchronization
internal import Wire

/// The stand-in's `/auth/authorize`: a page with a button in place of Apple's, which has the browser post what Apple
/// would post.
final class AuthorizePage: Sendable {
  /// Persons and clients that were here: only the first time the name is sent along.
  private let seen = Mutex<Set<String>>([])
  private static let memory = 200_000

  /// Answers a browser that was sent here.
  ///
  /// Beside Apple's own fields, `subject`, `email`, `given_name` and `family_name` say who the person is.
  func respond(to request: Request, _ apple: MockApple) -> Response {
    guard let fields = try? FormBody(parsing: (request.query ?? "").utf8) else {
      return page(400, "<h1>invalid_request</h1>")
    }
    if let fault = fault(fields) { return page(400, "<h1>\(escaped(fault))</h1>") }
    guard let client = fields["client_id"], let target = fields["redirect_uri"] else {
      return page(400, "<h1>invalid_request</h1>")
    }
    var order = TokenOrder()
    order.audience = client
    order.nonce = fields["nonce"]
    if let subject = fields["subject"] { order.subject = subject }
    order.email = fields["email"] ?? "a.person@example.com"
    let code = apple.code(for: order, redirectURI: target)
    order.code = code
    guard let token = try? apple.mint(order) else { return page(500, "<h1>server_error</h1>") }
    var posted = [("code", code), ("state", fields["state"] ?? "")]
    if fields["response_type"]?.contains("id_token") ?? false { posted.append(("id_token", token)) }
    if fields["scope"] != nil, isFirst(order.subject, client) {
      posted.append(("user", user(fields, email: order.email)))
    }
    return page(
      200,
      form(target, posted, id: "continue", "Continue as \(order.subject)")
        + form(
          target, [("error", "user_cancelled_authorize"), ("state", fields["state"] ?? "")], id: "cancel",
          "Cancel"))
  }

  /// What Apple would say of a request, in its words.
  private func fault(_ fields: FormBody) -> String? {
    guard fields["client_id"] != nil else { return "invalid_client" }
    guard let target = fields["redirect_uri"],
      target.hasPrefix("https://") || target.hasPrefix("http://127.0.0.1")
        || target.hasPrefix("http://localhost"),
      !target.contains("#")
    else { return "invalid_request: redirect_uri" }
    guard ["code", "code id_token"].contains(fields["response_type"] ?? "") else {
      return "unsupported_response_type"
    }
    // A scope demands it, whatever the type.
    guard fields["scope"] == nil || fields["response_mode"] == "form_post" else {
      return "invalid_request: response_mode must be form_post when name or email scope is requested"
    }
    return nil
  }

  private func isFirst(_ subject: String, _ client: String) -> Bool {
    seen.withLock { seen in
      if seen.count > Self.memory { seen = [] }
      return seen.insert("\(client) \(subject)").inserted
    }
  }

  private func user(_ fields: FormBody, email: String?) -> String {
    var out = JSONWriter()
    out.object("name") { out in
      out.member("firstName", fields["given_name"] ?? "Ada")
      out.member("lastName", fields["family_name"] ?? "Lovelace")
    }
    out.member("email", email)
    return String(decoding: out.finish(), as: UTF8.self)
  }

  private func form(_ target: String, _ fields: [(String, String)], id: String, _ button: String) -> String {
    let inputs = fields.map { "<input type=hidden name=\"\($0)\" value=\"\(escaped($1))\">" }.joined()
    return
      "<form id=\"\(id)\" method=post action=\"\(escaped(target))\">\(inputs)<button>\(escaped(button))</button></form>"
  }

  private func page(_ status: Int, _ body: String) -> Response {
    Response(
      status: status, headers: ["Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"],
      body: Array(
        ("<!doctype html><title>Stand-in for Apple</title><meta charset=utf-8>"
          + "<link rel=icon href=\"data:,\">\(body)\n").utf8))
  }
}

private func escaped(_ text: String) -> String {
  var out = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "&": out += "&amp;"
    case "<": out += "&lt;"
    case ">": out += "&gt;"
    case "\"": out += "&quot;"
    default: out.unicodeScalars.append(scalar)
    }
  }
  return out
}
