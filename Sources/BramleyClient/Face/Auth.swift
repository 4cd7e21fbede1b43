public import Foundation

#if canImport(AuthenticationServices)
  internal import AuthenticationServices
#endif

/// Where the app's service is. One line, before anything else of the kit is used:
///
/// ```swift
/// BramleyApp.configure(url: URL(string: "https://auth.example.com")!)
/// ```
public enum BramleyApp {
  private static let configured = Locked<Auth?>(nil)

  /// Makes ``Auth/auth()``.
  ///
  /// - Parameters:
  ///   - url: The service's public URL: `https`, or `http` to this machine.
  ///   - apiKey: One of `BRAMLEY_API_KEYS`, where the service asks for them.
  ///   - store: Where the session is kept; nil for the Keychain, or a file where there is none. Give an app and its
  ///     extensions the same, such as a ``KeychainStore`` with an access group.
  ///   - device: What the person's list of sessions shows.
  public static func configure(
    url: URL, apiKey: String? = nil, store: (any SessionStore)? = nil, device: DeviceDescription = .current
  ) {
    use(Auth(url: url, apiKey: apiKey, store: store, device: device))
  }

  /// Makes one that is there already ``Auth/auth()``.
  public static func use(_ auth: Auth) { configured.withLock { $0 = auth } }

  fileprivate static var auth: Auth? { configured.current }
}

/// Who is signed in to the app, and how that changes.
public final class Auth: Sendable {
  /// Is told on the main actor.
  public typealias Listener = @MainActor (Auth, User?) -> Void

  let keeper: SessionKeeper
  let listeners = Locked(Listeners())

  /// What ``BramleyApp/configure(url:apiKey:store:device:)`` made.
  public static func auth() -> Auth {
    guard let auth = BramleyApp.auth else {
      preconditionFailure("call BramleyApp.configure(url:) when the app starts")
    }
    return auth
  }

  /// One for an app that speaks to several services; others use ``auth()``.
  public convenience init(
    url: URL, apiKey: String? = nil, store: (any SessionStore)? = nil, device: DeviceDescription = .current
  ) {
    self.init(
      url: url, apiKey: apiKey, store: store ?? defaultStore(for: url), device: device,
      transport: URLTransport(),
      world: .system)
    Task { await start() }
  }

  /// Does what a process before this one could not: a sign-in that had no answer, unless somebody else is signed in, and
  /// sign-outs that the service does not know of. And hears what was said of the consent while no process ran.
  package func start() async {
    _ = try? await keeper.resume()
    await keeper.tellEndings()
    await keeper.followConsent(asksService: false)
  }

  /// - Parameters:
  ///   - transport: What carries requests.
  ///   - world: Time, chance and the device.
  package init(
    url: URL, apiKey: String? = nil, store: any SessionStore, device: DeviceDescription = DeviceDescription(),
    transport: any Transport, world: Surroundings
  ) {
    precondition(isProtected(url), "tokens go over https, or http to this machine: \(url)")
    keeper = SessionKeeper(
      endpoint: Endpoint(url: url, apiKey: apiKey, transport: transport, world: world), store: store,
      device: device)
    keeper.observer.withLock { $0 = { [weak self] in self?.announce(isOtherPerson: $0) } }
    followUnlocking()
    #if canImport(AuthenticationServices)
      // For as long as the app runs: there is nothing to take it back for.
      _ = NotificationCenter.default.addObserver(
        forName: ASAuthorizationAppleIDProvider.credentialRevokedNotification, object: nil, queue: nil
      ) { [weak self] _ in
        Task { [weak self] in await self?.consentWasRevoked() }
      }
    #endif
  }

  /// Who is signed in, also without a network; nil for nobody. It is nil too for as long as the Keychain cannot be read, as
  /// before a device was unlocked for the first time: listeners are told nothing until it can.
  public var currentUser: User? { keeper.current.map { User($0, keeper: keeper) } }

  // MARK: In and out

  /// Signs in. When there is no answer it asks again, with the very same request, which opens the same session; when the
  /// app is ended before the answer comes, its next start does.
  ///
  /// - Throws: ``AuthErrorCode/missingOrInvalidNonce``, ``AuthErrorCode/invalidCredential``: begin again with a new nonce.
  ///   ``AuthErrorCode/networkError``: call it again with the same credential.
  @discardableResult
  public func signIn(with credential: AuthCredential) async throws -> AuthDataResult {
    try await keeper.signIn(with: credential, .signIn)
  }

  /// Sends a sign-in again that had no answer yet. The kit does so by itself when the app starts and nobody is signed in;
  /// call it when the network is back. Whoever is signed in then makes place.
  ///
  /// - Returns: nil when there is none.
  @discardableResult
  public func resumeSignIn() async throws -> AuthDataResult? {
    try await asApps { [keeper] in
      try await keeper.resume(isAsked: true).map { AuthDataResult($0, keeper: keeper) }
    }
  }

  /// Makes an account without an identity, which ``User/link(with:)`` turns into a lasting one; who is anonymous already
  /// stays the same. Only where the service has `BRAMLEY_ANONYMOUS`.
  @discardableResult
  public func signInAnonymously() async throws -> AuthDataResult {
    try await asApps { [keeper] in
      if let held = keeper.current, held.session.profile.isAnonymous {
        let session = held.session
        let answer = SignInAnswer(
          idToken: session.idToken, refreshToken: session.refreshToken, isNewUser: false)
        return AuthDataResult(SignedIn(held: held, answer: answer), keeper: keeper)
      }
      let signedIn = try await keeper.signInOnce(.signUp) { reply in
        var answer: SignInAnswer = try reply.decoded()
        answer.isNewUser = true
        return (answer, try answer.session(world: keeper.world, serverTime: reply.serverTime, before: nil))
      }
      return AuthDataResult(signedIn, keeper: keeper)
    }
  }

  /// Signs in with a token that the app's own back end signed, as by a Firebase Admin SDK. Only where the service has
  /// `BRAMLEY_CUSTOM_TOKEN_KEYS`. Call it again with the same token after an outage; each time is a session of its own.
  ///
  /// - Throws: ``AuthErrorCode/invalidCustomToken``, ``AuthErrorCode/customTokenMismatch``.
  @discardableResult
  public func signIn(withCustomToken token: String) async throws -> AuthDataResult {
    let result = try await asApps { [keeper] in
      let signedIn = try await keeper.signInOnce(.customToken(token)) { reply in
        let answer: SignInAnswer = try reply.decoded()
        return (
          answer,
          try answer.session(
            world: keeper.world, serverTime: reply.serverTime, before: keeper.current?.session)
        )
      }
      return AuthDataResult(signedIn, keeper: keeper)
    }
    // The answer says little of the person; who is signed in is, also when this fails.
    try? await result.user.reload()
    return result
  }

  /// Signs out on this device, at once and without a network; the service is told as soon as it can be.
  ///
  /// It signs out whom the app was shown. When another process of the app has signed in somebody else since, the person is
  /// gone already: nothing is done to the other one, and listeners are told of them.
  public func signOut() throws { try keeper.signOut() }

  /// A nonce of the service's, for clients that it is set to demand one of (`nonce=challenge`). It is good for five minutes.
  public func fetchNonce() async throws -> AppleNonce {
    try await asApps { [keeper] in
      let answer: NonceAnswer = try await keeper.endpoint.answer(to: .nonce).decoded()
      return AppleNonce(raw: answer.nonce)
    }
  }

  /// Has Apple's consent revoked, as before an account is deleted by code for Firebase; ``User/delete()`` does it anyway.
  ///
  /// - Parameter code: `authorizationCode` of Apple's sheet, as text.
  public func revokeToken(withAuthorizationCode code: String) async throws {
    guard let held = keeper.current else { throw AuthErrorCode.nullUser.error("Nobody is signed in.") }
    try await asApps { [keeper] in
      let token = try await keeper.fresh(held, isForced: false).idToken
      _ = try await keeper.endpoint.answer(to: .revoke(code: code, idToken: token))
    }
  }

  /// Signs out if the device says that the consent is gone: Apple has posted its notification.
  package func consentWasRevoked() async { await keeper.followConsent(asksService: true) }
}

extension SessionKeeper {
  /// Signs in with what the app brings.
  func signIn(with credential: AuthCredential, _ purpose: Attempt.Purpose) async throws -> AuthDataResult {
    var createsAccount = true
    if case .reauthenticate = purpose { createsAccount = false }
    let body = try credential.body(device: device, createsAccount: createsAccount)
    let attempt = Attempt(purpose: purpose, body: body, begunAt: world.now())
    do {
      return AuthDataResult(try await signIn(attempt), keeper: self)
    } catch let fault as CallFault {
      switch (fault.code, purpose) {
      case ("FEDERATED_USER_ID_ALREADY_LINKED", _), ("EMAIL_EXISTS", _):
        // A refusal uses nothing up: the same credential signs in to the other account.
        throw fault.error([AuthErrorUserInfoUpdatedCredentialKey: credential])
      case ("EMAIL_NOT_FOUND", .reauthenticate), ("USER_NOT_FOUND", .reauthenticate):
        throw AuthErrorCode.userMismatch.error("Another person signed in than the one who is signed in.")
      default: throw fault.error()
      }
    }
  }
}

/// Whether nobody on the way can read what is sent.
private func isProtected(_ url: URL) -> Bool {
  let own: Set = ["localhost", "127.0.0.1", "::1"]
  return url.scheme == "https" || url.scheme == "http" && own.contains(url.host ?? "")
}

/// What names a service among the app's: the same for the same address, with or without a slash at its end.
func storeName(for url: URL) -> String {
  let host = url.host.map { host in url.port.map { "\(host)-\($0)" } ?? host } ?? "session"
  let path = url.path.split(separator: "/").map { "/" + $0 }.joined()
  // Encoded it can be the name of a file.
  return host + (path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
}

private func defaultStore(for url: URL) -> any SessionStore {
  let name = storeName(for: url)
  #if canImport(Security)
    return KeychainStore(name: name)
  #else
    return FileStore(name: name)
  #endif
}
