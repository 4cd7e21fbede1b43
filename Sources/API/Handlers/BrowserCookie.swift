internal import Crypto
internal import Domain
internal import HTTPServer
internal import Wire

/// Names a browser for as long as it is at Apple's page: the request that comes back comes from another site, so only a
/// cookie that says `SameSite=None` is with it. It stays the same while several sign-ins are under way in one browser.
struct BrowserCookie {
  /// More than one, when somebody else has set one of the name as well.
  private let texts: [String]

  /// A new one.
  init(from entropy: Entropy) { texts = [base64URLText(entropy.bytes(18))] }

  /// Those that a request brings; nil when there is none. With TLS only the name counts that no other host can set
  /// (RFC 6265bis §4.1.3.2).
  init?(of request: Request, publicURL: String) {
    let start = Self.name(publicURL) + "="
    let pairs: [Substring] = request.headers.all("Cookie").flatMap { $0.split(separator: ";") }
    texts = pairs.compactMap { pair -> String? in
      let pair = pair.drop { $0 == " " }
      guard pair.hasPrefix(start) else { return nil }
      let text = String(pair.dropFirst(start.count))
      return (try? decodeBase64URL(text.utf8))?.count == 18 ? text : nil
    }
    if texts.isEmpty { return nil }
  }

  private static func name(_ publicURL: String) -> String {
    publicURL.hasPrefix("https://") ? "__Host-bramley-web" : "bramley-web"
  }

  var digest: [UInt8] { sha256(Array(texts[0].utf8)) }

  func isOne(of digest: [UInt8]) -> Bool {
    texts.contains { constantTimeEqual(sha256(Array($0.utf8)), digest) }
  }

  /// `Set-Cookie` (RFC 6265bis §4.1). Without TLS, which is on this machine alone, a browser takes no cookie for other
  /// sites; ports do not make them others.
  func field(publicURL: String) -> String {
    let isSecured = publicURL.hasPrefix("https://")
    return "\(Self.name(publicURL))=\(texts[0]); \(isSecured ? "Secure; SameSite=None" : "SameSite=Lax"); "
      + "Path=/; HttpOnly; Max-Age=\(Limits.webAttemptSeconds)"
  }
}
