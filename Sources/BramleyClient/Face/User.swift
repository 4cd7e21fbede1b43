public import Foundation

/// Who is signed in. It stays true: names and tokens that are renewed show in every `User` of the same sign-in.
public final class User: UserInfo, Hashable {
  let held: HeldSession
  let keeper: SessionKeeper

  init(_ held: HeldSession, keeper: SessionKeeper) {
    self.held = held
    self.keeper = keeper
  }

  private var profile: Profile { held.session.profile }

  /// `Bramley`.
  public var providerID: String { "Bramley" }
  /// The account's id, `sub` of its session tokens. It is not Apple's.
  public var uid: String { held.uid }
  /// The address; Apple's relay address for who hides their own.
  public var email: String? { profile.email }
  /// Whether Apple has verified the address.
  public var isEmailVerified: Bool { profile.isEmailVerified }
  /// The name to show.
  public var displayName: String? { profile.displayName }
  /// A picture.
  public var photoURL: URL? { profile.photoURL }
  /// Bramley keeps no telephone numbers.
  public var phoneNumber: String? { nil }
  /// Whether the account has no identity yet.
  public var isAnonymous: Bool { profile.isAnonymous }
  /// The refresh token. Apps have no use for it: it is renewed all the time.
  public var refreshToken: String? { held.session.refreshToken }
  /// When the account came to be, and was last used.
  public var metadata: UserMetadata { UserMetadata(profile) }

  /// The identities of the account, at most one at Apple.
  public var providerData: [any UserInfo] {
    profile.identities.map {
      IdentityUserInfo(
        providerID: $0.providerID, uid: $0.subject, displayName: displayName, photoURL: photoURL,
        email: $0.email)
    }
  }

  /// Whether two are the same sign-in.
  public static func == (one: User, other: User) -> Bool { one.held === other.held }

  /// By the sign-in.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(held)) }

  // MARK: Tokens

  /// The session token for your back end, good for five minutes or more. It is asked for when that is needed, once for
  /// however many callers; while the service is out of reach one that is still good at all is given.
  ///
  /// - Parameter forcingRefresh: Whether it is to be a new one in any case, as after a change of custom claims.
  /// - Throws: ``AuthErrorCode/networkError`` and ``AuthErrorCode/tooManyRequests``, which sign nobody out;
  ///   ``AuthErrorCode/userTokenExpired``, ``AuthErrorCode/userDisabled`` and ``AuthErrorCode/userNotFound``, which have.
  public func getIDToken(forcingRefresh: Bool = false) async throws -> String {
    try await asApps { try await self.keeper.fresh(self.held, isForced: forcingRefresh).idToken }
  }

  /// ``getIDToken(forcingRefresh:)``, as older code spells it.
  public func idTokenForcingRefresh(_ isForced: Bool) async throws -> String {
    try await getIDToken(forcingRefresh: isForced)
  }

  /// The session token with what it says.
  public func getIDTokenResult(forcingRefresh: Bool = false) async throws -> AuthTokenResult {
    let token = try await getIDToken(forcingRefresh: forcingRefresh)
    guard let result = AuthTokenResult(token) else {
      throw AuthErrorCode.internalError.error("The session token cannot be read.")
    }
    return result
  }

  // MARK: Identities

  /// Adds the Apple identity to the account, within minutes of a sign-in, or to an anonymous account at any time.
  ///
  /// - Throws: ``AuthErrorCode/credentialAlreadyInUse`` when it belongs to another account, with the credential that signs
  ///   in to that one; ``AuthErrorCode/providerAlreadyLinked``; ``AuthErrorCode/requiresRecentLogin``.
  @discardableResult
  public func link(with credential: AuthCredential) async throws -> AuthDataResult {
    if profile.identities.contains(where: { $0.providerID == credential.provider }) {
      throw AuthErrorCode.providerAlreadyLinked.error("The account has an Apple identity already.")
    }
    try keeper.check(held)
    return try await keeper.signIn(with: credential, .link(uid: uid))
  }

  /// Takes an identity off the account, within minutes of a sign-in. Whoever takes off the last one gets back in by a custom
  /// token only.
  ///
  /// - Throws: ``AuthErrorCode/noSuchProvider`` when there is none of that provider;
  ///   ``AuthErrorCode/requiresRecentLogin``.
  @discardableResult
  public func unlink(fromProvider provider: String) async throws -> User {
    guard profile.identities.contains(where: { $0.providerID == provider }) else {
      throw AuthErrorCode.noSuchProvider.error("The account has no identity of \(provider).")
    }
    try await asApps {
      let token = try await self.keeper.fresh(self.held, isForced: false).idToken
      _ = try await self.keeper.endpoint.answer(to: .unlink(provider, idToken: token))
    }
    try await reload()
    return self
  }

  /// Signs the same person in again, as before ``delete()``.
  ///
  /// - Throws: ``AuthErrorCode/userMismatch`` when it is somebody else; who was signed in still is. To sign in as the other
  ///   one takes a new credential of Apple's, since what this one opened is ended.
  ///   ``AuthErrorCode/nullUser`` when the person has signed out.
  @discardableResult
  public func reauthenticate(with credential: AuthCredential) async throws -> AuthDataResult {
    try keeper.check(held)
    return try await keeper.signIn(with: credential, .reauthenticate(uid: uid))
  }

  // MARK: The account

  /// Asks the service what it knows of the person.
  public func reload() async throws {
    try await asApps {
      let answer: AccountAnswer = try await self.keeper.answer(to: .account, of: self.held).decoded()
      try self.keeper.note(answer.profile, of: self.held)
    }
  }

  /// Begins a change of name and picture.
  public func createProfileChangeRequest() -> UserProfileChangeRequest { UserProfileChangeRequest(self) }

  /// Deletes the account with everything that the service knows of the person, has Apple's consent revoked, and signs out. A
  /// service without Apple's key (`BRAMLEY_APPLE_PRIVATE_KEY`) revokes nothing at Apple, and does not say so here.
  ///
  /// - Throws: ``AuthErrorCode/requiresRecentLogin`` when the sign-in is minutes ago: reauthenticate, then delete.
  public func delete() async throws {
    try await asApps {
      do {
        try await self.keeper.answer(to: .delete, of: self.held).isNothing()
      } catch let fault as CallFault where fault.code == "USER_NOT_FOUND" {
        // It is gone: the answer to an earlier try was lost.
      }
      try self.keeper.signOut(self.uid, isGone: true)
    }
  }

  /// What has become of the person's consent at Apple: the worse of what the device and the service know. See
  /// ``CredentialState``.
  public func credentialState() async throws -> CredentialState {
    try await asApps { try await self.keeper.credentialState(of: self.held) }
  }
}

/// A change of name and picture. What is not set stays.
public final class UserProfileChangeRequest {
  private let user: User
  private var members: [String: Any] = [:]

  init(_ user: User) { self.user = user }

  /// The new name; nil clears it.
  public var displayName: String? {
    get { members["displayName"] as? String }
    set { members["displayName"] = newValue ?? NSNull() }
  }

  /// The new picture; nil clears it.
  public var photoURL: URL? {
    get { (members["photoUrl"] as? String).flatMap { URL(string: $0) } }
    set { members["photoUrl"] = newValue?.absoluteString ?? NSNull() }
  }

  /// Has the service make the change.
  public func commitChanges() async throws { try await commit() }

  /// The change as it stands now.
  var commit: @Sendable () async throws -> Void {
    let (user, call) = (user, Call.change(members))
    return {
      try await asApps {
        let answer: AccountAnswer = try await user.keeper.answer(to: call, of: user.held).decoded()
        try user.keeper.note(answer.profile, of: user.held)
      }
    }
  }
}

/// Lets faults out as the errors that apps know.
func asApps<R: Sendable>(_ work: @Sendable () async throws -> R) async throws -> R {
  do {
    return try await work()
  } catch let fault as CallFault {
    throw fault.error()
  }
}
