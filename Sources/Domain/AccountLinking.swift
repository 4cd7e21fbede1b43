/// Whether an e-mail address may decide whose account a new identity belongs to.
package enum AccountLinking: String, Sendable, CaseIterable {
  /// It decides nothing; several accounts may hold one address.
  case off
  /// A new identity joins the account that holds its address if both are verified and neither is a relay address;
  /// an address that is held otherwise gets no session.
  case verifiedEmail = "verified-email"
}
