import Foundation
import TestProcesses
import Testing
import Wire

/// Three nodes on one PostgreSQL behind HAProxy behave as one.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Cluster.isPossible))
struct NodeTests {
  @Test func `two hundred refreshes of one token over three nodes get one successor`() async throws {
    try await withCluster { cluster in
      let token = try await cluster.front.signIn(Mint.credential()).refreshToken
      let answers = try await inParallel(200, port: cluster.proxyPort) { _ in .refresh(token) }
      #expect(answers.allSatisfy { $0.status == 200 })
      let successors = Set(try answers.compactMap { try $0.json.text("refresh_token") })
      #expect(successors.count == 1)
      #expect(!successors.contains(token))
      for node in cluster.nodes { #expect(try await node.refresh(token) == successors.first) }
    }
  }

  @Test func `one Apple token offered to all nodes at once is used once, and makes one account`() async throws
  {
    try await withCluster { cluster in
      let subject = Mint.subject()
      let credential = try Mint.credential { $0.subject = subject }
      let body = credential.body()
      let answers = try await inParallel(60, port: cluster.proxyPort) { _ in .signIn(body) }
      let sessions = try answers.map { try SignedIn($0) }
      #expect(Set(sessions.map(\.sessionID)).count == 1)
      #expect(Set(sessions.map(\.refreshToken)).count == 1)
      // Used, it is refused by all.
      _ = try await cluster.nodes[0].refresh(sessions[0].refreshToken)
      for node in cluster.nodes {
        try expect(await node.trySignIn(credential), is: .nonce("credential_already_used"))
      }
      let bodies = try (0..<100).map { _ in try Mint.credential { $0.subject = subject + "9" }.body() }
      let firsts = try await inParallel(100, port: cluster.proxyPort) { .signIn(bodies[$0]) }
        .map { try SignedIn($0) }
      #expect(Set(firsts.map(\.localID)).count == 1)
      #expect(Set(firsts.map(\.sessionID)).count == 100)
      #expect(firsts.count { $0.isNewUser } == 1)
    }
  }

  @Test func `nodes that make the schema at once say nothing on standard error`() async throws {
    try await withCluster { cluster in
      for node in cluster.nodes { #expect(node.process.errorText == "") }
    }
  }

  @Test func `every node signs with a rotated key`() async throws {
    try await withCluster { cluster in
      let signedIn = try await cluster.nodes[0].signIn(Mint.credential())
      let done = try await cluster.stage.command(
        "keys", "rotate", "--force", settings: cluster.settings)
      #expect(done.status == 0, "\(done.errors)")
      func kid(_ node: Service) async throws -> String? {
        try await node.read(node.signIn(Mint.credential()).idToken).header.text("kid")
      }
      let first = try await cluster.nodes[0].read(signedIn.idToken).header.text("kid")
      for node in cluster.nodes {
        try await eventually(within: .seconds(10)) { try await kid(node) != first }
        // What the key before signed is still good.
        _ = try await node.read(signedIn.idToken)
      }
    }
  }

  @Test
  func `two seconds after one node ended a session, or a command an account or a key, no node lets it in`()
    async throws
  {
    try await withCluster { cluster in
      let people = try await cluster.nodes[0].signIn(people: 3)
      func bearer(_ person: SignedIn) -> [(name: String, value: String)] {
        [(name: "Authorization", value: "Bearer \(person.idToken)")]
      }
      func command(_ words: String...) async throws {
        let done = try await run(
          Program.bramley, words, environment: cluster.stage.settings.merging(cluster.settings) { $1 },
          folder: cluster.stage.folder)
        #expect(done.status == 0, "\(done.errors)")
      }
      /// All nodes at once: the time is that of each.
      func refuse(_ person: SignedIn, since end: ContinuousClock.Instant) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for node in cluster.nodes {
            group.addTask {
              try await refuses(since: end) {
                try await node.get("/v1/verify", headers: bearer(person)).status
              }
            }
          }
          try await group.waitForAll()
        }
      }
      // Remembered by all.
      for node in cluster.nodes {
        for person in people {
          #expect(try await node.get("/v1/verify", headers: bearer(person)).status == 200)
        }
      }
      let signedOut = try await cluster.nodes[0].send(
        .post("/v1/signOut", json: "{}", headers: bearer(people[0])))
      #expect(signedOut.status == 200)
      try await refuse(people[0], since: .now)
      try await command("users", "disable", people[1].localID)
      try await refuse(people[1], since: .now)
      // What asks the database is exact.
      for node in cluster.nodes {
        try expect(await node.tryRefresh(people[0].refreshToken), is: .session("session_ended"))
        #expect(try await node.tryRefresh(people[1].refreshToken).status == 400)
      }
      let kid = try await cluster.nodes[0].read(people[2].idToken).header.text("kid")
      try await command("keys", "revoke", try #require(kid))
      try await refuse(people[2], since: .now)
    }
  }

  @Test func `a node that is killed takes nothing with it that was answered`() async throws {
    try await withCluster { cluster in
      let callers = try await callers(120)
      let report = try await load(callers, connections: 16, steps: 4, port: cluster.proxyPort) { count in
        if count == 150 { cluster.nodes[1].process.send(signal: SIGKILL) }
      }
      #expect(report.wrong.isEmpty, "\(report.wrong)")
      #expect(report.answers >= 150)
      try await checkSessions(callers, cluster)
    }
  }

  @Test func `a rolling restart under load fails no request`() async throws {
    try await withCluster { cluster in
      let callers = try await callers(150)
      async let report = load(callers, connections: 12, steps: 20, port: cluster.proxyPort) { _ in }
      for index in cluster.nodes.indices {
        try await cluster.nodes[index].stop()
        _ = try await cluster.restart(index)
        // The next one goes when this one is asked again.
        try await onThread { _ = poll(nil, 0, 600) }
      }
      let seen = try await report
      #expect(seen.wrong.isEmpty, "\(seen.wrong)")
      #expect(seen.refused.isEmpty, "\(seen.refused)")
      #expect(seen.broken == 0 && seen.timedOut == 0)
      #expect(seen.answers == callers.count * 20)
      try await checkSessions(callers, cluster)
    }
  }

  @Test func `the database gone is said at once, and all is well within five seconds of its return`()
    async throws
  {
    try await withCluster { cluster in
      let before = try await cluster.front.signIn(Mint.credential())
      try await cluster.server.stop()
      for node in cluster.nodes {
        try await eventually { try await node.get("/readyz").status == 503 }
        #expect(try await node.get("/livez").status == 200)
        let begun = ContinuousClock.now
        try expect(await node.trySignIn(Mint.credential()), is: .outage("storage_unavailable"))
        try expect(await node.tryRefresh(before.refreshToken), is: .outage("storage_unavailable"))
        #expect(ContinuousClock.now - begun < .seconds(5))
        // What needs no database is answered.
        _ = try await node.read(before.idToken)
      }
      try await cluster.server.start()
      for node in cluster.nodes {
        let duration = try await eventually { try await node.get("/readyz").status == 200 }
        #expect(duration < .seconds(5))
        _ = try await node.signIn(Mint.credential())
      }
      _ = try await cluster.nodes[0].refresh(before.refreshToken)
    }
  }

  @Test func `nodes that run go on while a newer one expands the schema, and none of theirs starts any more`()
    async throws
  {
    try await withCluster { cluster in
      let person = try await cluster.nodes[0].signIn(Mint.credential())
      let expansion = """
        ALTER TABLE accounts ADD COLUMN of_tomorrow BIGINT NOT NULL DEFAULT 1;
        ALTER TABLE sessions ADD COLUMN of_tomorrow TEXT;
        UPDATE bramley_schema SET version = version + 1;
        """
      let expanded = try await run(
        "/usr/bin/psql",
        ["--single-transaction", "-v", "ON_ERROR_STOP=1", "-c", expansion, cluster.server.url()])
      try #require(expanded.status == 0, "\(expanded.errors)")
      var token = person.refreshToken
      for node in cluster.nodes {
        token = try await node.refresh(token)
        #expect(try await node.signIn(Mint.credential()).isNewUser)
        #expect(try await node.get("/readyz").status == 200)
      }
      let late = try cluster.stage.launch(cluster.settings)
      #expect(try await late.ended() == .exit(78))
      let check = try await cluster.stage.command("migrate", "--check", settings: cluster.settings)
      #expect(check.status == 78)
    }
  }

  @Test func `D05 D07 a server that dies under load takes nothing with it that was answered`() async throws {
    try await withCluster(isDurable: true) { cluster in
      let callers = try await callers(120)
      let hasDied = Watched(false)
      async let report = load(callers, connections: 16, steps: 4, port: cluster.proxyPort) { count in
        if count == 150 { hasDied.update { $0 = true } }
      }
      _ = try await hasDied.first { $0 ? true : nil }
      try await cluster.server.kill()
      try await cluster.server.start()
      let seen = try await report
      #expect(seen.wrong.isEmpty, "\(seen.wrong)")
      // `/readyz` may remember a moment before the death: each connection is asked itself.
      for node in cluster.nodes {
        let credential = try Mint.credential()
        try await eventually { try await node.trySignIn(credential).status == 200 }
        let session = try await node.signIn(credential)
        try await eventually { try await node.tryRefresh(session.refreshToken).status == 200 }
      }
      // The proxy hears of it a moment later.
      try await eventually { try await cluster.front.get("/readyz").status == 200 }
      try await checkSessions(callers, cluster)
    }
  }

  @Test func `a command is a node as well, and tells nobody the password`() async throws {
    try await withCluster { cluster in
      let person = try await cluster.nodes[0].signIn(Mint.credential())
      func command(_ words: String...) async throws -> Finished {
        try await run(
          Program.bramley, words, environment: cluster.stage.settings.merging(cluster.settings) { $1 },
          folder: cluster.stage.folder)
      }
      let printed = try await command("config", "print")
      #expect(printed.status == 0)
      #expect(printed.output.contains("BRAMLEY_DATABASE_URL=postgres://"))
      #expect(!printed.output.contains("no-secret"))
      let checked = try await command("migrate", "--check", "--json")
      #expect(checked.status == 0)
      #expect(try checked.json.flag("upToDate") == true)
      #expect(try await command("keys", "list").status == 0)
      let doctor = try await command("doctor", "--json")
      #expect(doctor.output.contains("takes writes"), "\(doctor.output) \(doctor.errors)")
      #expect(!doctor.output.contains("no-secret"))
      #expect(try await command("audit", "verify").status == 0)
      let disabled = try await command("users", "disable", person.localID)
      #expect(disabled.status == 0, "\(disabled.errors)")
      for node in cluster.nodes {
        #expect(try await node.tryRefresh(person.refreshToken).status == 400)
      }
      let bad = try await run(
        Program.bramley, ["migrate"],
        environment: cluster.stage.settings.merging(cluster.settings) { $1 }.merging([
          "BRAMLEY_DATABASE_URL": "postgres://u:no-secret@127.0.0.1:1/x"
        ]) { $1 })
      #expect(bad.status == 69)
      #expect(!bad.errors.isEmpty && !bad.errors.contains("no-secret"))
    }
  }

  private func callers(_ count: Int) async throws -> [Caller] {
    try await onThread {
      try (0..<count).map { _ in
        let subject = Mint.subject()
        return Caller(credential: try Mint.credential { $0.subject = subject }, subject: subject)
      }
    }
  }

  /// Whoever was answered has his session; and everybody one account.
  private func checkSessions(_ callers: [Caller], _ cluster: Cluster) async throws {
    let answered = callers.filter { $0.refreshToken != nil }
    #expect(!answered.isEmpty)
    let report = try await load(answered, connections: 4, steps: 1, port: cluster.proxyPort) { _ in }
    #expect(report.answers == answered.count, "\(report)")
    let listed = try await cluster.stage.command(
      "users", "list", "--limit", "1000", "--json", settings: cluster.settings)
    let subjects = try listed.json.objects("users").compactMap {
      $0.objects("identities").first?.text("subject")
    }
    #expect(Set(subjects).count == subjects.count)
    #expect(Set(subjects).isSuperset(of: answered.map(\.subject)))
  }
}
