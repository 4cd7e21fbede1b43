import Testing
import Wire

/// What a running service, `doctor` and `audit verify` make of an audit that somebody had his hands in.
@Suite(.timeLimit(.minutes(10)))
struct AuditTamperingTests {
  /// The lines of the log that tell of an event.
  private func events(_ name: String, _ service: Service) throws -> [JSONObject] {
    try service.process.outputLines.map { try JSONObject(parsing: Array($0.utf8)) }
      .filter { $0.text("event") == name }
  }

  /// Waits until everything is chained.
  private func waitUntilChained(_ stage: Stage, _ service: Service) async throws {
    try await service.waits("the audit is not chained") {
      let verdict = try await stage.command("audit", "verify", "--json").json
      return verdict.text("verdict") == "intact" && verdict.integer("unsealed") == 0
    }
  }

  private func unsealed(_ stage: Stage) async throws -> Int {
    Int(try await stage.sql("SELECT count(*) FROM audit WHERE digest IS NULL")) ?? -1
  }

  private func expectBroken(_ stage: Stage, _ fault: String, at position: Int64) async throws {
    let verified = try await stage.command("audit", "verify", "--json")
    #expect(verified.status == 1)
    let first = try #require(try verified.json.objects("faults").first)
    #expect(first.text("fault") == fault)
    #expect(first.integer("position") == position)
    let told = try await stage.command("audit", "verify")
    #expect(told.status == 1)
    #expect(told.output.contains("broken"))
    let examined = try await stage.command("doctor", "--json")
    #expect(examined.status == 1)
    let finding = try examined.json.objects("findings").first { $0.text("subject") == "audit" }
    #expect(finding?.text("verdict") == "failed", "\(examined.output)")
  }

  @Test(arguments: [
    (sql: "DELETE FROM audit_seals", fault: "head_missing", position: 1 as Int64),
    (sql: "DELETE FROM audit", fault: "line_missing", position: 1),
    (sql: "DELETE FROM audit WHERE position = 1", fault: "line_missing", position: 1),
    (sql: "UPDATE audit SET actor = 'admin:eve' WHERE position = 1", fault: "line_changed", position: 1),
    (sql: "UPDATE audit_seals SET code = zeroblob(32)", fault: "head_forged", position: 4),
    (
      sql:
        "INSERT INTO audit (position, at, action, actor, address) VALUES (7, 1, 'signed_in', 'person', x'')",
      fault: "line_missing", position: 5
    ),
  ])
  func
    `nothing is chained any more when an end or its lines are gone, it is told once, and deeds are still written`(
      _ attack: (sql: String, fault: String, position: Int64)
    ) async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      try await waitUntilChained(stage, service)
      try await stage.sql(attack.sql)
      let before = try await unsealed(stage)
      let person = try await service.signIn(Mint.credential())
      try await service.waits("nothing is told of it") { try !events("audit_broken", service).isEmpty }
      try await expectBroken(stage, attack.fault, at: attack.position)
      let written = try await unsealed(stage)
      #expect(written == before + 2)
      _ = try await service.signIn(Mint.credential { $0.subject = Mint.subject() })
      // Two more rounds of chaining, which change nothing.
      try await Task.sleep(for: .seconds(5))
      #expect(try await unsealed(stage) == written + 2)
      #expect(try events("audit_broken", service).count == 1)
      let mine = try await stage.command("audit", "list", "--json", "--account", person.localID).json
      #expect(mine.objects("entries").count == 2)
      // An operator who has seen to it has it begin anew, and it goes on.
      #expect(try await stage.command("audit", "restart").status == 0)
      try await waitUntilChained(stage, service)
      let lines = try await stage.command("audit", "list", "--json").json.objects("entries")
      #expect(lines.first?.text("action") == "audit_restarted")
      #expect(lines.first?.text("actor") == "command")
      _ = try await service.signIn(Mint.credential())
      try await waitUntilChained(stage, service)
      #expect(try await stage.command("audit", "list", "--json").json.objects("entries").count == 3)
      let again = try await stage.command("audit", "restart")
      #expect(again.status == 1)
      #expect(again.errors.contains("only an audit that is broken"))
      #expect(try await stage.command("audit", "list", "--json").json.objects("entries").count == 3)
    }
  }

  @Test func `an audit that was thrown away and begun anew differs from the heads that the log told of`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      try await waitUntilChained(stage, service)
      let head = try #require(try events("audit_chained", service).last)
      #expect(head.integer("position") == 4)
      let witness = "4:\(head.text("digest") ?? "")"
      #expect(try await stage.command("audit", "verify", "--head", witness).status == 0)
      for table in ["audit", "audit_seals", "sqlite_sequence WHERE name = 'audit'"] {
        try await stage.sql("DELETE FROM \(table)")
      }
      _ = try await service.signIn(Mint.credential())
      // The service remembers what it chained last.
      try await service.waits("nothing is told of it") { try !events("audit_broken", service).isEmpty }
      #expect(try events("audit_broken", service).map { $0.text("fault") } == ["head_missing"])
      #expect(try await stage.sql("SELECT count(*) FROM audit_seals") == "0")
      try await service.stop()
      // In itself it is whole: whoever took all of it left nothing for the next one to notice it by.
      try await waitUntilChained(stage, try await stage.start())
      #expect(try await stage.command("audit", "verify").status == 0)
      let compared = try await stage.command("audit", "verify", "--head", witness, "--json")
      #expect(compared.status == 1)
      #expect(try compared.json.objects("faults").map { $0.text("fault") } == ["witness_differs"])
      for wrong in ["2", "x:y", "2:" + String(repeating: "A", count: 64)] {
        #expect(try await stage.command("audit", "verify", "--head", wrong).status == 64)
      }
    }
  }

  /// Starts a service whose audit begins with three lines from two days ago, and has all of it chained.
  private func startWithOldLines(_ stage: Stage) async throws -> Service {
    #expect(try await stage.command("migrate").status == 0)
    for _ in 0..<3 {
      try await stage.sql(
        """
        INSERT INTO audit (at, action, actor, address) VALUES (\(now() - 172_800), 'signed_in', 'person', x'')
        """)
    }
    let service = try await stage.start()
    for _ in 0..<3 { _ = try await service.signIn(Mint.credential { $0.subject = Mint.subject() }) }
    try await waitUntilChained(stage, service)
    return service
  }

  private static let day = ["BRAMLEY_AUDIT_RETENTION": "86400"]

  @Test(arguments: [
    (sql: "UPDATE audit SET at = 1000", position: 1 as Int64),
    (sql: "UPDATE audit SET at = 1000 WHERE position BETWEEN 2 AND 6", position: 2),
  ])
  func `lines that somebody made look old are not forgotten, and no anchor vouches for them`(
    _ attack: (sql: String, position: Int64)
  ) async throws {
    try await withStage { stage in
      try await startWithOldLines(stage).stop()
      try await stage.sql(attack.sql)
      let count = try await stage.sql("SELECT count(*) FROM audit")
      let later = try await stage.start(Self.day)
      try await later.waits("nothing is told of it") { try !events("audit_broken", later).isEmpty }
      let told = try #require(try events("audit_broken", later).first)
      #expect(told.text("fault") == "line_changed")
      #expect(told.integer("position") == attack.position)
      #expect(try await stage.sql("SELECT count(*) FROM audit") == count)
      #expect(try await stage.sql("SELECT count(*) FROM audit_seals WHERE name = 'anchor'") == "0")
      let before = try await unsealed(stage)
      _ = try await later.signIn(Mint.credential())
      // Two more rounds of chaining, which change nothing.
      try await Task.sleep(for: .seconds(5))
      #expect(try await unsealed(stage) > before)
      #expect(try events("audit_broken", later).count == 1)
      #expect(try await stage.command("audit", "verify").status == 1)
      #expect(try await stage.command("audit", "restart").status == 0)
      try await waitUntilChained(stage, later)
    }
  }

  @Test func `lines that were cut off together with the anchor are missed by the service and by doctor`()
    async throws
  {
    try await withStage { stage in
      try await startWithOldLines(stage).stop()
      let service = try await stage.start(Self.day)
      try await service.waits("the old lines are still there") {
        try await stage.sql("SELECT position FROM audit_seals WHERE name = 'anchor'") == "3"
      }
      try await stage.sql("DELETE FROM audit_seals WHERE name = 'anchor'")
      try await stage.sql("DELETE FROM audit WHERE position <= 5")
      _ = try await service.signIn(Mint.credential())
      try await service.waits("nothing is told of it") { try !events("audit_broken", service).isEmpty }
      #expect(try events("audit_broken", service).map { $0.text("fault") } == ["line_missing"])
      try await expectBroken(stage, "line_missing", at: 1)
      #expect(try await stage.command("audit", "restart").status == 0)
      _ = try await service.signIn(Mint.credential())
      try await waitUntilChained(stage, service)
      #expect(try await stage.command("doctor").output.contains("its ends are as they were signed"))
    }
  }

  @Test func `a word that a newer node wrote is chained and shown as it is`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Administrator.settings)
      let visitor = Operator(service: service)
      try await stage.sql(
        """
        INSERT INTO audit (at, action, actor, account, address)
        VALUES (1800000000, 'taught_to_fly', 'person', 'icarus', x'7f000001')
        """)
      _ = try await service.signIn(Mint.credential())
      try await waitUntilChained(stage, service)
      let listed = try await stage.command("audit", "list", "--json").json.objects("entries")
      #expect(
        listed.compactMap { $0.text("action") }.suffix(3) == [
          "taught_to_fly", "account_created", "signed_in",
        ])
      let answered = try await visitor.done("GET", "/audit").objects("entries")
      #expect(answered.map(\.bytes) == listed.map(\.bytes))
      try await stage.sql("UPDATE audit SET action = 'taught_to_swim' WHERE position = 3")
      let verified = try await stage.command("audit", "verify", "--json")
      #expect(verified.status == 1)
      #expect(try verified.json.objects("faults").map { $0.text("fault") } == ["line_changed"])
    }
  }

  @Test func `a line that cannot be ours is shown as it is, and hides none`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      try await waitUntilChained(stage, service)
      try await stage.sql(
        "UPDATE audit SET account = 'two words', actor = CAST(x'ff00' AS TEXT) WHERE position = 1")
      let listed = try await stage.command("audit", "list", "--json")
      #expect(listed.status == 0)
      #expect(try listed.json.objects("entries").map { $0.text("account") }.first == "two words")
      #expect(try listed.json.objects("entries").count == 4)
      let verified = try await stage.command("audit", "verify", "--json")
      #expect(verified.status == 1)
      #expect(try verified.json.objects("faults").map { $0.integer("position") } == [1])
    }
  }
}
