package import Domain
internal import Storage

/// A person who is signed in at another system, which says so in a token that was found good.
package struct HandOverRequest: Sendable {
  package let account: AccountID
  /// How the person signed in there.
  package let provider: String
  /// When.
  package let authenticatedAt: UnixTime
  /// The digest of the verified token, its `iat` and its `exp`.
  package let tokenDigest: [UInt8]
  package let tokenIssuedAt: UnixTime
  package let tokenExpiresAt: UnixTime
  package let device: Device?

  package init(
    account: AccountID, provider: String, authenticatedAt: UnixTime, tokenDigest: [UInt8],
    tokenIssuedAt: UnixTime, tokenExpiresAt: UnixTime, device: Device?
  ) {
    self.account = account
    self.provider = provider
    self.authenticatedAt = authenticatedAt
    self.tokenDigest = tokenDigest
    self.tokenIssuedAt = tokenIssuedAt
    self.tokenExpiresAt = tokenExpiresAt
    self.device = device
  }
}

extension SessionIssuer {
  /// Opens a session for who is signed in at another system, or repeats the answer of the same request.
  package func handOver(
    _ request: HandOverRequest, by origin: Origin
  ) async throws(SessionRefusal) -> IssuedSession {
    guard keys.canSign else { throw .signingKeyUnavailable }
    let now = clock.now()
    let intent = HandOverIntent(
      account: request.account, provider: request.provider, authenticatedAt: request.authenticatedAt,
      sessionBegin: sessionBegin(for: request, at: now),
      credential: CredentialKey(stamp: request.tokenIssuedAt, digest: request.tokenDigest),
      credentialExpiresAt: request.tokenExpiresAt + rules.leeway, device: request.device,
      newSession: SessionID(at: now, from: entropy), masterKey: ring.current.id, rules: openingRules,
      origin: origin, retryWindow: rules.limits.signInRetryWindow, now: now)
    let outcome = try await asking { () throws(StorageError) in try await storage.handOver(intent) }
    if openingRules.maximum > 0 { await watch.followOwnWrite() }
    switch outcome {
    case .opened(let grant):
      return try issue(
        grant, isNewUser: false, isRepeat: grant.session.id != intent.newSession, now: now)
    case .credentialAlreadyUsed: throw .credentialAlreadyUsed
    case .accountNotFound: throw .accountNotFound
    case .accountDisabled: throw .accountDisabled
    case .revoked: throw .sessionOver(.revoked)
    }
  }

  /// `auth_time` of a session that is handed over, from which its greatest age counts as well: the sign-in there, but
  ///
  /// - just outside the recent-login window at the latest, since nobody has proved anything to us now, and what that
  ///   window guards is not to be had with a token that somebody found;
  /// - half of the greatest age ago at the earliest: sessions there never end, and who signed in years ago is to come
  ///   over for a good while and not for a moment. Settings see to it that this lies before the window.
  private func sessionBegin(for request: HandOverRequest, at now: UnixTime) -> UnixTime {
    let latest = now - (recentLoginWindow + 1)
    let earliest = now - rules.limits.absolute / 2
    return max(min(request.authenticatedAt, latest), earliest)
  }
}
