package import Settings
package import Telemetry
internal import API
internal import AppleIdentity
internal import Crypto
internal import Domain
internal import HTTPServer
internal import Outbound
internal import SQLiteStorage
internal import Sessions
internal import Storage
internal import Synchronization

/// The running service: everything built in dependency order, stopped in reverse.
package final class Service: Sendable {
  /// `host:port` that it listens on.
  package let address: String
  private let listener: HTTPListener
  private let storage: SQLiteStorage
  private let fetcher: CurlFetcher
  private let maintenance: Task<Void, Never>
  private let isStopping: Flag

  /// Builds and starts everything; it accepts connections when this returns.
  package init(_ settings: Settings, log: Log) async throws(StartFault) {
    let entropy = Entropy.system
    let clock = WallClock.system
    let storage = try openDatabase(settings)
    let ring = try await openMasterKeys(settings, for: storage, entropy: entropy)
    let keys: SigningKeys
    do {
      keys = try await loadSigningKeys(
        from: storage, ring: ring, algorithm: settings.sessionAlgorithm, now: clock.now(), entropy: entropy)
    } catch {
      throw .signingKeys(error)
    }
    let fetcher = try makeFetcher()
    let directory = KeyDirectory(
      url: settings.appleBaseURL + "/auth/keys", policy: .standard, fetcher: fetcher, clock: .system,
      report: { report($0, to: log) })
    directory.tick()

    let slot = RouterSlot()
    let listener = try listen(settings, slot)
    let publicURL = settings.publicURL ?? "http://" + listener.address
    let issuer = SessionIssuer(
      rules: tokenRules(settings, issuer: settings.issuer ?? publicURL),
      recentLoginWindow: settings.recentLoginWindow, storage: storage, ring: ring, keys: keys, clock: clock,
      entropy: entropy)
    let probe = ReadinessProbe(storage: storage)
    let isStopping = Flag()
    let endpoints = Endpoints(
      appleRules: settings.appleRules, directory: directory, issuer: issuer, projectID: settings.projectID,
      publicURL: publicURL, clock: clock, log: log,
      readiness: {
        Readiness(
          database: await probe.isReady(), signingKey: true, appleKeys: directory.isReady,
          isShuttingDown: isStopping.isSet)
      })
    slot.fill(
      Router(
        routes: endpoints.routes, apiKeys: settings.apiKeys, allowedOrigins: settings.allowedOrigins,
        entropy: entropy, log: log))
    let sweeper = Sweeper(
      storage: storage, clock: clock, limits: issuer.rules.limits, leeway: settings.clockLeeway, log: log)
    maintenance = Task { await maintain(directory, sweeper) }
    address = listener.address
    self.listener = listener
    self.storage = storage
    self.fetcher = fetcher
    self.isStopping = isStopping
  }

  /// Turns readiness off, lets what has begun end, and closes everything; takes less than ten seconds.
  package func stop() async {
    isStopping.set()
    maintenance.cancel()
    await listener.stop(within: .seconds(8))
    await fetcher.stop()
    await storage.stop()
  }
}

/// Something that happens once.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}

/// Where the listener finds the router, which can be built only when the port is known.
private final class RouterSlot: Sendable {
  private final class Holder: Sendable {
    let router: Router
    init(_ router: Router) { self.router = router }
  }

  private let holder = AtomicLazyReference<Holder>()

  func fill(_ router: Router) { _ = holder.storeIfNil(Holder(router)) }

  var router: Router? { holder.load()?.router }
}

private func listen(_ settings: Settings, _ slot: RouterSlot) throws(StartFault) -> HTTPListener {
  let configuration = ListenerConfiguration(
    host: settings.listen.host, port: settings.listen.port, threads: settings.threads,
    connectionLimit: 20_000,
    bodyLimit: Limits.bodyBytes, connectionMemoryLimit: 32 * 1024, idleSeconds: 30, deadline: .seconds(15),
    maxRequestsInFlight: 4096)
  do {
    return try HTTPListener(
      configuration,
      refusal: { refusal, request in
        slot.router?.refuse(refusal, request) ?? Response(status: 503, closesConnection: true)
      },
      respond: { request in
        // Between binding and building the router lie microseconds.
        guard let router = slot.router else { return Response(status: 503, closesConnection: true) }
        return await router.respond(to: request)
      })
  } catch {
    throw .listener(error)
  }
}

private func tokenRules(_ settings: Settings, issuer: String) -> SessionTokenRules {
  SessionTokenRules(
    issuer: issuer, audience: settings.projectID, lifetime: settings.sessionTTL,
    leeway: settings.clockLeeway,
    limits: SessionLimits(
      idle: settings.sessionIdleTTL, absolute: settings.sessionMaxTTL, retryWindow: settings.retryWindow))
}

private func report(_ report: KeyFetchReport, to log: Log) {
  switch report {
  case .fetched(let count): log.info("apple_keys_fetched", [.number("keys", Int64(count))])
  case .failed(let fault): log.warning("apple_keys_fetch_failed", [.text("cause", "\(fault)")])
  }
}

/// Background work of a node: Apple's keys every second if they are due, forgotten rows every minute.
private func maintain(_ directory: KeyDirectory, _ sweeper: Sweeper) async {
  var second = 0
  while (try? await Task.sleep(for: .seconds(1))) != nil {
    directory.tick()
    second += 1
    if second.isMultiple(of: 60) { await sweeper.sweep() }
  }
}
