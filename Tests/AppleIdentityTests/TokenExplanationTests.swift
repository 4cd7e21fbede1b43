import AppleIdentity
import Domain
import JOSE
import TestSupport
import Testing

private func realToken() -> String {
  String(decoding: fixture("apple-id-token-2021.jwt").filter { $0 > 0x20 }, as: UTF8.self)
}

private func explain(at seconds: Int64, audience: String, nonce: String? = nil) throws -> TokenExplanation {
  TokenExplanation(
    of: realToken(), keys: try KeySet(parsing: fixture("apple-jwks-2020.json")),
    rules: rules(clients: [audience: .standard]), rawNonce: nonce, now: UnixTime(seconds))
}

private func realAudience() throws -> String {
  try #require(CompactToken(parsing: realToken().utf8).claims().text("aud"))
}

@Suite struct TokenExplanationTests {
  @Test(arguments: [nil, "anything"])
  func `the real token lacks nothing but a nonce claim`(_ nonce: String?) throws {
    let explanation = try explain(at: 1_630_741_500, audience: realAudience(), nonce: nonce)
    #expect(!explanation.isValid)
    #expect(explanation.code == "nonce_claim_missing")
    #expect(
      explanation.detail == "signature, issuer, audience and time are right; the nonce claim is missing")
  }

  @Test func `the real token is expired today, and was from the future before`() throws {
    #expect(try explain(at: now.seconds, audience: realAudience()).code == "token_expired")
    #expect(try explain(at: 1_630_741_430 - 60, audience: realAudience()).code == "nonce_claim_missing")
    #expect(try explain(at: 1_630_741_430 - 61, audience: realAudience()).code == "token_from_the_future")
    #expect(try explain(at: 1_630_741_430 + 3600, audience: realAudience()).code == "nonce_claim_missing")
    #expect(try explain(at: 1_630_741_430 + 3601, audience: realAudience()).code == "token_too_old")
  }

  @Test func `the real token is not for another client`() throws {
    #expect(try explain(at: 1_630_741_500, audience: "com.example.other").code == "audience_not_allowed")
  }

  @Test(
    arguments: [
      (nil, true, "valid"), (AppleClaims.rawNonce, true, "valid"), ("other", false, "nonce_mismatch"),
      (AppleClaims.hashedNonce, false, "nonce_is_already_hashed"), ("", false, "nonce_missing"),
    ] as [(String?, Bool, String)])
  func `a token of today is judged with and without a nonce`(
    _ nonce: String?, _ isValid: Bool, _ code: String
  ) throws {
    let explanation = TokenExplanation(
      of: TokenForge.apple.token(AppleClaims(issuedAt: now)),
      keys: try KeySet(parsing: TokenForge.apple.keySet),
      rules: rules(), rawNonce: nonce, now: now)
    #expect(explanation.isValid == isValid)
    #expect(explanation.code == code)
    if nonce == nil { #expect(explanation.detail.contains("nonce not checked")) }
  }

  @Test(arguments: [nil, AppleClaims.rawNonce, "other"])
  func `of a client that needs a challenge, that is told too`(_ nonce: String?) throws {
    let rule = NonceRule(form: .sha256, demandsChallenge: true)
    for (rules, isTold) in [(rules(clients: [AppleClaims.audience: rule]), true), (rules(), false)] {
      let explanation = TokenExplanation(
        of: TokenForge.apple.token(AppleClaims(issuedAt: now)),
        keys: try KeySet(parsing: TokenForge.apple.keySet), rules: rules, rawNonce: nonce, now: now)
      #expect(explanation.isValid == (nonce != "other"))
      #expect(explanation.detail.contains("would also demand a nonce from /v1/nonces") == isTold)
    }
  }

  @Test func `what is refused is refused as in a sign-in`() throws {
    let keys = try KeySet(parsing: TokenForge.apple.keySet)
    let claims = AppleClaims(issuedAt: now)
    let cases = [
      ("x", "token_malformed"), (String(repeating: "x", count: 9000), "token_too_large"),
      (
        TokenForge.apple.token(header: #"{"alg":"none","kid":"a"}"#, claims: claims.json),
        "algorithm_not_allowed"
      ),
      (TokenForge.apple.token(header: #"{"alg":"RS256"}"#, claims: claims.json), "header_not_allowed"),
      (TokenForge.apple.token(header: #"{"alg":"RS256","kid":"other"}"#, claims: claims.json), "key_unknown"),
      (TokenForge.stranger.token(claims), "signature_invalid"),
      (TokenForge.apple.token(claims.setting("iss", nil)), "issuer_not_allowed"),
      (TokenForge.apple.token(claims.setting("sub", nil)), "claim_invalid"),
    ]
    for (token, code) in cases {
      let explanation = TokenExplanation(of: token, keys: keys, rules: rules(), rawNonce: nil, now: now)
      #expect(explanation.code == code)
      #expect(!explanation.isValid)
      #expect(!explanation.detail.isEmpty)
    }
  }
}
