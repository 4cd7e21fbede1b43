internal import Crypto
internal import Domain
internal import JOSE
internal import Wire

/// Apple's rules for the client secret of a call.
struct ClientProof: Sendable {
  let members: [MockTeam.Member]

  /// Seconds that a client secret may live.
  private static let longestLife: Int64 = 15_777_000

  /// Whether the secret proves that a known team asks for this client.
  func proves(_ secret: String, client: String, at now: UnixTime) -> Bool {
    guard let token = try? CompactToken(parsing: secret.utf8), token.header.algorithm == "ES256",
      let keyID = token.header.keyID, let claims = try? token.claims(), let team = claims.text("iss"),
      let member = members.first(where: { $0.keyID == keyID && $0.team == team }),
      (try? token.verify(with: member.key)) != nil,
      claims.text("aud") == "https://appleid.apple.com", claims.text("sub") == client,
      case .integer(let issuedAt) = claims["iat"], case .integer(let expiresAt) = claims["exp"]
    else { return false }
    return issuedAt <= now.seconds && now.seconds < expiresAt
      && expiresAt <= now.seconds + Self.longestLife && expiresAt > issuedAt
  }
}
