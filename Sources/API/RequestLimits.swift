package import Domain

/// The limits on what one address, one account and one session may ask; nil where there is none.
package struct RequestLimits: Sendable {
  let signInsByAddress: RateLimiter?
  let signInsByAccount: RateLimiter?
  let refreshesByAddress: RateLimiter?
  let refreshesBySession: RateLimiter?
  let newAccountsByAddress: RateLimiter?
  private let clock: SteadyClock

  /// - Parameters:
  ///   - signIn, refresh, signUp: The rates that are set.
  ///   - entropy: Makes each table's seed.
  package init(signIn: Rate?, refresh: Rate?, signUp: Rate?, clock: SteadyClock, entropy: Entropy) {
    func limiter(_ rate: Rate?) -> RateLimiter? {
      rate.map { rate in
        let seed = entropy.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return RateLimiter(rate: rate, places: 32_768, seed: seed)
      }
    }
    signInsByAddress = limiter(signIn)
    signInsByAccount = limiter(signIn)
    refreshesByAddress = limiter(refresh)
    refreshesBySession = limiter(refresh)
    newAccountsByAddress = limiter(signUp)
    self.clock = clock
  }

  /// Takes one request's worth, or refuses with the time to wait.
  func take(_ key: [UInt8], from limiter: RateLimiter?) throws(Failure) {
    guard let seconds = limiter?.take(key, at: clock.now()) else { return }
    throw Failure(tooManyAttempts: seconds)
  }

  /// Takes one request's worth for something that may not come to pass.
  ///
  /// - Returns: Nil when it was there, else the seconds after which it will be.
  func reserve(_ key: [UInt8], from limiter: RateLimiter?) -> Int64? {
    limiter?.take(key, at: clock.now())
  }

  /// Puts a reservation back.
  func giveBack(_ key: [UInt8], to limiter: RateLimiter?) {
    limiter?.giveBack(key, at: clock.now())
  }
}
