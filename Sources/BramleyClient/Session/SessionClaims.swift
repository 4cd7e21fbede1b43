internal import Foundation

/// What a session token says. The kit believes it because of the connection that it came over; services that get it from
/// the app verify the signature.
struct SessionClaims: Decodable, Sendable {
  struct Firebase: Decodable, Sendable {
    let sign_in_provider: String
    let identities: [String: [String]]?
  }

  let iat: TimeInterval
  let exp: TimeInterval
  let auth_time: TimeInterval
  let sub: String
  let sid: String
  let email: String?
  let email_verified: Bool?
  let name: String?
  let firebase: Firebase

  /// Reads a token's payload; nil when it is none.
  init?(_ token: String) {
    guard let payload = Self.payload(of: token),
      let claims = try? JSONDecoder().decode(SessionClaims.self, from: payload)
    else { return nil }
    self = claims
  }

  /// The payload as JSON; nil when the token has none.
  static func payload(of token: String) -> Data? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 3 ? bytes(ofBase64URL: parts[1]) : nil
  }
}

extension StoredSession {
  /// A session whose tokens came just now.
  ///
  /// Only differences of the service's times are used, and so it does not matter what this device's clock shows.
  ///
  /// - Parameter trades: How many trades the refresh token is away from the sign-in.
  /// - Returns: nil when the token is none of a session.
  init?(
    idToken: String, refreshToken: String, trades: Int = 0, profile: Profile, serverTime: Date?,
    world: Surroundings
  ) {
    guard let claims = SessionClaims(idToken) else { return nil }
    // A repeated answer may bring a token that was made before.
    let age = serverTime.map { max(0, $0.timeIntervalSince1970 - claims.iat) } ?? 0
    let now = world.now()
    self.init(
      uid: claims.sub, sessionID: claims.sid, idToken: idToken, refreshToken: refreshToken, trades: trades,
      issuedAt: claims.iat, receivedAt: now, expiresAt: now + max(0, claims.exp - claims.iat - age),
      steadyAt: world.steady(), profile: profile)
  }

  /// Seconds that the token is good for, by whichever of this device's clocks says that more time has passed since it came:
  /// the one may have been set back, and the other begins anew with the device. None when the first shows a time before.
  func remaining(at time: Date, steady: TimeInterval) -> TimeInterval {
    guard time >= receivedAt - 60 else { return 0 }
    let passed = max(time.timeIntervalSince(receivedAt), steadyAt.map { steady - $0 } ?? 0)
    return max(0, expiresAt.timeIntervalSince(receivedAt) - passed)
  }
}

extension Profile {
  /// Takes over what a session token says.
  mutating func take(_ claims: SessionClaims) {
    email = claims.email ?? email
    isEmailVerified = claims.email_verified ?? isEmailVerified
    displayName = claims.name ?? displayName
    isAnonymous = claims.firebase.sign_in_provider == "anonymous"
    lastSignInAt = Date(timeIntervalSince1970: claims.auth_time)
    for (provider, subjects) in claims.firebase.identities ?? [:] where provider != "email" {
      for subject in subjects where !identities.contains(where: { $0.subject == subject }) {
        identities.append(Identity(providerID: provider, subject: subject, email: nil))
      }
    }
  }
}
