import Foundation
import TestProcesses
import Testing
import Wire

/// What becomes of events when the back end, or the service, is not well.
@Suite(.timeLimit(.minutes(10)))
struct WebhookDeliveryTests {
  /// The queue as the command shows it.
  private func events(_ stage: Stage, _ more: String...) async throws -> JSONObject {
    try await run(
      Program.bramley, ["webhooks", "list", "--json"] + more, environment: stage.settings,
      folder: stage.folder
    ).json
  }

  @Test(arguments: ["close", "stall"])
  func `an event survives kill -9, and is sent under the same id with the same bytes`(_ way: String)
    async throws
  {
    try await withReceiver([:], way == "close" ? .close : .stall) { receiver, stage, service in
      let session = try await service.signIn(Mint.credential())
      let first = try await receiver.seen(1)[0]
      try await service.kill()
      #expect(receiver.taken.isEmpty)
      receiver.behave(.answer(200))
      let next = try await stage.start(receiver.settings)
      let taken = try await receiver.taken(1)
      #expect(taken[0].id == first.id)
      #expect(taken[0].body == first.body)
      #expect(taken[0].account == session.localID)
      #expect(taken[0].isSigned(with: Receiver.secret))
      try await eventually("nothing is left") { try await events(stage, "--all").integer("waiting") == 0 }
      #expect(receiver.taken.count == 1)
      try await next.stop()
    }
  }

  @Test func `an event that was written before a kill is delivered after it`() async throws {
    let receiver = try Receiver()
    try await withStage { stage in
      // It writes events, but nobody is there to take them.
      let silent = ["BRAMLEY_WEBHOOK_URL": "http://127.0.0.1:9/", "BRAMLEY_WEBHOOK_SECRET": Receiver.secret]
      let service = try await stage.start(silent)
      let session = try await service.signIn(Mint.credential())
      try await service.kill()
      _ = try await stage.start(receiver.settings)
      #expect(try await receiver.taken(1).map(\.account) == [session.localID])
    }
  }

  @Test func `what a back end did not take is sent again until it does, each event once`() async throws {
    try await withReceiver([:], .answer(503)) { receiver, stage, service in
      let people = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<12 { group.addTask { try await service.signIn(Mint.credential()).localID } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      _ = try await receiver.seen(3)
      #expect(try await events(stage, "--all").integer("waiting") == 12)
      receiver.behave(.answer(200))
      let taken = try await receiver.taken(12)
      #expect(Set(taken.compactMap(\.account)) == people)
      #expect(Set(taken.map(\.id)).count == 12)
      for event in receiver.seen {
        #expect(taken.first { $0.id == event.id }?.body == event.body)
      }
      try await eventually("nothing is left") { try await events(stage, "--all").integer("waiting") == 0 }
      #expect(receiver.taken.count == 12)
      let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      #expect(metrics.contains(#"bramley_webhook_attempts_total{outcome="delivered"} 12"#))
      #expect(!metrics.contains(#"bramley_webhook_attempts_total{outcome="status_5xx"} 0"#))
    }
  }

  @Test func `one account waits in its order, and holds up no other`() async throws {
    try await withReceiver { receiver, stage, service in
      let subject = Mint.subject()
      let stuck = try await service.signIn(subject: subject, email: "x@privaterelay.appleid.com")
      _ = try await receiver.taken(1)
      receiver.behave(.refuse(stuck.localID))
      try await service.notify("email-disabled", of: subject) { $0.eventTime = Mint.now - 10 }
      try await service.notify("email-enabled", of: subject)
      _ = try await receiver.seen(2)
      let other = try await service.signIn(Mint.credential())
      #expect(try await receiver.taken(2).map(\.account) == [stuck.localID, other.localID])
      let waiting = try await events(stage, "--all").objects("events").filter {
        $0.text("localId") == stuck.localID
      }
      #expect(waiting.map { $0.text("type") } == ["user.email_disabled", "user.email_enabled"])
      #expect(waiting.first?.text("fault") == "status_5xx" || waiting.first?.text("fault") == "sending")
      #expect(waiting.last?.integer("dueAt") == nil)
      #expect(!receiver.seen.contains { $0.type == "user.email_enabled" })
      receiver.behave(.answer(200))
      #expect(
        try await receiver.taken(4).suffix(2).map(\.type) == ["user.email_disabled", "user.email_enabled"])
    }
  }

  @Test func `an event that nobody took for three days is kept, and sent again on command`() async throws {
    try await withReceiver([:], .answer(500)) { receiver, stage, service in
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject, email: "x@privaterelay.appleid.com")
      try await service.notify("email-disabled", of: subject)
      let first = try await receiver.seen(1)[0]
      try await service.stop()
      #expect(try await events(stage).integer("dead") == 0)
      // Four days later.
      let later = try await stage.start(receiver.settings, secondsAhead: 4 * 86_400)
      try await eventually("both are given up") { try await events(stage).integer("dead") == 2 }
      let list = try await events(stage)
      let letters = list.objects("events")
      #expect(letters.map { $0.text("type") } == ["user.created", "user.email_disabled"])
      #expect(letters.first?.text("fault") == "status_5xx")
      #expect(letters.allSatisfy { $0.text("localId") == session.localID && $0.integer("givenUpAt") != nil })
      #expect(list.integer("waiting") == 0)
      #expect(letters.first?.text("id") == first.id)
      let words = try await stage.command("webhooks", "list")
      #expect(words.output.contains(first.id) && words.output.contains("2 given up"))

      receiver.behave(.answer(200))
      #expect(try await stage.command("webhooks", "retry", "evt_unknown").status == 1)
      #expect(try await stage.command("webhooks", "retry").status == 64)
      let retried = try await stage.command(
        "webhooks", "retry", first.id, "--json", settings: receiver.settings)
      #expect(try retried.json.integer("due") == 1)
      let taken = try await receiver.taken(1)
      #expect(taken[0].id == first.id && taken[0].body == first.body)
      let all = try await stage.command("webhooks", "retry", "--all", settings: receiver.settings)
      #expect(all.status == 0 && all.output.hasPrefix("1 event is"), "\(all.output)")
      #expect(try await receiver.taken(2).map(\.type) == ["user.created", "user.email_disabled"])
      try await eventually("nothing is left") { try await events(stage, "--all").objects("events").isEmpty }
      try await later.stop()
    }
  }

  @Test func `a redirect is not followed, and a long answer not read`() async throws {
    let other = try Receiver()
    try await withReceiver([:], .redirect("http://127.0.0.1:\(other.port)/")) { receiver, stage, service in
      _ = try await service.signIn(Mint.credential())
      func fault() async throws -> String? {
        try await events(stage, "--all").objects("events").first?.text("fault")
      }
      try await eventually("it was tried") { try await fault() == "status_3xx" }
      #expect(other.seen.isEmpty)
      receiver.behave(.flood)
      try await eventually("it was tried") { try await fault() == "body_too_large" }
      receiver.behave(.answer(299))
      _ = try await receiver.taken(1)
    }
  }

  @Test(arguments: [(600, 600), (1_000_000, 3600)])
  func `a back end that says for how long it wants nothing is left alone, up to an hour`(
    _ asked: Int, _ kept: Int64
  ) async throws {
    try await withReceiver([:], .later(asked)) { receiver, stage, service in
      let before = Mint.now
      _ = try await service.signIn(Mint.credential())
      _ = try await receiver.seen(1)
      try await eventually("it waits") {
        try await stage.sql("SELECT fault FROM webhook_events") == "status_4xx"
      }
      let due = try #require(Int64(try await stage.sql("SELECT due_at FROM webhook_events")))
      #expect((before + kept...Mint.now + kept).contains(due))
    }
  }

  @Test func `a back end that never answers holds up nobody`() async throws {
    try await withReceiver([:], .stall) { receiver, stage, service in
      let begun = ContinuousClock.now
      for _ in 0..<20 { _ = try await service.signIn(Mint.credential()) }
      _ = try await receiver.seen(1)
      let session = try await service.signIn(Mint.credential())
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      // None of them waited for an answer, of which each would have taken ten seconds.
      #expect(receiver.taken.isEmpty)
      #expect(ContinuousClock.now - begun < .seconds(60))
      // A stop does not wait for it either.
      try await service.stop()
      #expect(try await events(stage, "--all").integer("waiting") == 22)
    }
  }
}
