import Foundation
import MockApple
import TestProcesses
import Testing
import Wire

/// People who sign in while their app goes to another developer team.
@Suite(.timeLimit(.minutes(10)))
struct ArrivalTests {
  private static let relay = "abc@privaterelay.appleid.com"

  /// A service whose app has gone, with one person that was exported before.
  private func withExported(
    _ body: (MockAppleProgram, Stage, Service, _ subject: String, SignedIn) async throws -> Void
  ) async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let before = try await service.signIn(
        Mint.credential {
          $0.subject = subject
          $0.email = Self.relay
        })
      let exported = try await stage.transfer(.export)
      try #require(exported.status == 0, "\(exported.errors)")
      service.process.send(signal: SIGTERM)
      try await service.process.ended()
      try await body(apple, stage, try await stage.start(Team.settingsAfterMove), subject, before)
    }
  }

  /// Of the same person, as the app of the other team gets it.
  private func credentialAfterMove(_ subject: String) throws -> Credential {
    try Mint.credential {
      $0.subject = subject
      $0.email = Self.relay
      $0.transferredTo = MockTeam.otherID
    }
  }

  @Test func `X02 P02 who signs in after the move has another subject and address, and the same account`()
    async throws
  {
    try await withExported { apple, stage, service, subject, before in
      #expect(try await service.credentialState(before.idToken) == "transferred")
      let shown = try await stage.command(
        "users", "show", before.localID, "--json", settings: Team.settingsAfterMove)
      #expect(try shown.json.text("credentialState") == "transferred")
      let answer = try await service.trySignIn(credentialAfterMove(subject))
      #expect(answer.status == 200, "\(answer)")
      let transfer = MockTransfer(person: subject, team: MockTeam.otherID)
      #expect(try answer.json.text("localId") == before.localID)
      #expect(try answer.json.flag("isNewUser") == false)
      #expect(try answer.json.text("email") == transfer.relayAddress)
      #expect(try await service.credentialState(before.idToken) == "authorized")
      #expect(try await stage.people() == ["1", "1"])
      #expect(try await stage.sql("SELECT subject FROM identities") == transfer.subject)
      #expect(try await stage.sql("SELECT former_subject FROM identities") == subject)
      #expect(try await stage.audited("identity_rekeyed") == [MockTeam.otherID])
      _ = try await service.refresh(before.refreshToken)
      let found = try await stage.command(
        "users", "list", "--provider", "apple.com", "--subject", subject, "--json")
      let identities = try #require(try found.json.objects("users").first).objects("identities")
      #expect(identities.map { $0.text("subject") } == [transfer.subject])
      #expect(identities.map { $0.text("formerSubject") } == [subject])
      // The transfer has nothing more to do for this person.
      let late = try await stage.transfer(.import)
      #expect(late.status == 0, "\(late.errors)")
      #expect(try await apple.calls().total("import") == 0)
      #expect(try await stage.transferStatus().integer("rekeyed") == 1)
    }
  }

  @Test func `X02 in Firebase's form as well`() async throws {
    try await withExported { _, stage, service, subject, before in
      let credential = try credentialAfterMove(subject)
      let form =
        "providerId=apple.com&id_token=\(credential.idToken)&nonce="
        + (credential.rawNonce.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
      let body = #"{"requestUri":"http://localhost","returnSecureToken":true,"postBody":"\#(form)"}"#
      let answer = try await service.send(.post("/v1/accounts:signInWithIdp", json: body))
      #expect(try answer.json.text("localId") == before.localID, "\(answer)")
      #expect(try await stage.people() == ["1", "1"])
    }
  }

  @Test func `a person of the old team who was never exported is somebody new`() async throws {
    try await withExported { _, stage, service, _, before in
      let other = try await service.signIn(credentialAfterMove(Mint.subject()))
      #expect(other.localID != before.localID)
      #expect(try await stage.people() == ["2", "2"])
    }
  }

  @Test func `a transfer subject that is no subject is refused`() async throws {
    try await withExported { _, _, service, _, _ in
      for claim in [#"7"#, #""with space""#, "\"\(String(repeating: "x", count: 256))\""] {
        let value = try #require(JSONObject(parsing: Array("{\"v\":\(claim)}".utf8))["v"])
        let answer = try await service.trySignIn(
          Mint.credential { $0.claims = [("transfer_sub", value)] })
        try expect(answer, is: .token("claim_invalid"))
      }
    }
  }

  @Test func `a token of the old team makes no second account`() async throws {
    try await withExported { _, stage, service, subject, before in
      try await service.signIn(credentialAfterMove(subject))
      let late = try await service.signIn(
        Mint.credential {
          $0.subject = subject
          $0.email = Self.relay
        })
      #expect(late.localID == before.localID)
      #expect(try await stage.people() == ["1", "1"])
      let transfer = MockTransfer(person: subject, team: MockTeam.otherID)
      let again = try await service.trySignIn(Mint.credential { $0.subject = subject })
      #expect(try again.json.text("federatedId") == transfer.subject)
      #expect(try await stage.sql("SELECT email FROM accounts") == transfer.relayAddress)
      #expect(try await stage.sql("SELECT subject FROM identities") == transfer.subject)
    }
  }

  @Test func `X02 twenty sign-ins and an import of one person at once make one account`() async throws {
    try await withExported { _, stage, service, subject, before in
      let credentials = try (0..<20).map { _ in try credentialAfterMove(subject) }
      async let moved = stage.transfer(.import)
      let answers = try await inParallel(20, port: service.port) {
        .signIn(credentials[$0].body(), bearer: nil)
      }
      let finished = try await moved
      #expect(finished.status == 0, "\(finished.errors)")
      for answer in answers {
        #expect(try answer.json.text("localId") == before.localID, "\(answer)")
        #expect(try answer.json.flag("isNewUser") == false)
      }
      #expect(try await stage.people() == ["1", "1"])
      #expect(try await stage.audited("identity_rekeyed").count == 1)
    }
  }

  @Test func `who came before the transfer reached him has two accounts until an operator decides`()
    async throws
  {
    try await withExported { apple, stage, service, subject, before in
      let transfer = MockTransfer(person: subject, team: MockTeam.otherID)
      // A token without the claim: then nobody can know.
      let (credential, code) = try Mint.credentialWithCode { $0.subject = transfer.subject }
      let newer = try await service.signIn(with: code, credential)
      try await eventually("its token is kept") { try await stage.grants() == 1 }
      #expect(newer.localID != before.localID)
      let first = try await stage.transfer(.import)
      #expect(first.status == 1)
      #expect(try first.json.integer("conflicts") == 1)
      let conflicts = try await stage.transferStatus().objects("conflictAccounts")
      #expect(conflicts.map { $0.text("localId") } == [before.localID])
      #expect(conflicts.map { $0.text("otherLocalId") } == [newer.localID])
      #expect(try await stage.people() == ["2", "2"])
      #expect(try await stage.command("users", "delete", newer.localID).status == 0)
      let second = try await stage.transfer(.import)
      #expect(second.status == 0, "\(second.errors)")
      // The consent was the person's, and is.
      #expect(try await apple.calls().total("revoke") == 0)
      #expect(try await stage.sql("SELECT count(*) FROM apple_work") == "0")
      #expect(try await service.signIn(credentialAfterMove(subject)).localID == before.localID)
    }
  }

  @Test
  func
    `what the old team got is revoked with its key and looked at no more, and what is new with the new one`()
    async throws
  {
    try await withAppleSide { apple, stage, service in
      let subjects = [Mint.subject(), Mint.subject()]
      for subject in subjects {
        let (credential, code) = try Mint.credentialWithCode { $0.subject = subject }
        try await service.signIn(with: code, credential)
      }
      try await eventually("both tokens are kept") { try await stage.grants() == 2 }
      #expect(try await stage.sql("SELECT group_concat(DISTINCT team) FROM apple_grants") == MockTeam.id)
      try #require(try await stage.transfer(.export).status == 0)
      service.process.send(signal: SIGTERM)
      try await service.process.ended()
      // What Apple says of them now, of whatever team's key, is no word about the consent to the app.
      for subject in subjects { try await apple.withdraw(subject) }
      try await stage.sql("UPDATE apple_grants SET due_at = due_at - 100000")
      let after = try await stage.start(Team.settingsAfterMove)
      try await eventually("the turn of both has come") {
        try await stage.sql("SELECT count(*) FROM apple_grants WHERE due_at > unixepoch()") == "2"
      }
      #expect(
        try await stage.sql("SELECT count(*) FROM identities WHERE credential_state = 'authorized'") == "2")
      let (credential, code) = try Mint.credentialWithCode {
        $0.subject = subjects[0]
        $0.transferredTo = MockTeam.otherID
      }
      let moved = try await after.signIn(with: code, credential)
      // The old team's token has gone with the re-key, and the new team's is in its place.
      try await eventually("the new token is kept") {
        try await stage.sql("SELECT count(*) FROM apple_grants WHERE team = '\(MockTeam.otherID)'") == "1"
      }
      #expect(try await stage.grants() == 2)
      #expect(try await after.deleteAccount(moved.idToken).status == 200)
      let stayer = try await stage.sql("SELECT id FROM accounts")
      #expect(try await stage.command("users", "delete", stayer).status == 0)
      try await apple.waits("both are revoked, each by its team's key") { $0.count("revoke") == 2 }
      #expect(try await apple.calls().count("revoke", "invalid_client") == 0)
      #expect(try await apple.calls().total("refresh") == 0)
    }
  }

  @Test func `a person whom the import moved is revoked with what the old team got`() async throws {
    try await withAppleSide { apple, stage, service in
      let (credential, code) = try Mint.credentialWithCode()
      let person = try await service.signIn(with: code, credential)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      try #require(try await stage.transfer(.export).status == 0)
      service.process.send(signal: SIGTERM)
      try await service.process.ended()
      _ = try await stage.start(Team.settingsAfterMove)
      try #require(try await stage.transfer(.import).status == 0)
      #expect(try await stage.command("users", "delete", person.localID).status == 0)
      try await apple.waits("it is revoked") { $0.count("revoke") == 1 }
      #expect(try await apple.calls().count("revoke", "unknown") == 0)
    }
  }

  @Test func `tokens from before teams were kept belong to the team that was there`() async throws {
    try await withAppleSide { apple, stage, service in
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      service.process.send(signal: SIGTERM)
      try await service.process.ended()
      try await stage.sql("UPDATE apple_grants SET team = NULL, due_at = due_at - 100000")
      _ = try await stage.start(Team.settingsAfterMove)
      try await eventually("it has a team") {
        try await stage.sql("SELECT team FROM apple_grants") == MockTeam.id
      }
    }
  }
}
