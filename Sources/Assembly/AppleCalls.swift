internal import AppleIdentity
internal import Crypto
internal import Domain
internal import ProviderTokens
internal import Sessions
internal import Storage
internal import Synchronization
internal import Telemetry

/// Makes the calls that the queue holds and says what comes of them; writes nothing.
struct AppleCalls: Sendable {
  let access: AppleAccess
  let endpoints: AppleEndpoints
  let directory: KeyDirectory
  let ring: MasterKeyRing
  let clock: WallClock
  let entropy: Entropy
  let metrics: AppleMetrics
  let log: Log
  private let complaints = Complaints()

  init(
    access: AppleAccess, endpoints: AppleEndpoints, directory: KeyDirectory, ring: MasterKeyRing,
    clock: WallClock, entropy: Entropy, metrics: AppleMetrics, log: Log
  ) {
    self.access = access
    self.endpoints = endpoints
    self.directory = directory
    self.ring = ring
    self.clock = clock
    self.entropy = entropy
    self.metrics = metrics
    self.log = log
  }

  /// How often Apple's keys are waited for, a second each, with a refresh token in hand that nobody else will get.
  private static let keyPatience = 5
  /// Clients that are tried beside the likeliest one.
  private static let guesses = 7

  func outcome(of work: AppleWork) async -> AppleWorkResult {
    let terms = access.terms
    guard let key = terms.key(of: work.team) else { return setback(.unsent, "apple_key_missing", work) }
    guard let secret = ring.open(work.secret) else {
      complain("master_key_missing", of: work.client, isError: true)
      return setback(.unsent, "master_key_missing", work)
    }
    do throws(AppleFault) {
      if work.secret.kind == .code {
        let (answer, client) = try await exchange(secret, of: work, by: key, terms.rules)
        return await judge(answer, work, client, terms.rules)
      }
      return .revoked(by: try await revoke(secret, of: work, by: key, terms.rules))
    } catch {
      var wait: Int64?
      if case .throttled(let seconds) = error { wait = seconds }
      return setback(AppleSetback(error, isOfApp: work.isBrought), error.label, work, wait: wait ?? 0)
    }
  }

  private func exchange(
    _ code: Secret<String>, of work: AppleWork, by key: TeamKey, _ rules: IdentityTokenRules
  ) async throws(AppleFault) -> (TokenAnswer, ClientID) {
    try await asking(for: work, rules) { (client) throws(AppleFault) in
      try await endpoints.exchange(code: code, redirectURI: work.redirectURI, for: client, by: key)
    }
  }

  /// Has a token revoked. Of one that an app brought it is not known either whether it is of the kind that the app says: a
  /// client that is refused with that hint asks once more without one.
  private func revoke(
    _ token: Secret<String>, of work: AppleWork, by key: TeamKey, _ rules: IdentityTokenRules
  ) async throws(AppleFault) -> ClientID {
    try await asking(for: work, rules) { (client) throws(AppleFault) in
      do throws(AppleFault) {
        try await endpoints.revoke(token, hint: work.secret.kind.rawValue, for: client, by: key)
      } catch {
        guard work.isBrought, error == .misconfigured(.invalidRequest) else { throw error }
        try await endpoints.revoke(token, hint: nil, for: client, by: key)
      }
    }.client
  }

  /// Asks Apple as the client that a secret was given out to. Of one that an app brought to have it revoked that is only
  /// guessed: when Apple refuses the likeliest one, the others are tried.
  private func asking<Answer>(
    for work: AppleWork, _ rules: IdentityTokenRules,
    _ call: (ClientID) async throws(AppleFault) -> Answer
  ) async throws(AppleFault) -> (answer: Answer, client: ClientID) {
    let others = rules.clients.keys.filter { $0 != work.client }.sorted { $0.text < $1.text }
    let isGuess = work.isBrought && !(work.isSent && work.secret.kind == .code)
    let begun = clock.now()
    var clients = [work.client] + (isGuess ? others.prefix(Self.guesses) : [])
    while true {
      let client = clients.removeFirst()
      do throws(AppleFault) {
        let answer = try await counted(client, isOfApp: work.isBrought) { () throws(AppleFault) in
          try await call(client)
        }
        return (answer, client)
      } catch {
        // In the time that others leave it to this node.
        guard error.isRefusal, !clients.isEmpty, clock.now().since(begun) < 8 else { throw error }
      }
    }
  }

  /// Whether a refresh token is good; nil when Apple does not say, or cannot.
  func verdict(on grant: AppleGrant) async -> Result<AppleGrantVerdict, AppleFault>? {
    guard let key = access.terms.keyForLook(at: grant.team), let token = ring.open(grant.secret) else {
      return nil
    }
    do throws(AppleFault) {
      try await counted(grant.client, isOfApp: false) { () throws(AppleFault) in
        try await endpoints.refresh(token, for: grant.client, by: key)
      }
      return .success(.good)
    } catch {
      return error == .grantRefused ? .success(.refused) : .failure(error)
    }
  }

  /// The refresh token of an answer, if the identity token beside it says whose it is.
  private func judge(
    _ answer: TokenAnswer, _ work: AppleWork, _ client: ClientID, _ rules: IdentityTokenRules
  ) async -> AppleWorkResult {
    guard let token = answer.refreshToken else { return refused(.answerUnusable) }
    var tries = 0
    while true {
      do throws(ReturnedTokenFault) {
        try await checkReturnedToken(
          answer.idToken, subject: work.subject, client: client, rules: rules, directory: directory,
          clock: clock)
        break
      } catch {
        tries += 1
        if error == .refused(.keysUnavailable), tries < Self.keyPatience,
          (try? await Task.sleep(for: .seconds(1))) != nil
        {
          continue
        }
        return refused(AppleSurrender(error))
      }
    }
    let now = clock.now()
    let id = AppleSecretID(at: now, from: entropy)
    guard let kept = try? ring.seal(token, as: .refreshToken, id: id, entropy: entropy) else {
      return refused(.answerUnusable)
    }
    return .exchanged(kept, client: client, nextCheck: kept.nextLook(after: now))
  }

  /// Of a code that is used up by now.
  private func refused(_ surrender: AppleSurrender) -> AppleWorkResult {
    log.error("apple_answer_refused", [.text("cause", surrender.rawValue)])
    return .dropped(surrender.rawValue)
  }

  /// - Parameter wait: Seconds for which Apple wants not to be asked.
  private func setback(
    _ setback: AppleSetback, _ word: String, _ work: AppleWork, wait: Int64 = 0
  ) -> AppleWorkResult {
    let jitter = Double(entropy.bytes(1).first ?? 0) / 255
    let result = work.result(after: setback, word, wait: wait, jitter: jitter, at: clock.now())
    if case .dropped(let cause) = result {
      let fields: [Log.Field] = [.text("kind", work.kind.rawValue), .text("cause", cause)]
      // What an app brings is no operator's trouble.
      if cause == AppleSurrender.broughtUnusable.rawValue {
        log.info("apple_work_given_up", fields)
      } else {
        log.error("apple_work_given_up", fields)
      }
    }
    return result
  }

  /// - Parameter isOfApp: Whether it is about something that an app brought: what is wrong with that is no fault of the
  ///   settings, and nobody is called for it.
  private func counted<R>(
    _ client: ClientID, isOfApp: Bool, _ call: () async throws(AppleFault) -> R
  ) async throws(AppleFault) -> R {
    do throws(AppleFault) {
      let answer = try await call()
      metrics.count(nil)
      return answer
    } catch {
      if isOfApp, error.isRefusal {
        metrics.countRefusalOfBrought()
        throw error
      }
      metrics.count(error)
      if case .misconfigured = error {
        complain(error.label, of: client, isError: true)
      } else if error != .grantRefused, error != .transient(.shuttingDown) {
        complain(error.label, of: client, isError: false)
      }
      throw error
    }
  }

  /// Tells of what goes wrong, of each kind once a minute: a thousand waiting calls fail alike.
  private func complain(_ cause: String, of client: ClientID, isError: Bool) {
    guard complaints.isNews(cause, at: clock.now()) else { return }
    if isError {
      log.error("apple_misconfigured", [.text("cause", cause), .text("clientId", client.text)])
    } else {
      log.warning("apple_call_failed", [.text("cause", cause), .text("clientId", client.text)])
    }
  }
}

/// When each complaint was last made.
private final class Complaints: Sendable {
  private let times = Mutex<[String: UnixTime]>([:])

  func isNews(_ cause: String, at now: UnixTime) -> Bool {
    times.withLock { times in
      if let last = times[cause], (0..<60).contains(now.since(last)) { return false }
      times[cause] = now
      return true
    }
  }
}

extension AppleSetback {
  /// - Parameter isOfApp: Whether the call was about something that an app brought.
  init(_ fault: AppleFault, isOfApp: Bool) {
    switch fault {
    case .grantRefused: self = .refused
    case .misconfigured(.invalidRequest) where isOfApp: self = .unusable
    // Whether it is the app's fault or ours is not said; of ours other calls tell.
    case .misconfigured where isOfApp && fault.isRefusal: self = .declined
    case .misconfigured(.cannotSign): self = .unsent
    case .misconfigured: self = .misconfigured
    case .throttled: self = .declined
    case .transient: self = fault.mayHaveActed ? .uncertain : .unsent
    }
  }
}

extension AppleSurrender {
  fileprivate init(_ fault: ReturnedTokenFault) {
    switch fault {
    case .missing: self = .answerUnusable
    case .otherPerson: self = .otherPerson
    case .refused: self = .tokenRefused
    }
  }
}
