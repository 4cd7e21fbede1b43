package import Domain
package import ProviderTokens
internal import Crypto
internal import Wire

/// How an authorization code stands to the token that it came with.
package enum CodeFit: Sendable, Equatable {
  /// The token's `c_hash` is this code's.
  case bound
  /// The token says nothing of a code.
  case unbound
  /// The token came with another code.
  case foreign
}

extension VerifiedIdentityToken {
  /// Holds a code against `c_hash`: the left half of its SHA-256 (OpenID Connect Core 1.0 §3.3.2.11).
  package func fit(of code: String) -> CodeFit {
    guard let codeHash = claims.codeHash else { return .unbound }
    let expected = base64URLText(Array(sha256(Array(code.utf8)).prefix(16)))
    return expected.utf8.elementsEqual(codeHash.utf8) ? .bound : .foreign
  }
}

/// Why the identity token that came for a code does not let the refresh token beside it be kept.
package enum ReturnedTokenFault: Error, Equatable, Sendable {
  case missing
  /// It is another person's, or another client's.
  case otherPerson
  case refused(IdentityTokenRefusal)
}

/// Checks the identity token that came for a code, as every other one, and that it is of the person and the client that
/// the code came from: otherwise somebody could have another person's code exchanged for himself.
package func checkReturnedToken(
  _ token: Secret<String>?, subject: Subject?, client: ClientID, rules: IdentityTokenRules,
  directory: KeyDirectory, clock: WallClock
) async throws(ReturnedTokenFault) {
  guard let token else { throw .missing }
  let allowed = IdentityTokenRules(
    issuers: rules.issuers, clients: [client: .standard], maximumAge: rules.maximumAge, leeway: rules.leeway)
  let verified: VerifiedIdentityToken
  do throws(IdentityTokenRefusal) {
    let parsed = try UnverifiedIdentityToken(parsing: token.reveal(), rules: allowed)
    verified = try parsed.verified(
      by: try await directory.key(parsed.keyID), rules: allowed, now: clock.now())
  } catch {
    throw error == .audienceNotAllowed ? .otherPerson : .refused(error)
  }
  guard subject == nil || verified.claims.subject == subject else { throw .otherPerson }
}
