//===-- ProviderTokens -----------------------------------------------------===//
// What the tokens of identity providers have in common: their form, the directory of their issuer's keys, and why one is
// refused. What a token must say is a matter of each provider's own rules, which are beside each other above this.
//===------------------------------------------------------------------------===//

/// Why a provider's token is refused. The words are the `reason` values of the error answers.
package enum IdentityTokenRefusal: String, Error, Equatable, Sendable, CaseIterable {
  case tokenMalformed = "token_malformed"
  case tokenTooLarge = "token_too_large"
  case headerNotAllowed = "header_not_allowed"
  case algorithmNotAllowed = "algorithm_not_allowed"
  case keyUnknown = "key_unknown"
  /// The one that is nobody's fault but the network's: an outage, not a bad token.
  case keysUnavailable = "keys_unavailable"
  case signatureInvalid = "signature_invalid"
  case issuerNotAllowed = "issuer_not_allowed"
  case audienceNotAllowed = "audience_not_allowed"
  case claimInvalid = "claim_invalid"
  case tokenExpired = "token_expired"
  case tokenTooOld = "token_too_old"
  case tokenFromTheFuture = "token_from_the_future"
}
