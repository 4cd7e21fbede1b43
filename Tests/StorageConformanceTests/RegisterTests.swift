import Domain
import Storage
import Testing

/// Signing keys, lists and counts.
@Suite(.timeLimit(.minutes(2)))
struct RegisterTests {
  static func key(_ name: String, _ role: SigningKeyRole) -> SigningKeyRecord {
    SigningKeyRecord(
      id: KeyID(unchecked: name), algorithm: "ES256", role: role, createdAt: start,
      activeSince: role == .standby ? nil : start + 1, retiredAt: role == .retired ? start + 2 : nil,
      isToRetire: role == .active, longestLifetime: 7200, cookiesUntil: role == .retired ? start + 9 : nil,
      sealed: [0, 1, 2, 0xFF], masterKey: firstKey, certificate: "-----BEGIN CERTIFICATE-----\n")
  }

  @Test(arguments: Engine.allCases)
  func `signing keys are replaced by who knows the version`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      let none = SigningKeyBook(version: 0, keys: [])
      #expect(try await desk.storage.signingKeys() == none)
      let first = [Self.key("b", .active), Self.key("a", .standby)]
      let book = SigningKeyBook(version: 1, keys: first)
      #expect(try await desk.storage.replaceSigningKeys(expecting: 0, with: first) == .replaced(book))
      #expect(try await desk.storage.signingKeys() == book)
      let second = [Self.key("c", .active), Self.key("b", .retired)]
      #expect(try await desk.storage.replaceSigningKeys(expecting: 0, with: second) == .conflict(book))
      #expect(try await desk.storage.signingKeys() == book)
      let next = SigningKeyBook(version: 2, keys: second)
      #expect(try await desk.storage.replaceSigningKeys(expecting: 1, with: second) == .replaced(next))
      #expect(try await desk.storage.signingKeys() == next)
    }
  }

  @Test(arguments: Engine.allCases)
  func `of many that replace signing keys at once one wins`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let outcomes = try await inParallel(20) { number in
        try await desk.storage.replaceSigningKeys(expecting: 0, with: [Self.key("k\(number)", .active)])
      }
      let present = try await desk.storage.signingKeys()
      #expect(present.version == 1)
      #expect(outcomes.count { $0 == .replaced(present) } == 1)
      #expect(outcomes.count { $0 == .conflict(present) } == 19)
    }
  }

  @Test(arguments: Engine.allCases)
  func `of eight that change signing keys at once, each again until it is through, no change is lost`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let attempts = try await inParallel(8) { number in
        var book = try await desk.storage.signingKeys()
        var attempts = 0
        while true {
          attempts += 1
          let keys = book.keys + [Self.key("k\(number)", .standby)]
          switch try await desk.storage.replaceSigningKeys(expecting: book.version, with: keys) {
          case .replaced: return attempts
          case .conflict(let present): book = present
          }
        }
      }
      let book = try await desk.storage.signingKeys()
      #expect(book.version == 8)
      #expect(Set(book.keys.map(\.id.text)) == Set((0..<8).map { "k\($0)" }))
      #expect(book.keys.count == 8)
      #expect(attempts.max() ?? 9 <= 8)
    }
  }

  @Test(arguments: Engine.allCases)
  func `accounts come in pages in the order of their creation, and from the newest on`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      var ids: [AccountID] = []
      for number in 0..<7 {
        ids.append(try await desk.arrive("s\(number)", credential: number).grant.account.id)
      }
      var pages: [[AccountID]] = []
      var cursor: AccountCursor?
      repeat {
        let page = try await desk.storage.accounts(after: cursor, limit: 3)
        pages.append(page.accounts.map(\.id))
        cursor = page.next
      } while cursor != nil
      #expect(pages == [Array(ids[0..<3]), Array(ids[3..<6]), Array(ids[6...])])
      let all = try await desk.storage.accounts(after: nil, limit: 7)
      #expect(all.next == nil)
      #expect(all.accounts.allSatisfy { $0.identities.count == 1 })
      var backwards: [[AccountID]] = []
      repeat {
        let page = try await desk.storage.accounts(before: cursor, limit: 3)
        backwards.append(page.accounts.map(\.id))
        cursor = page.next
      } while cursor != nil
      #expect(backwards == [[ids[6], ids[5], ids[4]], [ids[3], ids[2], ids[1]], [ids[0]]])
      #expect(try await desk.storage.accounts(before: nil, limit: 7).next == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a page counts accounts and not their identities`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let identities = ["apple.com", "google.com"].map {
        LinkedIdentity(
          ProviderIdentity(provider: $0, subject: Subject(unchecked: "s")), email: "e@example.com")
      }
      var first = Account.bare("first")
      first.identities = identities
      try await desk.storage.insert(first)
      try await desk.storage.insert(Account.bare("second"))
      let page = try await desk.storage.accounts(after: nil, limit: 1)
      #expect(page.accounts.map { Set($0.identities) } == [Set(identities)])
      let next = try await desk.storage.accounts(after: try #require(page.next), limit: 1)
      #expect(next.accounts == [Account.bare("second")])
      #expect(next.next == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an empty storage has an empty page and no such account`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      #expect(try await desk.storage.accounts(after: nil, limit: 5) == AccountPage(accounts: [], next: nil))
      #expect(try await desk.storage.accounts(before: nil, limit: 5) == AccountPage(accounts: [], next: nil))
      #expect(try await desk.storage.account(AccountID(unchecked: "nobody")) == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `what is over by a limit is neither listed nor counted, though nobody ended it`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let account = AccountID(unchecked: "a")
      let now = start + limits.absolute
      let idle = Session.bare(1, of: account, at: now - limits.idle)
      let old = Session.bare(2, of: account, at: start, rotatedAt: now - 1)
      let living = [
        Session.bare(3, of: account, at: now - limits.idle + 1),
        Session.bare(4, of: account, at: start + 1, rotatedAt: now - 1, masterKey: secondKey),
      ]
      for session in [idle, old] + living { try await desk.storage.insert(session) }
      let listed = try await desk.storage.sessions(of: account, within: limits, at: now)
      #expect(Set(listed.map(\.id)) == Set(living.map(\.id)))
      let counts = try await desk.storage.sessionCounts(within: limits, at: now)
      #expect(counts == [firstKey: 1, secondKey: 1])
      #expect(try await desk.storage.sessions(of: account).count == 4)
    }
  }

  @Test(arguments: Engine.allCases)
  func `sessions that live are listed newest first and counted by master key`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let first = try await desk.arrive().grant
      let second = try await desk.arrive(credential: 2, at: start + 1).grant.session
      let third = try await desk.arrive(credential: 3, at: start + 2).grant.session
      try await desk.arrive("002.bob", credential: 4)
      try await desk.storage.end(second.id, as: .ended)
      _ = try await desk.refresh(third.id, 0, masterKey: secondKey)
      let listed = try await desk.storage.sessions(of: first.account.id)
      #expect(listed.map(\.id) == [third.id, first.session.id])
      let counts = try await desk.storage.sessionCounts(within: limits, at: start)
      #expect(counts == [firstKey: 2, secondKey: 1])
    }
  }

  @Test(arguments: Engine.allCases)
  func `a probe writes`(_ engine: Engine) async throws {
    try await engine.run { desk in try await desk.storage.probe() }
  }
}

/// Does something many times at once.
func inParallel<Outcome: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Outcome
) async throws -> [Outcome] {
  try await withThrowingTaskGroup(of: Outcome.self) { group in
    for number in 0..<count { group.addTask { try await body(number) } }
    return try await group.reduce(into: []) { $0.append($1) }
  }
}
