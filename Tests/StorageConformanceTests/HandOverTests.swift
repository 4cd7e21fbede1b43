import Domain
import Storage
import Testing

extension Desk {
  fileprivate func handOver(
    _ id: String = "ada", provider: String = appleProviderID, credential: Int = 1, at now: UnixTime = start,
    authenticatedAt: UnixTime = start - 5000, device: Device? = nil, maximum: Int = 0
  ) async throws -> HandOverOutcome {
    try await storage.handOver(
      HandOverIntent(
        account: AccountID(unchecked: id), provider: provider, authenticatedAt: authenticatedAt,
        sessionBegin: now - 301, credential: .numbered(credential), credentialExpiresAt: start + 3600,
        device: device, newSession: SessionID(at: now, from: entropy), masterKey: firstKey,
        rules: SessionOpeningRules(maximum: maximum), origin: person, retryWindow: 60, now: now))
  }
}

extension HandOverOutcome {
  fileprivate var grant: SessionGrant? { if case .opened(let grant) = self { grant } else { nil } }
}

@Suite(.timeLimit(.minutes(2)))
struct HandOverTests {
  private func with(_ engine: Engine, _ body: (Desk) async throws -> Void) async throws {
    try await engine.run { (desk) async throws in
      _ = try await desk.storage.take(Account.bare("ada", at: start - 9000))
      try await body(desk)
    }
  }

  @Test(arguments: Engine.allCases)
  func `who came by an import gets a session that is no sign-in`(_ engine: Engine) async throws {
    try await with(engine) { (desk) async throws in
      let grant = try #require(try await desk.handOver().grant)
      #expect(grant.account.id.text == "ada")
      #expect(grant.session.provider == "apple.com")
      #expect(grant.session.createdAt == start - 301)
      #expect(grant.session.rotatedAt == start)
      #expect(grant.account.lastSignInAt == start - 5000)
      #expect(try await desk.storage.session(grant.session.id) == grant.session)
      let lines = try await desk.storage.audit(AuditQuery(after: 0, account: grant.account.id, limit: 9))
      #expect(lines.map(\.entry.action) == [.accountImported, .sessionHandedOver])
      #expect(lines.last?.entry.session == grant.session.id)
      #expect(lines.last?.entry.address == person.address)
      // And it is refreshed like every other.
      #expect(try await desk.refresh(grant.session.id, 0).session?.counter == 1)
    }
  }

  @Test(arguments: Engine.allCases)
  func `the same request gets the same session within the window, until its first refresh`(_ engine: Engine)
    async throws
  {
    try await with(engine) { (desk) async throws in
      let first = try #require(try await desk.handOver().grant)
      #expect(try await desk.handOver(at: start + 60).grant == first)
      #expect(try await desk.handOver(at: start + 61) == .credentialAlreadyUsed)
      let second = try #require(try await desk.handOver(credential: 2).grant)
      #expect(second.session.id != first.session.id)
      _ = try await desk.refresh(second.session.id, 0)
      #expect(try await desk.handOver(credential: 2) == .credentialAlreadyUsed)
      try await desk.storage.end(first.session.id, as: .ended)
      #expect(try await desk.handOver() == .credentialAlreadyUsed)
    }
  }

  @Test(arguments: Engine.allCases)
  func `of many at once one makes the session`(_ engine: Engine) async throws {
    try await with(engine) { (desk) async throws in
      let outcomes = try await inParallel(20) { _ in try await desk.handOver() }
      #expect(Set(outcomes.compactMap { $0.grant?.session.id }).count == 1)
      #expect(outcomes.allSatisfy { $0.grant != nil })
    }
  }

  @Test(arguments: Engine.allCases)
  func `nobody else comes over: who was never imported, is gone, disabled or revoked`(_ engine: Engine)
    async throws
  {
    try await with(engine) { (desk) async throws in
      #expect(try await desk.handOver("nobody") == .accountNotFound)
      let here = try await desk.arrive().grant.account.id
      #expect(try await desk.handOver(here.text, credential: 2) == .accountNotFound)
      let ada = AccountID(unchecked: "ada")
      var revoked = try #require(try await desk.storage.account(ada))
      revoked.validSince = start - 5000
      try await desk.storage.update(revoked)
      #expect(try await desk.handOver(credential: 3, authenticatedAt: start - 5001) == .revoked)
      let used = try #require(try await desk.handOver(credential: 4, authenticatedAt: start - 5000).grant)
      try await desk.storage.disable(ada)
      #expect(try await desk.handOver(credential: 4) == .accountDisabled)
      #expect(try await desk.handOver(credential: 5) == .accountDisabled)
      _ = try await desk.storage.delete([
        AccountDeletionIntent(target: .administered(ada), demandsDisabled: false, origin: person, now: start)
      ])
      #expect(try await desk.handOver(credential: 6) == .accountNotFound)
      // A refusal burns nothing, and the record of a use outlives the account.
      #expect(try await desk.storage.spentCredential(.numbered(6)) == nil)
      #expect(try await desk.storage.spentCredential(.numbered(4))?.session == used.session.id)
    }
  }

  @Test(arguments: Engine.allCases)
  func `who was anonymous there is so here, unless there is more to the account`(_ engine: Engine)
    async throws
  {
    try await with(engine) { (desk) async throws in
      #expect(try await desk.handOver().grant?.account.isAnonymous == false)
      let grant = try #require(try await desk.handOver(provider: "anonymous", credential: 2).grant)
      #expect(grant.account.isAnonymous)
      #expect(try await desk.storage.account(grant.account.id)?.isAnonymous == true)
      var known = Account.bare("bob")
      known.profile = .email("bob@example.com")
      _ = try await desk.storage.take(known)
      let other = try await desk.handOver("bob", provider: "anonymous", credential: 3)
      #expect(other.grant?.account.isAnonymous == false)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a session too many ends the oldest`(_ engine: Engine) async throws {
    try await with(engine) { (desk) async throws in
      let first = try #require(try await desk.handOver(maximum: 1).grant)
      let second = try #require(try await desk.handOver(credential: 2, maximum: 1).grant)
      #expect(try await desk.storage.sessions(of: second.account.id).map(\.id) == [second.session.id])
      #expect(try await desk.storage.session(first.session.id)?.end == .ended)
    }
  }
}
