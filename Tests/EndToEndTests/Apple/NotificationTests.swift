import Foundation
import MockApple
import Testing
import Wire

/// What Apple tells of people: what is believed, and what comes of it.
@Suite(.timeLimit(.minutes(10)))
struct NotificationTests {
  @Test(arguments: NotificationOrder.Shape.allCases, NotificationOrder.Unit.allCases)
  func `V05 a consent that is taken back ends the sessions, whatever form tells of it`(
    _ shape: NotificationOrder.Shape, _ unit: NotificationOrder.Unit
  ) async throws {
    try await withOperator { service, administrator in
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject)
      let other = try await service.signIn(subject: Mint.subject())
      try await service.notify(of: subject) { order in
        order.shape = shape
        order.unit = unit
      }
      try expect(await service.tryRefresh(session.refreshToken), is: .session("session_revoked"))
      #expect(try await service.admits(session.idToken) == false)
      #expect(try await service.admits(other.idToken))
      let account = try await administrator.done("GET", "/users/\(session.localID)")
      #expect(account.text("credentialState") == "revoked")
      // The account stays, and a new sign-in is a new consent.
      let next = try await service.signIn(subject: subject)
      #expect(next.localID == session.localID)
      #expect(try await service.account(next.idToken).text("credentialState") == "authorized")
    }
  }

  @Test func `V07 a consent that was taken back before the newest sign-in does not end that session`()
    async throws
  {
    try await withOperator { service, administrator in
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject)
      try await service.notify(of: subject) { $0.eventTime = Mint.now - 3600 }
      #expect(try await service.admits(session.idToken))
      _ = try await service.refresh(session.refreshToken)
      let account = try await administrator.done("GET", "/users/\(session.localID)")
      #expect(account.text("credentialState") == "authorized")
      let lines = try await administrator.done("GET", "/audit?account=\(session.localID)").objects("entries")
      #expect(lines.last?.text("action") == "apple_notification")
      #expect(lines.last?.text("detail") == "consent-revoked stale")
      #expect(lines.last?.text("actor") == "apple")
    }
  }

  @Test func `V07 word of an account that was gone before the newest sign-in deletes nobody`() async throws {
    try await withOperator { service, administrator in
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject)
      try await service.notify("account-deleted", of: subject) { $0.eventTime = Mint.now - 3600 }
      #expect(try await service.admits(session.idToken))
      _ = try await service.refresh(session.refreshToken)
      let lines = try await administrator.done("GET", "/audit?account=\(session.localID)").objects("entries")
      #expect(lines.last?.text("detail") == "account-deleted stale")
    }
  }

  @Test func `V07 a sign-in by another way is no new consent, also once it is over`() async throws {
    let forge = try CustomTokenForge(.es256)
    try await withStage { stage in
      let settings = Administrator.settings.merging(["BRAMLEY_CUSTOM_TOKEN_KEYS": try forge.pem]) { $1 }
      let past = try await stage.start(settings, secondsAhead: -1000)
      let subject = Mint.subject()
      let old = try await past.signIn(
        Mint.credential {
          $0.subject = subject
          $0.issuedAt = Mint.now - 1000
        })
      try await past.stop()
      let service = try await stage.start(settings)
      let custom = try await service.send(
        .post("/v1/accounts:signInWithCustomToken", json: #"{"token":"\#(forge.token(old.localID))"}"#)
      ).json
      let bearer = try #require(custom.text("idToken"))
      let out = try await service.send(
        .post("/v1/signOut", json: "{}", headers: [("Authorization", "Bearer \(bearer)")]))
      #expect(out.status == 200, "\(out)")
      try await service.notify(of: subject) { $0.eventTime = Mint.now - 500 }
      try expect(await service.tryRefresh(old.refreshToken), is: .session("session_revoked"))
      #expect(try await stage.audited("apple_notification") == ["consent-revoked"])
    }
  }

  @Test func `V07 of two sessions only the one from before ends`() async throws {
    try await withStage { stage in
      let subject = Mint.subject()
      let past = try await stage.start(secondsAhead: -1000)
      let old = try await past.signIn(
        Mint.credential {
          $0.subject = subject
          $0.issuedAt = Mint.now - 1000
        })
      try await past.stop()
      let service = try await stage.start()
      let new = try await service.signIn(subject: subject)
      try await service.notify(of: subject) { $0.eventTime = Mint.now - 500 }
      try expect(await service.tryRefresh(old.refreshToken), is: .session("session_revoked"))
      _ = try await service.refresh(new.refreshToken)
    }
  }

  @Test(arguments: ["account-delete", "account-deleted"], ["delete", "anonymise", "keep"])
  func `V04 an account that is gone at Apple goes as the policy says`(_ type: String, _ policy: String)
    async throws
  {
    try await withOperator(["BRAMLEY_ACCOUNT_DELETED_POLICY": policy]) { service, administrator in
      let subject = Mint.subject()
      let session = try await service.signIn(
        subject: subject, email: "ada@privaterelay.appleid.com",
        [
          "fullName": #"{"givenName":"Ada","familyName":"Lovelace"}"#,
          "device": #"{"name":"Ada's phone","model":"Phone"}"#,
        ])
      try await service.notify(type, of: subject)
      let answer = try await administrator.send("GET", "/users/\(session.localID)")
      if policy == "delete" {
        try expect(answer, is: Refusal(400, "USER_NOT_FOUND"))
        try expect(await service.tryRefresh(session.refreshToken), is: Refusal(400, "USER_NOT_FOUND"))
      } else {
        try expect(await service.tryRefresh(session.refreshToken), is: .session("session_revoked"))
        let account = try answer.json
        #expect(account.text("credentialState") == "notFound")
        #expect(account.objects("identities").map { $0.text("subject") } == [subject])
        let isKept = policy == "keep"
        #expect((account.text("email") != nil) == isKept)
        #expect((account.text("displayName") != nil) == isKept)
        #expect((account.objects("identities").first?.text("email") != nil) == isKept)
        #expect(account.objects("sessions").isEmpty)
      }
      #expect(try await service.admits(session.idToken) == false)
      // Again, under another name: there is nothing left to be done.
      try await service.notify(type, of: subject)
    }
  }

  @Test func `what an anonymised account was called is nowhere in its rows`() async throws {
    try await withStage { stage in
      let service = try await stage.start(["BRAMLEY_ACCOUNT_DELETED_POLICY": "anonymise"])
      let subject = Mint.subject()
      _ = try await service.signIn(
        subject: subject, email: "zaphod@privaterelay.appleid.com",
        ["fullName": #"{"givenName":"Zaphod"}"#, "device": #"{"name":"Zaphods phone"}"#])
      #expect(try await stage.content().lowercased().contains("zaphod"))
      try await service.notify("account-deleted", of: subject)
      #expect(try await stage.content().lowercased().contains("zaphod") == false)
      // The person comes back with the same identity: then it is the same account.
      #expect(try await service.signIn(subject: subject).isNewUser == false)
    }
  }

  /// Every way to a notification that Apple did not send.
  private static let forgeries:
    [(name: String, reasons: [String], make: @Sendable (String) throws -> String)] = [
      (
        "another key", ["key_unknown"],
        { subject in
          try notification(of: subject) { $0.token.header = [member("kid", "STRANGER01")] }
        }
      ),
      (
        "a broken signature", ["signature_invalid"],
        { subject in
          try notification(of: subject) { $0.token.breaksSignature = true }
        }
      ),
      (
        "the signature of another", ["signature_invalid"],
        { subject in
          var parts = try TokenParts(notification(of: subject))
          parts.signature = try TokenParts(notification(of: Mint.subject())).signature
          return parts.text
        }
      ),
      (
        "no signature", ["algorithm_not_allowed"],
        { subject in try notification(of: subject) { $0.isUnsigned = true } }
      ),
      (
        "an empty signature", ["signature_invalid"],
        { subject in
          var parts = try TokenParts(notification(of: subject))
          parts.signature = ""
          return parts.text
        }
      ),
      (
        "only the claims", ["token_malformed"],
        { subject in
          String(
            decoding: try decodeBase64URL(TokenParts(notification(of: subject)).payload.utf8), as: UTF8.self
          )
          .replacingOccurrences(of: "\\", with: "").replacingOccurrences(of: "\"", with: "\\\"")
        }
      ),
      (
        "another team's audience", ["audience_not_allowed"],
        { subject in
          try notification(of: subject) { $0.token.audience = "com.stranger.app" }
        }
      ),
      (
        "another issuer", ["issuer_not_allowed"],
        { subject in
          try notification(of: subject) { $0.token.claims = [member("iss", "https://evil.example")] }
        }
      ),
      (
        "no id", ["claim_invalid"],
        { subject in try notification(of: subject) { $0.token.claims = [member("jti", nil)] } }
      ),
      (
        "no events", ["claim_invalid"],
        { subject in
          try notification(of: subject) { $0.token.claims = [member("events", nil)] }
        }
      ),
      (
        "an old one", ["token_too_old", "token_expired"],
        { subject in
          try notification(of: subject) {
            $0.token.issuedAt = Mint.now - 6 * 86_400
            $0.token.lifetime = 30 * 86_400
          }
        }
      ),
      (
        "one that is over", ["token_expired"],
        { subject in
          try notification(of: subject) { $0.token.issuedAt = Mint.now - 2 * 86_400 }
        }
      ),
      (
        "one from the future", ["token_from_the_future"],
        { subject in
          try notification(of: subject) { $0.token.issuedAt = Mint.now + 3600 }
        }
      ),
      ("an identity token", ["claim_invalid"], { subject in try Mint.token { $0.subject = subject } }),
    ]

  private static func notification(
    of subject: String, _ change: (inout NotificationOrder) -> Void = { _ in }
  ) throws -> String {
    try Mint.notification { order in
      order.type = "account-deleted"
      order.subject = subject
      change(&order)
    }
  }

  @Test func `V08 a forged notification changes nothing`() async throws {
    try await withReceiver { receiver, stage, service in
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject, email: "ada@privaterelay.appleid.com")
      _ = try await receiver.taken(1)
      try await eventually("nothing waits") {
        try await stage.sql("SELECT count(*) FROM webhook_events") == "0"
      }
      let before = try await stage.content()
      for (name, reasons, make) in Self.forgeries {
        let answer = try await service.send(.notification(try make(subject)))
        #expect(answer.status == 400, "\(name): \(answer)")
        #expect(reasons.contains(answer.reason ?? ""), "\(name): \(answer)")
      }
      #expect(try await stage.content() == before)
      #expect(try await service.admits(session.idToken))
      // The same one, as Apple would sign it: nothing of the forged ones was remembered.
      try await service.notify("account-deleted", of: subject)
      #expect(try await stage.content() != before)
    }
  }

  @Test(arguments: [
    ("{}", Refusal.argument("field_missing")), (#"{"payload":5}"#, .argument("field_type")),
    (#"{"payload":""}"#, .argument("field_missing")), ("[]", .argument("body_malformed")),
    (#"{"payload":"a","payload":"b"}"#, .argument("duplicate_member")),
    (#"{"payload":"a.b.c"}"#, .token("token_malformed")),
  ])
  func `a body that is none is refused`(_ body: String, _ refusal: Refusal) async throws {
    try await withService { service in
      try expect(await service.send(.post("/v1/apple/notifications", json: body)), is: refusal)
      let form = try await service.send(.post("/v1/apple/notifications", form: "payload=x"))
      try expect(form, is: .argument("media_type_not_supported", 415))
      let long = #"{"payload":"\#(String(repeating: "x", count: 65_536))"}"#
      try expect(
        await service.send(.post("/v1/apple/notifications", json: long)), is: .argument("body_too_large", 413)
      )
    }
  }

  @Test func `V10 an event of a type that is not known is answered, kept and audited`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Administrator.settings)
      let session = try await service.signIn(Mint.credential())
      try await service.notify("something-new", of: Mint.subject()) { $0.email = "x@example.com" }
      #expect(try await service.admits(session.idToken))
      let kept = try await stage.command("apple", "notifications", "--json").json.objects("notifications")
      #expect(kept.count == 1)
      let outline = try #require(kept.first?.text("unknown"))
      #expect(outline.hasPrefix(#"{"type":"something-new","eventTime":"#))
      #expect(outline.contains(#""members":["type","sub","event_time","email"#))
      #expect(!outline.contains("example.com") && !outline.contains("feed"))
      #expect(try await stage.audited("apple_notification") == ["something-new unknown_type"])
    }
  }

  @Test func `a notification is taken once, however often and at once it comes`() async throws {
    try await withReceiver { receiver, stage, service in
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject)
      let payload = try Mint.notification { $0.subject = subject }
      let answers = try await inParallel(20, port: service.port) { _ in .notification(payload) }
      #expect(answers.map(\.status) == Array(repeating: 200, count: 20))
      #expect(try await stage.audited("apple_notification") == ["consent-revoked"])
      #expect(try await stage.audited("sessions_ended").count == 1)
      #expect(try await receiver.taken(2).map(\.type) == ["user.created", "user.consent_revoked"])
      // The next sign-in is a new consent, which a repeat does not end, and a restart forgets nothing.
      let next = try await service.signIn(subject: subject)
      #expect(next.localID == session.localID)
      try await service.kill()
      let again = try await stage.start(receiver.settings)
      #expect(try await again.send(.notification(payload)).status == 200)
      _ = try await again.refresh(next.refreshToken)
      #expect(try await stage.audited("apple_notification") == ["consent-revoked"])
      #expect(receiver.taken.count == 2)
    }
  }

  @Test func `one about somebody who is not here is answered, and remembered`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let payload = try Mint.notification { $0.subject = Mint.subject() }
      for _ in 1...2 { #expect(try await service.send(.notification(payload)).status == 200) }
      #expect(try await stage.audited("apple_notification") == ["consent-revoked unknown_subject"])
      let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      #expect(metrics.contains(#"bramley_apple_notifications_total{outcome="unknown_subject"} 1"#))
      #expect(metrics.contains(#"bramley_apple_notifications_total{outcome="duplicate"} 1"#))
      // One line for each way that a notification can end, and none for those of other requests.
      let series = metrics.split(separator: "\n").count { $0.hasPrefix("bramley_apple_notifications_total{") }
      #expect((15...25).contains(series), "\(series)")
    }
  }

  @Test(arguments: ["x@privaterelay.appleid.com", "x@private.icloud.com", "x@icloud.com"])
  func `P05 mail to a relay address arrives or not as Apple says, whatever its domain`(
    _ address: String
  ) async throws {
    try await withOperator { service, administrator in
      let subject = Mint.subject()
      let session = try await service.signIn(
        Mint.credential {
          $0.subject = subject
          $0.email = address
          $0.claims = [("is_private_email", .flag(true))]
        })
      func isDeliverable() async throws -> Bool? {
        let account = try await service.account(session.idToken)
        #expect(account.flag("isPrivateEmail") == true)
        let shown = try await administrator.done("GET", "/users/\(session.localID)")
        #expect(shown.flag("isEmailDeliverable") == account.flag("isEmailDeliverable"))
        return account.flag("isEmailDeliverable")
      }
      #expect(try await isDeliverable() == true)
      try await service.notify("email-disabled", of: subject) { order in
        order.email = address
        order.eventTime = Mint.now - 100
      }
      #expect(try await isDeliverable() == false)
      // Of another address: that of an old team, say.
      try await service.notify("email-enabled", of: subject) { $0.email = "old@privaterelay.appleid.com" }
      #expect(try await isDeliverable() == false)
      // Late: it happened before the other.
      try await service.notify("email-enabled", of: subject) { $0.eventTime = Mint.now - 200 }
      #expect(try await isDeliverable() == false)
      try await service.notify("email-enabled", of: subject) { $0.eventTime = Mint.now - 50 }
      #expect(try await isDeliverable() == true)
      #expect(try await service.admits(session.idToken))
    }
  }

  @Test func `while Apple's keys or the database are not there it is asked to come again`() async throws {
    let payload = try Mint.notification()
    try await withMisbehavingApple("unavailable") { _, stage in
      let service = try await stage.start()
      try expect(await service.send(.notification(payload)), is: .outage("apple_keys_unavailable"))
      #expect(try await stage.sql("SELECT count(*) FROM apple_notifications") == "0")
    }
    try await withStage { stage in
      let service = try await stage.start()
      let session = try await service.signIn(Mint.credential())
      let holder = try await stage.lockDatabase()
      try expect(await service.send(.notification(payload)), is: .outage("storage_unavailable"))
      holder.closeInput()
      try await holder.ended()
      #expect(try await service.send(.notification(payload)).status == 200)
      #expect(try await service.admits(session.idToken))
    }
  }

  @Test func `tokens of Apple's go with the consent, and no revocation is asked for`() async throws {
    try await withAppleSide { apple, stage, service in
      let subject = Mint.subject()
      let (credential, code) = try Mint.credentialWithCode { $0.subject = subject }
      try await service.signIn(with: code, credential)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      try await apple.behave(tokens: "unavailable")
      let (second, waiting) = try Mint.credentialWithCode { $0.subject = subject }
      try await service.signIn(with: waiting, second)
      try await apple.waits("it was tried") { $0.count("exchange", "unavailable") >= 1 }
      try await service.notify(of: subject)
      #expect(try await stage.grants() == 0)
      #expect(try await stage.queued() == 0)
      #expect(try await apple.calls().total("revoke") == 0)
    }
  }

  @Test func `sessions stay when the setting says so`() async throws {
    try await withService(["BRAMLEY_REVALIDATE_ENDS_SESSIONS": "false"]) { service in
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject)
      try await service.notify(of: subject)
      #expect(try await service.account(session.idToken).text("credentialState") == "revoked")
    }
  }

  @Test func `the stand-in sends notifications on command`() async throws {
    try await withService { service in
      let url = service.baseURL + "/v1/apple/notifications"
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject)
      let order =
        #"{"url":"\#(url)","type":"email-disabled","subject":"\#(subject)","audience":"\#(Client.app)"}"#
      let sent = try await exchange(.post("/notify", json: order), port: MockAppleProgram.shared.port)
      #expect(try sent.json.integer("status") == 200, "\(sent)")
      #expect(try await service.admits(session.idToken))
      func notify(_ more: String...) async throws -> Finished {
        try await run(
          Program.mockApple, ["notify", "--audience", Client.app, "--url", url, "--subject", subject] + more)
      }
      let forged = try await notify("--unsigned")
      #expect(forged.status == 1 && forged.output.hasPrefix("400"), "\(forged.output)")
      #expect(try await service.admits(session.idToken))
      let good = try await notify("--type", "account-delete", "--shape", "array", "--unit", "seconds")
      #expect(good.status == 0 && good.output == "200 {}\n", "\(good.output)\(good.errors)")
      #expect(try await service.admits(session.idToken) == false)
      #expect(try await notify("--shape", "circle").status == 64)
    }
  }
}
