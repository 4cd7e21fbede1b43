import Foundation
import Testing
import Wire

/// What Apple gave out is given back when the account goes, or when an app says so.
@Suite(.timeLimit(.minutes(10)))
struct AppleRevocationTests {
  /// Signs a person in whose token is kept.
  private func settled(
    _ stage: Stage, _ service: Service, client: String = Client.app, subject: String = Mint.subject()
  ) async throws -> SignedIn {
    let before = try await stage.grants()
    let (credential, code) = try Mint.credentialWithCode {
      $0.audience = client
      $0.subject = subject
    }
    let session = try await service.signIn(with: code, credential)
    try await eventually("the token is kept") { try await stage.grants() == before + 1 }
    return session
  }

  private func revoke(
    _ service: Service, _ session: SignedIn, type: String, _ token: String, redirectURI: String? = nil
  ) async throws -> HTTPAnswer {
    let uri = redirectURI.map { #","redirectUri":"\#($0)""# } ?? ""
    return try await service.send(
      .post(
        "/identitytoolkit.googleapis.com/v2/accounts:revokeToken",
        json:
          #"{"idToken":"\#(session.idToken)","providerId":"apple.com","tokenType":\#(type),"token":"\#(token)"\#(uri)}"#
      ))
  }

  @Test func `a deleted account's token is revoked, and nothing of the person is left`() async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let session = try await settled(stage, service, subject: subject)
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      let calls = try await apple.calls()
      #expect(calls.count("revoke") == 1)
      #expect(calls.count("revoke", "unknown") == 0)
      #expect(try await stage.grants() == 0)
      #expect(try await stage.sql("SELECT count(*) FROM identities WHERE subject = '\(subject)'") == "0")
      #expect(try await stage.audited("apple_token_revoked") == [Client.app])
    }
  }

  @Test func `P07 a deletion is done while Apple is down, and the token is revoked afterwards, once`()
    async throws
  {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let session = try await settled(stage, service, subject: subject)
      try await apple.behave(tokens: "unavailable")
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      try expect(await service.tryRefresh(session.refreshToken), is: Refusal(400, "USER_NOT_FOUND"))
      try await apple.waits("it was tried") { $0.count("revoke", "unavailable") >= 1 }
      #expect(try await stage.sql("SELECT kind FROM apple_work WHERE subject IS NULL") == "revoke")
      #expect(try await stage.grants() == 0)
      // It outlives the service.
      try await service.kill()
      try await apple.behave(tokens: "good")
      let next = try await stage.start(Team.settings)
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      let calls = try await apple.calls()
      #expect(calls.count("revoke") == 1)
      #expect(calls.count("revoke", "unknown") == 0)
      try await next.stop()
    }
  }

  @Test func `a page in the place of Apple's empty answer is no revocation`() async throws {
    try await withAppleSide { apple, stage, service in
      let session = try await settled(stage, service)
      try await apple.behave(tokens: "page")
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      try await apple.waits("it was tried") { $0.count("revoke", "page") >= 1 }
      try await eventually("it waits for the next try") {
        try await stage.sql("SELECT fault FROM apple_work") == "not_json"
      }
      try await apple.behave(tokens: "good")
      #expect(try await stage.command("apple", "queue", "retry", "--all").status == 0)
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      #expect(try await apple.calls().count("revoke") == 1)
    }
  }

  @Test func `a token of an app's that Apple does not know does not cost the one that is kept`() async throws
  {
    try await withAppleSide { apple, stage, service in
      let session = try await settled(stage, service)
      #expect(try await revoke(service, session, type: "2", "stale-access-token").status == 200)
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      let calls = try await apple.calls()
      #expect(calls.count("revoke", "unknown") == 1)
      #expect(calls.count("revoke") == 2)
      #expect(try await stage.grants() == 0)
      #expect(try await service.credentialState(session.idToken) == "revoked")
    }
  }

  @Test
  func `the code of the sign-in itself, brought once more, has what came of it revoked, and alarms nobody`()
    async throws
  {
    try await withAppleSide { apple, stage, service in
      let (credential, code) = try Mint.credentialWithCode()
      let session = try await service.signIn(with: code, credential)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      #expect(try await revoke(service, session, type: "3", code).status == 200)
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      #expect(try await apple.calls().count("revoke") == 1)
      #expect(try await stage.grants() == 0)
      #expect(try await service.credentialState(session.idToken) == "revoked")
      #expect(try await stage.audited("apple_work_given_up") == ["exchange_then_revoke brought_unusable"])
      let doctor = try await stage.command("doctor", settings: Team.settings)
      #expect(!doctor.output.contains("given up"), "\(doctor.output)")
      #expect(!service.process.outputLines.contains { $0.contains(#""level":"error""#) })
    }
  }

  @Test func `the code of a sign-in that waits for its exchange, brought once more, is revoked`() async throws
  {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: "unavailable")
      let (credential, code) = try Mint.credentialWithCode()
      let session = try await service.signIn(with: code, credential)
      try await apple.waits("it was tried") { $0.total("exchange") >= 1 }
      #expect(try await revoke(service, session, type: "3", code).status == 200)
      try await apple.behave(tokens: "good")
      #expect(try await stage.command("apple", "queue", "retry", "--all").status == 0)
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      #expect(try await apple.calls().count("revoke") == 1)
      #expect(try await stage.grants() == 0)
    }
  }

  @Test func `a stop lets a call to Apple end that has begun`() async throws {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: "slow", milliseconds: 1500)
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await eventually("it has begun") {
        try await stage.sql("SELECT fault FROM apple_work") == "sending"
      }
      try await service.stop()
      #expect(try await stage.grants() == 1)
      #expect(try await stage.queued() == 0)
      #expect(try await apple.calls().total("exchange") == 1)
    }
  }

  @Test func `a code that still waits when its account goes is exchanged and revoked`() async throws {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: "unavailable")
      let (credential, code) = try Mint.credentialWithCode()
      let session = try await service.signIn(with: code, credential)
      try await apple.waits("it was tried") { $0.total("exchange") >= 1 }
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      #expect(try await stage.sql("SELECT kind FROM apple_work") == "exchange_then_revoke")
      try await apple.behave(tokens: "good")
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      let calls = try await apple.calls()
      #expect(calls.count("exchange") == 1)
      #expect(calls.count("revoke") == 1)
      #expect(calls.count("revoke", "unknown") == 0)
      #expect(try await stage.grants() == 0)
    }
  }

  @Test func `V02 a token is revoked by the client that got it`() async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let first = try await settled(stage, service, client: Client.app, subject: subject)
      _ = try await settled(stage, service, client: Client.second, subject: subject)
      #expect(try await service.deleteAccount(first.idToken).status == 200)
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      let calls = try await apple.calls()
      #expect(calls.count("revoke") == 2)
      #expect(calls.total("revoke") == 2)
    }
  }

  @Test(arguments: ["command", "administrator", "firebase", "batch"])
  func `whoever deletes an account, its token is revoked`(_ way: String) async throws {
    try await withAppleSide(Administrator.settings) { apple, stage, service in
      let session = try await settled(stage, service)
      switch way {
      case "command":
        #expect(try await stage.command("users", "delete", session.localID).status == 0)
      case "administrator":
        try await Operator(service: service).done("DELETE", "/users/\(session.localID)")
      case "firebase":
        let answer = try await service.send(
          .post("/v1/accounts:delete", json: #"{"idToken":"\#(session.idToken)"}"#))
        #expect(answer.status == 200, "\(answer)")
      default:
        let answer = try await service.send(
          .post(
            "/v1/projects/bramley/accounts:batchDelete",
            json: #"{"localIds":["\#(session.localID)"],"force":true}"#,
            headers: [("Authorization", "Bearer \(Administrator.token)")]))
        #expect(answer.status == 200, "\(answer)")
      }
      try await apple.waits("it was revoked") { $0.count("revoke") == 1 }
      #expect(try await stage.grants() == 0)
    }
  }

  @Test(arguments: [#""3""#, "3", #""CODE""#])
  func `a code that an app brings is exchanged and revoked, and the app may delete the account then`(
    _ type: String
  ) async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let session = try await settled(stage, service, subject: subject)
      let answer = try await revoke(service, session, type: type, try Mint.code(subject))
      #expect(answer.status == 200, "\(answer)")
      #expect(String(decoding: answer.body, as: UTF8.self) == "{}")
      // And with it the one that was kept.
      try await apple.waits("it was revoked") { $0.count("revoke") == 2 }
      #expect(try await apple.calls().count("exchange") == 2)
      try await eventually("the state is known") {
        try await service.credentialState(session.idToken) == "revoked"
      }
      #expect(try await stage.grants() == 0)
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
    }
  }

  @Test(arguments: [
    ("2", "access"), (#""ACCESS_TOKEN""#, "access"), ("1", "refresh"), (#""REFRESH_TOKEN""#, "refresh"),
  ])
  func `a token that an app brings is revoked with the right hint`(_ type: String, _ kind: String)
    async throws
  {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let session = try await settled(stage, service, subject: subject)
      let tokens = try await Mint.tokens(of: Mint.code(subject), at: apple)
      let token = try #require(tokens.text(kind + "_token"))
      #expect(try await revoke(service, session, type: type, token).status == 200)
      // And with it the one that was kept.
      try await apple.waits("it was revoked") { $0.count("revoke") == 2 }
      #expect(try await apple.calls().total("revoke") == 2)
      #expect(try await apple.calls().count("revoke", "unknown") == 0)
    }
  }

  @Test func `a code of another client of ours is found out to be that one's`() async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let session = try await service.signIn(Mint.credential { $0.subject = subject })
      let code = try Mint.code(subject, client: Client.second)
      #expect(try await revoke(service, session, type: "3", code).status == 200)
      try await apple.waits("it was revoked") { $0.count("revoke") == 1 }
      #expect(try await apple.calls().count("exchange") == 1)
      #expect(try await stage.audited("apple_token_revoked") == [Client.second])
      #expect(try await stage.audited("apple_revocation_asked") == ["code"])
    }
  }

  @Test(arguments: [#""ACCESS_TOKEN""#, #""REFRESH_TOKEN""#])
  func `V02 a token of another kind or client than the app says is revoked all the same, and alarms nobody`(
    _ type: String
  ) async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let session = try await service.signIn(Mint.credential { $0.subject = subject })
      let tokens = try await Mint.tokens(
        of: Mint.code(subject, client: Client.second), at: apple, client: Client.second)
      let token = try #require(tokens.text(type.contains("ACCESS") ? "refresh_token" : "access_token"))
      #expect(try await revoke(service, session, type: type, token).status == 200)
      try await apple.waits("it was revoked") { $0.count("revoke") == 1 }
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      #expect(try await stage.audited("apple_token_revoked") == [Client.second])
      let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      for word in ["invalid_client", "invalid_request"] {
        #expect(metrics.contains("bramley_apple_calls_total{outcome=\"\(word)\"} 0"))
      }
      #expect(!metrics.contains(#"bramley_apple_calls_total{outcome="brought_refused"} 0"#))
      try await service.stop()
      #expect(!service.process.outputLines.contains { $0.contains("apple_misconfigured") })
    }
  }

  @Test func `a token of a stranger's client is no alarm`() async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let session = try await service.signIn(Mint.credential { $0.subject = subject })
      let stranger = "com.example.stranger"
      let tokens = try await Mint.tokens(
        of: Mint.code(subject, client: stranger), at: apple, client: stranger)
      let token = try #require(tokens.text("refresh_token"))
      #expect(try await revoke(service, session, type: "1", token).status == 200)
      try await eventually("it waits") {
        try await stage.sql("SELECT fault FROM apple_work") == "invalid_client"
      }
      let doctor = try await stage.command("doctor", settings: Team.settings)
      #expect(doctor.status == 0, "\(doctor.output)")
      #expect(try await stage.command("apple", "queue", "retry", "--all", "--json").json.integer("due") == 1)
    }
  }

  @Test func `a revocation that an app asks for survives Apple's outage and the account`() async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let session = try await service.signIn(Mint.credential { $0.subject = subject })
      try await apple.behave(tokens: "unavailable")
      #expect(try await revoke(service, session, type: "3", try Mint.code(subject)).status == 200)
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      try await apple.behave(tokens: "good")
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      #expect(try await apple.calls().count("revoke") == 1)
    }
  }

  @Test func `an app cannot have another person's consent revoked, nor one that is not there`() async throws {
    try await withAppleSide(["BRAMLEY_ANONYMOUS": "true"]) { apple, stage, service in
      let session = try await service.signIn(Mint.credential())
      #expect(try await revoke(service, session, type: "3", try Mint.code(Mint.subject())).status == 200)
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      #expect(try await apple.calls().total("revoke") == 0)
      #expect(try await stage.audited("apple_work_given_up") == ["exchange_then_revoke other_person"])
      let answer = try await service.send(.post("/v1/accounts:signUp", json: #"{"returnSecureToken":true}"#))
      let anonymous = try #require(try answer.json.text("idToken"))
      let refused = try await service.send(
        .post(
          "/v2/accounts:revokeToken",
          json: #"{"idToken":"\#(anonymous)","providerId":"apple.com","tokenType":3,"token":"x"}"#))
      try expect(refused, is: Refusal(400, "OPERATION_NOT_ALLOWED", "no_apple_identity"))
    }
  }

  @Test func `the queue is shown and hastened by commands`() async throws {
    try await withAppleSide { apple, stage, service in
      let session = try await settled(stage, service)
      try await apple.behave(tokens: "stranger")
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      try await eventually("it waits for an operator") {
        try await stage.sql("SELECT fault FROM apple_work") == "misconfigured: invalid_client"
      }
      let list = try await stage.command("apple", "queue", "list", "--json").json
      let entry = try #require(list.objects("queue").first)
      #expect(entry.text("kind") == "revoke")
      #expect(entry.text("clientId") == Client.app)
      #expect(entry.text("localId") == session.localID)
      #expect(entry.text("fault") == "misconfigured: invalid_client")
      #expect(entry.integer("attempts") == 1)
      #expect(list.object("counts")?.integer("revoke") == 1)
      let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      #expect(metrics.contains(#"bramley_apple_calls_total{outcome="invalid_client"} 1"#))
      try await apple.behave(tokens: "good")
      let id = try #require(entry.text("id"))
      #expect(try await stage.command("apple", "queue", "list").output.contains(id))
      let retry = try await stage.command("apple", "queue", "retry", id, "--json")
      #expect(try retry.json.integer("due") == 1)
      try await apple.waits("it was revoked") { $0.count("revoke") == 1 }
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      #expect(try await stage.command("apple", "queue", "retry", id).status == 1)
      #expect(try await stage.command("apple", "queue", "retry", "--all").status == 0)
      for words in [
        ["queue"], ["queue", "retry"], ["queue", "list", "x"], ["queue", "retry", "xyz"], ["x"],
      ] {
        #expect(try await run(Program.bramley, ["apple"] + words, environment: stage.settings).status == 64)
      }
    }
  }

  @Test func `codes and tokens are sealed anew with another master key, and none is lost on the way`()
    async throws
  {
    try await withAppleSide { apple, stage, service in
      let session = try await settled(stage, service)
      try await apple.behave(tokens: "unavailable")
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await service.stop()
      let old = try String(contentsOfFile: stage.masterKeyFile, encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      let new = Data(repeating: 7, count: 32).base64EncodedString()
      let both = ["BRAMLEY_MASTER_KEY": "\(new),\(old)"]
      let doctor = try await stage.command("doctor", settings: both)
      #expect(doctor.output.contains("2 of Apple's codes and tokens"))
      #expect(try await stage.command("doctor", settings: ["BRAMLEY_MASTER_KEY": new]).status == 1)
      let rewrap = try await stage.command("keys", "rewrap", "--json", settings: both)
      #expect(try rewrap.json.integer("appleSecretsRewrapped") == 2)
      let keys = try await stage.command("keys", "list", "--json", settings: both).json
      #expect(keys.object("appleSecretsByMasterKey")?.names.count == 1)
      try await apple.behave(tokens: "good")
      let next = try await stage.start(Team.settings.merging(both) { $1 })
      try await eventually("the other token is kept") { try await stage.grants() == 2 }
      #expect(try await next.deleteAccount(session.idToken).status == 200)
      try await apple.waits("it was revoked") { $0.count("revoke") == 1 }
      #expect(try await apple.calls().count("revoke", "unknown") == 0)
      try await next.stop()
    }
  }
}
