package import Domain
internal import ProviderTokens
internal import Wire

/// The claims of an identity token that are used, each of the one type that it may have.
package struct IdentityClaims: Sendable, Equatable {
  package let issuer: String
  /// The client the person signed in to.
  package let audience: ClientID
  package let issuedAt: UnixTime
  package let expiresAt: UnixTime
  package let subject: Subject
  /// Whatever the client put into its request to Apple, unchanged; nil when absent or empty.
  package let nonce: String?
  package let profile: Profile
  /// `c_hash`: binds an authorization code that was given out with the token.
  package let codeHash: String?
  /// `transfer_sub`: in the 60 days after the app went to another team, who the person was on the way (TN3159).
  package let transferSubject: Subject?

  /// Reads the claims; those of other names may be anything.
  ///
  /// - Parameter rules: Issuer and audience are held against these at once: cheap, and before any key is
  ///   looked for (a token for somebody else must not make the server fetch keys).
  init(_ object: JSONObject, rules: IdentityTokenRules) throws(IdentityTokenRefusal) {
    guard let issuer = try object.textClaim("iss"), rules.allowsIssuer(issuer) else {
      throw .issuerNotAllowed
    }
    self.issuer = issuer
    audience = try allowedAudience(object, rules: rules)
    issuedAt = try object.timeClaim("iat")
    expiresAt = try object.timeClaim("exp")
    guard issuedAt < expiresAt else { throw .claimInvalid }
    guard let subject = try object.textClaim("sub").flatMap(Subject.init) else { throw .claimInvalid }
    self.subject = subject
    nonce = try object.textClaim("nonce")
    let email = try object.textClaim("email").flatMap(EmailAddress.init)
    // Marks of an address that is not kept would say something about the next one.
    profile = Profile(
      email: email, isEmailVerified: email != nil && isTrue(object["email_verified"]),
      isPrivateEmail: email != nil && isTrue(object["is_private_email"]),
      realUserStatus: realUserStatus(object["real_user_status"]))
    codeHash = try object.textClaim("c_hash")
    if let word = try object.textClaim("transfer_sub") {
      guard let subject = Subject(word) else { throw .claimInvalid }
      transferSubject = subject
    } else {
      transferSubject = nil
    }
  }
}

/// `aud` is one string, or an array of exactly one: with two it would not be said whose nonce rule holds
/// (RFC 7519 §4.1.3, RFC 8725 §3.9).
func allowedAudience(
  _ object: JSONObject, rules: IdentityTokenRules
) throws(IdentityTokenRefusal) -> ClientID {
  let name: String
  switch object["aud"] {
  case nil, .null, .text(""): throw .audienceNotAllowed
  case .text(let text): name = text
  case .array(let names):
    guard names.allSatisfy({ if case .text = $0 { true } else { false } }) else {
      throw .claimInvalid
    }
    guard names.count == 1, case .text(let text) = names[0] else { throw .audienceNotAllowed }
    name = text
  default: throw .claimInvalid
  }
  // ClientID admits ASCII only, so that equality is that of bytes.
  guard let client = ClientID(name), rules.clients[client] != nil else { throw .audienceNotAllowed }
  return client
}

/// Apple writes booleans as `true` and as `"true"`; anything else is not true, the string `"false"` above all.
func isTrue(_ value: JSONValue?) -> Bool {
  switch value {
  case .flag(let flag): flag
  case .text(let text): text == "true"
  default: false
  }
}

private func realUserStatus(_ value: JSONValue?) -> RealUserStatus? {
  guard case .integer(let number) = value else { return nil }
  return RealUserStatus(rawValue: number) ?? .unknown
}
