internal import Crypto
internal import Domain
internal import JOSE
internal import Wire

/// Apple's rules for the client secret of a call.
struct ClientProof: Sendable {
  let members: [MockTeam.Member]

  /// Seconds that a client secret may live.
  private static let longestLife: Int64 = 15_777_000

  /// The team that the secret proves to ask for this client; nil when it proves none that is known.
  func team(provedBy secret: String, client: String, at now: UnixTime) -> String? {
    guard let token = try? CompactToken(parsing: secret.utf8), token.header.algorithm == "ES256",
      let keyID = token.header.keyID, let claims = try? token.claims(), let team = claims.text("iss"),
      let member = members.first(where: { $0.keyID == keyID && $0.team == team }),
      (try? token.verify(with: member.key)) != nil,
      claims.text("aud") == "https://appleid.apple.com", claims.text("sub") == client,
      case .integer(let issuedAt) = claims["iat"], case .integer(let expiresAt) = claims["exp"]
    else { return nil }
    let isInTime =
      issuedAt <= now.seconds && now.seconds < expiresAt
      && expiresAt <= now.seconds + Self.longestLife && expiresAt > issuedAt
    return isInTime ? team : nil
  }
}
