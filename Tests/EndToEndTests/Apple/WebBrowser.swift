import Crypto
import Foundation
import TestProcesses
import Testing
import Wire

/// An app without Apple's sheet: it has a verifier, and whoever knows only the challenge has nothing.
struct WebApp: Sendable {
  static let returnURL = "com.example.app:/signed-in"
  static let otherURL = "https://app.example.com/signed-in?from=apple"
  static let settings = ["BRAMLEY_RETURN_URLS": "\(returnURL), \(otherURL)"]

  let verifier = "a.verifier~that-is-long_enough-for-the-RFC-no." + String(Mint.number())
  var challenge: String { base64URLText(sha256(Array(verifier.utf8))) }

  /// The path that the app opens in a browser.
  func path(_ fields: [String: String?] = [:]) -> String {
    let usual: [String: String?] = [
      "client_id": Client.web, "redirect_uri": Self.returnURL, "state": "what the app wants back",
      "code_challenge": challenge, "code_challenge_method": "S256",
    ]
    let all = usual.merging(fields) { $1 }.compactMapValues { $0 }
    return "/v1/apple/authorize?"
      + all.sorted { $0.key < $1.key }.map { "\($0.key)=\(percentEncoded($0.value))" }.joined(separator: "&")
  }

  /// Trades a one-time code.
  func trade(_ code: String, verifier: String? = nil, at service: Service) async throws -> HTTPAnswer {
    try await service.send(trading(code, verifier: verifier))
  }

  func trading(_ code: String, verifier: String? = nil, _ more: [(String, String)] = []) -> HTTPRequest {
    .post(
      "/v1/token",
      form: form(
        [("grant_type", "authorization_code"), ("code", code), ("code_verifier", verifier ?? self.verifier)]
          + more))
  }
}

func form(_ fields: [(String, String)]) -> String {
  fields.map { "\($0.0)=\(percentEncoded($0.1))" }.joined(separator: "&")
}

/// A browser that follows the flow: it has cookies, and it posts what a page tells it to.
struct WebBrowser: Sendable {
  let service: Service
  private(set) var cookie: String?

  init(_ service: Service) { self.service = service }

  /// Opens the app's address.
  ///
  /// - Returns: The fields that it goes to Apple with.
  mutating func begin(
    _ app: WebApp, _ fields: [String: String?] = [:], at location: SourceLocation = #_sourceLocation
  ) async throws -> FormBody {
    try await follow(app.path(fields), at: location)
  }

  /// Opens an address of the service's that leads to Apple.
  ///
  /// - Returns: The fields that it goes to Apple with.
  mutating func follow(
    _ path: String, at location: SourceLocation = #_sourceLocation
  ) async throws -> FormBody {
    let answer = try await service.get(path, headers: cookie.map { [("Cookie", $0)] } ?? [])
    try #require(answer.status == 302, "\(answer)", sourceLocation: location)
    let set = try #require(answer.header("Set-Cookie"), sourceLocation: location)
    cookie = set.split(separator: ";").first.map(String.init)
    let target = try #require(answer.header("Location"), sourceLocation: location)
    return try FormBody(parsing: (target.split(separator: "?", maxSplits: 1).last ?? "").utf8)
  }

  /// Shows Apple's page, where the person agrees.
  ///
  /// - Returns: What the page has the browser post.
  func agree(
    _ fields: FormBody, to apple: MockAppleProgram, subject: String, email: String? = nil,
    button: String = "continue"
  ) async throws -> [(String, String)] {
    let query =
      fields.names.map { ($0, fields[$0] ?? "") } + [("subject", subject)]
      + (email.map { [("email", $0)] } ?? [])
    let page = try await exchange(HTTPRequest(path: "/auth/authorize?" + form(query)), port: apple.port)
    try #require(page.status == 200, "\(page)")
    let html = String(decoding: page.body, as: UTF8.self)
    let whole = try #require(html.components(separatedBy: "<form id=\"\(button)\"").dropFirst().first)
    let own = whole.components(separatedBy: "</form>")[0]
    return own.components(separatedBy: "name=\"").dropFirst().map { piece in
      let parts = piece.components(separatedBy: "\"")
      let value = parts[2].replacingOccurrences(of: "&quot;", with: "\"")
        .replacingOccurrences(of: "&amp;", with: "&")
      return (parts[0], value)
    }
  }

  /// Posts what Apple's page has it post.
  func come(
    back posted: [(String, String)], cookie: String?? = nil
  ) async throws -> HTTPAnswer {
    let cookie = cookie ?? self.cookie
    let type = "application/x-www-form-urlencoded"
    return try await service.send(
      .post(
        "/v1/apple/callback", Array(form(posted).utf8), type: type,
        headers: [("Origin", "https://appleid.apple.com")] + (cookie.map { [("Cookie", $0)] } ?? [])))
  }
}

extension HTTPAnswer {
  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The fields that a redirect brings the app.
  func returned(to url: String, at location: SourceLocation = #_sourceLocation) throws -> FormBody {
    try #require(status == 303, "\(self)", sourceLocation: location)
    let target = try #require(header("Location"), sourceLocation: location)
    let start = url + (url.contains("?") ? "&" : "?")
    try #require(target.hasPrefix(start), "\(target)", sourceLocation: location)
    return try FormBody(parsing: target.dropFirst(start.count).utf8)
  }
}
