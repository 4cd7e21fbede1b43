package import Domain
package import Storage
internal import JOSE
internal import Wire

/// Who issues session tokens, for whom, and for how long.
package struct SessionTokenRules: Sendable, Equatable {
  package let issuer: String
  /// The project id: one string, since some verifiers refuse an array.
  package let audience: String
  /// Seconds.
  package let lifetime: Int64
  package let leeway: Int64
  package let limits: SessionLimits

  package init(issuer: String, audience: String, lifetime: Int64, leeway: Int64, limits: SessionLimits) {
    self.issuer = issuer
    self.audience = audience
    self.lifetime = lifetime
    self.leeway = leeway
    self.limits = limits
  }
}

/// What a session token leaves out when it would grow too big for headers, each step with those before it.
private enum Abridgement: Int, CaseIterable, Comparable {
  case nothing
  /// The address a second time.
  case emailIdentity
  /// Identities that an import brought.
  case foreignIdentities
  case name
  case identities
  case email

  static func < (a: Abridgement, b: Abridgement) -> Bool { a.rawValue < b.rawValue }
}

/// The claims of a session token (RFC 7519 §4.1, and Firebase's).
struct SessionTokenPayload {
  let issuer: String
  let audience: String
  let account: Account
  let session: Session
  let issuedAt: UnixTime
  /// Never later than the session's own end.
  let expiresAt: UnixTime

  /// The claims as JSON: below ``Limits/sessionPayloadBytes`` without custom claims.
  var json: [UInt8] {
    for step in Abridgement.allCases.dropLast() {
      let payload = json(without: step)
      if payload.count <= Limits.sessionPayloadBytes { return withCustomClaims(payload) }
    }
    return withCustomClaims(json(without: .email))
  }

  private func json(without step: Abridgement) -> [UInt8] {
    let email = step < .email ? account.profile.email : nil
    var out = JSONWriter(reserving: 768)
    out.member("iss", issuer)
    out.member("aud", audience)
    out.member("sub", account.id.text)
    out.member("user_id", account.id.text)
    out.member("iat", issuedAt.seconds)
    out.member("exp", expiresAt.seconds)
    out.member("auth_time", session.createdAt.seconds)
    out.member("sid", session.id.description)
    if let email {
      out.member("email", email.text)
      out.member("email_verified", account.profile.isEmailVerified)
    }
    if step < .name { out.member("name", account.displayName.flatMap(nameClaim)) }
    if session.provider == "anonymous" { out.member("provider_id", session.provider) }
    out.object("firebase") { out in
      out.object("identities") { out in addIdentities(to: &out, without: step) }
      out.member("sign_in_provider", session.provider)
    }
    return out.finish()
  }

  private func addIdentities(to out: inout JSONWriter, without step: Abridgement) {
    guard step < .identities else { return }
    for identity in account.identities where step < .foreignIdentities || identity.provider == appleProviderID
    {
      // The name of the address, which an import may have given to an identity: no member stands there twice.
      if identity.provider == "email" { continue }
      out.member(identity.provider, [identity.subject.text])
    }
    if step < .emailIdentity, let email = account.profile.email { out.member("email", [email.text]) }
  }

  /// Custom claims come first: of two members of one name most readers take the last.
  private func withCustomClaims(_ payload: [UInt8]) -> [UInt8] {
    guard account.customClaims != nil || session.customClaims != nil else { return payload }
    var out = JSONWriter(reserving: payload.count + 1024)
    out.customClaims(account.customClaims, session.customClaims)
    let custom = out.finish()
    guard custom.count > 2 else { return payload }
    return custom.dropLast() + [UInt8(ascii: ",")] + payload.dropFirst()
  }
}

/// The longest beginning of a name in whole grapheme clusters that a claim may hold, counted as it is written in
/// JSON; nil when not even one fits.
private func nameClaim(_ name: String) -> String? {
  if jsonByteCount(name.utf8) <= Limits.nameClaimBytes { return name }
  var kept = ""
  var size = 0
  for character in name {
    size += jsonByteCount(character.utf8)
    if size > Limits.nameClaimBytes { break }
    kept.append(character)
  }
  return kept.isEmpty ? nil : kept
}

/// Bytes of cleaned text inside a JSON string: of what is escaped there, names hold quotes and backslashes only.
private func jsonByteCount(_ text: some Collection<UInt8>) -> Int {
  text.count + text.count(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
}

/// What a session token said, once everything about it was right.
package struct SessionTokenClaims: Sendable, Equatable {
  package let account: AccountID
  package let session: SessionID
  package let authenticatedAt: UnixTime
  package let issuedAt: UnixTime
  package let expiresAt: UnixTime
  package let email: EmailAddress?
  package let isEmailVerified: Bool
}

/// Why a session token is not accepted. Which check failed is not told: nobody who holds a good one needs it.
package enum SessionTokenError: Error, Equatable, Sendable {
  case invalid
  case expired
  /// It names a key that this node cannot open: a matter of the node's settings, not of the token.
  case keyUnavailable
}

extension SigningKeys {
  /// Verifies one of our own session tokens: a published key, its algorithm, `typ`, issuer, audience and times
  /// (RFC 8725 §3.8, §3.9, §3.11). Whether session and account still live is storage's to say.
  ///
  /// - Returns: What it says, and the key that it was verified with.
  package func verify(
    _ text: String, rules: SessionTokenRules, now: UnixTime
  ) throws(SessionTokenError) -> (claims: SessionTokenClaims, keyID: KeyID) {
    let (claims, id) = try read(text, rules: rules)
    try claims.check(rules: rules, now: now)
    return (claims, id)
  }

  /// The session of a session token of ours, be it within its time or not; nil for anything else.
  package func session(of text: String, rules: SessionTokenRules) -> SessionID? {
    guard text.utf8.count <= Limits.tokenBytes else { return nil }
    return (try? read(text, rules: rules))?.claims.session
  }

  private func read(
    _ text: String, rules: SessionTokenRules
  ) throws(SessionTokenError) -> (claims: SessionTokenClaims, keyID: KeyID) {
    guard let token = try? CompactToken(parsing: text.utf8), let id = token.header.keyID else {
      throw .invalid
    }
    if sealed.contains(id) { throw .keyUnavailable }
    guard let key = publicKey(id), token.header.type == "JWT", (try? token.verify(with: key)) != nil,
      let object = try? token.claims(), let claims = SessionTokenClaims(object, rules: rules)
    else { throw .invalid }
    return (claims, id)
  }
}

extension SessionTokenClaims {
  fileprivate init?(_ object: JSONObject, rules: SessionTokenRules) {
    guard object.isText("iss", rules.issuer), object.isText("aud", rules.audience),
      case .integer(let expiresAt) = object["exp"], case .integer(let issuedAt) = object["iat"],
      case .integer(let authenticatedAt) = object["auth_time"],
      let account = object.text("sub").flatMap(AccountID.init),
      let session = object.text("sid").flatMap(SessionID.init(hex:))
    else { return nil }
    self.account = account
    self.session = session
    self.authenticatedAt = UnixTime(authenticatedAt)
    self.issuedAt = UnixTime(issuedAt)
    self.expiresAt = UnixTime(expiresAt)
    email = object.text("email").flatMap(EmailAddress.init)
    if case .flag(true) = object["email_verified"] { isEmailVerified = true } else { isEmailVerified = false }
  }

  /// Returns when the time is one at which the token is good.
  func check(rules: SessionTokenRules, now: UnixTime) throws(SessionTokenError) {
    guard issuedAt <= now + rules.leeway else { throw .invalid }
    guard now < expiresAt + rules.leeway else { throw .expired }
  }
}

extension JSONObject {
  /// Whether a member is this text, byte for byte.
  fileprivate func isText(_ name: String, _ expected: String) -> Bool {
    text(name)?.utf8.elementsEqual(expected.utf8) ?? false
  }
}
