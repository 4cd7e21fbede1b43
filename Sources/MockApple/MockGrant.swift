internal import Crypto
internal import Domain
internal import Wire

/// What a code or a token of the stand-in stands for. It says so itself, under a MAC, so that what one process made is
/// good at another, and at the same one after a restart.
struct MockGrant: Sendable, Equatable {
  enum Kind: String, Sendable {
    case code = "c"
    case refreshToken = "r"
    case accessToken = "a"
    /// An access token for the calls of a transfer.
    case migrationToken = "m"
  }

  let kind: Kind
  let subject: String
  let client: String
  let redirectURI: String?
  let email: String?
  let issuedAt: Int64
  /// Of tokens: those of one person and client that were given out before a revocation have a lower one.
  let serial: Int64
  /// Whose it is; codes have no team until they are exchanged.
  let team: String?
  /// Makes it unlike all others.
  let salt: String

  private static let key = MACKey(sha256(Array("codes and tokens of the stand-in for Apple".utf8)))

  /// The text that an app or a server gets.
  var text: String {
    var out = JSONWriter()
    out.member("k", kind.rawValue)
    out.member("sub", subject)
    out.member("aud", client)
    out.member("uri", redirectURI)
    out.member("email", email)
    out.member("iat", issuedAt)
    out.member("n", serial)
    out.member("team", team)
    out.member("salt", salt)
    let body = base64URLText(out.finish())
    return "\(kind.rawValue)\(body).\(base64URLText(Array(Self.key.code(for: Array(body.utf8)).prefix(16))))"
  }

  init(
    _ kind: Kind, subject: String, client: String, redirectURI: String?, email: String?, issuedAt: UnixTime,
    serial: Int64, team: String? = nil
  ) {
    self.kind = kind
    self.subject = subject
    self.client = client
    self.redirectURI = redirectURI
    self.email = email
    self.issuedAt = issuedAt.seconds
    self.serial = serial
    self.team = team
    salt = hexText(Entropy.system.bytes(8))
  }

  /// Reads a text of ours; nil for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = parts[0].first, let kind = Kind(rawValue: String(first)) else {
      return nil
    }
    let body = parts[0].dropFirst()
    guard let code = try? decodeBase64URL(parts[1].utf8),
      Self.key.isCode(code, for: Array(body.utf8), length: 16),
      let json = try? decodeBase64URL(body.utf8), let object = try? JSONObject(parsing: json),
      let subject = object.text("sub"), let client = object.text("aud"),
      case .integer(let issuedAt) = object["iat"], case .integer(let serial) = object["n"],
      let salt = object.text("salt")
    else { return nil }
    self.kind = kind
    self.subject = subject
    self.client = client
    self.redirectURI = object.text("uri")
    self.email = object.text("email")
    self.issuedAt = issuedAt
    self.serial = serial
    team = object.text("team")
    self.salt = salt
  }
}
