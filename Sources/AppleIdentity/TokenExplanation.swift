package import Domain
package import JOSE
internal import ProviderTokens

/// What is right about an identity token and the first thing that is wrong, for `token explain`.
package struct TokenExplanation: Sendable, Equatable {
  package let isValid: Bool
  /// The `reason` that a sign-in would answer, or `valid`.
  package let code: String
  package let detail: String

  /// Judges a token as a sign-in would, but goes as far as it can without a raw nonce.
  ///
  /// - Parameters:
  ///   - keys: Apple's key set.
  ///   - rawNonce: Nil: a token with a nonce claim is judged on everything else.
  package init(
    of text: String, keys: KeySet, rules: IdentityTokenRules, rawNonce: String?, now: UnixTime
  ) {
    do throws(IdentityTokenRefusal) {
      let token = try UnverifiedIdentityToken(parsing: text, rules: rules)
      guard let key = keys[token.keyID] else { throw .keyUnknown }
      let verified = try token.verified(by: key, rules: rules, now: now)
      if verified.isTooOld { throw .tokenTooOld }
      self.init(of: verified, rawNonce: rawNonce)
    } catch {
      self.init(refusedFor: error)
    }
  }

  private init(of token: VerifiedIdentityToken, rawNonce: String?) {
    let right = "signature, issuer, audience and time are right"
    let demand =
      token.nonceRule.demandsChallenge ? "; a sign-in would also demand a nonce from /v1/nonces" : ""
    guard let rawNonce else {
      let isThere = token.claims.nonce != nil
      isValid = isThere
      code = isThere ? "valid" : NonceRefusal.claimMissing.rawValue
      detail = right + (isThere ? "; nonce not checked" : "; the nonce claim is missing") + demand
      return
    }
    do {
      try token.nonceRule.check(raw: rawNonce, claim: token.claims.nonce)
      isValid = true
      code = "valid"
      detail = "signature, issuer, audience, time and nonce are right" + demand
    } catch {
      isValid = false
      code = error.rawValue
      let fault =
        switch error {
        case .missing: "no raw nonce was given"
        case .claimMissing: "the nonce claim is missing"
        default: "the nonce is wrong"
        }
      detail = "\(right); \(fault)\(demand)"
    }
  }

  private init(refusedFor refusal: IdentityTokenRefusal) {
    isValid = false
    code = refusal.rawValue
    detail =
      switch refusal {
      case .tokenMalformed: "this is no compact token of three base64url parts with JSON objects"
      case .tokenTooLarge: "the token has more than \(Limits.tokenBytes) bytes"
      case .headerNotAllowed: "the header has no usable kid, or one of crit, b64 and zip"
      case .algorithmNotAllowed: "the header's alg is not RS256"
      case .issuerNotAllowed: "iss is not an issuer that is allowed; the signature was not checked"
      case .audienceNotAllowed:
        "the issuer is right, aud is not a client that is allowed; the signature was not checked"
      case .claimInvalid: "a claim is missing or has the wrong type; the signature was not checked"
      case .keyUnknown: "issuer and audience are right; the key set has no key of this kid"
      case .keysUnavailable: "issuer and audience are right; Apple's keys are not to be had"
      case .signatureInvalid: "issuer and audience are right, the signature is not that of the key"
      case .tokenExpired: "signature, issuer and audience are right; the token has expired"
      case .tokenTooOld: "signature, issuer and audience are right; the token was issued too long ago"
      case .tokenFromTheFuture: "signature, issuer and audience are right; iat lies ahead of the clock"
      }
  }
}
