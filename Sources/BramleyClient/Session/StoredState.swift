internal import Foundation

/// What the store holds, and the one rule of who may take whose place in it.
///
/// A sign-in takes the place of any session for as long as nothing has taken the place of the sign-in. Renewed tokens take
/// the place of earlier ones of the same session, and of nothing else. The service's word that a session is over ends
/// the very tokens that it was said of. Whoever signs out signs out that person, and nobody else. A session that is to end is
/// never one that somebody is signed in with.
struct StoredState: Codable, Sendable, Equatable {
  var session: StoredSession?
  /// A sign-in that was sent and has no answer yet.
  var attempt: Attempt?
  /// Refresh tokens of sessions that are over here and that the service has not been told of: the last sixteen. What is
  /// forgotten ends by itself, when it has not been used for as long as the service allows.
  var endings: [String] = []

  /// What becomes of a sign-in that was answered.
  enum Outcome: Equatable {
    case signedIn
    /// A later sign-in, or a sign-out, came first, and the service is to end the new session.
    case superseded
    /// The answer brings a session that was ended here: the repeat of a sign-in that is over.
    case over
  }

  // MARK: Signing in and out

  /// Notes a sign-in before it is sent.
  ///
  /// - Returns: What was noted: of the same sign-in the first sending.
  mutating func put(_ attempt: Attempt) -> Attempt {
    if let present = self.attempt, present.isSame(as: attempt) { return present }
    self.attempt = attempt
    return attempt
  }

  /// The sign-in that is worth sending again; one that is too old is forgotten.
  ///
  /// - Parameter isAsked: Whether the app asks for it. Unasked nobody takes the place of somebody else.
  mutating func resuming(isAsked: Bool, at time: Date) -> Attempt? {
    guard let attempt, attempt.purpose != .once else { return nil }
    guard attempt.isWorthSending(at: time) else {
      self.attempt = nil
      return nil
    }
    return isAsked || session == nil || session?.uid == attempt.uid ? attempt : nil
  }

  /// Forgets a sign-in that was refused, unless it has begun anew since.
  mutating func drop(_ attempt: Attempt) {
    if self.attempt?.id == attempt.id { self.attempt = nil }
  }

  /// Lets the session of a sign-in take the place of the one before, which the service is to end.
  mutating func finish(_ attempt: Attempt, with session: StoredSession) -> Outcome {
    // One that has begun anew since wants the same session.
    let present = self.attempt.flatMap { $0.isSame(as: attempt) ? $0 : nil }
    if present != nil { self.attempt = nil }
    if self.session?.sessionID == session.sessionID {
      // Another process with the same answer was faster, and may be further.
      renew(session)
      return .signedIn
    }
    guard let present else {
      end(session)
      return .superseded
    }
    if (endings + present.over).contains(session.refreshToken) { return .over }
    end(self.session)
    self.session = session
    return .signedIn
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

  /// Notes a session that nobody is to be signed in with, so that the service ends it.
  mutating func reject(_ session: StoredSession) {
    if self.session?.sessionID != session.sessionID { end(session) }
  }

  private mutating func end(_ session: StoredSession?) {
    guard let token = session?.refreshToken, !endings.contains(token) else { return }
    endings = (endings + [token]).suffix(16)
  }

  /// Notes that the service knows of the end of a session, by its refresh token.
  mutating func told(_ token: String) {
    endings.removeAll { $0 == token }
    if let over = attempt?.over { attempt?.over = (over + [token]).suffix(16) }
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

  /// Whether a fault of ``state(known:)`` may pass by itself.
  func mayBecomeReadable(after fault: any Error) -> Bool {
    let details = (fault as? AuthErrorCode)?.errorUserInfo ?? [:]
    return (details[NSUnderlyingErrorKey] as? any Error).map { mayPass($0) } ?? true
  }

  private func keeping<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch {
      throw AuthErrorCode.keychainError.error("The session cannot be kept.", [NSUnderlyingErrorKey: error])
    }
  }
}
