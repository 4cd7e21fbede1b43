import Domain
import Storage
import Testing

/// What the app's back end is to be told, and what becomes of it.
@Suite(.timeLimit(.minutes(2)))
struct WebhookTests {
  private func waiting(_ desk: Desk) async throws -> [WebhookEvent] {
    try await desk.storage.webhooks(after: 0, limit: 1000, deadOnly: false)
  }

  private func begin(_ desk: Desk, at now: UnixTime = start, limit: Int = 10) async throws -> [WebhookEvent] {
    try await desk.storage.beginWebhooks(limit: limit, until: now + 20, at: now)
  }

  private func notify(_ desk: Desk, _ change: AppleChange, _ number: Int, _ subject: String = "001.alice")
    async throws
  {
    try await desk.take(
      [.change(change, of: Subject(unchecked: subject), at: start + Int64(number))], number: number,
      at: start + Int64(number), deletion: .anonymise)
  }

  /// Two people; the first with three events, the second with one.
  private func arrange(_ desk: Desk) async throws -> (first: AccountID, second: AccountID) {
    let first = try await desk.arrive().grant.account.id
    try await notify(desk, .emailDisabled, 1)
    try await notify(desk, .emailEnabled, 2)
    let second = try await desk.arrive("002.bob", credential: 2).grant.account.id
    return (first, second)
  }

  @Test(arguments: Engine.allCases)
  func `nothing is written where nobody is told`(_ engine: Engine) async throws {
    try await engine.run { desk in
      _ = try await arrange(desk)
      #expect(try await waiting(desk).isEmpty)
      #expect(try await desk.storage.firstWebhookDate() == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `of each account the oldest event is due, and the next one when that is done`(_ engine: Engine)
    async throws
  {
    try await engine.run(announces: true) { desk in
      let (first, second) = try await arrange(desk)
      #expect(
        try await waiting(desk).map(\.news.kind) == [
          .userCreated, .emailDisabled, .emailEnabled, .userCreated,
        ])
      #expect(Set(try await waiting(desk).map(\.id)).count == 4)
      #expect(
        try await desk.storage.webhookCounts() == WebhookCounts(waiting: 4, dead: 0, oldest: start))
      var told: [AccountID: [WebhookKind]] = [:]
      for _ in 1...3 {
        let begun = try await begin(desk)
        #expect(Set(begun.map(\.news.account)).count == begun.count)
        // Nobody else begins it.
        #expect(try await begin(desk).isEmpty)
        for event in begun {
          told[event.news.account, default: []].append(event.news.kind)
          #expect(try await desk.storage.settle(event, .delivered, at: start) == .delivered)
        }
      }
      #expect(told == [first: [.userCreated, .emailDisabled, .emailEnabled], second: [.userCreated]])
      #expect(try await waiting(desk).isEmpty)
    }
  }

  @Test(arguments: Engine.allCases)
  func `one that was begun comes due again when nothing is heard of it`(_ engine: Engine) async throws {
    try await engine.run(announces: true) { desk in
      _ = try await desk.arrive()
      let first = try #require(try await begin(desk).first)
      #expect(try await begin(desk, at: start + 19).isEmpty)
      let second = try #require(try await begin(desk, at: start + 20).first)
      #expect(second.id == first.id && second.news == first.news && second.attempts == 2)
      // What the first came to says nothing any more, unless it was taken.
      let late = WebhookResult.failed(fault: "timed_out", until: start + 1000)
      #expect(try await desk.storage.settle(first, late, at: start + 21) == .overtaken)
      #expect(try await waiting(desk).first?.fault == WebhookEvent.sending)
      #expect(try await desk.storage.settle(first, .delivered, at: start + 22) == .delivered)
      #expect(try await desk.storage.settle(second, .delivered, at: start + 23) == .overtaken)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a failure puts it off, and in the end it is given up and the next one follows`(_ engine: Engine)
    async throws
  {
    try await engine.run(announces: true) { desk in
      let (first, _) = try await arrange(desk)
      let event = try #require(try await begin(desk).first { $0.news.account == first })
      let fault = WebhookResult.failed(fault: "status_5xx", until: start + 50)
      #expect(try await desk.storage.settle(event, fault, at: start) == .postponed)
      #expect(try await begin(desk, at: start + 49).allSatisfy { $0.news.account != first })
      let again = try #require(try await begin(desk, at: start + 50).first { $0.news.account == first })
      #expect(again.id == event.id && again.news == event.news)
      let end = start + Limits.webhookSeconds
      let last = WebhookResult.failed(fault: "status_5xx", until: end + 1)
      #expect(try await desk.storage.settle(again, last, at: end) == .dead)
      let dead = try await desk.storage.webhooks(after: 0, limit: 10, deadOnly: true)
      #expect(dead.map(\.id) == [event.id])
      #expect(dead.first?.deadAt == end && dead.first?.fault == "status_5xx")
      #expect(try await desk.storage.webhookCounts().dead == 1)
      let next = try await begin(desk, at: end).filter { $0.news.account == first }
      #expect(next.map(\.news.kind) == [.emailDisabled])
    }
  }

  @Test(arguments: Engine.allCases)
  func `one that was given up is tried anew before those that came after it`(_ engine: Engine) async throws {
    try await engine.run(announces: true) { desk in
      let (first, _) = try await arrange(desk)
      let end = start + Limits.webhookSeconds
      let event = try #require(try await begin(desk).first { $0.news.account == first })
      _ = try await desk.storage.settle(event, .failed(fault: "x", until: end + 1), at: end)
      #expect(try await desk.storage.retryWebhooks([event.id], at: end + 10) == 1)
      #expect(try await desk.storage.retryWebhooks([WebhookID(unchecked: "evt_none")], at: end) == 0)
      let retried = try await begin(desk, at: end + 10).filter { $0.news.account == first }
      #expect(retried.map(\.id) == [event.id])
      #expect(retried.first?.attempts == 1 && retried.first?.givesUpAt == end + (10 + Limits.webhookSeconds))
      _ = try await desk.storage.settle(try #require(retried.first), .delivered, at: end + 11)
      #expect(
        try await begin(desk, at: end + 11).filter { $0.news.account == first }.map(\.news.kind) == [
          .emailDisabled
        ])
    }
  }

  @Test(arguments: Engine.allCases)
  func `one that comes back to life does not overtake what is under way`(_ engine: Engine) async throws {
    try await engine.run(announces: true) { desk in
      let (first, _) = try await arrange(desk)
      let end = start + Limits.webhookSeconds
      let event = try #require(try await begin(desk).first { $0.news.account == first })
      _ = try await desk.storage.settle(event, .failed(fault: "x", until: end + 1), at: start)
      let underWay = try #require(try await begin(desk).first { $0.news.account == first })
      #expect(underWay.news.kind == .emailDisabled)
      #expect(try await desk.storage.retryWebhooks([event.id, underWay.id], at: start) == 2)
      // It failed: the older one is before it now.
      let failed = WebhookResult.failed(fault: "y", until: start + 5)
      #expect(try await desk.storage.settle(underWay, failed, at: start + 1) == .postponed)
      let due = try await begin(desk, at: start + 5).filter { $0.news.account == first }
      #expect(due.map(\.id) == [event.id])
    }
  }

  @Test(arguments: Engine.allCases)
  func `a refusal by storage undoes the event with what it tells of`(_ engine: Engine) async throws {
    try await engine.run(announces: true) { desk in
      let account = try await desk.arrive().grant.account
      await #expect(throws: StorageError.corrupt) {
        try await desk.storage.deleteInVain(account.id)
      }
      #expect(try await waiting(desk).map(\.news.kind) == [.userCreated])
    }
  }

  @Test(arguments: Engine.allCases)
  func `what Apple does is told with its cause, and a repeat of it is not`(_ engine: Engine) async throws {
    try await engine.run(announces: true) { desk in
      _ = try await desk.arrive(profile: .email("x@privaterelay.appleid.com"))
      for number in 1...2 { try await notify(desk, .emailDisabled, number) }
      for number in 3...4 { try await notify(desk, .consentRevoked, number) }
      for number in 5...6 { try await notify(desk, .accountDeleted, number) }
      let told = try await waiting(desk).map(\.news)
      #expect(
        told.map(\.kind) == [.userCreated, .emailDisabled, .consentRevoked, .consentRevoked, .userAnonymised])
      #expect(told.map(\.cause) == [nil, nil, .consentRevoked, .accountDeleted, .apple])
    }
  }

  @Test(arguments: Engine.allCases)
  func `what was given up is forgotten in the end`(_ engine: Engine) async throws {
    try await engine.run(announces: true) { desk in
      _ = try await desk.arrive()
      let event = try #require(try await begin(desk).first)
      let end = start + Limits.webhookSeconds
      _ = try await desk.storage.settle(event, .failed(fault: "x", until: end + 1), at: end)
      for (moment, count) in [(Int64(0), 1), (1, 0)] {
        let rules = SweepRules(
          credentialsBefore: end + (Limits.deadWebhookSeconds + moment), sessionsBefore: UnixTime(0),
          revocationsBefore: UnixTime(0),
          appleWorkBefore: UnixTime(0), limit: 10)
        _ = try await desk.storage.sweep(rules)
        #expect(try await waiting(desk).count == count)
      }
    }
  }

  @Test func `it is tried again after seconds at first, and after half an hour at last`() {
    func wait(_ attempts: Int, _ jitter: Double, asked: Int64 = 0) -> Int64 {
      let event = WebhookEvent(
        id: WebhookID(unchecked: "evt_1"), position: 1,
        news: WebhookNews(
          kind: .userCreated, account: AccountID(unchecked: "a"), provider: nil, cause: nil, at: start),
        dueAt: nil, givesUpAt: start, attempts: attempts)
      return event.nextAttempt(jitter: jitter, wait: asked, after: start).since(start)
    }
    #expect([1, 2, 3, 4].map { wait($0, 0.5) } == [2, 4, 8, 16])
    #expect([20, 1000].map { wait($0, 0.5) } == [1800, 1800])
    #expect(wait(20, 0) == 1440 && wait(20, 1) == 2160)
    #expect(wait(1, 0) == 2 && wait(1, 1) == 2)
    // A back end that says for how long it wants nothing is believed up to an hour.
    #expect(wait(1, 0, asked: 90) == 90 && wait(20, 0, asked: 90) == 1440 && wait(1, 0, asked: .max) == 3600)
  }
}

extension LedgerStorage {
  /// Deletes an account in a transaction that comes to nothing.
  fileprivate func deleteInVain(_ account: AccountID) async throws(StorageError) {
    try await transact { (book) throws(StorageError) in
      _ = try decideAccountDeletion(
        AccountDeletionIntent(
          target: .administered(account), demandsDisabled: false, origin: person, now: start), in: &book)
      throw .corrupt
    }
  }
}
