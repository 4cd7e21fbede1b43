import Domain
import PostgresStorage
import Storage
import TestProcesses
import Testing

/// The schema and who may work with it; what only this engine does.
@Suite(.timeLimit(.minutes(3)))
struct PostgresSchemaTests {
  @Test func `nodes that start at once make the schema once`() async throws {
    let url = try await SharedServer.shared.newDatabase()
    let storages = try await inParallel(6) { _ in try PostgresStorage(PostgresOptions(url: url)) }
    for storage in storages {
      try await storage.probe()
      await storage.stop()
    }
    #expect(try execute("SELECT version FROM bramley_schema", at: url) == "1")
  }

  @Test func `a newer schema is refused, and an empty one by who may not make it`() async throws {
    let url = try await SharedServer.shared.newDatabase()
    #expect(throws: StorageOpenError.olderSchema(found: 0, known: 1)) {
      try PostgresStorage(PostgresOptions(url: url), opening: .command)
    }
    #expect(try PostgresStorage.migrate(url: url) == MigrationReport(from: 0, to: 1))
    #expect(try PostgresStorage.migrate(url: url) == MigrationReport(from: 1, to: 1))
    try execute("UPDATE bramley_schema SET version = 2", at: url)
    #expect(throws: StorageOpenError.newerSchema(found: 2, known: 1)) {
      try PostgresStorage(PostgresOptions(url: url))
    }
    #expect(throws: StorageOpenError.newerSchema(found: 2, known: 1)) {
      try PostgresStorage.migrate(url: url)
    }
  }

  @Test func `a database that has not every letter is refused, and one that looks at none is taken`()
    async throws
  {
    let server = try await PostgresServer()
    for (name, encoding) in [("latin", "LATIN1"), ("bytes", "SQL_ASCII")] {
      try execute(
        "CREATE DATABASE \(name) ENCODING '\(encoding)' LOCALE 'C' TEMPLATE template0", at: server.url())
    }
    let refused = server.url(database: "latin")
    let refusal = StorageOpenError.encoding("LATIN1")
    #expect(throws: refusal) { try PostgresStorage(PostgresOptions(url: refused)) }
    #expect(throws: refusal) { try PostgresStorage(PostgresOptions(url: refused), opening: .command) }
    #expect(throws: refusal) { try PostgresStorage.schemaVersion(url: refused) }
    #expect(throws: refusal) { try PostgresStorage.migrate(url: refused) }
    #expect(throws: refusal) { try PostgresStorage.probeWrite(url: refused) }
    let storage = try PostgresStorage(PostgresOptions(url: server.url(database: "bytes")))
    let device = Device(name: "Ada’s 📱", model: nil, os: nil, appVersion: nil)
    let id = try await Desk(storage: storage).arrive(device: device).grant.session.id
    #expect(try await storage.session(id)?.device?.name == device.name)
    await storage.stop()
    try await server.stop()
  }

  @Test func `a schema whose version the role may not read is none that has yet to be made`() async throws {
    let server = try await PostgresServer()
    _ = try PostgresStorage.migrate(url: server.url())
    try execute("CREATE ROLE guest LOGIN", at: server.url())
    let url = server.url().replacing("bramley:no-secret", with: "guest")
    for (change, words) in [
      ("SELECT 1", "permission denied for table bramley_schema"),
      ("REVOKE ALL ON SCHEMA public FROM public", "no schema"),
    ] {
      try execute(change, at: server.url())
      let failure = #expect(throws: StorageOpenError.self) { try PostgresStorage.schemaVersion(url: url) }
      guard case .cannotOpen(let detail) = failure else {
        throw ServerRefusal(words: "\(String(describing: failure))")
      }
      #expect(detail.contains(words))
    }
    try await server.stop()
  }

  @Test func `a URL that cannot be read or reached says why, without its password`() throws {
    for url in ["postgres://u:hush@[::1/x", "postgres://u:hush@127.0.0.1:1/x"] {
      let failure = #expect(throws: StorageOpenError.self) { try PostgresStorage(PostgresOptions(url: url)) }
      guard case .cannotOpen(let detail) = failure else {
        throw ServerRefusal(words: "\(String(describing: failure))")
      }
      #expect(!detail.isEmpty)
      #expect(!detail.contains("hush"))
    }
  }

  @Test func `a zero byte in a text is kept as what is no letter`() async throws {
    try await Engine.postgres.run { desk in
      let device = Device(name: "a\0b", model: nil, os: nil, appVersion: nil)
      let id = try await desk.arrive(device: device).grant.session.id
      let kept = try await desk.storage.session(id)?.device?.name
      #expect(kept == "a\u{FFFD}b" || kept == device.name)
      #expect(try await desk.storage.account(AccountID(unchecked: "a\0b")) == nil)
    }
  }

  @Test func `places of the audit are in the order of commits, without gaps, from two nodes`() async throws {
    let url = try await SharedServer.shared.newDatabase()
    let nodes = try [PostgresStorage(PostgresOptions(url: url)), PostgresStorage(PostgresOptions(url: url))]
    let desks = nodes.enumerated().map { Desk(storage: $1, seed: UInt64($0) + 1) }
    let followed = Task {
      var seen: [Int64] = []
      while seen.count < 2 * 100 {
        let lines = try await nodes[0].audit(AuditQuery(after: seen.last ?? 0, account: nil, limit: 50))
        seen += lines.map(\.entry.position)
        await Task.yield()
      }
      return seen
    }
    _ = try await inParallel(100) { number in
      try await desks[number % 2].arrive("s\(number)", credential: number).isNewUser
    }
    let seen = try await followed.value
    #expect(seen == Array(1...200))
    for node in nodes { await node.stop() }
  }
}
