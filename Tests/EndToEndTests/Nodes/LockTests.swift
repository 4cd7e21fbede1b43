import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// Rows and tables that somebody else has locked.
@Suite(.timeLimit(.minutes(10)))
struct LockTests {
  /// What requests came to, in the order in which they were answered.
  private struct Answers: Sendable {
    var ofOthers: [HTTPAnswer] = []
    var ofOwner: [HTTPAnswer] = []
    var readiness: [Int] = []
  }

  @Test(arguments: [
    "UPDATE accounts SET is_disabled = is_disabled WHERE number =",
    // The name of somebody who comes for the first time.
    "UPDATE identities SET subject = subject || '9' WHERE account =",
  ])
  func `who needs a row that is held is put off, and nobody else`(_ change: String) async throws {
    try await withCluster { cluster in
      let owner = try Mint.credential()
      let account = try await cluster.nodes[0].signIn(owner).localID
      // Who comes back, to be told from who is new.
      let returning = try await cluster.front.signIn(people: 25)
      let number = "(SELECT number FROM accounts WHERE id = '\(account)')"
      let holder = try await cluster.server.hold("\(change) \(number)", cluster.stage)
      let known = "SELECT subject FROM identities WHERE account = \(number)"
      let subject = try await cluster.server.sql(known) + (change.contains("'9'") ? "9" : "")
      let seen = Watched(Answers())
      try await withThrowingTaskGroup(of: Void.self) { group in
        for node in cluster.nodes {
          group.addTask {
            while seen.read({ $0.ofOthers.count < 50 * 4 || $0.ofOwner.isEmpty }) {
              let status = try await node.get("/readyz").status
              seen.update { $0.readiness.append(status) }
              try await onThread { _ = poll(nil, 0, 50) }
            }
          }
          group.addTask {
            let again = try Mint.credential { $0.subject = subject }
            let answer = try await node.trySignIn(again)
            seen.update { $0.ofOwner.append(answer) }
          }
        }
        for person in 0..<50 {
          group.addTask {
            let node = cluster.nodes[person % 3]
            var token = person < 25 ? returning[person].refreshToken : ""
            for _ in 0..<4 {
              let answer =
                token.isEmpty ? try await node.trySignIn(Mint.credential()) : try await node.tryRefresh(token)
              let json = try answer.json
              token = json.text("refreshToken") ?? json.text("refresh_token") ?? ""
              seen.update { $0.ofOthers.append(answer) }
            }
          }
        }
        try await group.waitForAll()
      }
      // Nobody has let go of the row.
      #expect(holder.state.read { $0.end == nil })
      let answers = seen.read { $0 }
      #expect(answers.ofOthers.count == 200 && answers.ofOthers.allSatisfy { $0.status == 200 })
      #expect(!answers.readiness.isEmpty && answers.readiness.allSatisfy { $0 == 200 })
      for answer in answers.ofOwner {
        try expect(answer, is: .outage("storage_unavailable"))
        #expect(answer["Retry-After"] != nil)
      }
      for node in cluster.nodes {
        #expect(!node.process.outputLines.contains { $0.contains("database_lost") })
      }
      // Who is waiting when it is let go is answered.
      let late = try Mint.credential { $0.subject = subject }
      async let waiting = cluster.nodes[1].trySignIn(late)
      holder.closeInput()
      try await holder.ended()
      let admitted = try await SignedIn(waiting).localID
      let again = try Mint.credential { $0.subject = subject }
      #expect(try await cluster.nodes[2].signIn(again).localID == admitted)
      let doubled = "SELECT count(*) - count(DISTINCT subject) FROM identities"
      #expect(try await cluster.server.sql(doubled) == "0")
      // Who was put off has spent nothing.
      let spent = try await cluster.server.sql("SELECT count(*) FROM spent_credentials")
      #expect(spent == "\(1 + 25 + 25 + 2)")
    }
  }

  @Test(arguments: [
    "LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE", "LOCK TABLE spent_credentials IN SHARE MODE",
    "UPDATE places SET audit = audit",
  ])
  func `what all need and somebody holds is told of as that, and sign-ins are put off until it is free`(
    _ change: String
  ) async throws {
    try await withNode { node, server, stage in
      _ = try await node.signIn(Mint.credential())
      let holder = try await server.hold(change, stage)
      let credential = try Mint.credential()
      try expect(await node.trySignIn(credential), is: .outage("storage_unavailable"))
      let lost = try await node.process.line { $0.contains(#""event":"database_lost""#) }
      #expect(lost.contains("others hold what is to be changed"))
      #expect(try await node.get("/livez").status == 200)
      // More than are set aside.
      let bodies = try (0..<300).map { _ in try Mint.credential().body() }
      let answers = try await inParallel(300, port: node.port) { .signIn(bodies[$0]) }
      #expect(answers.allSatisfy { $0.status == 503 && $0["Retry-After"] != nil })
      #expect(holder.state.read { $0.end == nil })
      holder.closeInput()
      try await holder.ended()
      try await eventually { try await node.get("/readyz").status == 200 }
      #expect(try await node.signIn(credential).isNewUser)
      try await node.process.line { $0.contains(#""event":"database_back""#) }
      let lines = node.process.outputLines.filter { $0.contains("database_lost") }
      #expect(lines.allSatisfy { $0.contains("others hold") }, "\(lines)")
    }
  }

  @Test func `readiness needs no row that somebody else could hold`() async throws {
    try await withNode { node, server, stage in
      let holder = try await server.hold("UPDATE pulse SET beats = beats", stage)
      let beginning = ContinuousClock.now
      // Beyond what an answer is remembered.
      while ContinuousClock.now - beginning < .seconds(5) {
        #expect(try await node.get("/readyz").status == 200)
        try await onThread { _ = poll(nil, 0, 50) }
      }
      holder.closeInput()
      try await holder.ended()
    }
  }
}

extension PostgresServer {
  /// Has somebody else do something in a transaction that ends, undone, when the input of the process is closed.
  func hold(_ change: String, _ stage: Stage) async throws -> ChildProcess {
    let holder = stage.keep(
      try ChildProcess(
        "/usr/bin/psql",
        [
          "-v", "ON_ERROR_STOP=1", "-q", "-c", "BEGIN", "-c", change, "-c", "\\! echo held", "-f", "-", url(),
        ],
        environment: Program.environment, folder: "/tmp", input: nil))
    try await holder.line { $0 == "held" }
    return holder
  }
}
