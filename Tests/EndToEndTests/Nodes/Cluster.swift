import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// Nodes on one PostgreSQL, and HAProxy in front of them.
struct Cluster: Sendable {
  let stage: Stage
  let server: PostgresServer
  let nodes: [Service]
  let proxyPort: UInt16

  static let haproxy = "/usr/sbin/haproxy"
  static let isPossible = FileManager.default.isExecutableFile(atPath: haproxy)

  /// What all nodes and commands have set alike.
  static func settings(_ server: PostgresServer) -> [String: String] {
    [
      "BRAMLEY_DATABASE_URL": server.url(),
      "BRAMLEY_MASTER_KEY": Data(repeating: 7, count: 32).base64EncodedString(),
      "BRAMLEY_PUBLIC_URL": "https://auth.example.com", "BRAMLEY_SERVICE_KEYS": "a-service-key",
      "BRAMLEY_RETRY_WINDOW": "600",
    ]
  }

  var settings: [String: String] { Self.settings(server) }

  /// All nodes as one, as clients see them.
  var front: Service { Service(process: nodes[0].process, port: proxyPort) }

  /// Starts a node again where it was.
  func restart(_ index: Int) async throws -> Service {
    try await stage.start(settings.merging(["BRAMLEY_LISTEN": "127.0.0.1:\(nodes[index].port)"]) { $1 })
  }
}

/// Gives a test three nodes.
func withCluster(isDurable: Bool = false, _ body: (Cluster) async throws -> Void) async throws {
  let server = try await PostgresServer(isDurable: isDurable)
  do {
    try await withStage { stage in
      let nodes = try await withThrowingTaskGroup(of: Service.self) { group in
        for _ in 0..<3 { group.addTask { try await stage.start(Cluster.settings(server)) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let (port, _) = try await stage.startProxy(before: nodes.map(\.port))
      try await body(Cluster(stage: stage, server: server, nodes: nodes, proxyPort: port))
    }
  } catch {
    try? await server.stop()
    throw error
  }
  try await server.stop()
}

/// Gives a test a node.
func withNode(
  isDurable: Bool = false, _ body: (Service, PostgresServer, Stage) async throws -> Void
) async throws {
  let server = try await PostgresServer(isDurable: isDurable)
  do {
    try await withStage { stage in
      try await body(try await stage.start(Cluster.settings(server)), server, stage)
    }
  } catch {
    try? await server.stop()
    throw error
  }
  try await server.stop()
}

/// Asks until an answer is as wanted.
///
/// - Returns: How long that took.
@discardableResult
func eventually(
  within patience: Duration = .seconds(20), _ isRight: () async throws -> Bool,
  at location: SourceLocation = #_sourceLocation
) async throws -> Duration {
  let begun = ContinuousClock.now
  while try await !isRight() {
    try #require(ContinuousClock.now - begun < patience, sourceLocation: location)
    try await onThread { _ = poll(nil, 0, 20) }
  }
  return ContinuousClock.now - begun
}

extension PostgresServer {
  /// Runs SQL beside the nodes.
  ///
  /// - Returns: What it answered, as text.
  @discardableResult
  func sql(_ text: String, at location: SourceLocation = #_sourceLocation) async throws -> String {
    let done = try await run("/usr/bin/psql", ["-v", "ON_ERROR_STOP=1", "-Atc", text, url()])
    try #require(done.status == 0, "\(done.errors)", sourceLocation: location)
    return done.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// Asks a node until it refuses what another has ended. Whoever asks two seconds later is not let in, however busy the
/// machine is: a node that could not look knows that it does not know.
///
/// - Parameters:
///   - end: When that was done at the latest.
///   - ask: The status of an answer.
/// - Returns: How long after the end the first refused question was asked.
@discardableResult
func refuses(
  since end: ContinuousClock.Instant, at location: SourceLocation = #_sourceLocation,
  _ ask: () async throws -> Int
) async throws -> Duration {
  while true {
    let asked = ContinuousClock.now
    let status = try await ask()
    if status == 401 { return asked - end }
    #expect(status == 503 || asked - end < .seconds(2), sourceLocation: location)
    try #require(asked - end < .seconds(20), sourceLocation: location)
    try await onThread { _ = poll(nil, 0, 20) }
  }
}
