import API
import AppleIdentity
import Crypto
import Domain
import HTTPServer
import JOSE
import ProviderTokens
import Sessions
import Storage
import Synchronization
import Telemetry
import TestSupport
import Testing
import Wire

/// Log lines as they were written.
final class Lines: Sendable {
  private let text = Mutex("")

  var all: String { text.withLock { $0 } }

  func add(_ bytes: [UInt8]) { text.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
}

/// All routes over memory, with a scripted Apple and a clock that moves by hand.
struct Bench {
  let clock = ManualClock()
  let fetcher: ScriptedFetcher
  let issuer: SessionIssuer
  let storage = MemoryStorage()
  let router: Router
  let metrics = Metrics()
  let log: Log
  let lines = Lines()

  init(
    apiKeys: [String] = [], origins: [String] = ["*"],
    steps: [ScriptedFetcher.Step] = [.answer(.json(TokenForge.apple.keySet))], readiness: Readiness? = nil,
    signIn: Rate? = nil, refresh: Rate? = nil, signUp: Rate? = nil, proxies: [String] = [],
    adminTokens: [String: String] = [:], isDevMode: Bool = false, routes: [Route] = []
  ) async throws {
    fetcher = ScriptedFetcher(steps)
    let lines = lines
    log = try Log(threshold: .debug, capacity: 10_000, clock: clock.wall, sink: LogSink { lines.add($0) })
    let ring = MasterKeyRing(current: try MasterKey(Secret([UInt8](repeating: 1, count: 32))), others: [])
    let keyRules = SigningKeyRules(algorithm: .es256, rotation: 0, lifetime: 3600, leeway: 60)
    let keys = try await settleSigningKeys(
      in: storage, known: nil, ring: ring,
      rules: keyRules, now: clock.now,
      entropy: .system
    ).keys
    issuer = SessionIssuer(
      rules: SessionTokenRules(
        issuer: "https://auth.example.com", audience: "bramley", lifetime: 3600, leeway: 60,
        limits: SessionLimits(idle: 2_592_000, absolute: 31_536_000, retryWindow: 120)),
      recentLoginWindow: 300, linking: .off, openingRules: SessionOpeningRules(maximum: 0),
      watch: SessionWatch(storage: storage, clock: clock.steady), storage: storage, ring: ring, keys: keys,
      teams: DeveloperTeams(present: nil, former: nil),
      clock: clock.wall,
      entropy: .system)
    let endpoints = Endpoints(
      directory: KeyDirectory(
        url: "https://appleid.apple.com/auth/keys", form: .keySet, policy: .standard, fetcher: fetcher,
        clock: clock.steady, report: { _ in }),
      firebase: nil,
      issuer: issuer, storage: storage, signingKeyRules: keyRules, projectID: "bramley",
      publicURL: "https://auth.example.com",
      appleBaseURL: "https://appleid.apple.com",
      linking: .off, allowsAnonymous: false, isDevMode: false, entropy: .system, clock: clock.wall, log: log,
      metrics: metrics,
      readiness: {
        readiness ?? Readiness(database: true, signingKey: true, appleKeys: true, isShuttingDown: false)
      })
    let policy = RequestPolicy(
      appleRules: IdentityTokenRules(
        issuers: ["https://appleid.apple.com"],
        clients: [ClientID(unchecked: AppleClaims.audience): .standard],
        maximumAge: 3600, leeway: 60),
      appleTeam: nil, revocationEndsSessions: true, deletionPolicy: .delete,
      apiKeys: apiKeys.map { Secret($0) }, serviceKeys: [], adminTokens: adminTokens.mapValues { Secret($0) },
      isDevMode: isDevMode, customTokenKeys: [], allowedOrigins: origins,
      limits: RequestLimits(
        signIn: signIn, refresh: refresh, signUp: signUp, clock: clock.steady, entropy: .seeded(1)),
      trustedProxies: proxies.compactMap { Network($0) }, returnURLs: [])
    let counts = APIMetrics(metrics, startedAt: clock.now)
    let tables = endpoints.tables(counts)
    // A test's own come first, and so in the place of the real ones.
    router = Router(
      routes: routes + tables.open + tables.operators, projectID: "bramley", policies: PolicyHolder(policy),
      metrics: counts, entropy: .system, log: log)
  }

  /// Sends a request as the listener would hand it over.
  func send(
    _ method: String, _ target: String, headers: Headers = [:], body: [UInt8] = []
  ) async throws -> Response {
    let parts = target.split(separator: "?", maxSplits: 1).map { String($0) }
    let request = Request(
      method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil, headers: headers, body: body,
      peer: try #require(PeerAddress(bytes: [127, 0, 0, 1], port: 1)), arrived: .now)
    return await router.respond(to: request)
  }

  /// Sends JSON.
  func post(_ path: String, _ json: String, headers: Headers = [:]) async throws -> Response {
    var headers = headers
    headers.append("Content-Type", "application/json")
    return try await send("POST", path, headers: headers, body: Array(json.utf8))
  }

  /// A body that signs in, with members added or replaced; values are JSON.
  func signInBody(_ changes: [String: String?] = [:], claims: AppleClaims? = nil) -> String {
    var members: [String: String?] = [
      "idToken": jsonText(TokenForge.apple.token(claims ?? AppleClaims(issuedAt: clock.now))),
      "rawNonce": jsonText(AppleClaims.rawNonce),
    ]
    members.merge(changes) { $1 }
    return "{"
      + members.compactMap { name, value in value.map { jsonText(name) + ":" + $0 } }.joined(separator: ",")
      + "}"
  }

  func signIn(_ changes: [String: String?] = [:], headers: Headers = [:]) async throws -> Response {
    try await post("/v1/signInWithIdp", signInBody(changes), headers: headers)
  }
}

extension Response {
  func object() throws -> JSONObject { try JSONObject(parsing: body) }

  /// The `reason` of an error answer, or nil.
  var reason: String? { detail("reason") }

  /// The field that an error answer names.
  var field: String? { detail("field") }

  private func detail(_ name: String) -> String? {
    guard let error = try? object().optionalObject("error"), case .array(let details) = error["details"],
      case .object(let detail) = details.first
    else { return nil }
    return detail.text(name)
  }
}
