import Foundation
import Testing
import Wire

/// The audit: that it names everything, holds nothing that it should not, and shows what was done to it.
@Suite(.timeLimit(.minutes(10)))
struct AuditTests {
  private static let administrators = ["BRAMLEY_ADMIN_TOKEN": "ada=\(Administrator.token)"]

  private func entries(_ stage: Stage) async throws -> [JSONObject] {
    try await stage.command("audit", "list", "--json").json.objects("entries")
  }

  /// Waits until every line is chained.
  private func sealed(_ stage: Stage, _ service: Service) async throws -> Int64 {
    var count: Int64 = 0
    try await service.waits("the audit is not chained") {
      let verdict = try await stage.command("audit", "verify", "--json").json
      #expect(verdict.text("verdict") == "intact", "\(verdict)")
      count = verdict.integer("sealed") ?? 0
      return verdict.integer("unsealed") == 0
    }
    return count
  }

  /// Signs in, refreshes with an old token, signs out, and is disabled, given claims and deleted.
  private func walk(_ stage: Stage, _ service: Service) async throws -> (SignedIn, secrets: [String]) {
    let visitor = Operator(service: service)
    let subject = Mint.subject()
    func signIn(_ requestID: String) async throws -> SignedIn {
      let credential = try Mint.credential {
        $0.subject = subject
        $0.email = "lovelace@example.com"
      }
      var request = HTTPRequest.signIn(
        credential.body(["fullName": #"{"givenName":"Augusta","familyName":"Kingsmill"}"#]))
      request.headers.append((name: "X-Request-Id", value: requestID))
      return try SignedIn(await service.send(request))
    }
    func send(_ request: HTTPRequest, _ requestID: String) async throws -> Int {
      var request = request
      request.headers.append((name: "X-Request-Id", value: requestID))
      return try await service.send(request).status
    }
    let person = try await signIn("walk-1")
    var secrets = [person.idToken, person.refreshToken]
    for _ in 0..<3 { secrets.append(try await service.refresh(secrets.last ?? "")) }
    #expect(try await send(.refresh(person.refreshToken), "walk-2") == 400)
    let second = try await signIn("lovelace@example.com")
    let signOut = HTTPRequest(
      method: "POST", path: "/v1/signOut", headers: [("Authorization", "Bearer \(second.idToken)")])
    #expect(try await send(signOut, "walk-4") == 200)
    let path = "/users/\(person.localID)"
    try await visitor.done("PATCH", path, #"{"disabled":true}"#, requestID: "walk-5")
    try await visitor.done("PATCH", path, #"{"disabled":false}"#, requestID: "walk-6")
    try await visitor.done(
      "PATCH", path, #"{"customClaims":{"role":"countess"},"displayName":"Byron"}"#, requestID: "walk-7")
    #expect(try await stage.command("users", "disable", person.localID).status == 0)
    try await visitor.done("DELETE", path, requestID: "walk-8")
    #expect(try await stage.command("keys", "rotate", "--force").status == 0)
    return (person, secrets + [second.idToken, second.refreshToken, subject])
  }

  @Test func `every deed is named with who, whose, from where and by which request, and nothing more`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start(Self.administrators)
      let (person, secrets) = try await walk(stage, service)
      let all = try await entries(stage)
      // The keys that were there at the start, and the one that follows on the one that signs now.
      let made = all.filter { $0.text("action") == "key_made" }
      #expect(made.map { $0.text("actor") } == ["system", "system", "command"])
      #expect(all.prefix(2).map(\.bytes) == made.prefix(2).map(\.bytes))
      let entries = all.filter { $0.text("action") != "key_made" }
      let expected: [(action: String, actor: String, request: String?, detail: String?)] = [
        ("account_created", "person", "walk-1", nil), ("signed_in", "person", "walk-1", nil),
        ("refresh_token_reused", "person", "walk-2", nil),
        ("signed_in", "person", "lovelace@example.com", nil),
        ("signed_out", "person", "walk-4", nil), ("account_disabled", "admin:ada", "walk-5", nil),
        ("account_enabled", "admin:ada", "walk-6", nil),
        ("account_changed", "admin:ada", "walk-7", "displayName customClaims"),
        ("account_disabled", "command", nil, nil), ("account_deleted", "admin:ada", "walk-8", nil),
      ]
      try #require(entries.count == expected.count + 1, "\(entries.compactMap { $0.text("action") })")
      for (entry, line) in zip(entries, expected) {
        #expect(entry.text("action") == line.action)
        #expect(entry.text("actor") == line.actor, "\(line)")
        // What a caller calls a request may be a secret: an operator who has it finds its digest.
        let request = line.request.map { "sha256:\(sha256Hex($0).prefix(16))" }
        #expect(entry.text("requestId") == request, "\(line)")
        #expect(entry.text("account") == person.localID, "\(line)")
        #expect(entry.text("address") == (line.request == nil ? nil : "127.0.0.1"), "\(line)")
        if let detail = line.detail { #expect(entry.text("detail") == detail) }
        #expect((entry.integer("at") ?? 0) > 1_700_000_000)
      }
      let keys = try await stage.command("keys", "list", "--json").json.objects("signingKeys")
      let active = keys.first { $0.text("role") == "active" }
      #expect(Set(made.map { $0.text("detail") }) == Set(keys.map { $0.text("kid") }))
      let rotation = try #require(entries.last)
      #expect(rotation.text("action") == "key_rotated")
      #expect(rotation.text("actor") == "command")
      #expect(rotation.text("detail") == active?.text("kid"))
      #expect(
        try await Operator(service: service).done("GET", "/audit").objects("entries").map(\.bytes)
          == all.map(\.bytes))
      let everything = all.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
      let words = ["lovelace", "example.com", "Augusta", "Kingsmill", "Byron", "countess", "eyJ"]
      for word in secrets + words { #expect(!everything.contains(word)) }
    }
  }

  @Test func `an order to rotate, a withdrawn key and a new seal are named too`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      #expect(try await stage.command("keys", "rotate").status == 0)
      let kid = try #require(
        try await stage.command("keys", "list", "--json").json.objects("signingKeys").first?.text("kid"))
      #expect(try await stage.command("keys", "revoke", "--", kid).status == 0)
      let lines = try await entries(stage).filter { $0.text("action") != "key_made" }
      #expect(lines.first?.text("detail") == "requested")
      #expect(
        lines.compactMap { $0.text("action") } == ["key_rotated", "key_revoked", "key_rotated"]
          || lines.compactMap { $0.text("action") } == ["key_rotated", "key_revoked"])
      #expect(lines.contains { $0.text("action") == "key_revoked" && $0.text("detail") == kid })
      #expect(lines.allSatisfy { $0.text("actor") == "command" })
      _ = try await sealed(stage, service)
    }
  }

  @Test func `what is chained is intact, and shows every change to it and where`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Self.administrators)
      _ = try await walk(stage, service)
      let count = try await sealed(stage, service)
      #expect(count == 14)
      let finished = try await stage.command("audit", "verify")
      #expect(finished.status == 0)
      #expect(finished.output.contains("intact"))
      try await service.stop()

      // The positions are those of a database that never lost a line.
      let attacks: [(statements: [String], faults: [String])] = [
        (["UPDATE audit SET actor = 'admin:eve' WHERE position = 3"], ["line_changed 3"]),
        (["UPDATE audit SET action = 'nothing' WHERE position = 3"], ["line_changed 3"]),
        (["UPDATE audit SET at = at + 1 WHERE position = 1"], ["line_changed 1"]),
        (["UPDATE audit SET address = x'01020304' WHERE position = 14"], ["line_changed 14"]),
        (["UPDATE audit SET address = x'7f00000100' WHERE position = 1"], ["line_changed 1"]),
        (["UPDATE audit SET request_id = NULL WHERE position = 4"], ["line_changed 4"]),
        (["UPDATE audit SET digest = NULL WHERE position = 4"], ["line_changed 4"]),
        (
          [
            "UPDATE audit SET actor = 'admin:eve' WHERE position = 3",
            "UPDATE audit SET detail = 'x' WHERE position = 7", "DELETE FROM audit WHERE position = 9",
          ], ["line_changed 3", "line_changed 7", "line_missing 9"]
        ),
        (["DELETE FROM audit WHERE position = 3"], ["line_missing 3"]),
        (["DELETE FROM audit WHERE position = 1"], ["line_missing 1"]),
        (["DELETE FROM audit WHERE position = 14"], ["line_missing 14"]),
        (["DELETE FROM audit"], ["line_missing 1"]),
        (["UPDATE audit SET position = -3 WHERE position = 3"], ["line_misplaced -3", "line_missing 3"]),
        (["UPDATE audit SET position = 0 WHERE position = 1"], ["line_misplaced 0", "line_missing 1"]),
        (["UPDATE audit SET position = 20 WHERE position = 14"], ["line_missing 14", "head_outdated 20"]),
        (
          [
            "UPDATE audit SET position = -1 - position WHERE position > 5",
            "UPDATE audit SET position = -position WHERE position < 0",
            """
            INSERT INTO audit SELECT 6, at, action, actor, account, session, address, request_id, detail, digest
            FROM audit WHERE position = 5
            """,
          ], (6...15).map { "line_changed \($0)" } + ["head_outdated 15"]
        ),
        (["UPDATE audit_seals SET code = zeroblob(32)"], ["head_forged 14"]),
        (["UPDATE audit_seals SET position = 13"], ["head_forged 13"]),
        (
          [
            "UPDATE audit_seals SET position = 13, digest = (SELECT digest FROM audit WHERE position = 13)",
            "DELETE FROM audit WHERE position = 14",
          ], ["head_forged 13"]
        ),
        (
          ["INSERT INTO audit_seals SELECT 'anchor', position, digest, code, master_key FROM audit_seals"],
          ["anchor_forged 14"]
        ),
        (["UPDATE audit_seals SET master_key = randomblob(8)"], ["head_forged 14"]),
        (["UPDATE audit_seals SET name = 'anchor'"], ["anchor_forged 14"]),
        (["DELETE FROM audit_seals"], ["head_missing 1"]),
        (
          ["DELETE FROM audit_seals", "DELETE FROM audit WHERE position < 9"],
          ["line_missing 1", "head_missing 9"]
        ),
      ]
      for (number, attack) in attacks.enumerated() {
        let copy = "\(stage.folder)/copy\(number).db"
        try FileManager.default.copyItem(atPath: stage.database, toPath: copy)
        try FileManager.default.copyItem(atPath: stage.masterKeyFile, toPath: copy + ".master-key")
        for statement in attack.statements { try await stage.sql(statement, on: copy) }
        let finished = try await stage.command(
          "audit", "verify", "--json", settings: ["BRAMLEY_DATABASE_URL": "sqlite:\(copy)"])
        #expect(finished.status == 1, "\(attack.statements)")
        #expect(try finished.json.text("verdict") == "broken", "\(attack.statements)")
        let faults = try finished.json.objects("faults").map {
          "\($0.text("fault") ?? "") \($0.integer("position") ?? 0)"
        }
        #expect(faults == attack.faults, "\(attack.statements)")
      }
      let other = ["BRAMLEY_MASTER_KEY": Data(repeating: 7, count: 32).base64EncodedString()]
      let keyless = try await stage.command("audit", "verify", "--json", settings: other)
      #expect(keyless.status == 78)
      #expect(try keyless.json.text("verdict") == "key_missing")
    }
  }

  @Test
  func `what is older than the retention goes, and the rest is still verifiable`() async throws {
    try await withStage { stage in
      let settings = Self.administrators.merging(["BRAMLEY_AUDIT_RETENTION": "86400"]) { $1 }
      let service = try await stage.start(settings)
      _ = try await walk(stage, service)
      let count = try await sealed(stage, service)
      try await service.stop()
      let later = try await stage.start(settings, secondsAhead: 86_400 * 2)
      try await later.waits("the old lines are still there") {
        try await entries(stage).allSatisfy { ($0.integer("position") ?? 0) > count }
      }
      #expect(try await stage.sql("SELECT position FROM audit_seals WHERE name = 'anchor'") == "\(count)")
      _ = try await later.signIn(Mint.credential { $0.issuedAt = now() + 86_400 * 2 })
      try await later.stop()
      // A service whose time of day is another one's does its first look only: no timer of its wakes it. The next one
      // chains the lines, when the work is nobody's any more.
      let last = try await stage.start(settings, secondsAhead: 86_400 * 2 + 60)
      #expect(try await sealed(stage, last) >= 2)
      try await last.stop()
      let first = try #require(try await entries(stage).first?.integer("position"))
      #expect(first == count + 1)
      try await stage.sql("DELETE FROM audit WHERE position = \(first)")
      let broken = try await stage.command("audit", "verify", "--json")
      #expect(broken.status == 1)
      #expect(try broken.json.integer("position") == first)
    }
  }

  @Test func `an id that we made is the one of the answer`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let answer = try await service.send(.signIn(try Mint.credential().body()))
      let id = try #require(answer["X-Request-Id"])
      #expect(id.count == 32)
      let recorded = try await entries(stage).compactMap { $0.text("requestId") }
      #expect(recorded == [id, id])
    }
  }

  @Test func `the list is read by account and in parts`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let person = try await service.signIn(Mint.credential())
      _ = try await service.signIn(Mint.credential())
      let all = try await entries(stage)
      #expect(all.count == 6)
      let mine = try await stage.command("audit", "list", "--json", "--account", person.localID).json
      #expect(mine.objects("entries").map(\.bytes) == all[2...3].map(\.bytes))
      let part = try await stage.command("audit", "list", "--json", "--after", "1", "--limit", "2").json
      #expect(part.objects("entries").map(\.bytes) == all[1...2].map(\.bytes))
      #expect(part.text("cursor") == "3")
      let text = try await stage.command("audit", "list", "--limit", "1").output
      #expect(text.contains("key_made"))
      #expect(text.hasSuffix("more: --after 1\n"))
    }
  }
}
