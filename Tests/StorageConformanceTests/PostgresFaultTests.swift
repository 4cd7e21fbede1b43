import Domain
import Foundation
import PostgresStorage
import Storage
import TestProcesses
import Testing

/// A server that goes, comes back, turns read-only and loses answers.
@Suite(.timeLimit(.minutes(5)))
struct PostgresFaultTests {
  @Test(arguments: [
    ("40001", PostgresFault.Consequence.runAgain), ("40P01", .runAgain), ("55P03", .held),
    ("", .reconnect), ("08000", .reconnect), ("08006", .reconnect), ("25006", .reconnect),
    ("57P01", .reconnect), ("57P02", .reconnect), ("57P03", .reconnect), ("23505", .conflict),
    ("22012", .conflict), ("22P05", .conflict), ("22021", .conflict), ("42P01", .corrupt),
    ("53100", .unavailable), ("57014", .unavailable),
    ("XX000", .unavailable),
  ])
  func `what follows from an error code`(_ state: String, _ consequence: PostgresFault.Consequence) {
    #expect(PostgresFault.consequence(of: state) == consequence)
  }

  @Test(arguments: [
    ("40P01", nil), ("55P03", nil), ("23505", nil), ("22P05", nil), ("57014", nil),
    ("", StorageTrouble.unreachable),
    ("57P01", .unreachable), ("25006", .readOnly), ("42P01", .damaged), ("53100", .full), ("53300", .refused),
    ("XX000", .refused),
  ])
  func `which error codes mean that the database is not there`(_ state: String, _ trouble: StorageTrouble?) {
    #expect(PostgresFault.trouble(of: state) == trouble)
  }

  @Test func `a text that the server does not take is the fault of who sent it, and of nobody beside him`()
    async throws
  {
    let url = try await SharedServer.shared.newDatabase()
    let told = Watched<[StorageNews]>([])
    let storage = try PostgresStorage(
      PostgresOptions(url: url), tell: { news in told.update { $0.append(news) } })
    let desk = Desk(storage: storage)
    try execute(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'no such letter' USING ERRCODE = '22P05'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON sessions FOR EACH ROW
        WHEN (NEW.device_name = 'unspeakable') EXECUTE FUNCTION refuse();
      """, at: url)
    // So many at once that most share a commit with others.
    let outcomes = try await inParallel(200) { number -> StorageError? in
      let name = number.isMultiple(of: 10) ? "unspeakable" : "phone"
      do throws(StorageError) {
        let device = Device(name: name, model: nil, os: nil, appVersion: nil)
        _ = try await storage.signIn(desk.intent("s\(number)", credential: number, device: device))
        return nil
      } catch {
        return error
      }
    }
    #expect(outcomes.count { $0 == nil } == 180)
    #expect(outcomes.count { $0 == .defect } == 20)
    try await storage.probe()
    #expect(told.read { $0 }.isEmpty)
    await storage.stop()
  }

  @Test
  func `D01 D02 a server that was turned read-only and cut is left, and used again when it takes writes`()
    async throws
  {
    let server = try await PostgresServer()
    let storage = try PostgresStorage(PostgresOptions(url: server.url()))
    let desk = Desk(storage: storage)
    let session = try await desk.arrive().grant.session.id
    try execute("ALTER DATABASE postgres SET default_transaction_read_only = on", at: server.url())
    try execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bramley'",
      at: server.url())
    await #expect(throws: StorageError.unavailable) { try await storage.probe() }
    await #expect(throws: StorageError.unavailable) { try await desk.refresh(session, 0) }
    try execute(
      "ALTER DATABASE postgres RESET default_transaction_read_only",
      at: server.url() + "&options=-cdefault_transaction_read_only%3Doff")
    try await eventually { try await storage.probe() }
    try await eventually { _ = try await desk.refresh(session, 0) }
    #expect(try await storage.session(session)?.counter == 1)
    await storage.stop()
    try await server.stop()
  }

  @Test func `D07 connections that are cut in the middle of work lose nothing and repeat nothing`()
    async throws
  {
    let server = try await PostgresServer()
    let storage = try PostgresStorage(PostgresOptions(url: server.url()))
    let desk = Desk(storage: storage)
    var sessions: [SessionID] = []
    for number in 0..<20 {
      sessions.append(try await desk.arrive("s\(number)", credential: number).grant.session.id)
    }
    let ids = sessions
    let cutting = Task {
      for _ in 0..<20 {
        try execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bramley'",
          at: server.url())
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    let counters = try await inParallel(20) { number -> (session: SessionID, counter: UInt32) in
      var counter: UInt32 = 0
      for _ in 0..<20 {
        let outcome = try? await desk.refresh(ids[number], counter)
        if let next = outcome?.session?.counter {
          #expect(next == counter + 1 || next == counter + 2)
          counter = next
        }
      }
      return (ids[number], counter)
    }
    try await cutting.value
    for (session, counter) in counters {
      var kept: Session?
      // The last cut may have been a moment ago.
      try await eventually { kept = try await storage.session(session) }
      // An answer that was an outage may have been written; the repeat of its token finds the successor.
      #expect(kept?.end == nil)
      #expect((kept?.counter ?? 0) >= counter)
      #expect((kept?.counter ?? 0) <= counter + 1)
    }
    await storage.stop()
    try await server.stop()
  }

  @Test func `D05 D07 what was answered outlives the death of the server`() async throws {
    let server = try await PostgresServer(isDurable: true)
    let storage = try PostgresStorage(PostgresOptions(url: server.url()))
    let desk = Desk(storage: storage)
    let answered = Answered()
    let work = Task {
      try await inParallel(8) { number in
        for step in 0..<400 {
          let credential = number * 1000 + step
          guard
            let outcome = try? await storage.signIn(
              desk.intent("p\(credential % 200)", credential: credential)),
            let grant = outcome.signedIn?.grant
          else { continue }
          await answered.note(grant.session.id, of: grant.account.id)
        }
      }
    }
    while await answered.count < 100 { await Task.yield() }
    try await server.kill()
    #expect(await answered.count < 3200)
    try await server.start()
    _ = try await work.value
    try await eventually { try await storage.probe() }
    for (session, account) in await answered.sessions {
      let kept = try await storage.session(session)
      #expect(kept?.account == account)
      #expect(kept?.end == nil)
    }
    let doubled = try execute(
      "SELECT count(*) - count(DISTINCT subject) FROM identities", at: server.url())
    #expect(doubled == "0")
    let orphans = try execute(
      "SELECT count(*) FROM accounts WHERE number NOT IN (SELECT account FROM identities)", at: server.url())
    #expect(orphans == "0")
    await storage.stop()
    try await server.stop()
  }

  @Test func `while the server is away nobody waits, and all is well soon after it is back`() async throws {
    let server = try await PostgresServer()
    let storage = try PostgresStorage(PostgresOptions(url: server.url()))
    let desk = Desk(storage: storage)
    _ = try await desk.arrive()
    try await server.stop()
    await #expect(throws: StorageError.unavailable) { try await storage.probe() }
    await #expect(throws: StorageError.unavailable) { try await desk.arrive("s", credential: 2) }
    let begun = ContinuousClock.now
    for _ in 0..<1000 {
      await #expect(throws: StorageError.unavailable) { try await storage.probe() }
    }
    #expect(ContinuousClock.now - begun < .seconds(3))
    try await server.start()
    let back = ContinuousClock.now
    try await eventually { _ = try await desk.arrive("s", credential: 2) }
    #expect(ContinuousClock.now - back < .seconds(5))
    await storage.stop()
    try await server.stop()
  }
}

/// What was answered before the server died.
private actor Answered {
  private(set) var sessions: [SessionID: AccountID] = [:]
  var count: Int { sessions.count }

  func note(_ session: SessionID, of account: AccountID) { sessions[session] = account }
}

/// Tries until it works, for as long as a test may wait.
private func eventually(_ work: () async throws -> Void) async throws {
  let patience = ContinuousClock.now + .seconds(20)
  while true {
    do {
      return try await work()
    } catch {
      guard ContinuousClock.now < patience else { throw error }
      await Task.yield()
    }
  }
}
