internal import Domain
internal import Wire

/// What a session JWT says, once everything about it was right.
public struct VerifiedSession: Sendable {
  /// `sub`: the account.
  public let subject: String
  /// `sid`: the session.
  public let sessionID: String
  /// `iat`, in seconds since 1970.
  public let issuedAt: Int64
  /// `exp`, in seconds since 1970.
  public let expiresAt: Int64
  /// `auth_time`: when the person signed in, in seconds since 1970.
  public let authenticatedAt: Int64
  /// `email`; it may be nobody's, unless ``emailVerified``.
  public let email: String?
  /// `email_verified`.
  public let emailVerified: Bool
  /// `firebase.sign_in_provider`: `apple.com`, `anonymous` or `custom`.
  public let signInProvider: String?
  /// Every claim, custom ones too.
  public let claims: Claims

  let account: AccountID
  let session: SessionID

  /// Nil when a claim that every session JWT has is missing or of another kind.
  init?(_ object: JSONObject) {
    guard case .integer(let expiresAt) = object["exp"], case .integer(let issuedAt) = object["iat"],
      case .integer(let authenticatedAt) = object["auth_time"],
      let account = object.text("sub").flatMap(AccountID.init),
      let session = object.text("sid").flatMap(SessionID.init(hex:))
    else { return nil }
    (self.account, self.session) = (account, session)
    subject = account.text
    sessionID = session.description
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
    self.authenticatedAt = authenticatedAt
    claims = Claims(object)
    email = claims.text("email")
    emailVerified = claims.flag("email_verified") ?? false
    signInProvider = claims.object("firebase")?.text("sign_in_provider")
  }
}

/// A JSON object of claims. Each look-up is nil when the claim is absent or of another kind.
public struct Claims: Sendable {
  private let object: JSONObject

  init(_ object: JSONObject) { self.object = object }

  /// Names of all claims, in the order of the token.
  public var names: [String] { object.names }

  /// The object as JSON text, for a decoder of one's own.
  public var json: [UInt8] { object.bytes }

  /// A string.
  public func text(_ name: String) -> String? { object.text(name) }

  /// A boolean.
  public func flag(_ name: String) -> Bool? {
    if case .flag(let flag) = object[name] { flag } else { nil }
  }

  /// A whole number.
  public func integer(_ name: String) -> Int64? {
    if case .integer(let number) = object[name] { number } else { nil }
  }

  /// Any number, whole ones too.
  public func number(_ name: String) -> Double? {
    switch object[name] {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  /// An array of strings.
  public func texts(_ name: String) -> [String]? {
    guard case .array(let values) = object[name] else { return nil }
    let texts = values.compactMap { if case .text(let text) = $0 { text } else { nil } }
    return texts.count == values.count ? texts : nil
  }

  /// An object within.
  public func object(_ name: String) -> Claims? {
    if case .object(let inner) = object[name] { Claims(inner) } else { nil }
  }
}
