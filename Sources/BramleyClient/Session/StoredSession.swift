internal import Foundation

/// What the store holds.
struct StoredState: Codable, Sendable, Equatable {
  var session: StoredSession?
  /// A sign-in that was sent and has no answer yet.
  var attempt: Attempt?
  /// Refresh tokens of sessions that are over here and that the service has not been told of.
  var endings: [String] = []

  /// Lets a session take the place of the one before, which the service is to end.
  mutating func begin(_ session: StoredSession) {
    if self.session?.sessionID != session.sessionID { end(self.session) }
    (self.session, attempt) = (session, nil)
  }

  /// Notes a session that the service is to end; the oldest are forgotten when there are many, and end by themselves.
  mutating func end(_ session: StoredSession?) {
    guard let session else { return }
    endings = (endings + [session.refreshToken]).suffix(16)
  }
}

/// A session with what is known of the person.
struct StoredSession: Codable, Sendable, Equatable {
  var uid: String
  var sessionID: String
  var idToken: String
  var refreshToken: String
  /// By the service's clock: of two tokens the later one counts.
  var issuedAt: TimeInterval
  /// By this device's clock, whatever it shows: when the token came, and when it expires.
  var receivedAt: Date
  var expiresAt: Date
  var profile: Profile
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

/// A sign-in as it was sent: the same bytes are sent again until there is an answer.
struct Attempt: Codable, Sendable, Equatable {
  enum Purpose: Codable, Sendable, Equatable {
    case signIn
    /// To the account with this id.
    case link(uid: String)
    case reauthenticate(uid: String)
  }

  let purpose: Purpose
  let body: Data
  let begunAt: Date

  /// Apple's tokens are good for an hour at most.
  func isWorthSending(at time: Date) -> Bool { abs(time.timeIntervalSince(begunAt)) < 3600 }
}

extension SessionStore {
  /// Reads and changes the state. What cannot be understood counts as nothing: it was not written by this kit.
  func change<R>(_ body: (inout StoredState) throws -> R) throws -> R {
    do {
      return try update { data in
        let before = data.flatMap { try? JSONDecoder().decode(StoredState.self, from: $0) } ?? StoredState()
        var state = before
        let result = try body(&state)
        if state != before { data = state == StoredState() ? nil : try JSONEncoder().encode(state) }
        return result
      }
    } catch {
      throw AuthErrorCode.keychainError.error("The session cannot be kept.", [NSUnderlyingErrorKey: error])
    }
  }

  /// What is there.
  func state() throws -> StoredState { try change { $0 } }
}
