import TestProcesses
import Testing

/// A primary that dies and a standby that takes over.
@Suite(.timeLimit(.minutes(5)))
struct FailOverTests {
  @Test func `a synchronous standby that takes over has all that was answered, and sign-ins go on`()
    async throws
  {
    let primary = try await PostgresServer()
    let standby = try await PostgresServer(following: primary)
    // From here on a commit is done when the standby has it.
    try await primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    try await primary.sql("SELECT pg_reload_conf()")
    try await eventually {
      try await primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
    }
    let settings = Cluster.settings(primary).merging([
      "BRAMLEY_DATABASE_URL":
        "postgres://bramley:no-secret@/postgres?host=\(primary.folder),\(standby.folder)"
        + "&target_session_attrs=read-write"
    ]) { $1 }
    try await withStage { stage in
      let node = try await stage.start(settings)
      let load = try await SteadyLoad(people: 16)
      async let work: Void = load.run(on: node)
      try await load.answers(300)
      // Commits that are under way then are looked up at the standby.
      try await primary.kill()
      try await standby.sql("SELECT pg_promote()")
      let back = ContinuousClock.now
      try await load.isAnswered(after: back + .seconds(5))
      load.end()
      try await work
      try await load.check(on: node, stage, returnedAt: back, settings: settings)
      let ready = try await node.get("/readyz")
      #expect(ready.status == 200)
    }
    try await standby.stop()
  }

  @Test func `commits that no standby confirms are an outage like another, and end with it`() async throws {
    let primary = try await PostgresServer()
    try await withStage { stage in
      let node = try await stage.start(Cluster.settings(primary))
      let token = try await node.signIn(Mint.credential()).refreshToken
      try await primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
      try await primary.sql("SELECT pg_reload_conf()")
      try expect(await node.tryRefresh(token), is: .outage("storage_unavailable"))
      let begun = ContinuousClock.now
      for _ in 0..<5 { try expect(await node.tryRefresh(token), is: .outage("storage_unavailable")) }
      #expect(ContinuousClock.now - begun < .seconds(3))
      try await eventually { try await node.get("/readyz").status == 503 }
      try await primary.sql("ALTER SYSTEM RESET synchronous_standby_names")
      try await primary.sql("SELECT pg_reload_conf()")
      try await eventually { try await node.get("/readyz").status == 200 }
      _ = try await node.refresh(token)
    }
    try await primary.stop()
  }
}
