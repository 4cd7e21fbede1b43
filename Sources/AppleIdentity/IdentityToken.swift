package import Crypto
package import Domain
internal import JOSE
internal import Wire

/// An identity token that was taken apart and looks like one for us. Its signature has not been checked:
/// nothing in it may be believed yet.
///
/// The steps of a verification, in order: ``init(parsing:rules:)`` (size, parts, header, cheap claims), the key
/// from a directory, ``verified(by:rules:now:)`` (signature, then times), the nonce by ``NonceRule``, and at
/// last the record of its use, which is storage's.
package struct UnverifiedIdentityToken: Sendable {
  /// Which key is said to have signed it.
  package let keyID: KeyID
  private let token: CompactToken
  private let claims: IdentityClaims

  /// The claims as Apple wrote them, JSON.
  package var claimsText: String { String(decoding: token.payload, as: UTF8.self) }

  package init(parsing text: String, rules: IdentityTokenRules) throws(IdentityTokenRefusal) {
    (token, keyID) = try tokenOfApple(text, atMost: Limits.tokenBytes)
    do {
      claims = try IdentityClaims(token.claims(), rules: rules)
    } catch let refusal as IdentityTokenRefusal {
      throw refusal
    } catch {
      throw .tokenMalformed
    }
  }

  /// Checks signature and times.
  package func verified(
    by key: PublicKey, rules: IdentityTokenRules, now: UnixTime
  ) throws(IdentityTokenRefusal) -> VerifiedIdentityToken {
    try verify(token, by: key)
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

/// Takes a token apart that says it is signed as Apple signs, and with which key.
func tokenOfApple(
  _ text: String, atMost limit: Int
) throws(IdentityTokenRefusal) -> (token: CompactToken, keyID: KeyID) {
  let token: CompactToken
  do {
    token = try CompactToken(parsing: text.utf8, atMost: limit)
  } catch {
    throw IdentityTokenRefusal(error)
  }
  // The one algorithm Apple signs with; RFC 8725 §3.1.
  guard token.header.algorithm == SignatureAlgorithm.rs256.rawValue else { throw .algorithmNotAllowed }
  guard let keyID = token.header.keyID else { throw .headerNotAllowed }
  return (token, keyID)
}

/// Checks the signature, which has to be of the one algorithm.
func verify(_ token: CompactToken, by key: PublicKey) throws(IdentityTokenRefusal) {
  guard key.algorithm == .rs256 else { throw .algorithmNotAllowed }
  do {
    try token.verify(with: key)
  } catch {
    throw IdentityTokenRefusal(error)
  }
}

extension IdentityTokenRefusal {
  init(_ error: JOSEError) {
    self =
      switch error {
      case .tooLarge: .tokenTooLarge
      case .malformed: .tokenMalformed
      case .headerNotAllowed: .headerNotAllowed
      case .algorithmNotAllowed: .algorithmNotAllowed
      case .signatureInvalid: .signatureInvalid
      }
  }
}
