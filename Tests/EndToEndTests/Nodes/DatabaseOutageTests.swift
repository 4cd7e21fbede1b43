import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// A node whose PostgreSQL goes, hangs, is changed and comes back.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct DatabaseOutageTests {
  private func withNode(
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

  private func told(_ event: String, by node: Service) -> [String] {
    node.process.outputLines.filter { $0.contains("\"event\":\"\(event)\"") }
  }

  @Test func `a database that goes and comes back is told of once each, and without its secrets`()
    async throws
  {
    try await withNode { node, server, _ in
      let token = try await node.signIn(Mint.credential()).refreshToken
      try await server.stop()
      try await node.process.line { $0.contains(#""event":"database_lost""#) }
      for _ in 0..<20 { try expect(await node.tryRefresh(token), is: .outage("storage_unavailable")) }
      #expect(told("database_back", by: node).isEmpty)
      try await server.start()
      let back = try await node.process.line { $0.contains(#""event":"database_back""#) }
      #expect(try JSONObject(parsing: Array(back.utf8)).integer("seconds") != nil)
      _ = try await node.refresh(token)
      try await node.stop()
      let lost = told("database_lost", by: node)
      #expect(lost.count == 1 && told("database_back", by: node).count == 1, "\(lost)")
      #expect(lost.allSatisfy { $0.contains("it cannot be reached") && $0.contains(#""level":"error""#) })
      for line in node.process.outputLines {
        #expect(!line.contains("no-secret") && !line.contains(server.folder), "\(line)")
      }
    }
  }

  @Test func `a server that hangs makes a node unready in time, and who comes then does not wait`()
    async throws
  {
    try await withNode { node, server, _ in
      let token = try await node.signIn(Mint.credential()).refreshToken
      #expect(try await node.get("/readyz").status == 200)
      try server.freeze()
      let frozen = ContinuousClock.now
      // What was found before is fresh for two seconds, and the next answer is waited for as long.
      try await eventually { try await node.get("/readyz").status == 503 }
      #expect(ContinuousClock.now - frozen < .seconds(6))
      let asked = ContinuousClock.now
      try expect(await node.get("/readyz"), is: .outage("storage_unavailable"))
      #expect(ContinuousClock.now - asked < .seconds(2))
      // The first ones are still waiting; from here on nobody is let wait.
      try await node.process.line { $0.contains(#""event":"database_lost""#) && $0.contains("in time") }
      let begun = ContinuousClock.now
      for _ in 0..<10 {
        try expect(await node.trySignIn(Mint.credential()), is: .outage("storage_unavailable"))
      }
      #expect(ContinuousClock.now - begun < .seconds(3))
      try server.thaw()
      let thawed = ContinuousClock.now
      try await eventually { try await node.get("/readyz").status == 200 }
      #expect(ContinuousClock.now - thawed < .seconds(5))
      _ = try await node.refresh(token)
      _ = try await node.signIn(Mint.credential())
    }
  }

  @Test func `a node that lacks a table that sign-ins need is not ready until it is back`() async throws {
    try await withNode { node, server, _ in
      func rename(_ old: String, _ new: String) async throws {
        let done = try await run(
          "/usr/bin/psql", ["-c", "ALTER TABLE \(old) RENAME TO \(new)", server.url()])
        try #require(done.status == 0, "\(done.errors)")
      }
      for table in ["spent_credentials", "audit"] {
        try await rename(table, "elsewhere")
        try expect(await node.trySignIn(Mint.credential()), is: .outage("storage_unavailable"))
        try await eventually { try await node.get("/readyz").status == 503 }
        try await rename("elsewhere", table)
        try await eventually { try await node.get("/readyz").status == 200 }
        _ = try await node.signIn(Mint.credential())
      }
      #expect(told("database_lost", by: node).contains { $0.contains("not by this program") })
    }
  }

  @Test func `a server that was restarted while nobody asked costs the next request nothing`() async throws {
    try await withNode { node, server, _ in
      var token = try await node.signIn(Mint.credential()).refreshToken
      for round in 0..<6 {
        if round.isMultiple(of: 2) { try await server.stop() } else { try await server.kill() }
        try await server.start()
        let begun = ContinuousClock.now
        if round < 3 {
          token = try await node.refresh(token)
          _ = try await node.signIn(Mint.credential())
        } else {
          _ = try await node.signIn(Mint.credential())
          token = try await node.refresh(token)
        }
        #expect(ContinuousClock.now - begun < .seconds(3))
      }
    }
  }

  @Test func `D07 while a server dies and comes back every request ends, and what was answered holds`()
    async throws
  {
    try await withNode(isDurable: true) { node, server, stage in
      let callers = try await onThread {
        try (0..<24).map { _ in
          let subject = Mint.subject()
          return Caller(credential: try Mint.credential { $0.subject = subject }, subject: subject)
        }
      }
      let seen = Watched(Ends())
      async let work: Void = keepAsking(callers, of: node, into: seen)
      _ = try await seen.first { $0.answers.count > 300 ? true : nil }
      try await server.kill()
      let died = ContinuousClock.now
      _ = try await seen.first { ends in ends.refusals.contains { $0 > died } ? true : nil }
      try await server.start()
      let back = ContinuousClock.now
      // All is well five seconds later; until then a request may be refused, and none may be lost.
      _ = try await seen.first { ends in ends.answers.contains { $0 > back + .seconds(6) } ? true : nil }
      seen.update { $0.isOver = true }
      try await work
      let ends = seen.read { $0 }
      #expect(ends.others == [])
      #expect(ends.refusals.allSatisfy { $0 < back + .seconds(5) })
      for caller in callers {
        let token = try #require(caller.refreshToken)
        _ = try await node.refresh(token)
      }
      let listed = try await stage.command(
        "users", "list", "--limit", "1000", "--json", settings: Cluster.settings(server))
      let subjects = try listed.json.objects("users").compactMap {
        $0.objects("identities").first?.text("subject")
      }
      #expect(subjects.sorted() == callers.map(\.subject).sorted())
    }
  }

  /// How requests ended, and when.
  private struct Ends: Sendable {
    var answers: [ContinuousClock.Instant] = []
    var refusals: [ContinuousClock.Instant] = []
    var others: [String] = []
    var isOver = false
  }

  /// Has each caller send one request after the other until it is over.
  private func keepAsking(_ callers: [Caller], of node: Service, into seen: Watched<Ends>) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for caller in callers {
        group.addTask {
          try await onThread {
            let connection = try HTTPConnection(port: node.port)
            while !seen.read(\.isOver) {
              do throws(LoadFault) {
                try caller.step(over: connection)
                seen.update { $0.answers.append(.now) }
              } catch {
                if case .refused(let answer) = error, answer["Retry-After"] != nil {
                  seen.update { $0.refusals.append(.now) }
                  _ = poll(nil, 0, 20)
                } else {
                  seen.update { $0.others.append("\(error)") }
                  return
                }
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
