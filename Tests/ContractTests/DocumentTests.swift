import API
import AppleIdentity
import Contract
import Crypto
import Domain
import HTTPServer
import ProviderTokens
import Sessions
import Storage
import Telemetry
import TestSupport
import Testing

/// All routes, made as the service makes them, over memory; those of development mode as well.
private func routes() async throws -> [Route] {
  let clock = ManualClock()
  let storage = MemoryStorage()
  let ring = MasterKeyRing(current: try MasterKey(Secret([UInt8](repeating: 1, count: 32))), others: [])
  let keyRules = SigningKeyRules(algorithm: .es256, rotation: 0, lifetime: 3600, leeway: 60)
  let keys = try await settleSigningKeys(
    in: storage, known: nil, ring: ring,
    rules: keyRules, now: clock.now,
    entropy: .system
  ).keys
  let issuer = SessionIssuer(
    rules: SessionTokenRules(
      issuer: "https://auth.example.com", audience: "bramley", lifetime: 3600, leeway: 60,
      limits: SessionLimits(idle: 2_592_000, absolute: 31_536_000, retryWindow: 120)),
    recentLoginWindow: 300, linking: .off, openingRules: SessionOpeningRules(maximum: 0),
    watch: SessionWatch(storage: storage, clock: clock.steady), storage: storage, ring: ring, keys: keys,
    teams: DeveloperTeams(present: nil, former: nil),
    clock: clock.wall,
    entropy: .system)
  let metrics = Metrics()
  let endpoints = Endpoints(
    directory: KeyDirectory(
      url: "https://appleid.apple.com/auth/keys", form: .keySet, policy: .standard,
      fetcher: ScriptedFetcher([]), clock: clock.steady, report: { _ in }),
    firebase: nil,
    issuer: issuer, storage: storage, signingKeyRules: keyRules, projectID: "bramley",
    publicURL: "https://auth.example.com",
    appleBaseURL: "https://appleid.apple.com",
    linking: .off, allowsAnonymous: false, isDevMode: true, entropy: .system, clock: clock.wall,
    log: try Log(threshold: .error, capacity: 10, clock: clock.wall, sink: LogSink { _ in }),
    metrics: metrics,
    readiness: { Readiness(database: true, signingKey: true, appleKeys: true, isShuttingDown: false) })
  let tables = endpoints.tables(APIMetrics(metrics, startedAt: clock.now))
  return tables.open + tables.operators
}

extension Route {
  /// Methods and paths that the document has for it: `*` is every method that OpenAPI and proxies use, `/*` the path
  /// itself and whatever is below.
  fileprivate var described: [(method: String, path: String)] {
    let methods = method == "*" ? ["GET", "POST", "PUT", "PATCH", "DELETE"] : [method]
    let root = path.dropLast(2)
    let paths = path.hasSuffix("/*") ? [String(root), root + "/{path}"] : [path]
    return methods.flatMap { method in paths.map { (method, $0) } }
  }
}

@Suite struct DocumentTests {
  private let document: APIDocument

  init() throws { document = try APIDocument.shared.get() }

  @Test func `the operations of the document are the routes of the service`() async throws {
    // A path of ours may be one of Firebase's as well: two routes, and one operation.
    let served = Set(try await routes().flatMap { $0.described.map { "\($0.method) \($0.path)" } })
    #expect(document.operations.map(\.name) == served.sorted())
  }

  @Test func `the codes and the reasons of the document are those of the error table`() {
    #expect(document.words(of: "Code").sorted() == FailureCode.allCases.map(\.rawValue).sorted())
    #expect(document.words(of: "Reason").sorted() == FailureReason.allCases.map(\.rawValue).sorted())
  }

  @Test func `every operation describes what the listener and a fault of the server may make of it`() {
    let everywhere: [FailureReason] = [
      .requestMalformed, .headerTooLarge, .bodyTooLarge, .requestTimeout, .deadlineExceeded, .overloaded,
      .shuttingDown, .internal,
    ]
    for operation in document.operations {
      let missing = Set(everywhere.map(\.row.status)).subtracting(operation.statuses)
      #expect(missing.isEmpty, "\(operation.name)")
    }
  }

  @Test func `an operation describes 403 where a key is asked for, 401 and 404 where an administrator is`()
    async throws
  {
    for route in try await routes() {
      for (method, path) in route.described {
        let operation = try #require(document.operation(method, path))
        #expect(operation.statuses.contains(403) == (route.access == .app), "\(operation.name)")
        // What asks for a session token by itself is open to everybody else.
        let asksForNothing = route.access == .open || route.access == .administratorPage
        let isSecured = !asksForNothing || operation.statuses.contains(401)
        #expect((operation.node["security"] != nil) == isSecured, "\(operation.name)")
        if route.access == .administrator || route.access == .service {
          #expect(operation.statuses.isSuperset(of: [401, 404]), "\(operation.name)")
        }
        if route.access == .administratorPage {
          #expect(operation.statuses.contains(404), "\(operation.name)")
        }
      }
    }
  }

  @Test func `every scheme that an operation names is there, and none is left over`() {
    let named = document.operations.flatMap { operation in
      (operation.node["security"]?.items ?? []).flatMap { $0.members.keys }
    }
    #expect(Set(named) == Set(document.root["components"]?["securitySchemes"]?.members.keys ?? [:].keys))
  }

  @Test func `the words of the audit are those of the document`() {
    #expect(document.words(of: "AuditAction") == AuditAction.allCases.map(\.rawValue))
  }

  @Test func `an operation describes 415 where a body is read`() {
    for operation in document.operations {
      #expect(
        operation.statuses.contains(415) == (operation.node["requestBody"] != nil), "\(operation.name)")
    }
  }

  @Test func `no status of the error table is left out, and none is made up`() {
    let described = document.operations.reduce(into: Set<Int>()) { $0.formUnion($1.statuses) }
    // 405 is the answer to what is no operation; 401 is a refused bearer.
    let refusals = Set(FailureReason.allCases.map(\.row.status)).subtracting([405]).union([401])
    #expect(described == refusals.union([200, 302, 303, 304]))
  }

  @Test func `every operation has a tag, a summary, and an id of its own unless it has several paths`() {
    let tags = Set((document.root["tags"]?.items ?? []).compactMap { $0["name"]?.text })
    let ids = document.operations.compactMap { $0.node["operationId"]?.text }
    #expect(Set(ids).count == ids.count)
    let paths = Dictionary(grouping: document.operations) { "\($0.method) \($0.source)" }
    for operation in document.operations {
      // An id may stand once only (OpenAPI 3.1 §4.8.10), and an alias would repeat it.
      let isAlias = (paths["\(operation.method) \(operation.source)"] ?? []).count > 1
      #expect((operation.node["operationId"] == nil) == isAlias, "\(operation.name)")
      #expect(operation.node["summary"]?.text?.isEmpty == false, "\(operation.name)")
      for tag in operation.node["tags"]?.items ?? [.null] { #expect(tags.contains(tag.text ?? "")) }
    }
  }

  @Test func `every body that is taken has an example, which its schema takes`() {
    for operation in document.operations {
      for (type, content) in operation.node["requestBody"]?["content"]?.members ?? [:] {
        let examples = content["examples"]?.members ?? [:]
        #expect(!examples.isEmpty, "\(operation.name) \(type)")
        for (name, example) in examples {
          let schema = Schema(content["schema"] ?? .null, in: document.root)
          #expect(schema.faults(example["value"] ?? .null) == [], "\(operation.name) \(name)")
        }
      }
    }
  }

  @Test func `the example of a refusal is one`() throws {
    let examples = document.root["components"]?["responses"]?["Refused"]?["content"]?["application/json"]?[
      "examples"]
    for (name, example) in try #require(examples).members {
      let faults = Schema(.map(["$ref": .text("#/components/schemas/Failure")]), in: document.root)
        .faults(example["value"] ?? .null)
      #expect(faults == [], "\(name)")
    }
  }
}
