internal import Sessions

/// Room for one new account within the rate of its address.
///
/// Whether somebody is new only the transaction knows. It is told beforehand whether he may be, and what was taken for
/// a new account is put back when none was made.
struct NewAccountReservation {
  /// Whether an account may be made.
  let isGranted: Bool
  private let call: Call
  private let limiter: RateLimiter?
  /// Seconds, when there is no room now.
  private let wait: Int64?

  /// - Parameter isWanted: Whether the request would have an account made.
  init(_ call: Call, isWanted: Bool) {
    self.call = call
    limiter = isWanted ? call.policy.limits.newAccountsByAddress : nil
    wait = call.policy.limits.reserve(call.address, from: limiter)
    isGranted = isWanted && wait == nil
  }

  /// Puts back what this session did not need.
  func settle(_ session: IssuedSession) {
    if session.isRepeat || !session.isNewUser { giveBack() }
  }

  /// Puts back what was not needed, since nothing came of the request.
  ///
  /// - Returns: What is refused; too many new accounts, where that was why nobody was found.
  func settle(_ refusal: SessionRefusal) -> Failure {
    giveBack()
    if let wait, refusal == .unknownIdentity { return Failure(tooManyAttempts: wait) }
    return Failure(refusing: refusal)
  }

  private func giveBack() {
    if wait == nil { call.policy.limits.giveBack(call.address, to: limiter) }
  }
}
