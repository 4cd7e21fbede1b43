internal import Foundation

// How people come to be signed in, and who wins when several come at once.

/// A sign-in that was answered.
struct SignedIn: Sendable {
  let held: HeldSession
  let answer: SignInAnswer
}

extension SessionKeeper {
  /// Sends a sign-in until there is an answer.
  func signIn(_ attempt: Attempt) async throws -> SignedIn {
    try await answered(try change { $0.put(attempt) })
  }

  /// Sends again what had no answer.
  ///
  /// - Parameter isAsked: Whether the app asks for it. By itself the kit does so only where nobody is signed in, or the very
  ///   person that the sign-in is of: nobody else takes anybody's place unasked.
  /// - Returns: nil when there is nothing to send.
  func resume(isAsked: Bool = false) async throws -> SignedIn? {
    guard try read().attempt != nil else { return nil }
    let time = world.now()
    // Somebody may have signed out since: what is not in the store is not put back.
    guard let attempt = try change({ $0.resuming(isAsked: isAsked, at: time) }) else { return nil }
    return try await answered(attempt)
  }

  /// Waits for the answer to a sign-in that is in the store; the same one twice at once is sent once, unless something took
  /// the place of the first in between.
  private func answered(_ attempt: Attempt) async throws -> SignedIn {
    let task = memory.withLock { memory in
      if let task = memory.attempts[attempt.id] { return task }
      let task = Task {
        let time = BackgroundTime("a sign-in")
        defer {
          time.end()
          self.memory.withLock { $0.attempts[attempt.id] = nil }
        }
        return try await self.perform(attempt)
      }
      memory.attempts[attempt.id] = task
      return task
    }
    return try await task.value
  }

  private func perform(_ attempt: Attempt) async throws -> SignedIn {
    let answer: SignInAnswer
    let session: StoredSession
    do {
      let reply = try await send(attempt)
      answer = try reply.decoded()
      session = try answer.session(world: world, serverTime: reply.serverTime, before: current?.session)
      if case .reauthenticate(let uid) = attempt.purpose, session.uid != uid {
        try change { $0.reject(session) }
        Task { await tellEndings() }
        throw AuthErrorCode.userMismatch.error("Another person signed in than the one who is signed in.")
      }
    } catch {
      // As long as nothing is known the attempt stays, and whoever comes next sends the same once more.
      if (error as? CallFault)?.isOutage != true { try change { $0.drop(attempt) } }
      throw error
    }
    return try finish(attempt, session, answer)
  }

  /// Sends a sign-in that cannot be asked for twice: an anonymous one, or the one-time code of a browser.
  func signInOnce(
    _ call: Call, _ read: @Sendable (Answer) throws -> (SignInAnswer, StoredSession)
  ) async throws -> SignedIn {
    let attempt = Attempt(purpose: .once, body: Data(UUID().uuidString.utf8), begunAt: world.now())
    _ = try change { $0.put(attempt) }
    let time = BackgroundTime("a sign-in")
    defer { time.end() }
    var call = call
    call.isOnce = true
    let answer: SignInAnswer
    let session: StoredSession
    do {
      (answer, session) = try read(try await endpoint.answer(to: call))
    } catch {
      try change { $0.drop(attempt) }
      throw error
    }
    return try finish(attempt, session, answer)
  }

  private func finish(
    _ attempt: Attempt, _ session: StoredSession, _ answer: SignInAnswer
  ) throws -> SignedIn {
    let outcome = try change { $0.finish(attempt, with: session) }
    Task { await tellEndings() }
    if outcome == .over {
      throw AuthErrorCode.invalidCredential.error(
        "The session that this credential opened has been ended. Ask Apple for a new credential, with a new nonce."
      )
    }
    guard outcome == .signedIn, let held = memory.withLock({ $0.current }), held.uid == session.uid else {
      throw AuthErrorCode.signInSuperseded.error("A later sign-in or a sign-out took the place of this one.")
    }
    return SignedIn(held: held, answer: answer)
  }

  private func send(_ attempt: Attempt) async throws -> Answer {
    var call = Call.signIn(attempt.body)
    guard let uid = attempt.uid else { return try await endpoint.answer(to: call) }
    guard let held = current, held.uid == uid else { throw Self.notSignedIn }
    guard case .link = attempt.purpose else { return try await endpoint.answer(to: call) }
    // A repeat goes with the bearer of the first sending, whose session the link may have ended.
    call.bearer = attempt.bearer
    if call.bearer == nil {
      call.bearer = try noting(try await fresh(held, isForced: false).idToken, for: attempt)
    }
    do throws(CallFault) {
      return try await endpoint.answer(to: call)
    } catch {
      guard error.isBearerRefused else { throw error }
      _ = try noting(nil, for: attempt)
      call.bearer = try noting(try await fresh(held, isForced: true).idToken, for: attempt)
      return try await endpoint.answer(to: call)
    }
  }

  /// Notes what a link is sent with, before it is sent.
  private func noting(_ bearer: String?, for attempt: Attempt) throws -> String? {
    try change { if $0.attempt?.id == attempt.id { $0.attempt?.bearer = bearer } }
    return bearer
  }
}
