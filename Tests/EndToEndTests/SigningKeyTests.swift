import Foundation
import TestProcesses
import Testing
import Wire

/// Settings that make tokens outlive their service.
private let settings = ["BRAMLEY_PUBLIC_URL": "https://auth.example.com"]

extension Service {
  /// The published keys' ids.
  fileprivate func publishedKeys() async throws -> Set<String> {
    Set(try await get("/.well-known/jwks.json").json.objects("keys").compactMap { $0.text("kid") })
  }

  /// Waits until this key signs here.
  fileprivate func uses(_ key: String) async throws {
    try await logs { $0.contains(#""event":"signing_key_in_use""#) && $0.contains(key) }
  }

  /// Waits for a line of the log.
  fileprivate func logs(_ isWanted: @escaping @Sendable (String) -> Bool) async throws {
    _ = try await process.state.first { lines($0.output).contains(where: isWanted) ? true : nil }
  }

  /// The key that signed the token of a new session.
  fileprivate func signingKey() async throws -> String {
    try keyID(of: await signIn(Mint.credential()).idToken)
  }
}

extension Stage {
  /// The keys by role, as `keys list` has them.
  fileprivate func keys(_ role: String) async throws -> [JSONObject] {
    try await command("keys", "list", "--json").json.objects("signingKeys").filter { $0.text("role") == role }
  }

  fileprivate func key(_ role: String) async throws -> String {
    try #require(try await keys(role).first?.text("kid"))
  }
}

private func keyID(of token: String) throws -> String {
  let header = try #require(token.split(separator: ".").first)
  return try #require(try JSONObject(parsing: decodeBase64URL(header.utf8)).text("kid"))
}

/// `keys rotate`, `revoke` and `list`, beside services that run and without one.
@Suite(.timeLimit(.minutes(2)))
struct SigningKeyCommandTests {
  @Test func `S01 after a rotation every instance signs with the new key, and all know each other's tokens`()
    async throws
  {
    try await withStage { stage in
      let services = [try await stage.start(settings), try await stage.start(settings)]
      let before = try await services[0].signIn(Mint.credential()).idToken
      let next = try await stage.key("standby")
      let done = try await stage.command("keys", "rotate", "--force", "--json")
      #expect(done.status == 0)
      #expect(try done.json.text("active") == next)
      for service in services { try await service.uses(next) }
      let tokens = [
        try await services[0].signIn(Mint.credential()).idToken,
        try await services[1].signIn(Mint.credential()).idToken,
      ]
      for token in tokens { #expect(try keyID(of: token) == next) }
      for service in services {
        for token in tokens + [before] { _ = try await service.read(token) }
        #expect(try await service.publishedKeys().count == 3)
      }
      #expect(try await services[0].publishedKeys() == services[1].publishedKeys())
      #expect(try await stage.keys("retired").first?.integer("publishedUntil") != nil)
    }
  }

  @Test func `a rotation too early is refused with --now, and otherwise remembered`() async throws {
    try await withStage { stage in
      let service = try await stage.start(settings)
      let active = try await stage.key("active")
      let refused = try await stage.command("keys", "rotate", "--now")
      #expect(refused.status == 1)
      #expect(refused.errors.contains("--force"))
      let told = try await stage.command("keys", "rotate", "--now", "--json")
      #expect(told.status == 1)
      #expect(try told.json.text("outcome") == "too_early")
      #expect(try await told.json.integer("at") == stage.keys("standby").first?.integer("readyAt"))
      #expect(try await stage.keys("active").first?.flag("rotationRequested") == nil)
      for _ in 0..<2 {
        let waiting = try await stage.command("keys", "rotate", "--json")
        #expect(waiting.status == 0)
        #expect(try waiting.json.text("outcome") == "scheduled")
        #expect(try await stage.keys("active").first?.flag("rotationRequested") == true)
      }
      #expect(try await service.signingKey() == active)
      try await service.stop()
    }
  }

  @Test
  func `a rotation that waits is done by a service when the next key may sign`() async throws {
    try await withStage { stage in
      try await stage.start(settings).stop()
      let next = try await stage.key("standby")
      // Also without a service.
      #expect(try await stage.command("keys", "rotate").status == 0)
      let early = try await stage.start(settings, secondsAhead: 1700)
      #expect(try await early.signingKey() != next)
      try await early.stop()
      let later = try await stage.start(settings, secondsAhead: 1870)
      #expect(try await later.signingKey() == next)
      try await later.logs { $0.contains(#""event":"signing_key_promoted""#) && $0.contains(next) }
      try await later.logs { $0.contains(#""event":"signing_key_made""#) }
    }
  }

  @Test
  func `a rotation is done at once when the next key is old enough`() async throws {
    try await withStage { stage in
      try await stage.start(settings).stop()
      for urgency in [[], ["--now"]] {
        let next = try await stage.key("standby")
        let seconds = urgency.isEmpty ? 2000 : 4000
        let done = try await run(
          Program.bramley, ["keys", "rotate", "--json"] + urgency,
          environment: stage.settings.merging(ClockShift.environment(seconds)) { $1 }, folder: stage.folder)
        #expect(done.status == 0, "\(done.errors)")
        #expect(try done.json.text("active") == next)
      }
      #expect(try await stage.keys("retired").count == 2)
    }
  }

  @Test func `a revoked key is gone everywhere, its tokens with it, and the next one signs`() async throws {
    try await withStage { stage in
      let services = [try await stage.start(settings), try await stage.start(settings)]
      let session = try await services[0].signIn(Mint.credential())
      let (leaked, next) = (try await stage.key("active"), try await stage.key("standby"))
      let done = try await stage.command("keys", "revoke", "--json", "--", leaked)
      #expect(done.status == 0)
      #expect(try done.json.text("revoked") == leaked)
      #expect(try done.json.text("active") == next)
      for service in services {
        try await service.uses(next)
        #expect(try await !service.publishedKeys().contains(leaked))
        let refused = try await service.trySignIn(Mint.credential(), bearer: session.idToken)
        #expect(refused.status == 401)
      }
      // Who has a session keeps it.
      let answer = try await services[1].tryRefresh(session.refreshToken)
      #expect(try keyID(of: #require(try answer.json.text("id_token"))) == next)
    }
  }

  @Test func `a key that is not there cannot be revoked, and the last one is followed by a new one`()
    async throws
  {
    try await withStage { stage in
      try await stage.start(settings).stop()
      let unknown = try await stage.command("keys", "revoke", String(repeating: "A", count: 43))
      #expect(unknown.status == 1)
      #expect(unknown.errors.contains("no signing key"))
      var seen: Set<String> = []
      for _ in 0..<3 {
        for role in ["standby", "active"] {
          let id = try await stage.key(role)
          #expect(try await stage.command("keys", "revoke", "--", id).status == 0)
          seen.insert(id)
          #expect(try await stage.keys("active").count == 1)
          #expect(try await stage.keys("standby").count == 1)
          #expect(try await !seen.contains(stage.key("active")))
        }
      }
      _ = try await stage.start(settings).signIn(Mint.credential())
    }
  }

  @Test func `S08 nothing that is printed, logged or published holds a private key`() async throws {
    try await withStage { stage in
      let service = try await stage.start(settings.merging(["BRAMLEY_SESSION_ALG": "RS256"]) { $1 })
      let rotated = try await stage.command(
        "keys", "rotate", "--force", settings: ["BRAMLEY_SESSION_ALG": "RS256"])
      try await service.uses(try await stage.key("active"))
      for key in try await service.get("/.well-known/jwks.json").json.objects("keys") {
        for member in ["d", "p", "q", "dp", "dq", "qi", "k"] { #expect(key[member] == nil) }
      }
      let texts = [
        rotated.output, rotated.errors, try await stage.command("keys", "list", "--json").output,
        service.process.outputLines.joined(), service.process.errorText,
      ]
      for text in texts { #expect(!text.contains("PRIVATE") && !text.contains("MII")) }
      for name in try FileManager.default.contentsOfDirectory(atPath: stage.folder)
      where name.hasPrefix("bramley.db") {
        let path = stage.folder + "/" + name
        #expect(
          try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600,
          "\(name)")
      }
    }
  }

  @Test func `S02 the key of a session cookie is published as long as the cookie lives`() async throws {
    try await withStage { stage in
      let admin = "administrator-of-cookies"
      let service = try await stage.start(settings.merging(["BRAMLEY_ADMIN_TOKEN": admin]) { $1 })
      let token = try await service.signIn(Mint.credential()).idToken
      let answer = try await service.post(
        "/identitytoolkit.googleapis.com/v1/projects/bramley:createSessionCookie",
        [("idToken", quoted(token)), ("validDuration", "\"1209600\"")], bearer: admin)
      let cookie = try #require(try answer.json.text("sessionCookie"), "\(answer)")
      #expect(try await stage.command("keys", "rotate", "--force").status == 0)
      try await service.uses(try await stage.key("active"))
      let end = try #require(try await service.read(cookie).claims.integer("exp"))
      let retired = try #require(try await stage.keys("retired").first)
      #expect(try retired.text("kid") == keyID(of: cookie))
      let until = try #require(retired.integer("publishedUntil"))
      // Whole days, and the leeway of whoever verifies it.
      #expect((end + 60...end + 86_400 + 300).contains(until))
    }
  }

  @Test func `while the keys cannot be read the present ones serve, and the log says so once`() async throws {
    try await withStage { stage in
      let service = try await stage.start(settings)
      let before = try await service.publishedKeys()
      try await stage.sql("ALTER TABLE signing_keys RENAME TO hidden")
      try await service.logs { $0.contains(#""event":"signing_keys_unavailable""#) }
      #expect(try await service.publishedKeys() == before)
      let token = try await service.signIn(Mint.credential()).idToken
      try await stage.sql("ALTER TABLE hidden RENAME TO signing_keys")
      try await service.logs { $0.contains(#""event":"signing_keys_available""#) }
      _ = try await service.read(token)
      #expect(service.process.outputLines.count { $0.contains("signing_keys_unavailable") } == 1)
      let next = try await stage.key("standby")
      #expect(try await stage.command("keys", "rotate", "--force").status == 0)
      try await service.uses(next)
    }
  }

  @Test func `what happens to keys is counted`() async throws {
    try await withStage { stage in
      let service = try await stage.start(settings)
      try await service.logs { $0.contains(#""event":"signing_key_made""#) }
      try #require(try await stage.command("keys", "rotate", "--force").status == 0)
      try await service.uses(try await stage.key("active"))
      let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      for sample in [
        #"bramley_signing_keys{role="active"} 1"#, #"bramley_signing_keys{role="standby"} 1"#,
        #"bramley_signing_keys{role="retired"} 1"#, #"bramley_signing_key_changes_total{change="made"} 2"#,
        #"bramley_signing_key_changes_total{change="withdrawn"} 0"#,
      ] {
        #expect(text.contains(sample + "\n"), "\(sample)")
      }
    }
  }

  @Test(arguments: [
    ["keys", "rotate", "x"], ["keys", "revoke"], ["keys", "revoke", "a", "b"], ["keys", "rewrap", "x"],
    ["keys", "list", "--force"], ["keys", "rotate", "--later"],
  ])
  func `wrong usage is 64`(_ arguments: [String]) async throws {
    try await withStage { stage in
      let finished = try await run(
        Program.bramley, arguments, environment: stage.settings, folder: stage.folder)
      #expect(finished.status == 64)
    }
  }

  @Test func `without a database, and without keys in it, there is nothing to change`() async throws {
    try await withStage { stage in
      for (prepare, status) in [([], 69), (["migrate"], 1)] as [([String], Int32)] {
        if !prepare.isEmpty { #expect(try await stage.command("migrate").status == 0) }
        for arguments in [["rotate"], ["rotate", "--force"], ["revoke", "abc"], ["rewrap"]] {
          let finished = try await run(
            Program.bramley, ["keys"] + arguments, environment: stage.settings, folder: stage.folder)
          #expect(finished.status == status, "\(arguments)")
        }
      }
      #expect(!FileManager.default.fileExists(atPath: stage.masterKeyFile))
    }
  }
}

/// What time brings about, by services whose clocks are ahead.
@Suite(.timeLimit(.minutes(2)))
struct SigningKeyRotationTests {
  private func rotating(_ seconds: Int) -> [String: String] {
    settings.merging(["BRAMLEY_KEY_ROTATION": "\(seconds)"]) { $1 }
  }

  @Test
  func
    `S02 a key is published, then waits, then signs, and the one before stays until its last token expired`()
    async throws
  {
    try await withStage { stage in
      let first = try await stage.start(rotating(3600))
      let cached = try SessionTokenReader(keySet: await first.get("/.well-known/jwks.json"))
      let early = try await first.signIn(Mint.credential())
      let old = try keyID(of: early.idToken)
      try await first.stop()

      let second = try await stage.start(rotating(3600), secondsAhead: 3700)
      let answer = try await second.tryRefresh(early.refreshToken)
      let token = try #require(try answer.json.text("id_token"))
      #expect(try keyID(of: token) != old)
      // A verifier that has not asked since the beginning.
      _ = try cached.read(token)
      _ = try await second.read(early.idToken)
      try await second.stop()

      // Its last token lives for an hour after the change, and the leeway.
      let third = try await stage.start(rotating(0), secondsAhead: 3700 + 3600)
      #expect(try await third.publishedKeys().contains(old))
      try await third.stop()
      let fourth = try await stage.start(rotating(0), secondsAhead: 3700 + 3600 + 600)
      #expect(try await !fourth.publishedKeys().contains(old))
      try await fourth.logs { $0.contains(#""event":"signing_key_withdrawn""#) && $0.contains(old) }
    }
  }

  @Test func `S02 a key that was not published for half an hour does not sign, however short the rotation`()
    async throws
  {
    try await withStage { stage in
      let first = try await stage.start(rotating(1))
      let old = try await first.signingKey()
      try await first.stop()
      let second = try await stage.start(rotating(1), secondsAhead: 1795)
      #expect(try await second.signingKey() == old)
    }
  }

  @Test func `S04 how long verifiers may keep a key set is said, and less than a key waits`() async throws {
    try await withStage { stage in
      let service = try await stage.start(settings)
      for path in ["/.well-known/jwks.json", "/v1/certs"] {
        let before = try await service.get(path)
        #expect(before["Cache-Control"] == "public, max-age=900")
        try #require(try await stage.command("keys", "rotate", "--force").status == 0)
        try await service.uses(try await stage.key("active"))
        let after = try await service.get(path, headers: [("If-None-Match", try #require(before["ETag"]))])
        #expect(after.status == 200)
        #expect(after["Cache-Control"] == "public, max-age=900")
      }
    }
  }

  @Test(arguments: [("ES256", "RS256"), ("RS256", "ES256")])
  func `S05 each algorithm follows the other, and tokens of both are good`(_ from: String, _ to: String)
    async throws
  {
    try await withStage { stage in
      let algorithm = { settings.merging(["BRAMLEY_SESSION_ALG": $0]) { $1 } }
      let first = try await stage.start(algorithm(from))
      let before = try await first.signIn(Mint.credential()).idToken
      try await first.stop()

      let second = try await stage.start(algorithm(to), secondsAhead: 100)
      let during = try await second.signIn(Mint.credential()).idToken
      #expect(try await second.read(during).header.text("alg") == from)
      let cached = try SessionTokenReader(keySet: await second.get("/.well-known/jwks.json"))
      try await second.stop()

      let third = try await stage.start(algorithm(to), secondsAhead: 2000)
      let after = try await third.signIn(Mint.credential()).idToken
      #expect(try cached.read(after).header.text("alg") == to)
      for token in [before, during, after] { _ = try await third.read(token) }
      #expect(
        try await third.get("/.well-known/openid-configuration").json
          .texts("id_token_signing_alg_values_supported").sorted() == ["ES256", "RS256"])
    }
  }

  @Test func `tokens before, during and after a rotation under load are good for who kept the key set`()
    async throws
  {
    try await withStage { stage in
      try await stage.start(settings).stop()
      let services = [
        try await stage.start(settings, secondsAhead: 2000),
        try await stage.start(settings, secondsAhead: 2000),
      ]
      let cached = try SessionTokenReader(keySet: await services[0].get("/.well-known/jwks.json"))
      let next = try await stage.key("standby")
      let sessions = try await withThrowingTaskGroup(of: SignedIn.self) { group in
        for number in 0..<8 {
          group.addTask { try await services[number % 2].signIn(Mint.credential()) }
        }
        return try await group.reduce(into: [SignedIn]()) { $0.append($1) }
      }
      let isOver = Watched(false)
      async let tokens = refreshing(sessions, services, until: isOver)
      let done = try await run(
        Program.bramley, ["keys", "rotate", "--now"],
        environment: stage.settings.merging(ClockShift.environment(2000)) { $1 }, folder: stage.folder)
      #expect(done.status == 0, "\(done.errors)")
      for service in services { try await service.uses(next) }
      isOver.update { $0 = true }
      let signed = try await tokens
      var seen: Set<String> = []
      for token in signed { seen.insert(try #require(try cached.read(token).header.text("kid"))) }
      #expect(seen.count == 2 && seen.contains(next))
    }
  }

  /// Refreshes every session over and over, once more after the end.
  private func refreshing(
    _ sessions: [SignedIn], _ services: [Service], until isOver: Watched<Bool>
  ) async throws -> [String] {
    try await withThrowingTaskGroup(of: [String].self) { group in
      for (number, session) in sessions.enumerated() {
        group.addTask {
          var (tokens, refreshToken, isLast) = ([session.idToken], session.refreshToken, false)
          repeat {
            isLast = isOver.read { $0 }
            let json = try await services[number % 2].tryRefresh(refreshToken).json
            tokens.append(try #require(json.text("id_token")))
            refreshToken = try #require(json.text("refresh_token"))
          } while !isLast
          return tokens
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }
}
