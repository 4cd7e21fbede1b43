import Testing
import Wire

/// `users` beside a running service, which notices what a command changed.
@Suite(.timeLimit(.minutes(10)))
struct AccountCommandTests {
  private static let settings = ["BRAMLEY_SERVICE_KEYS": "a-service-key"]
  private static let nobody = "A123456789012345678901234567"

  private func isActive(_ service: Service, _ token: String) async throws -> Bool {
    let answer = try await service.send(
      .post(
        "/v1/introspect", json: json([("token", quoted(token))]),
        headers: [("X-API-Key", "a-service-key")]))
    return try answer.json.flag("active") == true
  }

  @Test func `an account is disabled and enabled, and the running service follows`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Self.settings)
      let person = try await service.signIn(Mint.credential())
      #expect(try await service.admits(person.idToken))
      let disabled = try await stage.command("users", "disable", person.localID, "--json")
      #expect(disabled.status == 0)
      #expect(try disabled.json.flag("disabled") == true)
      try await service.waits("the disabled account is still good") {
        try await !service.admits(person.idToken)
      }
      #expect(try await isActive(service, person.idToken) == false)
      try expect(await service.tryRefresh(person.refreshToken), is: Refusal(400, "USER_DISABLED"))
      let enabled = try await stage.command("users", "enable", person.localID)
      #expect(enabled.output == "\(person.localID) is enabled\n")
      try await service.waits("the enabled account is not good yet") {
        try await service.admits(person.idToken)
      }
      #expect(try await isActive(service, person.idToken))
    }
  }

  @Test func `sessions end one by one or together`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Self.settings)
      let subject = Mint.subject()
      var people: [SignedIn] = []
      for _ in 0..<3 { people.append(try await service.signIn(Mint.credential { $0.subject = subject })) }
      let (id, first) = (people[0].localID, people[0].sessionID)
      let one = try await stage.command("users", "end-sessions", id, first, "--json")
      #expect(try one.json.integer("ended") == 1)
      #expect(
        try await stage.command("users", "end-sessions", id, first, "--json").json.integer("ended") == 0)
      try await service.waits("the session still lives") { try await !service.admits(people[0].idToken) }
      #expect(try await service.admits(people[1].idToken))
      #expect(try await stage.command("users", "end-sessions", id).output == "2 sessions have ended\n")
      try await service.waits("a session still lives") { try await !service.admits(people[2].idToken) }
      try expect(await service.tryRefresh(people[1].refreshToken), is: .session("session_revoked"))
    }
  }

  @Test func `a search that finds nobody says so, and is not found`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let person = try await service.signIn(Mint.credential())
      let nobody = [
        ["--id", "nobody"], ["--email", "nobody@example.com"],
        ["--provider", "apple.com", "--subject", "nobody"],
      ]
      for search in nobody {
        for form in [[], ["--json"]] {
          let answer = try await run(
            Program.bramley, ["users", "list"] + search + form, environment: stage.settings,
            folder: stage.folder)
          #expect(answer.status == 1, "\(search)")
          #expect(answer.output.isEmpty)
          #expect(answer.errors.contains("there is no such account"), "\(answer.errors)")
        }
      }
      let found = try await stage.command("users", "list", "--id", person.localID)
      #expect(found.status == 0)
      #expect(found.output.contains(person.localID))
    }
  }

  @Test func `claims are set and taken away`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let person = try await service.signIn(Mint.credential())
      let set = try await stage.command(
        "users", "set-claims", person.localID, #"{"role":"editor"}"#, "--json")
      #expect(try set.json.object("customClaims")?.text("role") == "editor")
      let answer = try await service.tryRefresh(person.refreshToken)
      let claims = try await service.read(try #require(try answer.json.text("id_token"))).claims
      #expect(claims.text("role") == "editor")
      let cleared = try await stage.command("users", "set-claims", person.localID, "{}", "--json")
      #expect(try cleared.json.object("customClaims") == nil)
      for wrong in ["[]", "{", #"{"sub":"x"}"#, #"{"a":"\#(String(repeating: "x", count: 1000))"}"#] {
        #expect(try await stage.command("users", "set-claims", person.localID, wrong).status == 64)
      }
    }
  }

  @Test func `a person is deleted`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let person = try await service.signIn(Mint.credential())
      #expect(try await service.admits(person.idToken))
      let deleted = try await stage.command("users", "delete", person.localID, "--json")
      #expect(try deleted.json.text("deleted") == person.localID)
      try await service.waits("the session still lives") { try await !service.admits(person.idToken) }
      try expect(await service.tryRefresh(person.refreshToken), is: Refusal(400, "USER_NOT_FOUND"))
      #expect(try await stage.command("users", "show", person.localID).status == 1)
    }
  }

  @Test func `people are found by id, address and identity`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let subject = Mint.subject()
      let person = try await service.signIn(
        Mint.credential {
          $0.subject = subject
          $0.email = "ada@example.com"
        })
      _ = try await service.signIn(Mint.credential())
      func found(_ arguments: String...) async throws -> [String] {
        let finished = try await run(
          Program.bramley, ["users", "list", "--json"] + arguments, environment: stage.settings,
          folder: stage.folder)
        try #require(finished.status == 0, "\(finished.errors)")
        return try finished.json.localIDs
      }
      #expect(try await found("--id", person.localID) == [person.localID])
      #expect(try await found("--email", "ada@example.com") == [person.localID])
      #expect(try await found("--email", "Ada@Example.com") == [person.localID])
      #expect(try await found("--provider", "apple.com", "--subject", subject) == [person.localID])
      #expect(try await found().count == 2)
    }
  }

  @Test func `who is not there is not found, and says so`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let person = try await service.signIn(Mint.credential())
      let commands = [
        ["disable", Self.nobody], ["enable", Self.nobody], ["delete", Self.nobody],
        ["end-sessions", Self.nobody],
        ["end-sessions", person.localID, String(repeating: "0", count: 32)],
        ["set-claims", Self.nobody, "{}"],
      ]
      for command in commands {
        let finished = try await run(
          Program.bramley, ["users"] + command, environment: stage.settings, folder: stage.folder)
        #expect(finished.status == 1, "\(command)")
        #expect(finished.errors.hasPrefix("bramley: "))
        #expect(finished.output.isEmpty)
      }
    }
  }

  @Test func `a command makes no database`() async throws {
    try await withStage { stage in
      for command in [["users", "disable", Self.nobody], ["audit", "list"], ["audit", "verify"]] {
        let finished = try await run(
          Program.bramley, command, environment: stage.settings, folder: stage.folder)
        #expect(finished.status == 69)
      }
    }
  }
}
