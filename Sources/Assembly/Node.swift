package import Settings
package import Telemetry
internal import API
internal import AppleIdentity
internal import Crypto
internal import Domain
internal import HTTPServer
internal import JOSE
internal import Outbound
internal import ProviderTokens
internal import Sessions
package import Storage
internal import Synchronization

/// One running node: everything built in dependency order, stopped in reverse.
package final class Node: Sendable {
  /// `host:port` that it listens on.
  package let address: String
  /// `host:port` of the operators' listener, if there is one.
  package let adminAddress: String?
  private let listeners: [HTTPListener]
  private let storage: any CountedStorage
  private let fetcher: CurlFetcher
  private let maintenance: [Task<Void, Never>]
  private let watch: SessionWatch
  private let isStopping: Flag
  private let reloading: Reloading

  /// Builds and starts everything; it accepts connections when this returns.
  package init(_ settings: Settings, log: Log) async throws(StartFault) {
    let entropy = Entropy.system
    let clock = WallClock.system
    let metrics = NodeMetrics()
    let storage = try await openStorage(settings, metrics: metrics, log: log)
    let ring = try await openMasterKeys(settings, for: storage, entropy: entropy)
    let settled = try await openSigningKeys(settings, storage, ring, clock, entropy)
    let fetcher = try makeFetcher()
    let directory = startDirectory(settings, fetcher: fetcher, metrics: metrics, log: log)
    let firebase = settings.firebase.map { startFirebase($0, fetcher: fetcher, metrics: metrics, log: log) }

    let socket = try bind(settings.listen)
    var adminSocket = try settings.adminListen.map(bind)
    let publicURL = settings.publicURL(listeningAt: socket.address)
    let watch = SessionWatch(storage: storage, clock: .system)
    let issuer = SessionIssuer(
      rules: tokenRules(settings, issuer: settings.issuer ?? publicURL),
      recentLoginWindow: settings.recentLoginWindow, linking: settings.accountLinking,
      openingRules: SessionOpeningRules(
        maximum: settings.sessionMaximum, limits: settings.sessionLimits), watch: watch, storage: storage,
      ring: ring, keys: settled.keys, teams: settings.developerTeams, clock: clock, entropy: entropy)
    await watch.begin()
    let (probe, isStopping) = (ReadinessProbe(storage: storage), Flag())
    let endpoints = Endpoints(
      directory: directory, firebase: firebase, issuer: issuer, storage: storage,
      signingKeyRules: SigningKeyRules(settings), projectID: settings.projectID, publicURL: publicURL,
      appleBaseURL: settings.appleBaseURL, linking: settings.accountLinking,
      allowsAnonymous: settings.allowsAnonymous, isDevMode: settings.isDevMode, entropy: entropy,
      clock: clock, log: log, metrics: metrics.registry,
      readiness: {
        Readiness(
          database: await probe.isReady() && !watch.isBlind, signingKey: issuer.keys.canSign,
          appleKeys: directory.isReady, isShuttingDown: isStopping.isSet)
      })
    let reloading = Reloading(
      settings, storage: storage, issuer: issuer, log: log, entropy: entropy, clock: clock)
    let counts = APIMetrics(metrics.registry, startedAt: clock.now())
    let tables = endpoints.tables(counts)
    func router(_ routes: [Route]) -> Router {
      Router(
        routes: routes, projectID: settings.projectID, policies: reloading.policies, metrics: counts,
        entropy: entropy, log: log)
    }
    var admin: HTTPListener?
    if let address = settings.adminListen, let socket = adminSocket.take() {
      admin = try listen(at: address, on: socket, settings, tls: nil, router(tables.operators))
    }
    let listener = try listen(
      at: settings.listen, on: socket, settings, tls: settings.tls,
      router(admin == nil ? tables.open + tables.operators : tables.open))
    metrics.watch(
      storage: storage, directory: directory, issuer: issuer, listener: listener, clock: clock, log: log)
    maintenance =
      startMaintenance(
        settings, issuer: issuer, changes: settled.changes, directory: directory, storage: storage,
        ring: ring, clock: clock, entropy: entropy, metrics: metrics, counts: counts, log: log)
      + [
        startAppleWorker(
          settings, issuer: issuer, access: reloading.apple, directory: directory, fetcher: fetcher,
          storage: storage, ring: ring, metrics: metrics, log: log)
      ] + startWebhookWorker(settings, fetcher, storage, clock, entropy, metrics, log)
    self.watch = watch
    address = listener.address
    adminAddress = admin?.address
    listeners = [listener] + (admin.map { [$0] } ?? [])
    self.storage = storage
    self.fetcher = fetcher
    self.isStopping = isStopping
    self.reloading = reloading
  }

  /// Takes over what may change while the service runs; the rest needs a restart.
  package func reload(_ settings: Settings) {
    reloading.take(settings)
  }

  /// Turns readiness off, lets what has begun end, and closes everything; takes less than ten seconds.
  package func stop() async {
    isStopping.set()
    for task in maintenance { task.cancel() }
    watch.close()
    // Together: one after the other they might take twice the time.
    await withTaskGroup { group in
      for listener in listeners { group.addTask { await listener.stop(within: .seconds(6)) } }
      // Calls to Apple that have begun may end.
      group.addTask { [maintenance] in
        await waiting(atMost: .seconds(5)) { for task in maintenance { await task.value } }
      }
    }
    await fetcher.stop()
    // Nobody waits for what the engine still has to do, which may be one busy timeout after the other while
    // another process holds the file; an end in the middle of it harms the database no more than a power cut.
    await waiting(atMost: .seconds(1)) { [storage] in await storage.stop() }
  }
}

/// Returns when `work` is done or the time is up; then it goes on by itself.
func waiting(atMost patience: Duration, _ work: @escaping @Sendable () async -> Void) async {
  let (ends, first) = AsyncStream<Never>.makeStream()
  Task {
    await work()
    first.finish()
  }
  let timer = Task {
    try? await Task.sleep(for: patience)
    first.finish()
  }
  for await _ in ends {}
  timer.cancel()
}

private func startDirectory(
  _ settings: Settings, fetcher: CurlFetcher, metrics: NodeMetrics, log: Log
) -> KeyDirectory {
  let directory = KeyDirectory(
    url: settings.appleBaseURL + "/auth/keys", form: .keySet, policy: .standard, fetcher: fetcher,
    clock: .system,
    report: { outcome in
      metrics.count(outcome)
      report(outcome, as: ("apple_keys_fetched", "apple_keys_fetch_failed"), to: log)
    })
  directory.tick()
  return directory
}

/// Google's keys are fetched when somebody comes with a token: a service is ready without them.
private func startFirebase(
  _ settings: Settings.Firebase, fetcher: CurlFetcher, metrics: NodeMetrics, log: Log
) -> FirebaseSource {
  let directory = KeyDirectory(
    url: settings.keysURL, form: .keySetOrCertificates, policy: .standard, fetcher: fetcher, clock: .system,
    report: { outcome in
      metrics.countFirebase(outcome)
      report(outcome, as: ("firebase_keys_fetched", "firebase_keys_fetch_failed"), to: log)
    })
  return FirebaseSource(rules: settings.rules, directory: directory)
}

/// Starts what a node does beside answering requests.
///
/// - Parameter changes: What was changed of the signing keys before.
private func startMaintenance(
  _ settings: Settings, issuer: SessionIssuer, changes: [SigningKeyChange], directory: KeyDirectory,
  storage: any CountedStorage, ring: MasterKeyRing, clock: WallClock, entropy: Entropy, metrics: NodeMetrics,
  counts: APIMetrics, log: Log
) -> [Task<Void, Never>] {
  let holder = hexText(entropy.bytes(16))
  let sweeper = Sweeper(
    storage: storage, clock: clock, limits: issuer.rules.limits, leeway: settings.clockLeeway,
    holder: holder, log: log)
  let historian = Historian(
    watch: issuer.watch, storage: storage, auditChain: AuditChain(storage: storage, ring: ring), clock: clock,
    holder: holder, retention: settings.auditRetention, log: log)
  let keyWatch = SigningKeyWatch(
    issuer: issuer, storage: storage, ring: ring, rules: SigningKeyRules(settings), clock: clock,
    entropy: entropy, metrics: metrics, log: log)
  return [
    Task { await maintain(directory, sweeper) },
    // Beside what may take long: what was counted belongs to its minute.
    Task { await everySecond { counts.noteActivity(at: clock.now()) } },
    Task { await historian.follow() },
    Task { await historian.chain() },
    Task { await keyWatch.run(atStart: changes) },
    Task { await warnOfLostSessions(settings, ring, to: log) },
  ]
}

private func startAppleWorker(
  _ settings: Settings, issuer: SessionIssuer, access: AppleAccess, directory: KeyDirectory,
  fetcher: CurlFetcher, storage: any CountedStorage, ring: MasterKeyRing, metrics: NodeMetrics, log: Log
) -> Task<Void, Never> {
  let clock = WallClock.system
  let measures = AppleMetrics(metrics.registry, clock: clock)
  let calls = AppleCalls(
    access: access, endpoints: AppleEndpoints(baseURL: settings.appleBaseURL, fetcher: fetcher, clock: clock),
    directory: directory, ring: ring, clock: clock, entropy: .system, metrics: measures, log: log)
  let worker = AppleWorker(
    calls: calls, storage: storage, watch: issuer.watch, access: access, bell: issuer.appleBell, clock: clock,
    metrics: measures, log: log)
  return Task { await worker.run() }
}

/// - Returns: Nothing where no back end is told of accounts.
private func startWebhookWorker(
  _ settings: Settings, _ fetcher: CurlFetcher, _ storage: any Storage, _ clock: WallClock,
  _ entropy: Entropy,
  _ metrics: NodeMetrics, _ log: Log
) -> [Task<Void, Never>] {
  guard let target = settings.webhook else { return [] }
  let worker = WebhookWorker(
    target: target, storage: storage, fetcher: fetcher, clock: clock, entropy: entropy,
    metrics: WebhookMetrics(metrics.registry, clock: clock), log: log)
  return [Task { await worker.run() }]
}

/// Opens the database, and says in the log when it goes or comes back.
private func openStorage(
  _ settings: Settings, metrics: NodeMetrics, log: Log
) async throws(StartFault) -> any CountedStorage {
  let storage = try openDatabase(
    settings, observe: { metrics.observe(commitOf: $0, $1) }, tell: { report($0, to: log) })
  try await demandWhole(storage)
  return storage
}

private func openSigningKeys(
  _ settings: Settings, _ storage: any Storage, _ ring: MasterKeyRing, _ clock: WallClock, _ entropy: Entropy
) async throws(StartFault) -> ChangedSigningKeys {
  do {
    return try await settleSigningKeys(
      in: storage, known: nil, ring: ring, rules: SigningKeyRules(settings), now: clock.now(),
      entropy: entropy)
  } catch {
    throw .signingKeys(error)
  }
}

/// Something that happens once.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}

/// Before the rest is built, which names the port. Whoever connects meanwhile waits.
private func bind(_ address: Settings.Listen) throws(StartFault) -> ListeningSocket {
  do throws(HTTPListenerError) {
    return try ListeningSocket(host: address.host, port: address.port)
  } catch {
    throw .listener(error)
  }
}

private func listen(
  at address: Settings.Listen, on socket: consuming ListeningSocket, _ settings: Settings,
  tls: Settings.TLSFiles?, _ router: Router
) throws(StartFault) -> HTTPListener {
  var configuration = ListenerConfiguration(
    host: address.host, port: address.port, threads: settings.threads, connectionLimit: 20_000,
    bodyLimit: Limits.bodyBytes, bodyMemoryLimit: 64 << 20, connectionMemoryLimit: 32 * 1024, idleSeconds: 30,
    headSeconds: 10, deadline: .seconds(15), maxRequestsInFlight: 4096,
    tls: tls.map { TLSIdentity(certificate: $0.certificate, privateKey: $0.privateKey.reveal()) })
  // Longer than the feed may wait for news.
  configuration.deadlines["/v1/revocations"] = .seconds(Limits.longPollSeconds + 10)
  do {
    return try HTTPListener(
      configuration, on: socket, refusal: { router.refuse($0, $1) },
      bodyLimit: { router.bodyLimit(of: $0) }, respond: { await router.respond(to: $0) })
  } catch {
    throw .listener(error)
  }
}

private func tokenRules(_ settings: Settings, issuer: String) -> SessionTokenRules {
  SessionTokenRules(
    issuer: issuer, audience: settings.projectID, lifetime: settings.sessionTTL,
    leeway: settings.clockLeeway, limits: settings.sessionLimits)
}

extension Settings {
  fileprivate func publicURL(listeningAt address: String) -> String {
    publicURL ?? (tls == nil ? "http://" : "https://") + address
  }

  /// How long sessions live.
  package var sessionLimits: SessionLimits {
    SessionLimits(idle: sessionIdleTTL, absolute: sessionMaxTTL, retryWindow: retryWindow)
  }
}

private func report(
  _ report: KeyFetchReport, as events: (fetched: StaticString, failed: StaticString), to log: Log
) {
  switch report {
  case .fetched(let count): log.info(events.fetched, [.number("keys", Int64(count))])
  case .failed(let fault): log.warning(events.failed, [.text("cause", fault.label)])
  }
}

private func report(_ news: StorageNews, to log: Log) {
  switch news {
  case .lost(let trouble): log.error("database_lost", [.text("cause", trouble.sentence)])
  case .back(let duration): log.info("database_back", [.number("seconds", duration.components.seconds)])
  }
}

/// Background work of a node: Apple's keys every second if they are due, forgotten rows every minute.
private func maintain(_ directory: KeyDirectory, _ sweeper: Sweeper) async {
  var second = 0
  await everySecond {
    directory.tick()
    second += 1
    if second.isMultiple(of: 60) { await sweeper.sweep() }
  }
}

/// Works until the task is cancelled.
private func everySecond(_ work: () async -> Void) async {
  while (try? await Task.sleep(for: .seconds(1))) != nil { await work() }
}
