internal import Domain
internal import JOSE
internal import Wire

/// Whose session JWTs are accepted, for whom, and how far clocks may be apart.
package struct SessionRules: Sendable {
  let issuer: String
  let audience: String
  /// Seconds.
  let leeway: Int64

  package init(issuer: String, audience: String, leeway: Int64) {
    self.issuer = issuer
    self.audience = audience
    self.leeway = leeway
  }

  /// Judges everything but signature and revocation (RFC 8725 §3.8, §3.9, §3.11).
  ///
  /// It comes before the key is looked for, so that a token which would be refused anyway never causes a fetch.
  func judge(_ token: CompactToken, at now: UnixTime) throws(VerificationError) -> VerifiedSession {
    guard token.header.type == "JWT", let claims = try? token.claims() else { throw .malformed }
    guard claims.isText("iss", issuer) else { throw .wrongIssuer }
    guard claims.isText("aud", audience) else { throw .wrongAudience }
    guard let session = VerifiedSession(claims) else { throw .malformed }
    guard UnixTime(session.issuedAt) <= now + leeway else { throw .notYetValid }
    if let notBefore = claims["nbf"] {
      guard case .integer(let seconds) = notBefore else { throw .malformed }
      guard UnixTime(seconds) <= now + leeway else { throw .notYetValid }
    }
    guard now < UnixTime(session.expiresAt) + leeway else { throw .expired }
    return session
  }
}

extension JSONObject {
  /// Whether a member is this text, byte for byte.
  fileprivate func isText(_ name: String, _ expected: String) -> Bool {
    text(name)?.utf8.elementsEqual(expected.utf8) ?? false
  }
}
