internal import Crypto
internal import Domain

/// Remembers of session tokens that their bytes were verified under a key: an ES256 verification costs ninety
/// microseconds, a digest two.
///
/// Only good tokens enter. Whether the key is still published and the token within its time is looked at each time;
/// session and account are storage's to say, as ever.
struct VerifiedTokens: Sendable {
  private struct Entry: Sendable {
    let keyID: KeyID
    let claims: SessionTokenClaims
  }

  private let entries = GenerationCache<[UInt8], Entry>(atMost: 32_768)

  func verify(
    _ text: String, keys: SigningKeys, rules: SessionTokenRules, now: UnixTime
  ) throws(SessionTokenError) -> SessionTokenClaims {
    guard text.utf8.count <= Limits.tokenBytes else { throw .invalid }
    let digest = sha256(Array(text.utf8))
    if let known = entries[digest], keys.publicKey(known.keyID) != nil {
      try known.claims.check(rules: rules, now: now)
      return known.claims
    }
    let (claims, keyID) = try keys.verify(text, rules: rules, now: now)
    entries.insert(Entry(keyID: keyID, claims: claims), for: digest)
    return claims
  }
}
