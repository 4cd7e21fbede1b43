import Domain
import Storage
import Testing

/// What those are told who follow what was revoked.
@Suite(.timeLimit(.minutes(2)))
struct RevocationTests {
  /// A signing key that may have signed tokens of a lifetime.
  private func key(_ name: String, _ lifetime: Int64) -> SigningKeyRecord {
    var key = RegisterTests.key(name, .active)
    key.longestLifetime = lifetime
    return key
  }

  private func end(_ session: SessionID, at now: UnixTime, _ desk: Desk) async throws {
    _ = try await desk.storage.endSessions(
      SessionEndingIntent(target: .own(session), origin: person, now: now))
  }

  private func disable(
    _ account: AccountID, _ isDisabled: Bool, at now: UnixTime, _ desk: Desk
  ) async throws {
    var change = AccountChange()
    change.isDisabled = isDisabled
    _ = try await desk.storage.change(
      AccountChangeIntent(
        target: .administered(account), change: change, origin: Origin(actor: .command), now: now))
  }

  private func delete(_ account: AccountID, at now: UnixTime, _ desk: Desk) async throws {
    _ = try await desk.storage.delete([
      AccountDeletionIntent(
        target: .administered(account), demandsDisabled: false, origin: Origin(actor: .command), now: now)
    ])
  }

  private func told(_ desk: Desk) async throws -> [Revocation] {
    try await desk.storage.revocations(after: 0, limit: 100).revocations
  }

  @Test(arguments: Engine.allCases)
  func `an entry lasts as long as the longest token that any key may have signed`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let sessions = [
        try await desk.arrive(credential: 1).grant.session.id,
        try await desk.arrive(credential: 2).grant.session.id,
        try await desk.arrive(credential: 3).grant.session.id,
      ]
      // Nobody knows yet: as long as any setting allows.
      try await end(sessions[0], at: start, desk)
      _ = try await desk.storage.replaceSigningKeys(expecting: 0, with: [key("a", 600), key("b", 7200)])
      try await end(sessions[1], at: start, desk)
      _ = try await desk.storage.replaceSigningKeys(expecting: 1, with: [key("a", 600)])
      try await end(sessions[2], at: start, desk)
      let ends = try await told(desk).map(\.until)
      #expect(ends == [86_400, 7200, 600].map { start + (300 + $0) })
    }
  }

  @Test(arguments: Engine.allCases)
  func `what takes an entry back is not forgotten before it`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let account = try await desk.arrive().grant.account.id
      _ = try await desk.storage.replaceSigningKeys(expecting: 0, with: [key("a", 7200)])
      try await disable(account, true, at: start, desk)
      _ = try await desk.storage.replaceSigningKeys(expecting: 1, with: [key("b", 600)])
      try await disable(account, false, at: start + 1, desk)
      let entries = try await told(desk)
      #expect(entries.map(\.kind) == [.account, .restored])
      #expect(entries.map(\.until) == [start + 7500, start + 7500])
    }
  }

  @Test(arguments: Engine.allCases)
  func `an id that is given out again is told of as good again, and no other is`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      func signIn(_ id: String, at now: UnixTime) async throws -> AccountID {
        let outcome = try await desk.storage.openSession(
          AccountSessionIntent(
            account: AccountID(unchecked: id), provider: "custom", isAnonymous: false, createsAccount: true,
            customClaims: nil, newSession: SessionID(at: now, from: desk.entropy), masterKey: firstKey,
            rules: SessionOpeningRules(maximum: 0), origin: person, now: now))
        guard case .opened(let grant, _) = outcome else { throw StorageError.corrupt }
        return grant.account.id
      }
      func make(_ id: String, isDisabled: Bool = false, at now: UnixTime) async throws -> AccountID {
        var account = Account.bare(id, at: now)
        account.isDisabled = isDisabled
        let outcomes = try await desk.storage.create(
          [account], sharingEmails: true, areImported: false, by: person, at: now)
        #expect(outcomes == [.created])
        return account.id
      }
      let bob = try await signIn("bob", at: start)
      let ann = try await make("ann", at: start)
      #expect(try await told(desk).isEmpty)
      try await delete(bob, at: start + 1, desk)
      try await delete(ann, at: start + 1, desk)
      _ = try await make("carol", at: start + 2)
      _ = try await signIn("bob", at: start + 2)
      _ = try await signIn("bob", at: start + 3)
      // Nothing is issued to a disabled one before it is enabled, which is told then.
      _ = try await make("ann", isDisabled: true, at: start + 2)
      let before = try await told(desk).filter { $0.session == nil }
      #expect(before.map(\.kind) == [.account, .account, .restored])
      #expect(before.map(\.account) == [bob, ann, bob])
      try await disable(ann, false, at: start + 3, desk)
      try await delete(ann, at: start + 4, desk)
      _ = try await make("ann", at: start + 5)
      let after = try await told(desk).filter { $0.account == ann }
      #expect(after.map(\.kind) == [.account, .restored, .account, .restored])
    }
  }

  @Test(arguments: Engine.allCases)
  func `who remembers what is not there is told everything`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let empty = RevocationNews(revocations: [], end: .start)
      for number in [0, 7, 1_000_000_000, .max] as [Int64] {
        let news = try await desk.storage.revocations(behind: RevocationMark(number: number), limit: 10)
        #expect(news == empty)
      }
      for number in 1...3 {
        let session = try await desk.arrive(credential: number).grant.session.id
        try await end(session, at: start + Int64(number), desk)
      }
      let entries = try await told(desk)
      let marks = entries.map { RevocationMark(of: $0) }
      for (place, mark) in marks.enumerated() {
        let news = try await desk.storage.revocations(behind: mark, limit: 10)
        #expect(news == RevocationNews(revocations: Array(entries[(place + 1)...]), end: marks[2]))
        // The same place, of another time: of a database that went on from a copy.
        for other in [RevocationMark(number: mark.number - 1), RevocationMark(number: mark.number + 1)] {
          let whole = try await desk.storage.revocations(behind: other, limit: 2)
          #expect(whole == RevocationNews(revocations: Array(entries[..<2]), end: marks[1]))
        }
      }
    }
  }
}
