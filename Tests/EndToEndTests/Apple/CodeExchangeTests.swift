import Foundation
import TestProcesses
import Testing
import Wire

/// A code that comes with a sign-in becomes a refresh token that is kept.
@Suite(.timeLimit(.minutes(10)))
struct CodeExchangeTests {
  @Test func `a code is exchanged after the answer, and nothing of it is anywhere in clear`() async throws {
    try await withAppleSide { apple, stage, service in
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      #expect(try await stage.queued() == 0)
      let calls = try await apple.calls()
      #expect(calls.count("exchange") == 1)
      #expect(try await stage.audited("apple_code_exchanged") == [Client.app])
      // A token of the stand-in says in clear what it is: so does its first part.
      let clues = [code.prefix(60), "r" + code.dropFirst().prefix(20)].map { Data($0.utf8) }
      let (database, output) = (try stage.databaseBytes(), service.process.outputLines.joined())
      for clue in clues {
        #expect(database.range(of: clue) == nil)
        #expect(!output.contains(String(decoding: clue, as: UTF8.self)))
      }
      #expect(!output.contains("client_secret"))
    }
  }

  @Test func `the same sign-in again adds no second call`() async throws {
    try await withAppleSide { apple, stage, service in
      let (credential, code) = try Mint.credentialWithCode()
      let first = try await service.signIn(with: code, credential)
      #expect(try await service.signIn(with: code, credential).sessionID == first.sessionID)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      #expect(try await apple.calls().total("exchange") == 1)
      #expect(try await stage.audited("apple_work_given_up") == [])
    }
  }

  @Test func `O01 a code that comes twice is exchanged once, and both sign-ins stand`() async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let code = try Mint.code(subject)
      for _ in 0..<2 {
        try await service.signIn(with: code, Mint.credential { $0.subject = subject })
      }
      try await eventually("both were tried") { try await stage.queued() == 0 }
      let calls = try await apple.calls()
      #expect(calls.count("exchange") == 1)
      #expect(calls.count("exchange", "code_used") == 1)
      #expect(try await stage.grants() == 1)
      #expect(try await stage.audited("apple_work_given_up") == ["exchange code_refused"])
    }
  }

  @Test func `O02 the client of a call is the one of the token`() async throws {
    try await withAppleSide { apple, stage, service in
      for client in [Client.app, Client.second] {
        let (credential, code) = try Mint.credentialWithCode { $0.audience = client }
        try await service.signIn(with: code, credential)
      }
      try await eventually("both tokens are kept") { try await stage.grants() == 2 }
      #expect(try await apple.calls().count("exchange") == 2)
      let clients = try await stage.sql("SELECT group_concat(client_id, ' ') FROM apple_grants")
      #expect(Set(clients.split(separator: " ").map(String.init)) == [Client.app, Client.second])
    }
  }

  @Test func `O11 a code of another person is refused and nothing is stored`() async throws {
    try await withAppleSide { apple, stage, service in
      let stranger = Mint.subject()
      try await service.signIn(with: Mint.code(stranger), Mint.credential())
      try await eventually("it was tried") { try await stage.queued() == 0 }
      #expect(try await apple.calls().count("exchange") == 1)
      #expect(try await stage.grants() == 0)
      #expect(try await stage.audited("apple_work_given_up") == ["exchange other_person"])
      #expect(try stage.databaseBytes().range(of: Data(stranger.utf8)) == nil)
    }
  }

  @Test func `O11 an identity token of another person beside the refresh token is refused`() async throws {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: "misattributed")
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await eventually("it was tried") { try await stage.queued() == 0 }
      #expect(try await stage.grants() == 0)
      #expect(try await stage.audited("apple_work_given_up") == ["exchange other_person"])
      #expect(try await apple.calls().total("revoke") == 0)
    }
  }

  @Test func `a code that is not the token's own is dropped, and the person signs in`() async throws {
    try await withAppleSide { apple, stage, service in
      let (credential, _) = try Mint.credentialWithCode()
      try await service.signIn(with: Mint.code(Mint.subject()), credential)
      #expect(try await stage.queued() == 0)
      #expect(try await apple.calls().total("exchange") == 0)
      let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      #expect(metrics.contains("\nbramley_apple_foreign_codes_total 1\n"))
    }
  }

  @Test func `a code of the web is exchanged with its redirect URI`() async throws {
    try await withAppleSide { apple, stage, service in
      let uri = "https://app.example.com/apple?x=1&y=ü+"
      let (credential, code) = try Mint.credentialWithCode(redirectURI: uri)
      try await service.signIn(with: code, credential, ["redirectUri": #""\#(uri)""#])
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      #expect(try await apple.calls().count("exchange") == 1)
    }
  }

  /// Signs in as Firebase's SDKs do.
  private func signIn(_ service: Service, _ credential: Credential, _ field: String, _ code: String)
    async throws
  {
    var out = JSONWriter()
    out.member("requestUri", "http://localhost")
    out.member(
      "postBody",
      "providerId=apple.com&id_token=\(credential.idToken)&nonce=\(credential.rawNonce)&\(field)=\(code)")
    let answer = try await service.send(
      .post("/v1/accounts:signInWithIdp", json: String(decoding: out.finish(), as: UTF8.self)))
    #expect(answer.status == 200, "\(answer)")
  }

  @Test(arguments: ["code", "access_token"])
  func `a code in Firebase's form is exchanged too`(_ field: String) async throws {
    try await withAppleSide { apple, stage, service in
      let (credential, code) = try Mint.credentialWithCode()
      try await signIn(service, credential, field, code)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      #expect(try await apple.calls().count("exchange") == 1)
    }
  }

  @Test func `what Firebase's SDKs call an access token is no code unless the token says so`() async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      try await signIn(
        service, try Mint.credential { $0.subject = subject }, "access_token", try Mint.code(subject))
      #expect(try await stage.queued() == 0)
      #expect(try await apple.calls().total("exchange") == 0)
    }
  }

  @Test func `without a key a code is left alone, and everything that asks is told so`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      try await service.process.line { $0.contains("apple_calls_off") }
      let (credential, code) = try Mint.credentialWithCode()
      let session = try await service.signIn(with: code, credential)
      #expect(try await stage.queued() == 0)
      let answer = try await service.send(
        .post(
          "/v2/accounts:revokeToken",
          json: #"{"idToken":"\#(session.idToken)","providerId":"apple.com","tokenType":"3","token":"x"}"#))
      try expect(answer, is: Refusal(400, "OPERATION_NOT_ALLOWED", "apple_key_missing"))
      let doctor = try await stage.command("doctor")
      #expect(doctor.output.contains("warning  Apple key: none is set (apple_key_missing)"))
    }
  }
}
