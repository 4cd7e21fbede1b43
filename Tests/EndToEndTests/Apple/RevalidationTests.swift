import Testing
import Wire

/// Once a day Apple is asked whether the consent still stands.
@Suite(.timeLimit(.minutes(10)))
struct RevalidationTests {
  /// A person whose token is to be looked at now.
  private func withDueGrant(
    _ changes: [String: String] = [:], before: (MockAppleProgram, String) async throws -> Void,
    _ body: (MockAppleProgram, Stage, Service, SignedIn) async throws -> Void
  ) async throws {
    try await withAppleSide(changes) { apple, stage, service in
      let subject = Mint.subject()
      let (credential, code) = try Mint.credentialWithCode { $0.subject = subject }
      let session = try await service.signIn(with: code, credential)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      try await before(apple, subject)
      // As if the sign-in were of yesterday.
      try await stage.sql("UPDATE accounts SET last_sign_in_at = last_sign_in_at - 90000")
      try await stage.sql("UPDATE apple_grants SET due_at = due_at - 100000")
      try await body(apple, stage, service, session)
    }
  }

  private func isLookedAt(_ stage: Stage) async throws -> Bool {
    let due = try await stage.sql(
      "SELECT count(*) FROM apple_grants WHERE due_at >= CAST(strftime('%s', 'now') AS INTEGER) + 86000")
    return due == "1"
  }

  @Test func `a consent that stands is asked for once a day, and nothing changes`() async throws {
    try await withDueGrant(before: { _, _ in }) { apple, stage, service, session in
      try await apple.waits("it was looked at") { $0.count("refresh") == 1 }
      try await eventually("that is written") {
        try await stage.sql("SELECT checked_at IS NOT NULL FROM apple_grants") == "1"
      }
      #expect(try await isLookedAt(stage))
      #expect(try await service.credentialState(session.idToken) == "authorized")
      _ = try await service.refresh(session.refreshToken)
      #expect(try await apple.calls().total("refresh") == 1)
    }
  }

  @Test func `a consent that is gone ends the sessions, and a sign-in brings it back`() async throws {
    let settings = Administrator.settings.merging(["BRAMLEY_SERVICE_KEYS": "back-end-key"]) { $1 }
    try await withDueGrant(settings, before: { try await $0.withdraw($1) }) {
      apple, stage, service, session in
      try await eventually("the sessions are over") { try await !service.admits(session.idToken) }
      try expect(await service.tryRefresh(session.refreshToken), is: .session("session_revoked"))
      #expect(try await apple.calls().count("refresh", "invalid_grant") == 1)
      let account = try await Operator(service: service).done("GET", "/users/\(session.localID)")
      #expect(account.text("credentialState") == "revoked")
      let shown = try await stage.command("users", "show", session.localID)
      #expect(shown.output.contains("consent       revoked"))
      #expect(
        try await stage.command("users", "show", session.localID, "--json").json.text("credentialState")
          == "revoked")
      #expect(try await stage.audited("credential_revoked") == [Client.app])
      let feed = try await service.get("/v1/revocations", headers: [("X-API-Key", "back-end-key")])
      #expect(String(decoding: feed.body, as: UTF8.self).contains(session.sessionID))
      #expect(try await stage.grants() == 0)
      let subject = try await stage.sql("SELECT subject FROM identities")
      let again = try await service.signIn(Mint.credential { $0.subject = subject })
      #expect(again.localID == session.localID)
      #expect(try await service.credentialState(again.idToken) == "authorized")
    }
  }

  @Test func `by setting the sessions outlive the consent`() async throws {
    try await withDueGrant(
      ["BRAMLEY_REVALIDATE_ENDS_SESSIONS": "false"], before: { try await $0.withdraw($1) }
    ) {
      _, _, service, session in
      try await eventually("the state is known") {
        try await service.credentialState(session.idToken) == "revoked"
      }
      _ = try await service.refresh(session.refreshToken)
    }
  }

  @Test(arguments: ["sporadic", "unavailable", "page"])
  func `O10 what Apple says when it is not well changes nothing`(_ trouble: String) async throws {
    try await withDueGrant(before: { apple, _ in try await apple.behave(tokens: trouble, oneIn: 1) }) {
      apple, stage, service, session in
      try await apple.waits("it was tried") { $0.total("refresh") == 1 }
      #expect(try await isLookedAt(stage))
      #expect(try await service.credentialState(session.idToken) == "authorized")
      _ = try await service.refresh(session.refreshToken)
      #expect(try await stage.grants() == 1)
      #expect(try await apple.calls().total("refresh") == 1)
    }
  }

  @Test func `when Apple throttles, all looks pause`() async throws {
    try await withDueGrant(before: { apple, _ in try await apple.behave(tokens: "throttled") }) {
      apple, stage, service, session in
      try await eventually("it pauses") {
        try await stage.sql("SELECT count(*) FROM leases WHERE name = 'apple_grants_paused'") == "1"
      }
      try await stage.sql("UPDATE apple_grants SET due_at = 0")
      try await apple.behave(tokens: "good")
      // Other work goes on.
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await eventually("the token is kept") { try await stage.grants() == 2 }
      #expect(try await apple.calls().total("refresh") == 1)
      let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      #expect(metrics.contains(#"bramley_apple_revalidations_total{outcome="throttled"} 1"#))
      try await stage.sql("UPDATE leases SET until = 0 WHERE name = 'apple_grants_paused'")
      try await apple.waits("it goes on") { $0.count("refresh") == 1 }
      #expect(try await service.credentialState(session.idToken) == "authorized")
    }
  }

  @Test func `an account without an identity at Apple has none to ask for`() async throws {
    try await withService(["BRAMLEY_ANONYMOUS": "true"]) { service in
      let answer = try await service.send(.post("/v1/accounts:signUp", json: #"{"returnSecureToken":true}"#))
      let token = try #require(try answer.json.text("idToken"))
      #expect(try await service.credentialState(token) == "notFound")
    }
  }
}
