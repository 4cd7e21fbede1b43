import Foundation
import MockApple
import TestProcesses
import Testing
import Wire

/// The people of an app go with it to another developer team, by the command.
@Suite(.timeLimit(.minutes(10)))
struct TransferTests {
  @Test func `X01 our own team, or what is no team, as the target is refused before Apple is asked`()
    async throws
  {
    try await withMove { apple, stage in
      try await stage.populate(3)
      for target in [MockTeam.id, "mockteam01", "TOOSHORT", "WITH-SIGN1", "ELEVENCHARS", ""] {
        let finished = try await stage.command(
          "apple", "transfer", "export", "--target", target, settings: Team.settings)
        #expect(finished.status == 64, "\(target) \(finished.errors)")
        #expect(finished.errors.contains("--target"))
      }
      let back = try await stage.command(
        "apple", "transfer", "export", "--target", MockTeam.id, settings: Team.settingsAfterMove)
      #expect(back.status == 64)
      let none = try await stage.command("apple", "transfer", "export", settings: Team.settings)
      #expect(none.status == 64)
      let keyless = try await stage.command("apple", "transfer", "export", "--target", MockTeam.otherID)
      #expect(keyless.status == 78)
      let calls = try await apple.calls()
      #expect(calls.total("export") == 0)
      #expect(calls.total("migration") == 0)
      #expect(try await stage.transferStatus(.export).integer("left") == 3)
    }
  }

  @Test func `X04 two thousand people go out and come in, each asked about once, whatever stops it between`()
    async throws
  {
    try await withMove { apple, stage in
      try await stage.populate(2000)
      for half in Half.allCases {
        let first = try stage.beginTransfer(half)
        try await apple.waits("some are done") { $0.people(half.people) >= 200 }
        first.send(signal: SIGINT)
        try #require(try await first.ended() == .exit(1), "\(first.errorText)")
        let stopped = try JSONObject(parsing: Array(try #require(first.outputLines.last).utf8))
        #expect(stopped.flag("interrupted") == true)
        #expect(first.errorText.contains("stopping"))
        let done = try #require(stopped.integer(half.moved))
        #expect(done >= 200 && done < 2000)
        #expect(stopped.integer("left") == 2000 - done)
        let second = try await stage.transfer(half)
        try #require(second.status == 0, "\(second.errors)")
        #expect(try second.json.integer(half.moved) == 2000 - done)
        #expect(try second.json.integer("left") == 0)
        let calls = try await apple.calls()
        #expect(calls.people(half.people) == 2000)
        #expect(calls.total(half.rawValue) == 2000)
        // Done once more, nothing is left to do.
        let third = try await stage.transfer(half)
        #expect(third.status == 0)
        #expect(try third.json.integer("asked") == 0)
        #expect(calls.peak <= 8)
      }
      let status = try await stage.transferStatus()
      #expect(status.integer("rekeyed") == 2000)
      #expect(status.integer("daysLeft") == 60)
      #expect(try await stage.people() == ["2000", "2000"])
      let person = MockTransfer(person: "001234.person77.0456", team: MockTeam.otherID)
      let query =
        "SELECT a.id FROM accounts a JOIN identities i ON i.account = a.number WHERE i.subject = '\(person.subject)'"
      #expect(try await stage.sql(query) == "person77")
    }
  }

  @Test(arguments: Half.allCases)
  func `X04 after a kill it goes on, and only those that were under way are asked about twice`(_ half: Half)
    async throws
  {
    try await withMove { apple, stage in
      try await stage.populate(600)
      if half == .import { try #require(try await stage.transfer(.export).status == 0) }
      let first = try stage.beginTransfer(half)
      try await apple.waits("some are done") { $0.people(half.people) >= 100 }
      first.send(signal: SIGKILL)
      try await first.ended()
      // What was done is in the audit, however the run ended.
      let deed = half == .export ? "apple_transfer_exported" : "identity_rekeyed"
      let state = half == .export ? "exported" : "rekeyed"
      let done = try await stage.sql("SELECT count(*) FROM identities WHERE transfer_state = '\(state)'")
      #expect(try await stage.sql("SELECT count(*) FROM audit WHERE action = '\(deed)'") == done)
      let second = try await stage.transfer(half)
      try #require(second.status == 0, "\(second.errors)")
      let calls = try await apple.calls()
      #expect(calls.people(half.people) == 600)
      #expect((600...608).contains(calls.total(half.rawValue)))
      let status = try await stage.transferStatus(half)
      #expect(status.integer(half.moved) == 600)
    }
  }

  @Test func `two exports at once do no harm: Apple says the same twice, and it is kept once`() async throws {
    try await withMove { apple, stage in
      try await stage.populate(300)
      async let first = stage.transfer(.export)
      async let second = stage.transfer(.export)
      let both = try await [first, second]
      for finished in both { #expect(finished.status == 0, "\(finished.errors)") }
      let moved = try both.map { try $0.json.integer("exported") ?? 0 }
      #expect(moved.reduce(0, +) == 300)
      #expect(try await apple.calls().people("exported") == 300)
      #expect(try await stage.transferStatus(.export).integer("exported") == 300)
      // Eight that begin at once share one access token.
      #expect(try await apple.calls().total("migration") == 2)
    }
  }

  @Test func `an export to yet another team takes nobody's way away`() async throws {
    try await withMove { apple, stage in
      try await stage.populate(9)
      try #require(try await stage.transfer(.export).status == 0)
      // A slip before the move, while it still could be mended.
      for further in [[], ["--dry-run"], ["--retry-refused"]] {
        let slip = try await stage.exportOnwards(further, settings: Team.settings)
        #expect(slip.status == 1)
        #expect(slip.errors.contains("9 people were exported for \(MockTeam.otherID)"))
        #expect(slip.errors.contains("--replace"))
      }
      // After it those who are still to come in could not be had again.
      for further in [[], ["--replace"]] {
        let onwards = try await stage.exportOnwards(further, settings: Team.settingsAfterMove)
        #expect(onwards.status == 0, "\(onwards.errors)")
        #expect(try onwards.json.integer("asked") == 0)
        #expect(onwards.errors.contains("9 people have not come in to our own team yet"))
      }
      #expect(try await apple.calls().total("export") == 9)
      let arrived = try await stage.transfer(.import)
      #expect(try arrived.json.integer("rekeyed") == 9, "\(arrived.errors)")
      #expect(try await stage.transferStatus().integer("left") == 0)
    }
  }

  @Test func `who means another team after all says so`() async throws {
    try await withMove { _, stage in
      try await stage.populate(3)
      try #require(try await stage.transfer(.export).status == 0)
      let other = try await stage.exportOnwards(["--replace"], settings: Team.settings)
      #expect(try other.json.integer("exported") == 3, "\(other.errors)")
      #expect(try await stage.sql("SELECT DISTINCT transfer_team FROM identities") == "MOCKTEAM03")
    }
  }

  @Test func `when Apple refuses everybody it stops, and says why`() async throws {
    try await withMove { apple, stage in
      try await stage.populate(200)
      for half in Half.allCases {
        try await apple.behave(tokens: "closed")
        let stopped = try await stage.transfer(half, half == .import ? ["--accepted", "2020-01-31"] : [])
        #expect(stopped.status == 1)
        #expect(stopped.errors.contains("refuses one after the other (invalid_request)"), "\(stopped.errors)")
        #expect(stopped.errors.contains("--retry-refused"))
        #expect(stopped.errors.contains("60 days since the acceptance are over") == (half == .import))
        #expect(try await apple.calls().total(half.rawValue) < 100)
        try await apple.behave(tokens: "good")
        let again = try await stage.transfer(half, ["--retry-refused"])
        #expect(again.status == 0, "\(again.errors)")
        #expect(try again.json.integer(half.moved) == 200)
      }
      let dry = try await stage.transfer(.import, ["--dry-run", "--accepted", "2026-01-31"])
      #expect(try dry.json.integer("endsAt") == 1_769_817_600 + 60 * 86_400)
    }
  }

  @Test func `doctor looks at the keys of both teams`() async throws {
    try await withMove { _, stage in
      let both = try await stage.command("doctor", settings: Team.settingsAfterMove)
      #expect(both.output.contains("ok  Apple key: key MOCKKEY002 of team MOCKTEAM02"))
      #expect(both.output.contains("ok  Apple key of the old team: key MOCKKEY001 of team MOCKTEAM01"))
      let one = try await stage.command("doctor", settings: Team.settings)
      #expect(!one.output.contains("old team"))
      let same = try await stage.command(
        "doctor",
        settings: Team.settingsAfterMove.merging(["BRAMLEY_APPLE_OLD_TEAM_ID": MockTeam.otherID]) { $1 })
      #expect(same.output.contains("warning  Apple key of the old team: it is of the same team"))
      for (name, value) in [
        ("KEY_ID", MockTeam.otherKeyID.text), ("PRIVATE_KEY", MockTeam.otherPEM),
      ] {
        let shared = try await stage.command(
          "doctor", settings: Team.settingsAfterMove.merging(["BRAMLEY_APPLE_OLD_" + name: value]) { $1 })
        #expect(
          shared.output.contains("warning  Apple key of the old team: it is the other team's key as well"))
      }
    }
  }

  @Test func `a dry run asks nothing, and a limit is kept`() async throws {
    try await withMove { apple, stage in
      try await stage.populate(20)
      let dry = try await stage.transfer(.export, ["--dry-run"])
      #expect(dry.status == 0)
      #expect(try dry.json.integer("wouldAsk") == 20)
      #expect(try await apple.calls().total("export") == 0)
      let some = try await stage.transfer(.export, ["--limit", "7"])
      #expect(some.status == 0)
      #expect(try some.json.integer("exported") == 7)
      #expect(try some.json.integer("left") == 13)
      #expect(try await apple.calls().total("export") == 7)
      let dryImport = try await stage.transfer(.import, ["--dry-run"])
      #expect(try dryImport.json.integer("wouldAsk") == 7)
      #expect(try await stage.transferStatus().integer("daysLeft") == nil)
      let words = try await stage.command("apple", "transfer", "status", settings: Team.settings)
      #expect(words.output.contains("to team           \(MockTeam.otherID)"))
      #expect(words.output.contains("left to export    13"))
      // Import runs for the team that the app went to.
      let early = try await stage.command("apple", "transfer", "import", settings: Team.settings)
      #expect(early.status == 78, "\(early.errors)")
    }
  }

  @Test func `people who took their consent back are counted and kept, and the others go on`() async throws {
    try await withMove { apple, stage in
      try await stage.populate(30)
      let gone = (1...3).map { "001234.person\($0).0456" }
      for subject in gone {
        // Without a sign-in of theirs they are asked about by the first client.
        try await apple.withdraw(subject, client: Client.app)
      }
      try await stage.sql("UPDATE identities SET client_id = '\(Client.app)'")
      let first = try await stage.transfer(.export)
      #expect(first.status == 1)
      #expect(try first.json.integer("exported") == 27)
      #expect(try first.json.integer("refused") == 3)
      let again = try await stage.transfer(.export)
      #expect(again.status == 1)
      #expect(try again.json.integer("asked") == 0)
      #expect(try again.json.integer("refusedInAll") == 3)
      let retried = try await stage.transfer(.export, ["--retry-refused"])
      #expect(try retried.json.integer("refused") == 3)
      #expect(
        try await stage.sql("SELECT group_concat(DISTINCT transfer_detail) FROM identities")
          == "invalid_request")
      // One of those who went out takes it back before he comes in.
      try await apple.withdraw("001234.person9.0456", client: Client.app)
      let arrived = try await stage.transfer(.import, ["--accepted", "2020-01-31"])
      #expect(arrived.status == 1)
      #expect(try arrived.json.integer("rekeyed") == 26)
      let status = try await stage.transferStatus()
      #expect(status.integer("exportRefused") == 3)
      #expect(status.integer("importRefused") == 1)
      #expect(status.integer("daysLeft") == 0)
      #expect(try await stage.people() == ["30", "30"])
    }
  }

  @Test(arguments: ["unavailable", "throttled", "page"])
  func `when Apple is down in the middle, it is waited for`(_ trouble: String) async throws {
    try await withMove { apple, stage in
      try await stage.populate(400)
      let run = try stage.beginTransfer(.export)
      try await apple.waits("some are done") { $0.people("exported") >= 50 }
      try await apple.behave(tokens: trouble)
      try await apple.waits("it is noticed") {
        $0.count("export", trouble) + $0.count("migration", trouble) >= 8
      }
      try await apple.behave(tokens: "good")
      try #require(try await run.ended() == .exit(0), "\(run.errorText)")
      #expect(run.errorText.contains("waiting"))
      let calls = try await apple.calls()
      #expect(calls.people("exported") == 400)
      #expect(calls.count("export") == 400)
    }
  }

  @Test func `when Apple does not know us it ends with 78, and when Apple stays away with 69`() async throws {
    try await withMove { apple, stage in
      try await stage.populate(20)
      try await apple.behave(tokens: "stranger")
      let stranger = try await stage.transfer(.export)
      #expect(stranger.status == 78)
      #expect(stranger.errors.contains("invalid_client"))
      try await apple.behave(tokens: "unavailable")
      let absent = try await stage.transfer(.export, ["--patience", "1"])
      #expect(absent.status == 69)
      #expect(absent.errors.contains("server_error"))
      #expect(try await stage.transferStatus(.export).integer("left") == 20)
      try await apple.behave(tokens: "sporadic", oneIn: 5)
      #expect(try await stage.transfer(.export).status == 0)
      #expect(
        try await stage.audited("apple_transfer_exported") == Array(repeating: MockTeam.otherID, count: 20))
    }
  }
}
