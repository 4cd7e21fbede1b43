package import Crypto
package import Domain
internal import JOSE
internal import Wire

/// What a custom token asks for: a session of the account of this id (Firebase, "Create custom tokens").
package struct CustomToken: Sendable, Equatable {
  package let account: AccountID
  /// A JSON object; nil when it brings none.
  package let claims: String?
}

/// Why a custom token is refused.
package enum CustomTokenError: Error, Equatable, Sendable {
  /// Not signed by one of the keys, not within its time, or not of the form.
  case invalid
  /// Signed by one of the keys, but for another audience.
  case otherAudience
  case claims(CustomClaimsError)
}

private let audience =
  "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

extension CustomToken {
  /// Verifies a custom token with the keys that an operator named: they alone decide which algorithms there are.
  package init(
    verifying text: String, keys: [PublicKey], leeway: Int64, now: UnixTime
  ) throws(CustomTokenError) {
    guard let token = try? CompactToken(parsing: text.utf8),
      keys.contains(where: { (try? token.verify(with: $0)) != nil }), let claims = try? token.claims(),
      case .integer(let issuedAt) = claims["iat"], case .integer(let expiresAt) = claims["exp"],
      let issuer = claims.text("iss"), !issuer.isEmpty, let subject = claims.text("sub"),
      subject.utf8.elementsEqual(issuer.utf8)
    else { throw .invalid }
    guard let named = claims.text("aud"), named.utf8.elementsEqual(audience.utf8) else {
      throw .otherAudience
    }
    let (lifetime, overflow) = expiresAt.subtractingReportingOverflow(issuedAt)
    guard !overflow, (1...Limits.customTokenSeconds).contains(lifetime), issuedAt <= now.seconds + leeway,
      now.seconds < expiresAt + leeway, claims["tenant_id"] == nil,
      let account = claims.text("uid").flatMap(AccountID.init)
    else { throw .invalid }
    self.account = account
    switch claims["claims"] {
    case nil, .null: self.claims = nil
    case .object(let object):
      do throws(CustomClaimsError) {
        self.claims = try customClaims(from: String(decoding: object.bytes, as: UTF8.self))
      } catch {
        throw .claims(error)
      }
    default: throw .claims(.malformed)
    }
  }
}
