import Foundation
import TestProcesses
import Testing
import Wire

/// The operators' console in a real browser, as `Tests/Clients/console.py` uses it.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Program.clientsPython != nil))
struct ConsoleTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Clients/console.py").path

  /// Plays a scene, in which nothing may run that is not the page's own, nothing be asked of anybody else, and nothing be
  /// complained of.
  ///
  /// - Parameter known: Adds what the scene has to know.
  private func play(
    _ scene: String, _ stage: Stage, at port: UInt16, at location: SourceLocation = #_sourceLocation,
    _ known: (inout JSONWriter) -> Void = { _ in }
  ) async throws -> JSONObject {
    var facts = JSONWriter()
    facts.member("token", Administrator.token)
    known(&facts)
    let finished = try await run(
      try #require(Program.clientsPython), [Self.script, scene, "http://127.0.0.1:\(port)", stage.folder],
      environment: ["HOME": stage.folder, "TMPDIR": stage.folder], folder: stage.folder,
      input: String(decoding: facts.finish(), as: UTF8.self))
    try #require(finished.status == 0, "\(finished.errors)", sourceLocation: location)
    let seen = try finished.json
    for name in ["violations", "ran", "elsewhere", "complaints"] {
      #expect(seen.array(name)?.isEmpty == true, "\(name): \(seen.texts(name))", sourceLocation: location)
    }
    #expect((seen.integer("asked") ?? 0) > 3, sourceLocation: location)
    return seen
  }

  /// Starts a service with an administrator, whose settings' file may change.
  private func withConsole(
    _ changes: [String: String] = [:], _ body: (Stage, Service) async throws -> Void
  ) async throws {
    try await withStage { stage in
      try await body(stage, try await stage.start(Administrator.settings.merging(changes) { $1 }))
    }
  }

  @Test
  func
    `a wrong token is refused, a right one is kept by nothing, and one that is taken away is asked for again`()
    async throws
  {
    try await withStage { stage in
      let settings = try stage.write("admin_token: \(Administrator.token)\n", to: "settings.yaml")
      let service = try await stage.start(arguments: ["--config", settings])
      let seen = try await play("unlocking", stage, at: service.port) { known in
        known.member("settings", settings)
        known.member("pid", Int64(service.process.processID))
      }
      #expect(seen.text("focused") == "token")
      #expect(seen.text("refused") == "The service does not take this token.")
      #expect(seen.text("shownThen") == "")
      #expect(seen.flag("lockedThen") == false)
      #expect(seen.texts("kept") == [])
      #expect(seen.text("afterReload") == "")
      #expect(seen.text("afterLock") == "")
      #expect(seen.integer("askedAfterLock") == 0)
      #expect(seen.text("takenAway") == "The service does not take this token any more.")
      #expect(seen.text("afterTaking") == "")
    }
  }

  @Test func `an account is found, disabled, enabled, signed out and deleted, and not when it is cancelled`()
    async throws
  {
    try await withConsole { stage, service in
      let subject = Mint.subject()
      var people: [SignedIn] = []
      for _ in 0..<3 {
        people.append(
          try await service.signIn(
            Mint.credential {
              $0.subject = subject
              $0.email = "ada@example.com"
            }, ["fullName": #"{"givenName":"Ada","familyName":"Lovelace"}"#]))
      }
      let other = try await service.signIn(Mint.credential())
      let id = people[0].localID
      let seen = try await play("administering", stage, at: service.port) { known in
        known.member("email", "ada@example.com")
        known.member("subject", subject)
        known.member("id", id)
        known.member("name", "Ada Lovelace")
      }
      #expect(seen.texts("listed") == [other.localID, id])
      #expect(seen.text("nobody")?.hasPrefix("Nobody has that") == true)
      #expect(seen.texts("found") == Array(repeating: "account:\(id)", count: 3))
      let facts = seen.text("facts") ?? ""
      for word in [id, "ada@example.com", subject, "authorized", "none is kept"] {
        #expect(facts.contains(word), "\(word)")
      }
      #expect(seen.integer("sessions") == 3)
      #expect(seen.text("question") == "Disable Ada Lovelace?")
      #expect(seen.text("afterCancel") == "")
      #expect(seen.text("disabled") == "The account is disabled.")
      #expect(seen.text("chips") == "disabled")
      #expect(seen.text("enabledChips") == "")
      #expect(seen.text("afterLoss") == "disabled")
      #expect(
        Set(seen.texts("ends"))
          == Set(people.map { "End: device not named, session " + $0.sessionID.prefix(8) }))
      #expect(seen.integer("sessionsThen") == 2)
      #expect(people.contains { $0.sessionID.hasPrefix(seen.text("endedSession") ?? "?") })
      #expect(seen.text("endedAll") == "2 sessions have ended.")
      let deeds = seen.texts("audit")
      #expect(
        deeds.prefix(6) == [
          "sessions_ended", "signed_out", "account_enabled", "account_disabled", "account_enabled",
          "account_disabled",
        ])
      #expect(seen.texts("mayDelete") == ["False", "False", "False", "True"])
      #expect(seen.integer("statusAfterCancel") == 200)
      #expect(seen.text("deleted") == "The account \(id) is deleted.")
      #expect(seen.integer("statusAfterDelete") == 400)
      #expect(seen.texts("listedThen") == [other.localID])
      #expect(seen.text("gone")?.contains("user_not_found, request ") == true)
      for person in people {
        let isAdmitted = try await service.admits(person.idToken)
        #expect(!isAdmitted)
      }
      let isOtherAdmitted = try await service.admits(other.idToken)
      #expect(isOtherAdmitted)
    }
  }

  @Test func `everything is done by keyboard alone, and the focus is where the news is`() async throws {
    try await withConsole { stage, service in
      let person = try await service.signIn(
        Mint.credential(), ["fullName": #"{"givenName":"Ada","familyName":"Lovelace"}"#])
      let seen = try await play("by_keyboard", stage, at: service.port) { known in
        known.member("id", person.localID)
        known.member("name", "Ada Lovelace")
      }
      for (name, focus) in [
        ("atFirst", "Overview"), ("skipped", "Overview"), ("atAccounts", "Accounts"),
        ("atAccount", "Ada Lovelace"), ("inQuestion", "Cancel"), ("afterEscape", "Disable account…"),
        ("afterDeed", "Ada Lovelace"), ("afterBack", "Accounts"),
      ] {
        #expect(seen.text(name) == focus, "\(name)")
      }
      #expect(seen.text("said") == "The account is disabled.")
      #expect(seen.text("titleOfPerson") == "Account · Bramley console")
      #expect(Set(seen.texts("outlines")) == ["solid"])
      let isAdmitted = try await service.admits(person.idToken)
      #expect(!isAdmitted)
    }
  }

  @Test func `what happens, waits and signs is seen on the operators' own listener`() async throws {
    let settings = Team.settings.merging(["BRAMLEY_ADMIN_LISTEN": "127.0.0.1:0"]) { $1 }
    try await withConsole(settings) { stage, service in
      let credential = try Mint.credential()
      let session = try await service.signIn(credential)
      _ = try await service.refresh(session.refreshToken)
      for _ in 0..<2 { _ = try await service.trySignIn(Mint.credential { $0.breaksSignature = true }) }
      _ = try await service.tryRefresh("garbage")
      let line = try #require(service.process.outputLines.first { $0.contains("adminListen") })
      let address = try #require(try JSONObject(parsing: Array(line.utf8)).text("adminListen"))
      for path in ["/console", "/console.js", "/console.css"] {
        try expect(await service.get(path), is: .argument("not_found", 404))
      }
      let seen = try await play("overview", stage, at: try port(of: address))
      #expect(
        seen.rows("refusals") == [
          ["signature_invalid", "sign-in", "2"], ["invalid_refresh_token", "refresh", "1"],
        ])
      #expect(seen.rows("queues").count == 5)
      #expect(seen.rows("queues").first == ["Codes to trade at Apple", "0", "empty"])
      #expect(seen.text("tiles")?.contains("Ready") == true)
      #expect(seen.texts("signIns") == ["1", "2"])
      #expect(seen.integer("bars") == 1)
      let book = try await Operator(service: service, port: try port(of: address)).done("GET", "/keys")
      #expect(seen.rows("keys").map(\.last) == book.objects("signingKeys").map { $0.text("kid") })
      #expect(Set(seen.rows("keys").map(\.first)) == ["signs", "next"])
      #expect(seen.texts("fates").contains("gives way in 30 days"))
      #expect(seen.rows("masterKeys").first?[1] == "1")
      #expect(seen.texts("audit").first == "signed_in")
      let time = seen.texts("time")
      #expect(time.first?.hasSuffix("Z") == true)
      #expect(time.last == time.first?.replacing("T", with: " ").replacing("Z", with: " UTC"))
    }
  }

  @Test func `names that strangers chose run nothing and leave everything in its place`() async throws {
    let names = [
      "<img src=x onerror=alert(1)>", "</bdi></a><script>alert(1)</script>", "\u{202E}gnp.exe\u{2066}evil",
      String(repeating: "W", count: 99), "أبو عبد الله", "Z\u{351}\u{360}algo\u{489}",
      "javascript:alert(1)", "${alert(1)} {{constructor}} &lt;b&gt;",
    ]
    try await withConsole { stage, service in
      var ids: [String] = []
      for name in names {
        var person = JSONWriter()
        person.member("givenName", name)
        ids.append(
          try await service.signIn(
            Mint.credential(),
            [
              "fullName": String(decoding: person.finish(), as: UTF8.self),
              "device": #"{"name":"<svg onload=alert(1)>","os":"\u202E<b>"}"#,
            ]
          ).localID)
      }
      let visitor = Operator(service: service)
      var shown: [String?] = []
      for id in ids { shown.append(try await visitor.done("GET", "/users/\(id)").text("displayName")) }
      let seen = try await play("strangers", stage, at: service.port) { known in known.member("ids", ids) }
      #expect(seen.texts("names") == shown)
      #expect(shown.first == names.first)
      #expect(seen.integer("images") == 0)
      #expect(seen.texts("overflow") == [])
      #expect(seen.texts("isolated") == ["isolate"])
    }
  }

  @Test func `every view fits a phone and a desk, and is legible by day and by night`() async throws {
    try await withConsole { stage, service in
      var id = ""
      for number in 0..<60 {
        id = try await service.signIn(
          Mint.credential {
            if number % 2 == 0 { $0.email = "a.rather.long.address.of.\(number)@example.com" }
          },
          ["fullName": #"{"givenName":"Ada","familyName":"Lovelace the \#(number)th"}"#]
        ).localID
      }
      try await Operator(service: service).done("PATCH", "/users/\(id)", #"{"disabled":true}"#)
      _ = try await service.trySignIn(Mint.credential { $0.breaksSignature = true })
      let seen = try await play("looks", stage, at: service.port) { known in known.member("id", id) }
      #expect(seen.texts("overflow") == [])
      #expect(seen.texts("contrast") == [])
      #expect((seen.integer("texts") ?? 0) > 1000)
    }
  }

  @Test func `a service that goes away leaves the last figures, and says so`() async throws {
    try await withConsole { stage, service in
      let seen = try await play("outage", stage, at: service.port) { known in
        known.member("pid", Int64(service.process.processID))
      }
      #expect(seen.text("figures")?.contains("Ready") == true)
      #expect(seen.text("shown")?.hasPrefix("The service does not answer.") == true)
    }
  }
}

extension JSONObject {
  /// An array of rows of texts.
  fileprivate func rows(_ name: String) -> [[String]] {
    (array(name) ?? []).map { row in
      guard case .array(let cells) = row else { return [] }
      return cells.map { if case .text(let text) = $0 { text } else { "" } }
    }
  }
}
