// The same calls with a completion, for code that has no `async`. It is called on the main actor.

extension Auth {
  /// ``signIn(with:)`` with a completion.
  public func signIn(
    with credential: AuthCredential, completion: (@MainActor (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    finish(completion) { try await self.signIn(with: credential) }
  }

  /// ``signInAnonymously()`` with a completion.
  public func signInAnonymously(completion: (@MainActor (AuthDataResult?, (any Error)?) -> Void)? = nil) {
    finish(completion) { try await self.signInAnonymously() }
  }

  /// ``signIn(withCustomToken:)`` with a completion.
  public func signIn(
    withCustomToken token: String, completion: (@MainActor (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    finish(completion) { try await self.signIn(withCustomToken: token) }
  }

  /// ``revokeToken(withAuthorizationCode:)`` with a completion.
  public func revokeToken(
    withAuthorizationCode code: String, completion: (@MainActor ((any Error)?) -> Void)? = nil
  ) {
    finish(completion) { try await self.revokeToken(withAuthorizationCode: code) }
  }
}

extension User {
  /// ``getIDToken(forcingRefresh:)`` with a completion.
  public func getIDToken(completion: (@MainActor (String?, (any Error)?) -> Void)? = nil) {
    finish(completion) { try await self.getIDToken() }
  }

  /// ``getIDToken(forcingRefresh:)`` with a completion.
  public func getIDTokenForcingRefresh(
    _ isForced: Bool, completion: (@MainActor (String?, (any Error)?) -> Void)? = nil
  ) {
    finish(completion) { try await self.getIDToken(forcingRefresh: isForced) }
  }

  /// ``getIDTokenResult(forcingRefresh:)`` with a completion.
  public func getIDTokenResult(
    forcingRefresh: Bool = false, completion: (@MainActor (AuthTokenResult?, (any Error)?) -> Void)? = nil
  ) {
    finish(completion) { try await self.getIDTokenResult(forcingRefresh: forcingRefresh) }
  }

  /// ``link(with:)`` with a completion.
  public func link(
    with credential: AuthCredential, completion: (@MainActor (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    finish(completion) { try await self.link(with: credential) }
  }

  /// ``unlink(fromProvider:)`` with a completion.
  public func unlink(
    fromProvider provider: String, completion: (@MainActor (User?, (any Error)?) -> Void)? = nil
  ) {
    finish(completion) { try await self.unlink(fromProvider: provider) }
  }

  /// ``reauthenticate(with:)`` with a completion.
  public func reauthenticate(
    with credential: AuthCredential, completion: (@MainActor (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    finish(completion) { try await self.reauthenticate(with: credential) }
  }

  /// ``reload()`` with a completion.
  public func reload(completion: (@MainActor ((any Error)?) -> Void)? = nil) {
    finish(completion) { try await self.reload() }
  }

  /// ``delete()`` with a completion.
  public func delete(completion: (@MainActor ((any Error)?) -> Void)? = nil) {
    finish(completion) { try await self.delete() }
  }
}

extension UserProfileChangeRequest {
  /// ``commitChanges()`` with a completion.
  public func commitChanges(completion: (@MainActor ((any Error)?) -> Void)? = nil) {
    let commit = commit
    finish(completion) { try await commit() }
  }
}

private func finish<R: Sendable>(
  _ completion: (@MainActor (R?, (any Error)?) -> Void)?, _ work: @escaping @Sendable () async throws -> R
) {
  Task {
    do {
      let result = try await work()
      await completion?(result, nil)
    } catch {
      await completion?(nil, error)
    }
  }
}

private func finish(
  _ completion: (@MainActor ((any Error)?) -> Void)?, _ work: @escaping @Sendable () async throws -> Void
) {
  Task {
    do {
      try await work()
      await completion?(nil)
    } catch {
      await completion?(error)
    }
  }
}
