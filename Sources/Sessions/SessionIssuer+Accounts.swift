package import Domain
package import Storage
internal import JOSE

// Sessions without an identity provider, and what a bearer or an administrator does with accounts.
extension SessionIssuer {
  /// Makes an account that nobody's identity stands behind, and opens its first session.
  package func openAnonymousSession(by origin: Origin) async throws(SessionRefusal) -> IssuedSession {
    try await openSession(
      of: AccountID(from: entropy), provider: "anonymous", isAnonymous: true, createsAccount: true,
      customClaims: nil, by: origin)
  }

  /// Opens a session of the account that a custom token names.
  ///
  /// - Parameter createsAccount: Whether an account that is not there is made.
  package func signIn(
    with token: CustomToken, createsAccount: Bool, by origin: Origin
  ) async throws(SessionRefusal) -> IssuedSession {
    try await openSession(
      of: token.account, provider: "custom", isAnonymous: false, createsAccount: createsAccount,
      customClaims: token.claims, by: origin)
  }

  private func openSession(
    of account: AccountID, provider: String, isAnonymous: Bool, createsAccount: Bool, customClaims: String?,
    by origin: Origin
  ) async throws(SessionRefusal) -> IssuedSession {
    let now = clock.now()
    let intent = AccountSessionIntent(
      account: account, provider: provider, isAnonymous: isAnonymous, createsAccount: createsAccount,
      customClaims: customClaims, newSession: SessionID(at: now, from: entropy), masterKey: ring.current.id,
      rules: openingRules, origin: origin, now: now)
    let outcome = try await asking { () throws(StorageError) in try await storage.openSession(intent) }
    if openingRules.maximum > 0 { await watch.followOwnWrite() }
    switch outcome {
    case .opened(let grant, let isNewUser):
      return try issue(grant, isNewUser: isNewUser, isRepeat: false, now: now)
    case .accountDisabled: throw .accountDisabled
    case .accountNotFound: throw .unknownIdentity
    }
  }

  /// The account of a bearer whose session lives.
  package func account(of claims: SessionTokenClaims) async throws(SessionRefusal) -> Account {
    let bearer = bearer(claims, at: clock.now())
    return try await grant(to: bearer).account
  }

  private func grant(to bearer: SessionBearer) async throws(SessionRefusal) -> SessionGrant {
    switch try await asking({ () throws(StorageError) in try await storage.grant(to: bearer) }) {
    case .success(let grant): return grant
    case .failure(let refusal): throw .bearer(refusal)
    }
  }

  /// Changes the account of a bearer.
  package func change(
    _ change: AccountChange, of claims: SessionTokenClaims, by origin: Origin
  ) async throws(SessionRefusal) -> AccountChangeOutcome {
    let now = clock.now()
    let intent = AccountChangeIntent(
      target: .bearer(bearer(claims, at: now)), change: change, origin: origin, now: now)
    let outcome = try await asking { () throws(StorageError) in try await storage.change(intent) }
    await watch.followOwnWrite()
    if !change.removedProviders.isEmpty { appleBell.ring() }
    return outcome
  }

  /// Deletes the account of a bearer, if he signed in recently.
  package func deleteAccount(of claims: SessionTokenClaims, by origin: Origin) async throws(SessionRefusal) {
    let now = clock.now()
    let intent = AccountDeletionIntent(
      target: .bearer(bearer(claims, at: now)), demandsDisabled: false, origin: origin, now: now)
    let outcomes = try await asking { () throws(StorageError) in try await storage.delete([intent]) }
    await watch.followOwnWrite()
    appleBell.ring()
    if case .refused(let refusal)? = outcomes.first { throw .bearer(refusal) }
  }

  /// Has a code or a token that an app got from Apple revoked there; it is on disk when this returns.
  ///
  /// - Parameter fallbackClient: Whose it is, if the person has not signed in to any client yet.
  package func revokeAtApple(
    _ secret: Secret<String>, _ kind: AppleSecretKind, redirectURI: String?, fallbackClient: ClientID,
    of claims: SessionTokenClaims, by origin: Origin
  ) async throws(SessionRefusal) -> AppleRevocationOutcome {
    let now = clock.now()
    var intent = AppleRevocationIntent(
      bearer: bearer(claims, at: now), secret: try sealed(secret, kind, at: now),
      fallbackClient: fallbackClient, redirectURI: redirectURI, origin: origin, now: now)
    (intent.team, intent.formerTeam) = (teams.present, teams.former)
    let asked = intent
    let outcome = try await asking { () throws(StorageError) in try await storage.revokeAppleSecret(asked) }
    appleBell.ring()
    if case .refused(let refusal) = outcome { throw .bearer(refusal) }
    return outcome
  }

  /// A code as it waits for its exchange.
  func sealed(
    _ code: AuthorizationCode?, for client: ClientID, at now: UnixTime
  ) throws(SessionRefusal) -> AppleCode? {
    guard let code else { return nil }
    var kept = AppleCode(
      secret: try sealed(code.text, .code, at: now), client: client, redirectURI: code.redirectURI)
    kept.team = teams.present
    return kept
  }

  private func sealed(
    _ secret: Secret<String>, _ kind: AppleSecretKind, at now: UnixTime
  ) throws(SessionRefusal) -> AppleSecret {
    do {
      return try ring.seal(secret, as: kind, id: AppleSecretID(at: now, from: entropy), entropy: entropy)
    } catch {
      throw .cannotSign
    }
  }

  /// A session cookie: what a session token says, for longer, by an issuer of its own, so that neither is taken for
  /// the other.
  ///
  /// - Parameter lifetime: Seconds; fewer when the session ends before.
  package func sessionCookie(
    for claims: SessionTokenClaims, lifetime: Int64
  ) async throws(SessionRefusal) -> Secret<String> {
    let now = clock.now()
    let grant = try await grant(to: bearer(claims, at: now))
    let expiresAt = expiry(of: grant.session, after: lifetime, now: now)
    let payload = SessionTokenPayload(
      issuer: cookieIssuer, audience: rules.audience, account: grant.account, session: grant.session,
      issuedAt: now, expiresAt: expiresAt)
    let keys = try await keysPublished(until: expiresAt)
    let cookie = try keys.sign(payload.json)
    return Secret(cookie)
  }

  /// Keys of which the one that signs stays published until then, which is on disk when this returns.
  private func keysPublished(until end: UnixTime) async throws(SessionRefusal) -> SigningKeys {
    let keys = keys
    if let known = keys.cookiesUntil, known >= end { return keys }
    // Whole days: the first cookie of a day writes, the others find it written.
    let day: Int64 = 86_400
    let rounded = UnixTime((end + (day - 1)).seconds / day * day)
    do {
      let raised = try await publish(
        keys, until: rounded, lifetime: rules.lifetime, in: storage, ring: ring)
      take(raised)
      return raised
    } catch {
      guard case .storage(let fault) = error else { throw .cannotSign }
      throw .storage(fault)
    }
  }

  /// `iss` of session cookies, which Firebase's Admin SDKs expect.
  package var cookieIssuer: String { "https://session.firebase.google.com/" + rules.audience }

  /// The sessions of a bearer's account that live, newest first.
  package func sessions(of claims: SessionTokenClaims) async throws(SessionRefusal) -> [Session] {
    let account = try await account(of: claims).id
    return try await asking { () throws(StorageError) in
      try await storage.sessions(of: account, within: rules.limits, at: clock.now())
    }
  }

  /// Ends one session of a bearer's account, or all of them.
  ///
  /// - Parameter session: Nil for all.
  package func endSessions(
    _ session: SessionID?, of claims: SessionTokenClaims, by origin: Origin
  ) async throws(SessionRefusal) -> SessionEndingOutcome {
    let now = clock.now()
    let bearer = bearer(claims, at: now)
    let target = session.map { SessionEndingIntent.Target.session($0, of: bearer) } ?? .all(of: bearer)
    return try await endSessions(SessionEndingIntent(target: target, origin: origin, now: now))
  }

  /// Ends the session of a refresh token, or all sessions of its account.
  package func endSessions(
    with token: RefreshToken, everywhere: Bool, by origin: Origin
  ) async throws(SessionRefusal) -> SessionEndingOutcome {
    try await endSessions(
      SessionEndingIntent(
        target: everywhere ? .allOfOwner(token.session) : .own(token.session), origin: origin,
        now: clock.now()))
  }

  /// Ends the session of a token of either kind, also when its time is over; one that is none of ours ends nothing.
  package func endSession(of token: String, by origin: Origin) async throws(SessionRefusal) {
    let session: SessionID?
    if let refreshToken = try? refreshToken(from: token) {
      session = refreshToken.session
    } else {
      session = keys.session(of: token, rules: rules)
    }
    guard let session else { return }
    _ = try await endSessions(
      SessionEndingIntent(target: .own(session), origin: origin, now: clock.now()))
  }

  private func endSessions(
    _ intent: SessionEndingIntent
  ) async throws(SessionRefusal) -> SessionEndingOutcome {
    let outcome = try await asking { () throws(StorageError) in try await storage.endSessions(intent) }
    await watch.followOwnWrite()
    return outcome
  }
}
