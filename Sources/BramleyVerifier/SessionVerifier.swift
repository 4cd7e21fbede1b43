package import Domain
internal import JOSE
internal import Outbound

/// Verifies Bramley's session JWTs offline: with the keys that the issuer publishes, fetched once and refreshed in the
/// background, so that a request waits for the network only when the issuer has a key that is not known yet.
///
/// ```swift
/// let verifier = try SessionVerifier(issuer: "https://auth.example.com", audience: "bramley")
///
/// func account(ofBearer token: String) async throws(VerificationError) -> String {
///   let session = try await verifier.verify(token)
///   return session.subject
/// }
/// ```
///
/// A session that was ended is good until its token expires, unless the verifier follows the issuer's feed:
///
/// ```swift
/// let verifier = try SessionVerifier(
///   issuer: "https://auth.example.com", audience: "bramley",
///   revocations: RevocationFeed(serviceKey: serviceKey))
/// ```
///
/// Make one for the life of the program. Its threads and tasks end when it is let go.
public final class SessionVerifier: Sendable {
  private let rules: SessionRules
  private let keys: KeySource
  private let revocations: RevocationFollower?
  private let clock: VerifierClock
  private let background: [Task<Void, Never>]

  /// Starts fetching keys, and following the feed if there is one.
  ///
  /// - Parameters:
  ///   - issuer: The `iss` of the tokens: the issuer's `BRAMLEY_ISSUER`.
  ///   - audience: Their `aud`: the issuer's `BRAMLEY_PROJECT_ID`.
  ///   - keySetURL: Where the keys are; nil for the issuer's `/.well-known/jwks.json`. Must be given where `iss` is
  ///     not the address of the service, as with `BRAMLEY_ISSUER=firebase`.
  ///   - revocations: The feed to follow; nil for none.
  ///   - leeway: How far clocks may be apart.
  ///   - keyPolicy: When keys are fetched and how long they are believed.
  ///   - authorityFile: A PEM file with the certificate authorities to trust in place of the system's.
  public convenience init(
    issuer: String, audience: String, keySetURL: String? = nil, revocations: RevocationFeed? = nil,
    leeway: Duration = .seconds(60), keyPolicy: KeyPolicy = KeyPolicy(), authorityFile: String? = nil
  ) throws(VerifierSetupError) {
    let keySetURL = keySetURL ?? joined("/.well-known/jwks.json", at: issuer)
    for url in [keySetURL] + (revocations.map { [$0.address(at: issuer)] } ?? []) {
      guard CurlFetcher.admits(url) else { throw .addressNotAllowed(url) }
    }
    let fetcher: CurlFetcher
    do throws(OutboundError) {
      fetcher = try CurlFetcher(version: "verifier", limit: 4, authorityFile: authorityFile)
    } catch {
      throw .networkUnavailable
    }
    self.init(
      rules: SessionRules(issuer: issuer, audience: audience, leeway: leeway.components.seconds),
      keySetURL: keySetURL, keyPolicy: keyPolicy, revocations: revocations, fetcher: fetcher, clock: .system,
      isSelfMoving: true)
  }

  /// - Parameter isSelfMoving: Whether tasks in the background call ``tick()`` and ``followOnce()``.
  package init(
    rules: SessionRules, keySetURL: String, keyPolicy: KeyPolicy, revocations feed: RevocationFeed?,
    fetcher: any HTTPFetching, clock: VerifierClock, isSelfMoving: Bool
  ) {
    let policy = PublishedKeys.Policy(
      believedFor: keyPolicy.outageTolerance.inMilliseconds, coolDown: keyPolicy.coolDown.inMilliseconds)
    let keys = KeySource(url: keySetURL, policy: policy, fetcher: fetcher, clock: clock.steady)
    let follower = feed.map {
      RevocationFollower(
        $0, url: $0.address(at: rules.issuer), leeway: rules.leeway, fetcher: fetcher, clock: clock)
    }
    self.rules = rules
    self.keys = keys
    revocations = follower
    self.clock = clock
    // The tasks hold what they move and not the verifier, whose end is theirs.
    var background: [Task<Void, Never>] = []
    if isSelfMoving {
      background.append(Task { await refresh(keys) })
      if let follower { background.append(Task { await follower.follow() }) }
    }
    self.background = background
  }

  deinit {
    for task in background { task.cancel() }
  }

  /// Verifies a token: signature with a published key and that key's own algorithm, `typ`, issuer, audience, times, and
  /// that the feed has not named it.
  ///
  /// - Parameter token: The compact JWT, without `Bearer `.
  /// - Returns: What it says.
  /// - Throws: Why it is not accepted; see ``VerificationError/isOutage`` for which status that is.
  public func verify(_ token: String) async throws(VerificationError) -> VerifiedSession {
    guard let parsed = try? CompactToken(parsing: token.utf8), let keyID = parsed.header.keyID else {
      throw .malformed
    }
    let session = try rules.judge(parsed, at: clock.wall.now())
    let key = try await keys.key(keyID)
    guard (try? parsed.verify(with: key)) != nil else { throw .signatureInvalid }
    try await revocations?.check(session)
    return session
  }

  /// Refreshes keys that are due; to be called every second or so.
  package func tick() { keys.tick() }

  /// Asks the feed once.
  ///
  /// - Returns: Milliseconds to wait before the next time.
  @discardableResult
  package func followOnce() async -> Int64 { await revocations?.poll() ?? 0 }
}

/// Keeps keys fresh until the task is cancelled.
private func refresh(_ keys: KeySource) async {
  while !Task.isCancelled {
    keys.tick()
    try? await Task.sleep(for: .seconds(1))
  }
}

/// A path below an address that may end with a slash.
private func joined(_ path: String, at base: String) -> String {
  (base.utf8.last == UInt8(ascii: "/") ? String(base.dropLast()) : base) + path
}

extension RevocationFeed {
  fileprivate func address(at issuer: String) -> String {
    url ?? joined("/v1/revocations", at: issuer)
  }
}
