import Foundation
import TestProcesses
import Testing
import Wire

/// What the app's back end is told, and how.
@Suite(.timeLimit(.minutes(10)))
struct WebhookTests {
  @Test func `everything that happens to an account is told, in its order, with nothing of the person`()
    async throws
  {
    try await withReceiver { receiver, stage, service in
      let subject = Mint.subject()
      let session = try await service.signIn(
        subject: subject, email: "zaphod.lovelace@privaterelay.appleid.com",
        ["fullName": #"{"givenName":"Zaphod","familyName":"Lovelace"}"#])
      _ = try await service.signIn(subject: subject)
      try await service.notify("email-disabled", of: subject) { $0.eventTime = Mint.now - 10 }
      try await service.notify("email-enabled", of: subject)
      try await service.notify("consent-revoked", of: subject)
      try await Operator(service: service).done("DELETE", "/users/\(session.localID)")
      let events = try await receiver.taken(5)
      #expect(
        events.map(\.type) == [
          "user.created", "user.email_disabled", "user.email_enabled", "user.consent_revoked", "user.deleted",
        ])
      #expect(events.allSatisfy { $0.account == session.localID })
      #expect(Set(events.map(\.id)).count == 5)
      #expect(events.map { $0.data?.text("cause") } == [nil, nil, nil, "consent_revoked", "operator"])
      #expect(events.map { $0.data?.text("providerId") } == Array(repeating: "apple.com", count: 4) + [nil])
      for event in events {
        let json = try event.json
        #expect(json.names == ["id", "type", "createdAt", "data"])
        #expect(json.text("id") == event.id)
        let createdAt = try #require(json.integer("createdAt"))
        #expect(abs(createdAt - Mint.now) < 60)
        #expect(event.method == "POST" && event.target == "/hook?from=bramley")
        #expect(event.headers["content-type"] == "application/json")
        #expect(event.isSigned(with: Receiver.secret))
        let text = String(decoding: event.body, as: UTF8.self).lowercased()
        for word in ["zaphod", "lovelace", "privaterelay", subject] { #expect(!text.contains(word)) }
      }
      try await eventually("the queue is empty") {
        try await stage.sql("SELECT count(*) FROM webhook_events") == "0"
      }
    }
  }

  @Test func `accounts that come by other ways, links, and whoever deletes are told`() async throws {
    try await withReceiver(["BRAMLEY_ANONYMOUS": "true"]) { receiver, stage, service in
      let guest = try await service.post(FirebasePath.account("signUp"), [("returnSecureToken", "true")])
      let token = try #require(try guest.json.text("idToken"))
      let linked = try await service.signIn(Mint.credential(), bearer: token)
      let made = try await Administrator(service: service).create("{}")
      #expect(try await service.deleteAccount(linked.idToken).status == 200)
      #expect(try await stage.command("users", "delete", made, settings: receiver.settings).status == 0)
      let events = try await receiver.taken(5)
      func told(_ account: String) -> [String] {
        events.filter { $0.account == account }.map { event in
          [event.type, event.data?.text("providerId"), event.data?.text("cause")].compactMap { $0 }
            .joined(separator: " ")
        }
      }
      #expect(
        told(linked.localID) == ["user.created anonymous", "user.linked apple.com", "user.deleted person"])
      #expect(told(made) == ["user.created", "user.deleted operator"])
    }
  }

  @Test func `where there is nobody to be told nothing is written`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let session = try await service.signIn(Mint.credential())
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      #expect(try await stage.sql("SELECT count(*) FROM webhook_events") == "0")
      let metrics = try await service.get("/metrics")
      #expect(!String(decoding: metrics.body, as: UTF8.self).contains("bramley_webhook"))
    }
  }

  @Test(arguments: ["a-plain-secret-of-24-chars", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLVCq"])
  func `a known library verifies a delivery, and refuses a changed one`(_ secret: String) async throws {
    guard let python = Program.clientsPython else { return }
    try await withReceiver(["BRAMLEY_WEBHOOK_SECRET": secret]) { receiver, _, service in
      let session = try await service.signIn(Mint.credential())
      let event = try await receiver.taken(1)[0]
      let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Clients/webhook_verify.py").path
      func verify(_ body: String, _ headers: [String: String], by secret: String) async throws -> Finished {
        let json = String(decoding: try JSONEncoder().encode(headers), as: UTF8.self)
        return try await run(python, [script, secret, json], input: body)
      }
      let body = String(decoding: event.body, as: UTF8.self)
      let good = try await verify(body, event.headers, by: secret)
      #expect(good.output == "user.created \(session.localID)\n", "\(good.errors)")
      let changed = body.replacingOccurrences(of: "user.created", with: "user.deleted")
      #expect(try await verify(changed, event.headers, by: secret).status == 1)
      #expect(try await verify(body, event.headers, by: "another-secret-of-24-chars").status == 1)
      var later = event.headers
      later["webhook-timestamp"] = String(Mint.now + 1)
      #expect(try await verify(body, later, by: secret).status == 1)
    }
  }

  @Test(arguments: [
    (["BRAMLEY_WEBHOOK_SECRET": ""], "BRAMLEY_WEBHOOK_URL"),
    (["BRAMLEY_WEBHOOK_URL": ""], "BRAMLEY_WEBHOOK_SECRET"),
    (["BRAMLEY_WEBHOOK_URL": "http://example.com/hook"], "BRAMLEY_WEBHOOK_URL"),
    (["BRAMLEY_WEBHOOK_SECRET": "too-short"], "BRAMLEY_WEBHOOK_SECRET"),
    (["BRAMLEY_ACCOUNT_DELETED_POLICY": "ask"], "BRAMLEY_ACCOUNT_DELETED_POLICY"),
  ])
  func `settings that do not fit end the start`(_ changes: [String: String], _ named: String) async throws {
    try await withStage { stage in
      let receiver = try Receiver()
      let settings = receiver.settings.merging(changes) { $1 }.filter { !$0.value.isEmpty }
      let child = try stage.launch(settings)
      #expect(try await child.ended() == .exit(78))
      #expect(child.errorText.contains(named))
    }
  }
}
