internal import Foundation

/// A session with what is known of the person.
struct StoredSession: Codable, Sendable, Equatable {
  var uid: String
  var sessionID: String
  var idToken: String
  var refreshToken: String
  /// How many trades the refresh token is away from the sign-in. The service gives everybody who trades a token the same
  /// successor, and so this is an order for all processes.
  var trades = 0
  /// By the service's clock.
  var issuedAt: TimeInterval
  /// By this device's clock, whatever it shows: when the token came, and when it expires.
  var receivedAt: Date
  var expiresAt: Date
  /// When the token came, on the clock that nobody sets and that begins anew with the device.
  var steadyAt: TimeInterval?
  var profile: Profile

  /// Whether these are later tokens of the same session.
  func isLater(than other: StoredSession) -> Bool {
    uid == other.uid && sessionID == other.sessionID && (trades, issuedAt) > (other.trades, other.issuedAt)
  }
}

extension StoredSession {
  /// Reads what an earlier or a later version of the kit wrote: the tokens are enough.
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    func optional<Value: Decodable>(_ key: CodingKeys) -> Value? {
      try? members.decodeIfPresent(Value.self, forKey: key)
    }
    idToken = try members.decode(String.self, forKey: .idToken)
    refreshToken = try members.decode(String.self, forKey: .refreshToken)
    guard let claims = SessionClaims(idToken) else {
      throw DecodingError.dataCorruptedError(
        forKey: .idToken, in: members, debugDescription: "no session token")
    }
    (uid, sessionID, issuedAt) = (claims.sub, claims.sid, claims.iat)
    trades = optional(.trades) ?? 0
    // Without them it is not known how long the token is good for, and it is renewed.
    receivedAt = optional(.receivedAt) ?? .distantPast
    expiresAt = optional(.expiresAt) ?? .distantPast
    steadyAt = optional(.steadyAt)
    if let known: Profile = optional(.profile) {
      profile = known
    } else {
      profile = Profile()
      profile.take(claims)
    }
  }
}

/// What is known of the person.
struct Profile: Codable, Sendable, Equatable {
  struct Identity: Codable, Sendable, Equatable {
    var providerID: String
    var subject: String
    var email: String?
  }

  var email: String?
  var isEmailVerified = false
  var displayName: String?
  var photoURL: URL?
  var isAnonymous = false
  var createdAt: Date?
  var lastSignInAt: Date?
  var identities: [Identity] = []
}
