package import Crypto
package import Domain
package import ProviderTokens

/// An identity token that was taken apart and looks like one for us. Its signature has not been checked:
/// nothing in it may be believed yet.
///
/// The steps of a verification, in order: ``init(parsing:rules:)`` (size, parts, header, cheap claims), the key
/// from a directory, ``verified(by:rules:now:)`` (signature, then times), the nonce by ``NonceRule``, and at
/// last the record of its use, which is storage's.
package struct UnverifiedIdentityToken: Sendable {
  private let token: ProviderToken
  private let claims: IdentityClaims

  /// Which key is said to have signed it.
  package var keyID: KeyID { token.keyID }

  /// The claims as Apple wrote them, JSON.
  package var claimsText: String { String(decoding: token.payload, as: UTF8.self) }

  package init(parsing text: String, rules: IdentityTokenRules) throws(IdentityTokenRefusal) {
    token = try ProviderToken(parsing: text, atMost: Limits.tokenBytes)
    claims = try IdentityClaims(token.claims(), rules: rules)
  }

  /// Checks signature and times.
  package func verified(
    by key: PublicKey, rules: IdentityTokenRules, now: UnixTime
  ) throws(IdentityTokenRefusal) -> VerifiedIdentityToken {
    try token.verify(by: key)
    guard now < claims.expiresAt + rules.leeway else { throw .tokenExpired }
    guard claims.issuedAt <= now + rules.leeway else { throw .tokenFromTheFuture }
    guard let rule = rules.clients[claims.audience] else { throw .audienceNotAllowed }
    return VerifiedIdentityToken(
      claims: claims, nonceRule: rule, isTooOld: now.since(claims.issuedAt) > rules.maximumAge)
  }
}

/// An identity token that Apple signed, for one of our clients, within its time.
package struct VerifiedIdentityToken: Sendable, Equatable {
  package let claims: IdentityClaims
  /// The rule of the client that the token is for.
  package let nonceRule: NonceRule
  /// Older than a sign-in may be. Told apart from the refusals, since a repeat of a request that was answered
  /// is answered again however old its token has grown.
  package let isTooOld: Bool

  /// What is unique about it: `iss`, `aud`, `sub`, `nonce` and `iat`. Never its text, of which a lenient
  /// decoder would accept several spellings.
  package var digest: [UInt8] {
    sha256(fields: [
      Array(claims.issuer.utf8), Array(claims.audience.text.utf8), Array(claims.subject.text.utf8),
      Array((claims.nonce ?? "").utf8), Array(String(claims.issuedAt.seconds).utf8),
    ])
  }
}
