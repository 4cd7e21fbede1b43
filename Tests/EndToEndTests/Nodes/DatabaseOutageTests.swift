import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// A node whose PostgreSQL goes, hangs, is changed and comes back.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct DatabaseOutageTests {
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
        try expect(await node.tryRefresh(token), is: .outage("storage_unavailable"))
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
      for table in ["spent_credentials", "audit"] {
        try await server.sql("ALTER TABLE \(table) RENAME TO elsewhere")
        try expect(await node.trySignIn(Mint.credential()), is: .outage("storage_unavailable"))
        try await eventually { try await node.get("/readyz").status == 503 }
        try await server.sql("ALTER TABLE elsewhere RENAME TO \(table)")
        try await eventually { try await node.get("/readyz").status == 200 }
        _ = try await node.signIn(Mint.credential())
      }
      #expect(told("database_lost", by: node).contains { $0.contains("not by this program") })
    }
  }

  @Test func `a server that has no room for some is not ready until nobody has been refused for a while`()
    async throws
  {
    try await withNode { node, server, _ in
      let token = try await node.signIn(Mint.credential()).refreshToken
      try await server.sql(
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON sessions FOR EACH ROW
          WHEN (NEW.device_name = 'large') EXECUTE FUNCTION refuse();
        """)
      func large() async throws -> HTTPAnswer {
        try await node.trySignIn(Mint.credential(), ["device": #"{"name":"large"}"#])
      }
      try expect(await large(), is: .outage("storage_unavailable"))
      // What was found before is fresh for two seconds.
      try await eventually { try await node.get("/readyz").status == 503 }
      let begun = ContinuousClock.now
      var current = token
      while ContinuousClock.now - begun < .seconds(8) {
        try expect(await large(), is: .outage("storage_unavailable"))
        current = try await node.refresh(current)
        #expect(try await node.get("/readyz").status == 503)
      }
      try await server.sql("DROP TRIGGER refuse ON sessions")
      #expect(try await large().status == 200)
      #expect(try await node.get("/readyz").status == 503)
      try await eventually { try await node.get("/readyz").status == 200 }
      try await node.process.line { $0.contains(#""event":"database_back""#) }
      try await node.stop()
      let lost = told("database_lost", by: node)
      #expect(lost.count == 1 && lost[0].contains("no room left"), "\(lost)")
      #expect(told("database_back", by: node).count == 1)
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
      let load = try await SteadyLoad(people: 24)
      async let work: Void = load.run(on: node)
      try await load.answers(300)
      try await server.kill()
      try await load.isRefused(after: .now)
      try await server.start()
      let back = ContinuousClock.now
      try await load.isAnswered(after: back + .seconds(6))
      load.end()
      try await work
      try await load.check(on: node, stage, returnedAt: back, settings: Cluster.settings(server))
    }
  }

  @Test
  func `D01 D02 connections that are alive when writes are forbidden are left under load, and made anew`()
    async throws
  {
    try await withNode { node, server, stage in
      let load = try await SteadyLoad(people: 16)
      async let work: Void = load.run(on: node)
      try await load.answers(200)
      try await server.sql("ALTER SYSTEM SET default_transaction_read_only = on")
      try await server.sql("SELECT pg_reload_conf()")
      try await load.isRefused(after: .now)
      let lost = try await node.process.line { $0.contains(#""event":"database_lost""#) }
      #expect(lost.contains(#""level":"error""#))
      try await eventually { try await node.get("/readyz").status == 503 }
      // A new connection is told so before it asks for anything.
      let log = try String(contentsOfFile: server.folder + "/log", encoding: .utf8)
      #expect(log.contains("in a read-only transaction"))
      try await server.sql("ALTER SYSTEM RESET default_transaction_read_only")
      try await server.sql("SELECT pg_reload_conf()")
      let back = ContinuousClock.now
      try await eventually { try await node.get("/readyz").status == 200 }
      try await load.isAnswered(after: back)
      try await node.process.line { $0.contains(#""event":"database_back""#) }
      load.end()
      try await work
      try await load.check(on: node, stage, returnedAt: back, settings: Cluster.settings(server))
    }
  }

  @Test
  func
    `D04 two thousand sign-ins, a third of them given up, while Apple is slow, hold no connection for long`()
    async throws
  {
    let apple = try await MockAppleProgram.start()
    let server = try await PostgresServer()
    try await withStage(appleURL: apple.baseURL) { stage in
      let node = try await stage.start(Cluster.settings(server).merging(Team.settings) { $1 })
      try await apple.behave(tokens: "slow", milliseconds: 4000)
      let bodies = try await onThread {
        try (0..<2000).map { number in
          guard number.isMultiple(of: 20) else { return try Mint.credential().body() }
          let (credential, code) = try Mint.credentialWithCode()
          return credential.body(["authorizationCode": quoted(code)])
        }
      }
      let isOver = Watched(false)
      /// The most connections, and the most transactions that were open for nearly as long as Apple takes.
      async let most = peaks(server) { isOver.read { $0 } }
      let statuses = try await onThread {
        var statuses: [Int] = []
        for start in stride(from: 0, to: bodies.count, by: 200) {
          var waiting: [HTTPConnection] = []
          for number in start..<start + 200 {
            let connection = try HTTPConnection(port: node.port)
            connection.send(HTTPRequest.signIn(bodies[number]).bytes)
            // The end of this turn closes the connections of those who give up.
            if !number.isMultiple(of: 3) { waiting.append(connection) }
          }
          statuses += try waiting.map { try $0.receive().status }
        }
        return statuses
      }
      #expect(statuses.allSatisfy { $0 == 200 || $0 == 503 })
      #expect(statuses.count { $0 == 200 } > 1000)
      // Apple has been asked meanwhile, and is still.
      try await apple.waits("calls that take long") { $0.total("exchange") >= 5 }
      isOver.update { $0 = true }
      let seen = try await most
      #expect(seen.looks > 3)
      #expect(seen.connections <= 4)
      #expect(seen.long == 0)
      try await eventually {
        let open =
          "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bramley' AND state <> 'idle'"
        return try await server.sql(open) == "0"
      }
      _ = try await node.signIn(Mint.credential())
    }
    try await server.stop()
    try await apple.kill()
  }

  private func peaks(
    _ server: PostgresServer, until isOver: () -> Bool
  ) async throws -> (looks: Int, connections: Int, long: Int) {
    var seen = (looks: 0, connections: 0, long: 0)
    repeat {
      let look = try await server.sql(
        """
        SELECT count(*) || ' ' || count(*) FILTER (WHERE now() - xact_start > interval '3 seconds')
        FROM pg_stat_activity WHERE application_name = 'bramley'
        """)
      let numbers = look.split(separator: " ").compactMap { Int($0) }
      try #require(numbers.count == 2)
      seen = (seen.looks + 1, max(seen.connections, numbers[0]), max(seen.long, numbers[1]))
    } while !isOver()
    return seen
  }

  @Test(.enabled(if: OverloadLimits.raiseOpenFiles()))
  func
    `D08 five thousand refreshes at once, while the server is away and when it is back, are answered or put off`()
    async throws
  {
    try await withNode { node, server, _ in
      let tokens = try await node.signIn(people: 50).map(\.refreshToken)
      try await server.stop()
      try await eventually { try await node.get("/readyz").status == 503 }
      let away = try await flood(tokens, node.port)
      #expect(away.allSatisfy { $0.answer.status == 503 })
      let waits = Set(away.compactMap { $0.answer["Retry-After"] })
      // All come again, and not all at once.
      #expect(away.allSatisfy { $0.answer["Retry-After"] != nil } && waits.count > 1, "\(waits)")
      try await server.start()
      let herd = try await flood(tokens, node.port)
      #expect(herd.allSatisfy { [200, 503].contains($0.answer.status) })
      #expect(herd.allSatisfy { $0.answer.status == 200 || $0.answer["Retry-After"] != nil })
      let admitted = herd.filter { $0.answer.status == 200 }.map(\.duration).sorted()
      #expect(admitted.count > 1000)
      // The deadline of every request; and all but a few are well within it. A ratio would say nothing: all came at once, so
      // how long each takes is how many are before it.
      #expect(try #require(admitted.last) < .seconds(15))
      #expect(admitted[admitted.count * 99 / 100] < .seconds(10))
      for token in tokens { _ = try await node.refresh(token) }
    }
  }

  /// Sends refreshes over a connection each, before any answer is read.
  private func flood(
    _ tokens: [String], _ port: UInt16
  ) async throws -> [(answer: HTTPAnswer, duration: Duration)] {
    try await onThread {
      let connections = try (0..<5000).map { _ in try HTTPConnection(port: port) }
      let begun = ContinuousClock.now
      for (index, connection) in connections.enumerated() {
        connection.send(HTTPRequest.refresh(tokens[index % tokens.count]).bytes)
      }
      return try connections.map { (try $0.receive(), ContinuousClock.now - begun) }
    }
  }
}
