internal import Foundation

/// What the store holds, and the one rule of who may take whose place in it.
///
/// A sign-in takes the place of any session for as long as nothing has taken the place of the sign-in. Renewed tokens take
/// the place of earlier ones of the same session, and of nothing else. The service's word that a session is over ends
/// the very tokens that it was said of. Whoever signs out signs out that person, and nobody else.
struct StoredState: Codable, Sendable, Equatable {
  var session: StoredSession?
  /// A sign-in that was sent and has no answer yet.
  var attempt: Attempt?
  /// Refresh tokens of sessions that are over here and that the service has not been told of.
  var endings: [String] = []

  // MARK: Signing in and out

  /// Notes a sign-in before it is sent.
  ///
  /// - Returns: What was noted: of the same sign-in the first sending.
  mutating func put(_ attempt: Attempt) -> Attempt {
    if let present = self.attempt, present.isSame(as: attempt) { return present }
    self.attempt = attempt
    return attempt
  }

  /// Forgets a sign-in that was refused.
  mutating func drop(_ attempt: Attempt) {
    if self.attempt?.isSame(as: attempt) == true { self.attempt = nil }
  }

  /// Lets the session of a sign-in take the place of the one before, which the service is to end.
  ///
  /// - Returns: Who is signed in by it; nil when a later sign-in, or a sign-out, came first. Then the service is to end the
  ///   new session.
  mutating func finish(_ attempt: Attempt, with session: StoredSession) -> StoredSession? {
    let isMine = self.attempt?.isSame(as: attempt) == true
    if self.session?.sessionID == session.sessionID {
      // Another process with the same answer was faster, and may be further.
      renew(session)
    } else if isMine {
      end(self.session)
      self.session = session
    } else {
      end(session)
      return nil
    }
    if isMine { self.attempt = nil }
    return self.session
  }

  /// Signs out a person, or whoever it is.
  ///
  /// - Parameter isGone: Whether the service knows already.
  mutating func leave(_ uid: String?, isGone: Bool) {
    // Of somebody else, who has signed in by another process, nothing was said.
    guard session == nil || uid == nil || session?.uid == uid else { return }
    if !isGone { end(session) }
    (session, attempt) = (nil, nil)
  }

  /// Notes a session that the service is to end; the oldest are forgotten when there are many, and end by themselves.
  mutating func end(_ session: StoredSession?) {
    guard let session else { return }
    endings = (endings + [session.refreshToken]).suffix(16)
  }

  // MARK: Tokens

  /// Takes over tokens if they are later ones of the session that is here. What is known of the person stays, and the
  /// token's own claims are added.
  mutating func renew(_ session: StoredSession) {
    guard let present = self.session, session.isLater(than: present) else { return }
    self.session = session
    self.session?.profile = present.profile
    if let claims = SessionClaims(session.idToken) { self.session?.profile.take(claims) }
  }

  /// Signs out who has tokens that the service says are over, unless there are others by now.
  mutating func forget(_ refused: StoredSession) {
    guard session?.sessionID == refused.sessionID, session?.refreshToken == refused.refreshToken else {
      return
    }
    session = nil
  }

  /// Keeps what the service knows of a person.
  mutating func note(_ profile: Profile, of uid: String) {
    if session?.uid == uid { session?.profile = profile }
  }

  /// Who is signed in, of what this process knows and what the store says: the store, unless this process has later tokens
  /// of the same session, which could not be written.
  static func standing(known: StoredSession?, stored: StoredSession?) -> StoredSession? {
    if let known, let stored, known.isLater(than: stored) { return known }
    return stored
  }
}

// MARK: In the store

extension StoredState {
  /// What cannot be read counts for nothing, save for a session: an item with one that cannot be read is damaged.
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    session = try members.decodeIfPresent(StoredSession.self, forKey: .session)
    attempt = try? members.decodeIfPresent(Attempt.self, forKey: .attempt)
    endings = (try? members.decodeIfPresent([String].self, forKey: .endings)) ?? []
  }
}

extension SessionStore {
  /// Reads and changes the state.
  ///
  /// - Parameter known: Who counts as signed in when what is there is damaged.
  /// - Throws: ``AuthErrorCode/keychainError``.
  func change<R>(known: StoredSession?, _ body: (inout StoredState) throws -> R) throws -> R {
    try keeping {
      try update { data in
        let found = data.flatMap { try? JSONDecoder().decode(StoredState.self, from: $0) }
        let isDamaged = data != nil && found == nil
        let before = found ?? StoredState(session: isDamaged ? known : nil)
        var state = before
        let result = try body(&state)
        if state != before || isDamaged && state.session != nil {
          data = state == StoredState() ? nil : try JSONEncoder().encode(state)
        }
        return result
      }
    }
  }

  /// What is there.
  func state(known: StoredSession?) throws -> StoredState {
    try keeping {
      guard let data = try read() else { return StoredState() }
      return (try? JSONDecoder().decode(StoredState.self, from: data)) ?? StoredState(session: known)
    }
  }

  private func keeping<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch {
      throw AuthErrorCode.keychainError.error("The session cannot be kept.", [NSUnderlyingErrorKey: error])
    }
  }
}
