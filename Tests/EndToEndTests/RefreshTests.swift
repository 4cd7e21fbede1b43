import Domain
import TestProcesses
import Testing
import Wire

/// The token endpoint: the counter table, and every way to be refused.
@Suite(.timeLimit(.minutes(10)))
struct RefreshTests {
  @Test func `R02 the token before the current one gets the same successor`() async throws {
    try await withService { service in
      let first = try await service.signIn(Mint.credential()).refreshToken
      let second = try await service.refresh(first)
      for _ in 0..<3 { #expect(try await service.refresh(first) == second) }
      let third = try await service.refresh(second)
      #expect(third != second)
      #expect(try await service.refresh(second) == third)
      // Two before, within ten seconds: a slow tab.
      #expect(try await service.refresh(first) == third)
      _ = try await service.refresh(third)
    }
  }

  @Test func `R01 R07 twenty refreshes at once converge on one token`() async throws {
    try await withService { service in
      let first = try await service.signIn(Mint.credential()).refreshToken
      let answers = try await inParallel(20, port: service.port) { _ in .refresh(first) }
      let tokens = try answers.map { try $0.json.text("refresh_token") }
      #expect(Set(tokens).count == 1)
      for answer in answers {
        #expect(answer.status == 200, "\(answer)")
        _ = try await service.read(answer.json.text("id_token") ?? "")
      }
      _ = try await service.refresh(#require(tokens[0]))
    }
  }

  @Test func `R05 R17 an old token ends its session and no other`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let stolen = try await service.signIn(Mint.credential { $0.subject = subject }).refreshToken
      let other = try await service.signIn(Mint.credential { $0.subject = subject }).refreshToken
      var current = stolen
      for _ in 0..<3 { current = try await service.refresh(current) }
      try expect(await service.tryRefresh(stolen), is: .session("refresh_token_reused"))
      for token in [stolen, current] {
        try expect(await service.tryRefresh(token), is: .session("session_revoked"))
      }
      _ = try await service.refresh(other)
    }
  }

  @Test func `attack 23 R19 an old token is found out after a restart too`() async throws {
    try await withStage { stage in
      let before = try await stage.start()
      let stolen = try await before.signIn(Mint.credential()).refreshToken
      var current = stolen
      for _ in 0..<3 { current = try await before.refresh(current) }
      try await before.kill()
      let after = try await stage.start()
      try expect(await after.tryRefresh(stolen), is: .session("refresh_token_reused"))
    }
  }

  @Test(arguments: [
    "x", "AAAA", "null", String(repeating: "A", count: 82), String(repeating: "A", count: 10_000),
    "eyJhbGciOiJub25lIn0.e30.",
  ])
  func `attack 31 garbage is no refresh token`(_ text: String) async throws {
    try await withService { service in
      try expect(await service.tryRefresh(text), is: Refusal(400, "INVALID_REFRESH_TOKEN"))
    }
  }

  @Test func `a token that no key of ours made is unknown, and so is one with any byte changed`() async throws
  {
    let foreign = Watched("")
    try await withService { service in
      let token = try await service.signIn(Mint.credential()).refreshToken
      foreign.update { $0 = token }
    }
    try await withService { service in
      try expect(await service.tryRefresh(foreign.read { $0 }), is: .session("refresh_token_unknown"))
      let good = try decodeBase64URL(try await service.signIn(Mint.credential()).refreshToken.utf8)
      var random = SeededGenerator(seed: 7)
      for _ in 0..<20 {
        var bytes = good
        // Behind the version, which says what the rest is.
        bytes[Int.random(in: 1..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        try expect(await service.tryRefresh(base64URLText(bytes)), is: .session("refresh_token_unknown"))
      }
      _ = try await service.refresh(base64URLText(good))
    }
  }

  @Test func `what is missing or of another kind is told`() async throws {
    try await withService { service in
      let token = try await service.signIn(Mint.credential()).refreshToken
      let forms: [(String, Refusal)] = [
        ("refresh_token=\(token)", Refusal(400, "INVALID_GRANT_TYPE")),
        ("grant_type=password&refresh_token=\(token)", Refusal(400, "INVALID_GRANT_TYPE")),
        ("grant_type=refresh_token", Refusal(400, "MISSING_REFRESH_TOKEN")),
        ("grant_type=refresh_token&refresh_token=", Refusal(400, "MISSING_REFRESH_TOKEN")),
        (
          "grant_type=refresh_token&refresh_token=\(token)&refresh_token=\(token)",
          .argument("duplicate_member")
        ),
        ("grant_type=refresh_token&refresh_token=%zz", .argument("body_malformed")),
        ("grant_type=refresh_token&refresh_token=%FF%FE", .argument("body_malformed")),
        ("", Refusal(400, "INVALID_GRANT_TYPE")),
      ]
      for (form, refusal) in forms {
        try expect(await service.send(.post("/v1/token", form: form)), is: refusal)
      }
      let bodies: [(String, Refusal)] = [
        (#"{"grant_type":"refresh_token","refresh_token":null}"#, Refusal(400, "MISSING_REFRESH_TOKEN")),
        (#"{"grant_type":"refresh_token","refresh_token":7}"#, .argument("field_type")),
        (
          #"{"grant_type":"refresh_token","refresh_token":"a","refreshToken":"b"}"#,
          .argument("duplicate_member")
        ),
        (#"{"grant_type":["refresh_token"],"refresh_token":"a"}"#, .argument("field_type")),
      ]
      for (body, refusal) in bodies {
        try expect(await service.send(.post("/v1/token", json: body)), is: refusal)
      }
      _ = try await service.refresh(token)
    }
  }

  @Test func `attack 27 attack 28 the state of account and session decides`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let subject = Mint.subject()
      let credential = { try Mint.credential { $0.subject = subject } }
      let token = try await service.signIn(credential()).refreshToken
      let states: [(String, Refusal)] = [
        ("UPDATE sessions SET ended_as = 'ended', ended_at = created_at", .session("session_ended")),
        ("UPDATE sessions SET ended_as = 'revoked', ended_at = created_at", .session("session_revoked")),
        ("UPDATE accounts SET is_disabled = 1", Refusal(400, "USER_DISABLED")),
        ("DELETE FROM accounts", Refusal(400, "USER_NOT_FOUND")),
        ("DELETE FROM sessions", .session("session_ended")),
      ]
      for (change, refusal) in states {
        try await stage.sql(change)
        try expect(await service.tryRefresh(token), is: refusal)
        if refusal.reason == "user_disabled" {
          try expect(await service.trySignIn(credential()), is: refusal)
        }
      }
    }
  }

  @Test func `a counter ahead of the database's is taken as current`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      var token = try await service.signIn(Mint.credential()).refreshToken
      for _ in 0..<4 { token = try await service.refresh(token) }
      // As a database that was restored.
      try await stage.sql("UPDATE sessions SET counter = 1")
      let next = try await service.refresh(token)
      #expect(next != token)
      _ = try await service.refresh(next)
      let remark = try await service.process.line { $0.contains("refresh_remark") }
      #expect(remark.contains("counterAhead"))
    }
  }
}
