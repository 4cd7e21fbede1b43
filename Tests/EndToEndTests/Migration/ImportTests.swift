import Foundation
import TestProcesses
import Testing
import Wire

/// `bramley import-firebase`.
@Suite(.timeLimit(.minutes(10)))
struct ImportTests {
  private let mixed = Export(users: [
    Export.user("ada", apple: "001.ada", [("email", #""ada@example.com""#), ("emailVerified", "true")]),
    Export.user(
      "bob", [("email", #""bob@example.com""#), ("passwordHash", #""AAAA""#), ("salt", #""BB==""#)]),
    Export.user(
      "cid", apple: "001.cid", [("email", #""x@privaterelay.appleid.com""#), ("disabled", "true")]),
    Export.user("guest"), Export.user("phone", [("phoneNumber", #""+15550100""#)]),
    Export.user("dup", apple: "001.dup", [("email", #""ada@example.com""#)]),
    Export.user("twice", apple: "001.ada"),
    Export.user(
      "big", apple: "001.big",
      [("customAttributes", jsonString(#"{"a":"\#(String(repeating: "x", count: 1000))"}"#))]),
    Export.user("claims", apple: "001.claims", [("customAttributes", jsonString(#"{"plan":"pro"}"#))]),
    #"{"email":"no-id@example.com"}"#, "{nonsense}", "null",
    // In microseconds, not in milliseconds.
    #"{"localId":"early","createdAt":"1700000000000000"}"#,
  ])

  private func expect(
    _ json: JSONObject, _ figures: [String: Int64], at location: SourceLocation = #_sourceLocation
  ) {
    for (name, count) in figures {
      #expect(json.integer(name) == count, "\(name)", sourceLocation: location)
    }
  }

  @Test func `a trial says what an import comes to, and writes nothing`() async throws {
    try await withStage { stage in
      let path = try await stage.prepare(mixed.text)
      let figures: [String: Int64] = [
        "users": 13, "imported": 7, "present": 0, "linked": 0, "refused": 6, "noAppleID": 3, "anonymous": 1,
        "passwordOnly": 1, "phoneOnly": 1, "relayEmail": 1, "duplicateEmails": 1, "duplicateAppleIDs": 1,
        "disabled": 1, "claimsTooLarge": 1, "older": 0,
      ]
      let trial = try await stage.importUsers(path, "--dry-run")
      #expect(trial.status == 1)
      expect(try trial.json, figures)
      #expect(try trial.json.flag("dryRun") == true)
      #expect(try await stage.accountCount() == 0)
      let errors = stage.folder + "/errors.jsonl"
      let real = try await stage.importUsers(path, "--errors", errors)
      #expect(real.status == 1)
      expect(try real.json, figures)
      #expect(try await stage.accountCount() == 7)
      #expect(real.errors.isEmpty)
      let lines = try String(contentsOfFile: errors, encoding: .utf8).split(separator: "\n").map(String.init)
      #expect(
        Set(lines) == [
          #"{"index":6,"localId":"twice","reason":"duplicate_raw_id"}"#,
          #"{"index":7,"localId":"big","reason":"claims_too_large"}"#,
          #"{"index":9,"reason":"missing_local_id"}"#, #"{"index":10,"reason":"unreadable"}"#,
          #"{"index":11,"reason":"unreadable"}"#,
          #"{"index":12,"localId":"early","reason":"field_invalid","field":"createdAt"}"#,
        ])
      // Done again, everybody is here.
      let again = try await stage.importUsers(path)
      expect(try again.json, ["imported": 0, "present": 7, "refused": 6])
      #expect(!again.errors.contains("@"))
      #expect(again.errors.contains("user 7, big, is refused: claims_too_large"))
      let check = try await stage.importUsers(path, "--dry-run")
      expect(try check.json, ["imported": 0, "present": 7, "refused": 6])
    }
  }

  @Test func `beside a running service, and who was imported signs in with Apple under the old uid`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start(Administrator.settings)
      let path = try stage.write(mixed.text, to: "users.json")
      #expect(try await stage.importUsers(path).json.integer("imported") == 7)
      let session = try await service.signIn(Mint.credential { $0.subject = "001.ada" })
      #expect(session.localID == "ada")
      #expect(!session.isNewUser)
      try EndToEndTests.expect(
        await service.trySignIn(Mint.credential { $0.subject = "001.cid" }), is: Refusal(400, "USER_DISABLED")
      )
      let claims = try await service.signIn(Mint.credential { $0.subject = "001.claims" })
      #expect(try await service.read(claims.idToken).claims.text("plan") == "pro")
      let account = try #require(try await Administrator(service: service).account("ada"))
      #expect(account.text("createdAt") == "1500000000000")
      let audit = try await stage.command("audit", "list", "--account", "ada", "--json").json.objects(
        "entries")
      #expect(audit.map { $0.text("action") } == ["account_imported", "signed_in"])
      #expect(audit.first?.text("actor") == "command")
    }
  }

  @Test func `an export in which nobody has an Apple id is not imported, unless that is wanted`() async throws
  {
    try await withStage { stage in
      let old = Export(users: (0..<3).map { Export.user("uid-\($0)") })
      let path = try await stage.prepare(old.text)
      for (file, input) in [(path, ""), ("-", old.text)] {
        let finished = try await stage.importUsers(file, input: input)
        #expect(finished.status == 1)
        #expect(finished.errors.contains("May 2026"))
        #expect(finished.errors.contains("accounts:batchGet"))
      }
      #expect(try await stage.importUsers(path, "--dry-run").errors.contains("May 2026"))
      #expect(try await stage.accountCount() == 0)
      #expect(try await stage.importUsers(path, "--without-apple").json.integer("imported") == 3)
      // The export of a newer tool brings what was missing.
      let new = Export(users: (0..<3).map { Export.user("uid-\($0)", apple: "001.\($0)") })
      let linked = try await stage.importUsers(stage.write(new.text, to: "new.json"))
      expect(try linked.json, ["imported": 0, "linked": 3, "refused": 0])
      #expect(linked.status == 0)
    }
  }

  @Test func `where all who have an Apple id are refused, it is their faults that are told`() async throws {
    try await withStage { stage in
      let claims = jsonString(#"{"a":"\#(String(repeating: "x", count: 1001))"}"#)
      let refused = [
        Export.user("big", apple: "001.big", [("customAttributes", claims)]),
        Export.user("typed", apple: "001.typed", [("emailVerified", "7")]),
      ]
      let words = ["user 0, big, is refused: claims_too_large", "user 1, typed, is refused: field_type"]
      for users in [refused, refused + [Export.user("bob"), "{nonsense}"], ["{nonsense}"]] {
        let text = Export(users: users).text
        let path = try await stage.prepare(text)
        for (file, options) in [(path, []), (path, ["--dry-run"]), ("-", [])] {
          let finished = try await stage.importUsers(file, options, input: text)
          #expect(finished.status == 1)
          #expect(!finished.errors.contains("May 2026"), "\(finished.errors)")
          for word in users.count > 1 ? words : ["user 0 is refused: unreadable"] {
            #expect(finished.errors.contains(word), "\(finished.errors)")
          }
        }
      }
      // Where nobody has one, who cannot be read is named beside that.
      let old = try stage.write(Export(users: [Export.user("ada"), "{nonsense}"]).text, to: "old.json")
      for options in [[], ["--dry-run"]] {
        let finished = try await stage.importUsers(old, options)
        #expect(finished.status == 1)
        #expect(finished.errors.contains("May 2026"))
        #expect(finished.errors.contains("user 1 is refused: unreadable"))
      }
    }
  }

  @Test func `a byte order mark before an export is passed over`() async throws {
    try await withStage { stage in
      let mark = "\u{FEFF}"
      let json = mark + Export(users: [Export.user("ada", apple: "001.ada")]).text
      let path = try await stage.prepare(json)
      expect(try await stage.importUsers(path).json, ["imported": 1, "refused": 0])
      expect(try await stage.importUsers("-", input: json).json, ["present": 1, "refused": 0])
      let csv = try stage.write(mark + (await stage.exportUsers("ours.csv")), to: "users.csv")
      expect(try await stage.importUsers(csv).json, ["present": 1, "refused": 0])
    }
  }

  @Test func `an interrupt ends it between two batches, and the same command goes on`() async throws {
    try await withStage { stage in
      let path = try await stage.prepare(Export.people(20_000).text)
      let first = try stage.beginImport(path)
      try await stage.waitForAccounts(500)
      first.send(signal: SIGINT)
      let end = try await first.ended()
      let stopped = try JSONObject(parsing: Array(try #require(first.outputLines.last).utf8))
      let done = try #require(stopped.integer("imported"))
      // It may have come to its end before the signal.
      if done < 20_000 {
        #expect(end == .exit(1))
        #expect(stopped.flag("interrupted") == true)
      }
      #expect(done.isMultiple(of: 500))
      #expect(try await stage.accountCount() == done)
      let second = try await stage.importUsers(path)
      #expect(second.status == 0)
      expect(try second.json, ["users": 20_000, "present": done, "imported": 20_000 - done])
      #expect(try await stage.accountCount() == 20_000)
    }
  }

  @Test func `after a kill the same command goes on, and nobody is there twice`() async throws {
    try await withStage { stage in
      let path = try await stage.prepare(Export.people(20_000).text)
      let first = try stage.beginImport(path)
      try await stage.waitForAccounts(500)
      first.send(signal: SIGKILL)
      _ = try await first.ended()
      let done = Int64(try await stage.accountCount())
      #expect(done >= 500 && done.isMultiple(of: 500))
      expect(try await stage.importUsers(path).json, ["present": done, "imported": 20_000 - done])
      #expect(try await stage.sql("SELECT count(*) FROM imported_accounts") == "20000")
      #expect(try await stage.sql("SELECT count(*) FROM identities") == "20000")
    }
  }

  @Test func `users of a day on alone, by what they last did`() async throws {
    try await withStage { stage in
      let path = try await stage.prepare(
        Export(users: [
          Export.user("old", apple: "001.a"),
          Export.user("new", apple: "001.b").replacing("1600000001234", with: "1700000000000"),
        ]).text)
      let finished = try await stage.importUsers(path, "--since", "2023-01-01")
      #expect(finished.status == 0, "\(finished.errors)")
      expect(try finished.json, ["users": 2, "older": 1, "imported": 1])
      #expect(try await stage.sql("SELECT id FROM accounts") == "new")
      #expect(try await stage.importUsers(path, "--since", "yesterday").status == 64)
    }
  }

  @Test func `what is no export, or broken off, says at which byte, and what came in stays`() async throws {
    try await withStage { stage in
      let whole = Export.people(600).text
      let path = try await stage.prepare(String(whole.dropLast(10)))
      let finished = try await stage.importUsers(path)
      #expect(finished.status == 1)
      #expect(finished.errors.contains("broken off at byte \(whole.utf8.count - 10)"))
      #expect(try await stage.accountCount() == 500)
      #expect(try await stage.importUsers(stage.write(whole, to: "whole.json")).status == 0)
      #expect(try await stage.accountCount() == 600)
      for (text, words) in [
        ("[]", "at byte 0"), (#"{"users":[]}x"#, "at byte 12"), (#"{"a":1}"#, "without `users`"),
      ] {
        let other = try await stage.importUsers(stage.write(text, to: "other.json"))
        #expect(other.status == 1)
        #expect(other.errors.contains(words), "\(other.errors)")
      }
      #expect(try await stage.importUsers(stage.folder + "/nowhere.json").status == 69)
      #expect(try await stage.importUsers(stage.write(#"{"users":[]}"#, to: "none.json")).status == 0)
    }
  }
}

extension Stage {
  /// Returns when there are so many.
  fileprivate func waitForAccounts(_ count: Int) async throws {
    while try await accountCount() < count { await Task.yield() }
  }
}

private func jsonString(_ text: String) -> String {
  var out: [UInt8] = []
  appendJSONString(text, to: &out)
  return String(decoding: out, as: UTF8.self)
}
