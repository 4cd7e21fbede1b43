import Domain
import Storage
import Testing

/// Somebody who came back from Apple's page, before anybody has traded what he brought.
@Suite(.timeLimit(.minutes(2)))
struct WebReturnTests {
  private func visit(
    _ desk: Desk, _ subject: String = "001.alice", _ profile: Profile = .plain, name: String? = nil,
    transfer: String? = nil, linking: AccountLinking = .verifiedEmail
  ) async throws -> WebReturnOutcome {
    try await desk.storage.take(
      WebReturn(
        identity: ProviderIdentity(provider: appleProviderID, subject: Subject(unchecked: subject)),
        profile: profile, name: name.map { PersonName(givenName: $0) },
        transferSubject: transfer.map { Subject(unchecked: $0) }, linking: linking))
  }

  @Test(arguments: Engine.allCases)
  func `a name is kept with an account that has none, and takes no other's place`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let account = try await desk.arrive().grant.account.id
      for (name, kept) in [(nil, nil), ("Alice", "Alice"), ("Eve", "Alice"), (nil, "Alice")] {
        #expect(try await visit(desk, name: name) == .expected)
        #expect(try await desk.storage.account(account)?.name?.givenName == kept)
      }
      let bob = try await desk.arrive("002.bob", credential: 2).grant.account.id
      try await desk.storage.disable(bob)
      #expect(try await visit(desk, "002.bob", name: "Bob") == .expected)
      #expect(try await desk.storage.account(bob)?.name == nil)
      // A new person gets no account by it.
      #expect(try await visit(desk, "003.eve", name: "Eve") == .expected)
      #expect(try await desk.storage.accounts(after: nil, limit: 10).accounts.count == 2)
    }
  }

  @Test(arguments: Engine.allCases)
  func `whose address another account has is told so where the trade would refuse him`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let relay = Profile.email("x@privaterelay.appleid.com", isPrivate: true)
      let held = try await desk.arrive(profile: relay).grant.account
      #expect(try await visit(desk, "002.bob", relay) == .emailHeld(held))
      #expect(try await visit(desk, "002.bob", relay, linking: .off) == .expected)
      #expect(try await visit(desk, "001.alice", relay) == .expected)
      #expect(try await visit(desk, "002.bob", .email("b@example.com")) == .expected)
      // As the trade would have it.
      let traded = try await desk.storage.signIn(
        desk.intent("002.bob", credential: 2, profile: relay, linking: .verifiedEmail))
      #expect(traded == .emailHeld(held))
      // Somebody who moves from another team is no stranger to the account that has his address.
      var moved = try #require(held.identities.first)
      moved.transfer = IdentityTransfer(
        state: .exported, team: TeamID(unchecked: "TEAM000002"), subject: Subject(unchecked: "t.alice"),
        detail: nil,
        at: start)
      let exported = moved
      try await desk.storage.rewrite(exported)
      #expect(try await visit(desk, "009.alice", relay, transfer: "t.alice") == .expected)
    }
  }
}

extension LedgerStorage {
  fileprivate func rewrite(_ identity: LinkedIdentity) async throws {
    try await transact { (book) throws(StorageError) in try book.update(identity) }
  }
}
