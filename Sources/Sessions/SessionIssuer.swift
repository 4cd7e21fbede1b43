package import Domain
package import Storage
internal import Synchronization

/// A session and the two tokens that stand for it.
package struct IssuedSession: Sendable {
  package let account: Account
  package let session: Session
  /// The session JWT.
  package let idToken: Secret<String>
  package let refreshToken: Secret<String>
  /// Seconds.
  package let expiresIn: Int64
  package let isNewUser: Bool
  /// Whether this is the answer of an earlier request again.
  package let isRepeat: Bool
}

/// Why no session is given. Each case is one `reason` of an error answer.
package enum SessionRefusal: Error, Equatable, Sendable {
  case refreshTokenMalformed
  /// No master key of ours made it, or the one that made the session's current token was taken away.
  case refreshTokenUnknown
  case refreshTokenReused
  case sessionOver(SessionEnd?)
  case sessionIdle
  case sessionOverAge
  case accountDisabled
  case accountNotFound
  case credentialAlreadyUsed
  case objected(SignInObjection)
  case unknownIdentity
  case identityAlreadyLinked
  case accountHasOtherIdentity
  /// Nobody has the identity, but an account that it may not join holds its address.
  case emailHeld(Account)
  /// The bearer is refused.
  case bearer(BearerRefusal)
  case pendingTokenInvalid
  case storage(StorageError)
  /// The key that signs is sealed with a master key that this node lacks.
  case signingKeyUnavailable
  case cannotSign
}

/// A person whose identity was verified, asking for a session.
package struct SignInRequest: Sendable {
  package let identity: ProviderIdentity
  /// The client that the person signed in to.
  package let audience: ClientID
  package let profile: Profile
  package let name: PersonName?
  package let device: Device?
  /// The digest of the verified token, its `iat` and its `exp`.
  package let tokenDigest: [UInt8]
  package let tokenIssuedAt: UnixTime
  package let tokenExpiresAt: UnixTime
  package let isTokenTooOld: Bool
  package let rawNonce: String
  package let demandsChallenge: Bool
  package let link: SessionTokenClaims?
  /// An authorization code that belongs to the token and is to be exchanged.
  package var code: AuthorizationCode?
  /// Who the person was on the way to the team whose client this is, if the token says so.
  package var transferSubject: Subject?

  package init(
    identity: ProviderIdentity, audience: ClientID, profile: Profile, name: PersonName?, device: Device?,
    tokenDigest: [UInt8], tokenIssuedAt: UnixTime, tokenExpiresAt: UnixTime, isTokenTooOld: Bool,
    rawNonce: String,
    demandsChallenge: Bool, link: SessionTokenClaims?
  ) {
    self.identity = identity
    self.audience = audience
    self.profile = profile
    self.name = name
    self.device = device
    self.tokenDigest = tokenDigest
    self.tokenIssuedAt = tokenIssuedAt
    self.tokenExpiresAt = tokenExpiresAt
    self.isTokenTooOld = isTokenTooOld
    self.rawNonce = rawNonce
    self.demandsChallenge = demandsChallenge
    self.link = link
  }
}

/// Which developer teams the apps are of.
package struct DeveloperTeams: Sendable, Equatable {
  /// Whose clients the apps are; nil where there is no key.
  package let present: TeamID?
  /// Whose they were, during a transfer.
  package let former: TeamID?

  package init(present: TeamID?, former: TeamID?) {
    self.present = present
    self.former = former
  }
}

/// What an app got of Apple's beside the token.
package struct AuthorizationCode: Sendable {
  package let text: Secret<String>
  /// Nil for a native one.
  package let redirectURI: String?

  package init(text: Secret<String>, redirectURI: String?) {
    self.text = text
    self.redirectURI = redirectURI
  }
}

/// A credential that comes back as a pending one, asking for a session.
package struct PendingSignInRequest: Sendable {
  package let pending: PendingCredential
  package let device: Device?
  package let link: SessionTokenClaims?
  /// As that of a ``SignInRequest``.
  package var code: AuthorizationCode?

  package init(pending: PendingCredential, device: Device?, link: SessionTokenClaims?) {
    self.pending = pending
    self.device = device
    self.link = link
  }
}

/// Opens sessions and carries them on: one storage intention each, then a signature on the caller's thread.
package final class SessionIssuer: Sendable {
  package let rules: SessionTokenRules
  /// Seconds since a sign-in in which an account may be changed.
  let recentLoginWindow: Int64
  let linking: AccountLinking
  let openingRules: SessionOpeningRules
  let storage: any Storage
  let ring: MasterKeyRing
  let clock: WallClock
  let entropy: Entropy
  private let currentKeys: Mutex<SigningKeys>
  private let currentTeams: Mutex<DeveloperTeams>
  private let verified = VerifiedTokens()
  /// Follows what makes tokens bad; at once after what this node does.
  package let watch: SessionWatch
  /// Rings when there is something to be asked of Apple.
  package let appleBell = Bell()

  package init(
    rules: SessionTokenRules, recentLoginWindow: Int64, linking: AccountLinking,
    openingRules: SessionOpeningRules, watch: SessionWatch,
    storage: any Storage,
    ring: MasterKeyRing,
    keys: SigningKeys, teams: DeveloperTeams, clock: WallClock, entropy: Entropy
  ) {
    self.rules = rules
    self.recentLoginWindow = recentLoginWindow
    self.linking = linking
    self.openingRules = openingRules
    self.watch = watch
    self.storage = storage
    self.ring = ring
    self.clock = clock
    self.entropy = entropy
    currentKeys = Mutex(keys)
    currentTeams = Mutex(teams)
  }

  /// The developer teams of this moment.
  package var teams: DeveloperTeams { currentTeams.withLock { $0 } }

  /// Takes the apps for those of other teams from now on.
  package func take(_ teams: DeveloperTeams) {
    currentTeams.withLock { $0 = teams }
  }

  /// The signing keys of this moment.
  package var keys: SigningKeys { currentKeys.withLock { $0 } }

  /// Signs and verifies with other keys from now on.
  package func take(_ keys: SigningKeys) {
    currentKeys.withLock { $0 = keys }
  }

  /// A nonce of ours.
  package func makeChallenge() -> Challenge {
    ring.makeChallenge(at: clock.now(), entropy: entropy)
  }

  /// Verifies the bearer of a request.
  package func verify(_ token: String) throws(SessionTokenError) -> SessionTokenClaims {
    try verified.verify(token, keys: keys, rules: rules, now: clock.now())
  }

  /// Signs a person in, links an identity, or repeats the answer of the same request.
  ///
  /// - Parameter createsAccount: Whether an unknown person gets an account.
  package func signIn(
    _ request: SignInRequest, createsAccount: Bool, by origin: Origin
  ) async throws(SessionRefusal) -> IssuedSession {
    let now = clock.now()
    let challenge = ring.challenge(from: request.rawNonce)
    var intent = SignInIntent(
      identity: request.identity, profile: request.profile, name: request.name, device: request.device,
      credential: request.credential, credentialExpiresAt: request.tokenExpiresAt + rules.leeway,
      challenge: challenge?.credential, objection: objection(to: request, challenge: challenge, now: now),
      link: request.link.map { bearer($0, at: now) }, linking: linking, isPending: false,
      createsAccount: createsAccount, newAccount: AccountID(from: entropy),
      newSession: SessionID(at: now, from: entropy), masterKey: ring.current.id, rules: openingRules,
      origin: origin, retryWindow: rules.limits.signInRetryWindow, now: now)
    intent.client = request.audience
    intent.code = try sealed(request.code, for: request.audience, at: now)
    intent.transferSubject = request.transferSubject
    intent.formerTeam = teams.former
    return try await signIn(intent)
  }

  /// Signs a person in, or links an identity, on the strength of an earlier request.
  package func signIn(
    _ request: PendingSignInRequest, createsAccount: Bool, by origin: Origin
  ) async throws(SessionRefusal) -> IssuedSession {
    let now = clock.now()
    let pending = request.pending
    var intent = SignInIntent(
      identity: pending.identity, profile: pending.profile, name: pending.name, device: request.device,
      credential: pending.credential, credentialExpiresAt: pending.credentialExpiresAt,
      challenge: pending.challenge, objection: nil, link: request.link.map { bearer($0, at: now) },
      linking: linking, isPending: true, createsAccount: createsAccount,
      newAccount: AccountID(from: entropy), newSession: SessionID(at: now, from: entropy),
      masterKey: ring.current.id, rules: openingRules, origin: origin, retryWindow: 0, now: now)
    intent.client = pending.audience
    intent.code = try sealed(request.code, for: pending.audience, at: now)
    intent.transferSubject = pending.transferSubject
    intent.formerTeam = teams.former
    do {
      return try await signIn(intent)
    } catch {
      throw error == .credentialAlreadyUsed ? .pendingTokenInvalid : error
    }
  }

  /// What a request that met a conflict may come back with, for ``Limits/pendingSeconds``; nil only when the
  /// cryptography fails.
  package func pendingToken(for request: SignInRequest) -> String? {
    ring.text(of: pendingCredential(for: request, seconds: Limits.pendingSeconds), entropy: entropy)
  }

  func pendingCredential(for request: SignInRequest, seconds: Int64) -> PendingCredential {
    PendingCredential(
      identity: request.identity, audience: request.audience, profile: request.profile, name: request.name,
      credential: request.credential, credentialExpiresAt: request.tokenExpiresAt + rules.leeway,
      challenge: ring.challenge(from: request.rawNonce)?.credential, expiresAt: clock.now() + seconds,
      transferSubject: request.transferSubject)
  }

  /// Reads a pending token; nil for anything that is none, or is too old.
  package func pendingCredential(from text: String) -> PendingCredential? {
    ring.pendingCredential(from: text, now: clock.now())
  }

  private func signIn(_ intent: SignInIntent) async throws(SessionRefusal) -> IssuedSession {
    guard keys.canSign else { throw .signingKeyUnavailable }
    let outcome = try await asking { () throws(StorageError) in try await storage.signIn(intent) }
    // A link ends sessions, and so does one session too many.
    if intent.link != nil || openingRules.maximum > 0 { await watch.followOwnWrite() }
    switch outcome {
    case .signedIn(let grant, let isNewUser):
      if intent.code != nil { appleBell.ring() }
      // A session of another id than the one that was offered was there before.
      let isRepeat = grant.session.id != intent.newSession
      return try issue(grant, isNewUser: isNewUser, isRepeat: isRepeat, now: intent.now)
    case .objected(let objection): throw .objected(objection)
    case .credentialAlreadyUsed: throw .credentialAlreadyUsed
    case .accountDisabled: throw .accountDisabled
    case .unknownIdentity: throw .unknownIdentity
    case .identityAlreadyLinked: throw .identityAlreadyLinked
    case .accountHasOtherIdentity: throw .accountHasOtherIdentity
    case .emailHeld(let account): throw .emailHeld(account)
    case .linkRefused(let refusal): throw .bearer(refusal)
    }
  }

  /// Reads a refresh token; a forged one is found out here, before anything is asked of storage.
  package func refreshToken(from text: String) throws(SessionRefusal) -> RefreshToken {
    do {
      return try ring.refreshToken(from: text)
    } catch {
      throw error == .malformed ? .refreshTokenMalformed : .refreshTokenUnknown
    }
  }

  /// Trades a refresh token for its successor, or for the same answer again.
  ///
  /// - Returns: The session, and what an operator may want to know about the refresh.
  package func refresh(
    _ token: RefreshToken, by origin: Origin
  ) async throws(SessionRefusal) -> (session: IssuedSession, remark: RefreshRemark?) {
    guard keys.canSign else { throw .signingKeyUnavailable }
    let now = clock.now()
    let intent = RefreshIntent(
      session: token.session, counter: token.counter, masterKey: ring.current.id, limits: rules.limits,
      origin: origin, now: now)
    let outcome = try await asking { () throws(StorageError) in try await storage.refresh(intent) }
    switch outcome {
    case .current(let grant, let remark):
      return (try issue(grant, isNewUser: false, isRepeat: false, now: now), remark)
    case .reused:
      await watch.followOwnWrite()
      throw .refreshTokenReused
    case .sessionOver(let end): throw .sessionOver(end)
    case .idle: throw .sessionIdle
    case .overAge: throw .sessionOverAge
    case .accountDisabled: throw .accountDisabled
    case .accountNotFound: throw .accountNotFound
    }
  }

  private func objection(
    to request: SignInRequest, challenge: Challenge?, now: UnixTime
  ) -> SignInObjection? {
    if request.isTokenTooOld { return .tokenTooOld }
    if let challenge { return now < challenge.expiresAt ? nil : .challengeExpired }
    return request.demandsChallenge ? .challengeRequired : nil
  }

  /// What storage and the rules know a bearer by.
  func bearer(_ claims: SessionTokenClaims, at now: UnixTime) -> SessionBearer {
    SessionBearer(
      account: claims.account, session: claims.session,
      isRecentLogin: now.since(claims.authenticatedAt) <= recentLoginWindow)
  }

  /// Asks storage.
  func asking<R>(_ ask: () async throws(StorageError) -> R) async throws(SessionRefusal) -> R {
    do throws(StorageError) {
      return try await ask()
    } catch {
      throw .storage(error)
    }
  }

  /// When a token of a session ends: it does not outlive the session, by its age or unused.
  func expiry(of session: Session, after lifetime: Int64, now: UnixTime) -> UnixTime {
    min(
      now + lifetime, session.createdAt + rules.limits.absolute, session.rotatedAt + rules.limits.idle)
  }

  func issue(
    _ grant: SessionGrant, isNewUser: Bool, isRepeat: Bool, now: UnixTime
  ) throws(SessionRefusal) -> IssuedSession {
    let session = grant.session
    let expiresAt = expiry(of: session, after: rules.lifetime, now: now)
    let payload = SessionTokenPayload(
      issuer: rules.issuer, audience: rules.audience, account: grant.account, session: session, issuedAt: now,
      expiresAt: expiresAt
    ).json
    guard
      let refreshToken = ring.text(
        of: RefreshToken(session: session.id, counter: session.counter), madeWith: session.masterKey)
    else { throw .refreshTokenUnknown }
    let idToken = try keys.sign(payload)
    return IssuedSession(
      account: grant.account, session: session, idToken: Secret(idToken), refreshToken: Secret(refreshToken),
      expiresIn: expiresAt.since(now), isNewUser: isNewUser, isRepeat: isRepeat)
  }
}

extension SessionLimits {
  /// A session that is over by its age is not given out again, however long the retry window is set.
  var signInRetryWindow: Int64 { min(retryWindow, absolute - 1, idle - 1) }
}

extension SignInRequest {
  fileprivate var credential: CredentialKey { CredentialKey(stamp: tokenIssuedAt, digest: tokenDigest) }
}

extension Challenge {
  fileprivate var credential: CredentialKey { CredentialKey(stamp: expiresAt, digest: digest) }
}
