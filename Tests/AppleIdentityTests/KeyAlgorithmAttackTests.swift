import AppleIdentity
import Crypto
import Domain
import JOSE
import ProviderTokens
import TestSupport
import Testing
import Wire

/// Attacks by way of what a key set leaves open.
@Suite struct KeyAlgorithmAttackTests {
  private func key(withoutAlgorithm: Bool) throws -> PublicKey {
    let set = String(decoding: TokenForge.apple.keySet, as: UTF8.self)
    let open = withoutAlgorithm ? set.replacing(#","alg":"RS256""#, with: "") : set
    #expect(open.contains(#""alg""#) == !withoutAlgorithm)
    return try #require(try KeySet(parsing: Array(open.utf8))[TokenForge.apple.keyID])
  }

  @Test(arguments: ["HS256", "none", "RS384", "RS512", "PS256", "ES256", "EdDSA"])
  func `attack 7 a key without an algorithm is RS256's, whatever the header says`(_ name: String) throws {
    let key = try key(withoutAlgorithm: true)
    let claims = AppleClaims(issuedAt: now)
    _ = try verify(TokenForge.apple.token(claims), by: key)
    let token = TokenForge.apple.token(
      header: "{\"alg\":\"\(name)\",\"kid\":\"FORGEKEY01\"}", claims: claims.json)
    #expect(throws: IdentityTokenRefusal.algorithmNotAllowed) { try verify(token, by: key) }
  }

  @Test func `attack 5 attack 7 a MAC with an empty key is no signature for a key without an algorithm`()
    throws
  {
    let key = try key(withoutAlgorithm: true)
    let claims = base64URLText(Array(AppleClaims(issuedAt: now).json.utf8))
    for (name, refusal) in [
      ("HS256", IdentityTokenRefusal.algorithmNotAllowed), ("RS256", .signatureInvalid),
    ] {
      let signed = base64URLText(Array("{\"alg\":\"\(name)\",\"kid\":\"FORGEKEY01\"}".utf8)) + "." + claims
      let token = signed + "." + base64URLText(MACKey([0]).code(for: Array(signed.utf8)))
      #expect(throws: refusal) { try verify(token, by: key) }
    }
  }
}
