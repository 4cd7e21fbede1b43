package import Crypto
package import Domain
package import ProviderTokens
internal import Wire

/// A Firebase ID token that was taken apart and looks like one of the project's. Its signature has not been checked:
/// nothing in it may be believed yet.
package struct UnverifiedFirebaseToken: Sendable {
  private let token: ProviderToken
  private let claims: FirebaseToken

  /// Which key is said to have signed it.
  package var keyID: KeyID { token.keyID }

  /// Issuer and audience are held against the rules at once: a token for somebody else must not make the server fetch
  /// keys.
  package init(parsing text: String, rules: FirebaseTokenRules) throws(IdentityTokenRefusal) {
    token = try ProviderToken(parsing: text, atMost: Limits.tokenBytes)
    claims = try FirebaseToken(token.claims(), rules: rules)
  }

  /// Checks signature and times.
  package func verified(
    by key: PublicKey, rules: FirebaseTokenRules, now: UnixTime
  ) throws(IdentityTokenRefusal) -> FirebaseToken {
    try token.verify(by: key)
    guard now < claims.expiresAt + rules.leeway else { throw .tokenExpired }
    guard claims.issuedAt <= now + rules.leeway, claims.authenticatedAt <= now + rules.leeway else {
      throw .tokenFromTheFuture
    }
    return claims
  }
}

/// What a Firebase ID token says that Google signed, for the project, within its time. Its e-mail address and name are not
/// read: what is known of the person came with the import.
package struct FirebaseToken: Sendable, Equatable {
  /// The uid, which the account has kept.
  package let account: AccountID
  /// When the person last signed in there.
  package let authenticatedAt: UnixTime
  package let issuedAt: UnixTime
  package let expiresAt: UnixTime
  /// How the person signed in there: `apple.com`, `password`, `anonymous` and the like.
  package let signInProvider: String
  /// Of what is unique about it, never of its text: `iss`, `aud`, `sub`, `auth_time` and `iat`.
  package let digest: [UInt8]

  fileprivate init(_ object: JSONObject, rules: FirebaseTokenRules) throws(IdentityTokenRefusal) {
    // Bytes: Swift's `==` would take one spelling of a character for another.
    guard let issuer = try object.textClaim("iss"), issuer.utf8.elementsEqual(rules.issuer.utf8) else {
      throw .issuerNotAllowed
    }
    guard let audience = try object.textClaim("aud"), audience.utf8.elementsEqual(rules.project.utf8) else {
      throw .audienceNotAllowed
    }
    issuedAt = try object.timeClaim("iat")
    expiresAt = try object.timeClaim("exp")
    authenticatedAt = try object.timeClaim("auth_time")
    guard issuedAt < expiresAt, let account = try object.textClaim("sub").flatMap(AccountID.init) else {
      throw .claimInvalid
    }
    self.account = account
    // A tenant's people are others than the project's, and no export of the project holds them.
    guard case .object(let firebase) = object["firebase"], firebase["tenant"] == nil,
      let provider = try firebase.textClaim("sign_in_provider"), isProviderName(provider)
    else { throw .claimInvalid }
    signInProvider = provider
    digest = sha256(fields: [
      Array(issuer.utf8), Array(audience.utf8), Array(account.text.utf8),
      Array(String(authenticatedAt.seconds).utf8), Array(String(issuedAt.seconds).utf8),
    ])
  }
}

private func isProviderName(_ text: String) -> Bool {
  (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
}
