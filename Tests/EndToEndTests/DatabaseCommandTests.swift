import Foundation
import TestProcesses
import Testing
import Wire

/// `users`, `keys` and `migrate`, beside a running service and without one.
@Suite(.timeLimit(.minutes(10)))
struct DatabaseCommandTests {
  @Test func `users are listed and shown while the service runs`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let subject = Mint.subject()
      let session = try await service.signIn(
        Mint.credential { order in
          order.subject = subject
          order.email = "ada@privaterelay.appleid.com"
        },
        [
          "fullName": #"{"givenName":"Ada","familyName":"Lovelace"}"#,
          "device": #"{"name":"Phone","model":"iPhone17,1","os":"iOS 26","appVersion":"1.0"}"#,
        ])
      let listed = try #require(
        try await stage.command("users", "list", "--json").json.objects("users").first)
      #expect(listed.text("localId") == session.localID)
      let shown = try await stage.command("users", "show", session.localID, "--json").json
      #expect(shown.text("email") == "ada@privaterelay.appleid.com")
      #expect(shown.flag("isPrivateEmail") == true)
      #expect(shown.flag("disabled") == false)
      #expect(shown.text("displayName") == "Ada Lovelace")
      #expect(shown.objects("identities").first?.text("subject") == subject)
      #expect(shown.objects("identities").first?.text("providerId") == "apple.com")
      let device = try #require(shown.objects("sessions").first?.object("device"))
      #expect(device.text("model") == "iPhone17,1")
      #expect(shown.objects("sessions").first?.text("sessionId") == session.sessionID)
      let text = try await stage.command("users", "show", session.localID)
      #expect(text.output.contains("Ada Lovelace"))
      #expect(try await stage.command("users", "list").output.contains(session.localID))
      _ = try await service.refresh(session.refreshToken)
    }
  }

  @Test(arguments: [[], ["--newest"]])
  func `users come in pages, each person once`(_ order: [String]) async throws {
    try await withStage { stage in
      let service = try await stage.start()
      var expected: [String] = []
      for _ in 0..<7 { expected.append(try await service.signIn(Mint.credential()).localID) }
      var found: [String] = []
      var cursor: String?
      repeat {
        let arguments =
          ["users", "list", "--json", "--limit", "3"] + order + (cursor.map { ["--after", $0] } ?? [])
        let page = try await run(
          Program.bramley, arguments, environment: stage.settings, folder: stage.folder
        ).json
        #expect(page.objects("users").count <= 3)
        found += page.objects("users").compactMap { $0.text("localId") }
        cursor = page.text("next")
      } while cursor != nil
      #expect(found == (order.isEmpty ? expected : expected.reversed()))
    }
  }

  @Test func `who is not there is not found`() async throws {
    try await withStage { stage in
      _ = try await stage.start()
      let finished = try await stage.command("users", "show", "A123456789012345678901234567")
      #expect(finished.status == 1)
      #expect(finished.output.isEmpty)
    }
  }

  @Test(arguments: [
    ["users", "list"], ["users", "show", "A123456789012345678901234567"], ["keys", "list"],
  ])
  func `without a database there is nothing to show, and none is made`(_ arguments: [String]) async throws {
    try await withStage { stage in
      let finished = try await run(
        Program.bramley, arguments, environment: stage.settings, folder: stage.folder)
      #expect(finished.status == 69)
      #expect(finished.errors.contains(stage.database))
      #expect(!FileManager.default.fileExists(atPath: stage.database))
    }
  }

  @Test func `keys are listed as they are published, and nothing private with them`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      let published = try await service.get("/.well-known/jwks.json").json.objects("keys")
      let finished = try await stage.command("keys", "list", "--json")
      let listed = try finished.json.objects("signingKeys")
      #expect(Set(listed.compactMap { $0.text("kid") }) == Set(published.compactMap { $0.text("kid") }))
      #expect(Set(listed.compactMap { $0.text("role") }) == ["active", "standby"])
      #expect(listed.allSatisfy { $0.text("alg") == "ES256" })
      let counts = try #require(try finished.json.object("liveSessionsByMasterKey"))
      #expect(counts.names.count == 1)
      #expect(counts.integer(counts.names[0]) == 1)
      #expect(counts.names.first == listed.first?.text("masterKey"))
      #expect(!finished.output.contains("PRIVATE"))
      #expect(try await stage.command("keys", "list").output.contains("active"))
    }
  }

  @Test func `a migration is asked for, done, and then not needed`() async throws {
    try await withStage { stage in
      let pending = try await stage.command("migrate", "--check", "--json")
      #expect(pending.status == 1)
      #expect(try pending.json.flag("upToDate") == false)
      #expect(!FileManager.default.fileExists(atPath: stage.database))
      #expect(try await stage.command("migrate", "--check").status == 1)
      let done = try await stage.command("migrate", "--json")
      #expect(done.status == 0)
      #expect(try done.json.integer("from") == 0)
      #expect(try done.json.flag("upToDate") == true)
      for arguments in [["migrate", "--check"], ["migrate"]] {
        let again = try await run(
          Program.bramley, arguments, environment: stage.settings, folder: stage.folder)
        #expect(again.status == 0)
        #expect(again.output.contains("up to date"))
      }
      // A database with a schema and nothing in it may still get its first key.
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      #expect(try await stage.command("migrate", "--check").status == 0)
    }
  }

  @Test func `a schema from the future is refused by everything`() async throws {
    try await withStage { stage in
      try await stage.start().stop()
      try await stage.sql("PRAGMA user_version = 1000000")
      for arguments in [
        ["serve"], ["migrate"], ["migrate", "--check"], ["users", "list"], ["keys", "list"],
      ] {
        let finished = try await run(
          Program.bramley, arguments, environment: stage.settings, folder: stage.folder)
        #expect(finished.status == 78, "\(arguments)")
        #expect(finished.errors.contains("newer"), "\(finished.errors)")
      }
      #expect(try await stage.sql("PRAGMA user_version") == "1000000")
    }
  }

  @Test func `what is no database of ours is refused`() async throws {
    try await withStage { stage in
      _ = try stage.write(
        "This is a text and no database, and long enough to be read as a header of one.", to: "bramley.db")
      let text = try await stage.command("serve")
      #expect(text.status == 78, "\(text.errors)")
      try FileManager.default.removeItem(atPath: stage.database)
      try await stage.sql("CREATE TABLE other (x)")
      let foreign = try await stage.command("serve")
      #expect(foreign.status == 78, "\(foreign.errors)")
      #expect(foreign.errors.contains("another program"))
      #expect(!FileManager.default.fileExists(atPath: stage.masterKeyFile))
    }
  }

  @Test func `a server's database that has not every letter is refused by every command, and by doctor`()
    async throws
  {
    let server = try await PostgresServer()
    try await withStage { stage in
      let settings = Cluster.settings(server).merging([
        "BRAMLEY_DATABASE_URL": server.url(database: "latin")
      ]) { $1 }
      try await server.sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
      for command in [
        ["serve"], ["migrate"], ["migrate", "--check"], ["users", "list"], ["keys", "rotate"],
        ["audit", "verify"],
        ["export", stage.folder + "/all.jsonl"], ["import", stage.database],
        ["import-firebase", stage.database],
      ] {
        let refused = try await stage.command(command, settings: settings)
        #expect(refused.status == 78, "\(command): \(refused.errors)")
        #expect(refused.errors.contains("LATIN1") && refused.errors.contains("ENCODING 'UTF8'"))
        #expect(!refused.errors.contains("no-secret"))
      }
      let doctor = try await stage.command("doctor", settings: settings)
      #expect(doctor.status == 1 && doctor.output.contains("LATIN1"), "\(doctor.output)")
    }
    try await server.stop()
  }

  @Test func `tables that the role may not read are told from tables that are not there`() async throws {
    let server = try await PostgresServer()
    try await withStage { stage in
      let settings = Cluster.settings(server)
      #expect(try await stage.command("migrate", settings: settings).status == 0)
      try await server.sql("CREATE ROLE guest LOGIN")
      let guest = settings.merging([
        "BRAMLEY_DATABASE_URL": server.url().replacing("bramley:no-secret", with: "guest")
      ]) { $1 }
      for command in [["migrate", "--check"], ["serve"], ["users", "list"]] {
        let refused = try await stage.command(command, settings: guest)
        #expect(refused.status == 69, "\(command): \(refused.errors)")
        #expect(refused.errors.contains("its tables are there, and this role may not read them"))
      }
    }
    try await server.stop()
  }

  @Test func `a folder that is not there is told`() async throws {
    try await withStage { stage in
      let finished = try await stage.command(
        "serve", settings: ["BRAMLEY_DATABASE_URL": "sqlite:\(stage.folder)/none/bramley.db"])
      #expect(finished.status == 69)
      #expect(finished.errors.contains("none/bramley.db"))
    }
  }

  @Test func `a port that is taken is told`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let finished = try await stage.command(
        "serve", settings: ["BRAMLEY_LISTEN": "127.0.0.1:\(service.port)"])
      #expect(finished.status == 69)
      #expect(finished.errors.contains("listen"))
      #expect(try await service.get("/livez").status == 200)
    }
  }
}
