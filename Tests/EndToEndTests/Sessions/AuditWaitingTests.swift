import Testing
import Wire

/// What an operator is told of an audit that is not chained, or cannot be compared with what was told of it.
@Suite(.timeLimit(.minutes(10)))
struct AuditWaitingTests {
  private func events(_ name: String, _ service: Service) throws -> [JSONObject] {
    try service.process.outputLines.map { try JSONObject(parsing: Array($0.utf8)) }
      .filter { $0.text("event") == name }
  }

  private func unsealed(_ stage: Stage) async throws -> String {
    try await stage.sql("SELECT count(*) FROM audit WHERE digest IS NULL")
  }

  /// A line of two minutes ago.
  private func writeLate(_ stage: Stage) async throws {
    try await stage.sql(
      """
      INSERT INTO audit (at, action, actor, address) VALUES (\(now() - 120), 'signed_in', 'person', x'')
      """)
  }

  /// Keeps everybody out of the chaining.
  private func hold(_ stage: Stage, until: Int64) async throws {
    try await stage.sql("INSERT OR REPLACE INTO leases VALUES ('audit', 'nobody', \(until))")
  }

  private func auditFinding(_ stage: Stage) async throws -> String? {
    try await stage.command("doctor", "--json").json.objects("findings")
      .first { $0.text("subject") == "audit" }?.text("verdict")
  }

  @Test(arguments: [3600, 86_400 * 365, Int64.max - 2_000_000_000] as [Int64])
  func `the chaining is not kept by a node whose clock was ahead, or that never was`(
    _ ahead: Int64
  ) async throws {
    try await withStage { stage in
      let service = try await stage.start()
      try await hold(stage, until: now() + ahead)
      _ = try await service.signIn(Mint.credential())
      try await service.waits("the audit is not chained") { try await unsealed(stage) == "0" }
      #expect(try await stage.command("audit", "verify").status == 0)
    }
  }

  @Test func `lines that nobody chains are told by the log, by doctor and by audit verify`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      try await service.waits("the audit is not chained") {
        try await stage.sql("SELECT position FROM audit_seals") == "2"
      }
      try await hold(stage, until: now() + 65)
      try await writeLate(stage)
      let verified = try await stage.command("audit", "verify", "--json")
      #expect(verified.status == 1)
      #expect(try verified.json.text("verdict") == "not_chained")
      #expect(try verified.json.integer("position") == 3)
      let told = try await stage.command("audit", "verify")
      #expect(told.status == 1)
      #expect(told.output.contains("nobody chains it"))
      #expect(try await auditFinding(stage) == "warning")
      try await service.waits("nothing is told of it") { try !events("audit_not_chained", service).isEmpty }
      try await Task.sleep(for: .seconds(5))
      let reasons = try events("audit_not_chained", service)
      #expect(reasons.map { $0.text("cause") } == ["held_by_another"])
      try await stage.sql("DELETE FROM leases")
      try await service.waits("the audit is not chained") { try await unsealed(stage) == "0" }
      #expect(try await stage.command("audit", "verify").status == 0)
      #expect(try await auditFinding(stage) == "ok")
    }
  }

  @Test func `a head from before the anchor cannot be compared, and audit verify says so`() async throws {
    try await withStage { stage in
      #expect(try await stage.command("migrate").status == 0)
      try await stage.sql(
        """
        INSERT INTO audit (at, action, actor, address) VALUES (\(now() - 172_800), 'signed_in', 'person', x'')
        """)
      let first = try await stage.start()
      try await first.waits("the audit is not chained") { try await unsealed(stage) == "0" }
      let digest = try await stage.sql("SELECT lower(hex(digest)) FROM audit WHERE position = 1")
      let later = try await stage.sql("SELECT lower(hex(digest)) FROM audit WHERE position = 2")
      #expect(try await stage.command("audit", "verify", "--head", "1:\(digest)").status == 0)
      try await first.stop()
      let second = try await stage.start(["BRAMLEY_AUDIT_RETENTION": "86400"])
      try await second.waits("the old line is still there") {
        try await stage.sql("SELECT position FROM audit_seals WHERE name = 'anchor'") == "1"
      }
      // The anchor still has its digest.
      #expect(try await stage.command("audit", "verify", "--head", "1:\(digest)").status == 0)
      try await second.stop()
      // What an operator threw away is not there to be compared either.
      try await stage.sql("UPDATE audit SET actor = 'eve' WHERE position = 2")
      #expect(try await stage.command("audit", "restart").status == 0)
      for head in ["1:\(digest)", "2:\(later)"] {
        let compared = try await stage.command("audit", "verify", "--head", head, "--json")
        #expect(compared.status == 1)
        #expect(try compared.json.text("verdict") == "not_compared")
        #expect(try compared.json.text("head") == head)
        let told = try await stage.command("audit", "verify", "--head", head)
        #expect(told.status == 1)
        #expect(told.output.contains("could not be compared"))
      }
    }
  }
}
