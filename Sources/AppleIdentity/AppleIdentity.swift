//===-- AppleIdentity ------------------------------------------------------===//
// Apple's rules: identity tokens, the nonce, codes and refresh tokens. Which issuer, audience, algorithm and key are
// right is decided by settings and constants here, never by what a token says. Knows nothing of accounts and
// sessions.
//===------------------------------------------------------------------------===//

package import Domain

/// How the nonce claim of one client's tokens relates to the raw nonce of the request. One rule for each
/// client: a server that takes either form takes the form that a thief can copy out of the token.
package struct NonceRule: Hashable, Sendable {
  /// What the claim holds.
  package enum Form: Hashable, Sendable {
    /// The claim is the lower-case hex SHA-256 of the raw nonce: what apps send to Apple.
    case sha256
    /// The claim is the raw nonce itself: web clients that hand it to Apple as it is.
    case raw
  }

  package let form: Form
  /// Whether the raw nonce must be a challenge that this server made.
  package let demandsChallenge: Bool

  package init(form: Form, demandsChallenge: Bool) {
    self.form = form
    self.demandsChallenge = demandsChallenge
  }

  package static let standard = NonceRule(form: .sha256, demandsChallenge: false)
}

/// What an identity token has to satisfy.
package struct IdentityTokenRules: Sendable {
  /// Exact values of `iss`.
  package let issuers: [String]
  /// Audiences, each with its nonce rule.
  package let clients: [ClientID: NonceRule]
  /// Seconds since `iat` after which a token is too old to sign in with, whatever its `exp` says.
  package let maximumAge: Int64
  /// Seconds by which two clocks may differ.
  package let leeway: Int64

  package init(issuers: [String], clients: [ClientID: NonceRule], maximumAge: Int64, leeway: Int64) {
    self.issuers = issuers
    self.clients = clients
    self.maximumAge = maximumAge
    self.leeway = leeway
  }

  func allowsIssuer(_ issuer: String) -> Bool {
    // Bytes: Swift's `==` would take U+212A for K.
    issuers.contains { $0.utf8.elementsEqual(issuer.utf8) }
  }
}
