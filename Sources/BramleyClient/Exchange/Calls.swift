internal import Foundation

// What the kit asks the service, and what it reads of the answers. `openapi.yaml` describes all of it.

extension Call {
  /// What ``refresh(_:isHurried:)`` is; a browser's sign-in, which goes to the same path, does not wait for it.
  static let refreshKind = "refresh"

  /// `POST /v1/token` for the next tokens.
  ///
  /// - Parameter isHurried: Whether the caller has a token that is good enough if this takes long.
  static func refresh(_ token: String, isHurried: Bool) -> Call {
    var call = Call(
      method: .post, path: "/v1/token",
      body: json(["grantType": "refresh_token", "refreshToken": token]))
    call.kind = refreshKind
    call.isHurried = isHurried
    return call
  }

  /// `POST /v1/signOut` of a session whose token may have expired.
  static func signOut(_ refreshToken: String) -> Call {
    Call(method: .post, path: "/v1/signOut", body: json(["refreshToken": refreshToken]))
  }

  static func signIn(_ body: Data) -> Call { Call(method: .post, path: "/v1/signInWithIdp", body: body) }

  /// `POST /v1/accounts:signUp` for an account without an identity.
  static let signUp = Call(
    method: .post, path: "/v1/accounts:signUp", body: json(["returnSecureToken": true]))

  /// `POST /v1/accounts:signInWithCustomToken` with a token of the app's own back end.
  static func customToken(_ token: String) -> Call {
    Call(
      method: .post, path: "/v1/accounts:signInWithCustomToken",
      body: json(["token": token, "returnSecureToken": true]))
  }

  /// `POST /v1/accounts:update` that takes an identity off the account.
  static func unlink(_ provider: String, idToken: String) -> Call {
    Call(
      method: .post, path: "/v1/accounts:update",
      body: json(["deleteProvider": [provider], "idToken": idToken]))
  }

  /// `POST /v1/token` for the session of a browser's sign-in.
  static func trade(code: String, verifier: String) -> Call {
    Call(
      method: .post, path: "/v1/token",
      body: json(["grantType": "authorization_code", "code": code, "codeVerifier": verifier]))
  }

  static let nonce = Call(method: .post, path: "/v1/nonces")
  static let account = Call(method: .get, path: "/v1/account")
  static let delete = Call(method: .delete, path: "/v1/account")

  /// `PATCH /v1/account`; null clears.
  static func change(_ members: [String: Any]) -> Call {
    Call(method: .patch, path: "/v1/account", body: json(members))
  }

  /// `POST /v2/accounts:revokeToken` with a code of Apple's.
  static func revoke(code: String, idToken: String) -> Call {
    Call(
      method: .post, path: "/v2/accounts:revokeToken",
      body: json(["providerId": "apple.com", "tokenType": "CODE", "token": code, "idToken": idToken]))
  }

  /// Members in an order that is always the same, so that the same request is the same bytes.
  static func json(_ members: [String: Any]) -> Data {
    (try? JSONSerialization.data(withJSONObject: members, options: [.sortedKeys, .withoutEscapingSlashes]))
      ?? Data()
  }
}

extension Answer {
  /// Reads the body.
  func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws(CallFault) -> Value {
    guard let value = try? JSONDecoder().decode(type, from: body) else { throw .notTheService }
    return value
  }

  /// Makes sure that the service has said `{}`, and nobody in its place anything else.
  func isNothing() throws(CallFault) {
    guard (try? JSONSerialization.jsonObject(with: body) as? [String: Any])?.isEmpty == true else {
      throw .notTheService
    }
  }

  /// The session with the tokens of this answer in place of those that were traded.
  func renewed(_ traded: StoredSession, world: Surroundings) throws(CallFault) -> StoredSession {
    let tokens = try decoded(Tokens.self)
    guard
      let renewed = StoredSession(
        idToken: tokens.id_token, refreshToken: tokens.refresh_token, trades: traded.trades + 1,
        profile: traded.profile, serverTime: serverTime, world: world),
      (renewed.uid, renewed.sessionID) == (traded.uid, traded.sessionID)
    else { throw .notTheService }
    return renewed
  }
}

/// The answer of the token endpoint.
struct Tokens: Decodable {
  let id_token: String
  let refresh_token: String
}

/// The answer of `POST /v1/nonces`.
struct NonceAnswer: Decodable {
  let nonce: String
}

/// The answer to a sign-in.
struct SignInAnswer: Decodable, Sendable {
  let idToken: String
  let refreshToken: String
  var providerId: String?
  var federatedId: String?
  var email: String?
  var displayName: String?
  var photoUrl: String?
  var isNewUser: Bool?
  var rawUserInfo: String?
  var oauthIdToken: String?

  /// The session that it opens.
  ///
  /// - Parameter before: The session so far; of the same person something is known already.
  func session(
    world: Surroundings, serverTime: Date?, before: StoredSession?
  ) throws(CallFault) -> StoredSession {
    var profile = Profile()
    guard let claims = SessionClaims(idToken) else {
      throw .notTheService
    }
    if let before, before.uid == claims.sub { profile = before.profile }
    if let providerId, let federatedId {
      profile.identities.removeAll { $0.providerID == providerId }
      profile.identities.append(Profile.Identity(providerID: providerId, subject: federatedId, email: email))
    }
    profile.take(claims)
    profile.email = email ?? profile.email
    profile.displayName = displayName ?? profile.displayName
    profile.photoURL = photoUrl.flatMap { URL(string: $0) } ?? profile.photoURL
    if isNewUser == true { profile.createdAt = profile.lastSignInAt }
    guard
      let session = StoredSession(
        idToken: idToken, refreshToken: refreshToken, profile: profile, serverTime: serverTime, world: world)
    else { throw .notTheService }
    return session
  }
}

/// The answer of `GET` and `PATCH /v1/account`.
struct AccountAnswer: Decodable {
  struct Identity: Decodable {
    let providerId: String
    let subject: String
    let email: String?
  }

  let createdAt: TimeInterval
  let lastSignInAt: TimeInterval?
  let anonymous: Bool
  let email: String?
  let emailVerified: Bool?
  let displayName: String?
  let photoUrl: String?
  let credentialState: String
  let identities: [Identity]

  var profile: Profile {
    Profile(
      email: email, isEmailVerified: emailVerified ?? false, displayName: displayName,
      photoURL: photoUrl.flatMap { URL(string: $0) }, isAnonymous: anonymous,
      createdAt: Date(timeIntervalSince1970: createdAt),
      lastSignInAt: lastSignInAt.map { Date(timeIntervalSince1970: $0) },
      identities: identities.map {
        Profile.Identity(providerID: $0.providerId, subject: $0.subject, email: $0.email)
      })
  }
}
