import Foundation
import TestProcesses
import Testing
import Wire

/// What an administrator was told is done stays done, is done once, and is nobody else's to read.
@Suite(.timeLimit(.minutes(2)))
struct AdminWriteTests {
  @Test func `what was answered survives a power cut`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Administrator.settings)
      let admin = Administrator(service: service)
      let subject = Mint.subject()
      let identity = #"{"providerId":"apple.com","rawId":"\#(subject)"}"#
      let person = try await service.signIn(Mint.credential())
      try await admin.create(#"{"localId":"made","displayName":"Ann","email":"ann@example.com"}"#)
      try await admin.create(#"{"localId":"gone"}"#)
      let imported = #"{"users":[{"localId":"old","providerUserInfo":[\#(identity)]}]}"#
      #expect(try await admin.post("accounts:batchCreate", imported).json["error"] == nil)
      try await admin.update("made", #""displayName":"Bo","customAttributes":"{\"role\":\"x\"}""#)
      try await admin.update(person.localID, #""validSince":\#(Int64(Date().timeIntervalSince1970))"#)
      try await admin.delete("gone")
      try await admin.update("old", #""disableUser":true"#)
      try await service.kill()

      let next = try await stage.start(Administrator.settings)
      let again = Administrator(service: next)
      let made = try #require(try await again.account("made"))
      #expect(made.text("displayName") == "Bo")
      #expect(made.text("customAttributes") == #"{"role":"x"}"#)
      #expect(try await again.account("gone") == nil)
      try expect(
        await next.trySignIn(Mint.credential { $0.subject = subject }), is: Refusal(400, "USER_DISABLED"))
      try expect(await next.tryRefresh(person.refreshToken), is: .session("session_revoked"))
      #expect(try await again.get("accounts:batchGet").json.localIDs == [person.localID, "made", "old"])
    }
  }

  @Test(arguments: [
    (#""localId":"one""#, "duplicate_local_id"), (#""email":"one@example.com""#, "email_exists"),
    (#""providerUserInfo":[{"providerId":"apple.com","rawId":"001.one.1"}]"#, "duplicate_raw_id"),
  ])
  func `of many who make the same account at once, one does`(_ member: String, _ reason: String) async throws
  {
    try await withAdministrator { service, admin in
      let answers = try await inParallel(16, port: service.port) { index in
        .post(
          "/v1/projects/bramley/accounts", json: #"{"displayName":"\#(index)",\#(member)}"#,
          headers: [("Authorization", "Bearer \(Administrator.token)")])
      }
      #expect(answers.count { $0.status == 200 } == 1)
      #expect(answers.count { $0.reason == reason } == 15)
      #expect(try await admin.get("accounts:batchGet").json.localIDs.count == 1)
    }
  }

  @Test func `a revocation between refreshes lets none of them through afterwards`() async throws {
    try await withAdministrator { service, admin in
      let person = try await service.signIn(Mint.credential())
      let answers = try await inParallel(16, port: service.port) { index in
        index == 8
          ? .post(
            "/v1/projects/bramley/accounts:update",
            json: #"{"localId":"\#(person.localID)","validSince":"\#(now())"}"#,
            headers: [("Authorization", "Bearer \(Administrator.token)")]) : .refresh(person.refreshToken)
      }
      #expect(answers[8].status == 200)
      for answer in answers where answer.status != 200 { try expect(answer, is: .session("session_revoked")) }
      for answer in answers {
        guard let token = try answer.json.text("refresh_token") else { continue }
        try expect(await service.tryRefresh(token), is: .session("session_revoked"))
      }
    }
  }

  @Test func `an outage of the database is neither a refusal nor "not found"`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Administrator.settings)
      let admin = Administrator(service: service)
      try await admin.create(#"{"localId":"ann"}"#)
      let holder = try await stage.lockDatabase()
      let body = #"{"localId":"ann","displayName":"Ann"}"#
      // Reading waits for nobody's lock.
      #expect(try await admin.post("accounts:lookup", #"{"localId":["ann"]}"#).status == 200)
      let operations = [("accounts", #"{"localId":"bo"}"#), ("accounts:delete", body)]
      for (operation, body) in operations {
        try expect(await admin.post(operation, body), is: .outage("storage_unavailable"))
      }
      try expect(await admin.post("accounts:update", body), is: .outage("storage_unavailable"))
      holder.closeInput()
      try await holder.ended()
      var answer = try await admin.post("accounts:update", body)
      let patience = ContinuousClock.now + .seconds(20)
      while answer.status == 503, ContinuousClock.now < patience {
        answer = try await admin.post("accounts:update", body)
      }
      #expect(try answer.json.text("displayName") == "Ann")
      #expect(try await admin.account("bo") == nil)
    }
  }

  @Test func `a command on the same database sees the accounts`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Administrator.settings)
      let admin = Administrator(service: service)
      try await admin.create(#"{"localId":"ann","email":"ann@example.com"}"#)
      #expect(try await stage.command("users", "show", "ann").output.contains("ann@example.com"))
      try await admin.delete("ann")
      #expect(try await stage.command("users", "show", "ann").status == 1)
    }
  }

  @Test(arguments: ["debug", "info"])
  func `nothing of an account and no bearer is in the log`(_ level: String) async throws {
    try await withStage { stage in
      let forge = try CustomTokenForge(.es256)
      let service = try await stage.start(
        Administrator.settings.merging(
          ["BRAMLEY_LOG_LEVEL": level, "BRAMLEY_CUSTOM_TOKEN_KEYS": forge.pem]
        ) { $1 })
      let admin = Administrator(service: service)
      let account =
        #"{"localId":"ann","email":"hygiene@example.com","displayName":"Lovelace","#
        + #""customAttributes":"{\"secretRole\":1}","photoUrl":"https://example.com/secret-photo"}"#
      try await admin.create(account)
      _ = try await admin.post("accounts", account)
      _ = try await admin.post("accounts", #"{"email":"hygiene@","customAttributes":"{\"sub\":1}"}"#)
      _ = try await admin.post("accounts:batchCreate", #"{"users":[\#(account)]}"#)
      _ = try await admin.lookup(#"{"email":["hygiene@example.com"]}"#)
      _ = try await admin.post("accounts:query", #"{"expression":[{"email":"hygiene@example.com"}]}"#)
      let stranger = Administrator(service: service, bearer: "bearer-of-a-stranger")
      _ = try await stranger.post("accounts", account)
      _ = try await admin.get("accounts:batchGet?nextPageToken=secret-page")
      let custom = try forge.token("ann", claims: #"{"secretClaim":1}"#)
      for token in [custom, custom + "x"] {
        _ = try await service.send(
          .post("/v1/accounts:signInWithCustomToken", json: #"{"token":"\#(token)"}"#))
      }
      try await service.stop()
      let text = String(decoding: service.process.state.read { $0.output + $0.errors }, as: UTF8.self)
      for secret in [
        "hygiene", "Lovelace", "secretRole", "secret-photo", "secret-page", "secretClaim", "stranger",
        Administrator.token, String(custom.suffix(20)),
      ] { #expect(!text.contains(secret), "\(secret)") }
      #expect(service.process.outputLines.count > 10)
    }
  }
}
