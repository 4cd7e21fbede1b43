public import Foundation

// The values that a sign-in answers with, under Firebase's names.

/// What a sign-in brought.
public final class AuthDataResult: Sendable {
  /// Who is signed in now.
  public let user: User
  /// What Apple said, and whether the person is new.
  public let additionalUserInfo: AdditionalUserInfo?
  /// The credential as the service gives it back.
  public let credential: OAuthCredential?

  init(_ signedIn: SignedIn, keeper: SessionKeeper) {
    user = User(signedIn.held, keeper: keeper)
    additionalUserInfo = AdditionalUserInfo(signedIn.answer)
    credential = signedIn.answer.oauthIdToken.map {
      OAuthProvider.appleCredential(withIDToken: $0, rawNonce: nil, fullName: nil)
    }
  }
}

/// What Apple said of the person.
public final class AdditionalUserInfo: Sendable {
  /// `apple.com`.
  public let providerID: String
  /// Whether this sign-in made the account.
  public let isNewUser: Bool
  /// Apple has none.
  public let username: String? = nil
  private let claims: Data?

  init(_ answer: SignInAnswer) {
    providerID = answer.providerId ?? "apple.com"
    isNewUser = answer.isNewUser ?? false
    claims = answer.rawUserInfo.map { Data($0.utf8) }
  }

  /// The claims of Apple's token.
  public var profile: [String: Any]? { claims.flatMap { object($0) } }
}

/// What a provider knows of a person.
public protocol UserInfo: Sendable {
  /// The provider, such as `apple.com`.
  var providerID: String { get }
  /// The person's id there.
  var uid: String { get }
  /// The name to show.
  var displayName: String? { get }
  /// A picture.
  var photoURL: URL? { get }
  /// The address there.
  var email: String? { get }
  /// Bramley keeps no telephone numbers.
  var phoneNumber: String? { get }
}

struct IdentityUserInfo: UserInfo {
  let providerID: String
  let uid: String
  let displayName: String?
  let photoURL: URL?
  let email: String?
  var phoneNumber: String? { nil }
}

/// When an account came to be, and was last used.
public final class UserMetadata: Sendable {
  /// Of an account that was there before this device knew it, only after ``User/reload()``.
  public let creationDate: Date?
  /// The sign-in that opened the session.
  public let lastSignInDate: Date?

  init(_ profile: Profile) {
    creationDate = profile.createdAt
    lastSignInDate = profile.lastSignInAt
  }
}

/// A session token, and what it says.
public final class AuthTokenResult: Sendable {
  /// The JWT for your back end.
  public let token: String
  /// When it expires, by the service's clock.
  public let expirationDate: Date
  /// When the person signed in.
  public let authDate: Date
  /// When it was made.
  public let issuedAtDate: Date
  /// `apple.com`, or what else the session was opened with.
  public let signInProvider: String
  private let payload: Data

  init?(_ token: String) {
    guard let claims = SessionClaims(token), let payload = SessionClaims.payload(of: token) else {
      return nil
    }
    self.token = token
    self.payload = payload
    expirationDate = Date(timeIntervalSince1970: claims.exp)
    authDate = Date(timeIntervalSince1970: claims.auth_time)
    issuedAtDate = Date(timeIntervalSince1970: claims.iat)
    signInProvider = claims.firebase.sign_in_provider
  }

  /// Everything that it says, custom claims among them. Good for what the app shows; what a person may do is for the back
  /// end to decide.
  public var claims: [String: Any] { object(payload) ?? [:] }
}

private func object(_ json: Data) -> [String: Any]? {
  (try? JSONSerialization.jsonObject(with: json)) as? [String: Any]
}
