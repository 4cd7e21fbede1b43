/// What an e-mail address decides when somebody signs in whom nobody knows by his identity.
package enum AccountLinking: String, Sendable, CaseIterable {
  /// Nothing: several accounts may hold one address.
  case off
  /// The identity joins the account that holds the address, when both are verified and neither is a relay address.
  case verifiedEmail = "verified-email"
}
