internal import Sessions

/// Why no session was opened.
enum OpeningRefusal: Error {
  case refused(SessionRefusal)
  /// One new account too many for the address; seconds to wait.
  case tooManyAccounts(Int64)
}

extension Call {
  /// Opens a session that may need a new account, within the rate of new accounts of one address.
  ///
  /// Whether somebody is new only the transaction knows. So he is first looked for, and the rate is asked only for
  /// somebody whom nobody knows: people who come back cannot use it up, not even for a moment.
  ///
  /// - Parameter open: Opens it; is told whether an account may be made, and throws
  ///   ``SessionRefusal/unknownIdentity`` when one would have to be.
  func openingAccount(
    isWanted: Bool, _ open: (_ makesAccount: Bool) async throws(SessionRefusal) -> IssuedSession
  ) async throws(OpeningRefusal) -> IssuedSession {
    let limits = policy.limits
    guard isWanted, let limiter = limits.newAccountsByAddress else { return try await opened(isWanted, open) }
    do throws(OpeningRefusal) {
      return try await opened(false, open)
    } catch {
      guard case .refused(.unknownIdentity) = error else { throw error }
    }
    if let seconds = limits.reserve(address, from: limiter) { throw .tooManyAccounts(seconds) }
    do throws(OpeningRefusal) {
      let session = try await opened(true, open)
      if session.isRepeat || !session.isNewUser { limits.giveBack(address, to: limiter) }
      return session
    } catch {
      limits.giveBack(address, to: limiter)
      throw error
    }
  }

  private func opened(
    _ makesAccount: Bool, _ open: (Bool) async throws(SessionRefusal) -> IssuedSession
  ) async throws(OpeningRefusal) -> IssuedSession {
    do {
      return try await open(makesAccount)
    } catch {
      throw .refused(error)
    }
  }
}

extension Failure {
  init(refusing refusal: OpeningRefusal) {
    self =
      switch refusal {
      case .refused(let refusal): Failure(refusing: refusal)
      case .tooManyAccounts(let seconds): Failure(tooManyAttempts: seconds)
      }
  }
}
