import Domain
import Storage
import Testing

@Suite(.timeLimit(.minutes(2)))
struct SignInTests {
  @Test(arguments: Engine.allCases)
  func `a first sign-in makes account, identity, session and record`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let device = Device(name: "Phone", model: "P1", os: "26.1", appVersion: "3.2")
      let (grant, isNewUser) = try await desk.arrive(
        name: PersonName(givenName: "Alice"), profile: .email("a@example.com", isPrivate: true),
        device: device)
      #expect(isNewUser)
      #expect(grant.account.name == PersonName(givenName: "Alice"))
      #expect(grant.account.profile == .email("a@example.com", isPrivate: true))
      #expect(grant.account.identities.map(\.subject.text) == ["001.alice"])
      #expect(grant.session.device == device)
      #expect(grant.session.counter == 0)
      #expect(try await desk.storage.account(grant.account.id) == grant.account)
      #expect(try await desk.storage.session(grant.session.id) == grant.session)
      let record = try #require(try await desk.storage.spentCredential(.numbered(1)))
      #expect(record.session == grant.session.id)
      #expect(record.isNewUser)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a return visit gets a new session of the same account`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let first = try await desk.arrive().grant
      let (second, isNewUser) = try await desk.arrive(credential: 2, at: start + 100)
      #expect(!isNewUser)
      #expect(second.account.id == first.account.id)
      #expect(second.session.id != first.session.id)
      #expect(second.account.createdAt == start)
      #expect(second.account.lastSignInAt == start + 100)
      #expect(try await desk.storage.account(first.account.id) == second.account)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a name is not wiped by silence nor replaced by another`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let name = PersonName(givenName: "Alice", familyName: "Appleseed")
      try await desk.arrive(name: name)
      #expect(try await desk.arrive(credential: 2).grant.account.name == name)
      let third = try await desk.arrive(credential: 3, name: PersonName(givenName: "Mallory"))
      #expect(try await desk.storage.account(third.grant.account.id)?.name == name)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an empty name is filled later`(_ engine: Engine) async throws {
    try await engine.run { desk in
      #expect(try await desk.arrive(name: PersonName(givenName: " ")).grant.account.name == nil)
      let later = try await desk.arrive(credential: 2, name: PersonName(nickname: "Al"))
      #expect(later.grant.account.name == PersonName(nickname: "Al"))
      #expect(try await desk.storage.account(later.grant.account.id) == later.grant.account)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an address stays until the provider names another`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive(profile: .email("a@example.com", isPrivate: true))
      let silent = try await desk.arrive(credential: 2).grant.account
      #expect(silent.profile == .email("a@example.com", isPrivate: true))
      let other = try await desk.arrive(credential: 3, profile: .email("b@example.com")).grant.account
      #expect(other.profile == .email("b@example.com"))
      #expect(try await desk.storage.account(other.id) == other)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a sign-in by a clock that is behind does not turn the last sign-in back`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      try await desk.arrive()
      let earlier = try await desk.arrive(credential: 2, at: start - 50).grant.account
      #expect(try await desk.storage.account(earlier.id)?.lastSignInAt == start)
    }
  }

  @Test(arguments: Engine.allCases)
  func `subjects are told apart by their bytes`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let lower = try await desk.arrive("001.alice")
      let upper = try await desk.arrive("001.Alice", credential: 2)
      let padded = try await desk.arrive("001.alice0", credential: 3)
      #expect(lower.isNewUser && upper.isNewUser && padded.isNewUser)
      #expect(Set([lower, upper, padded].map(\.grant.account.id)).count == 3)
    }
  }

  @Test(arguments: Engine.allCases)
  func `one subject at two providers is two people`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive()
      let other = try await desk.storage.signIn(desk.intent(provider: "google.com", credential: 2))
      #expect(other.signedIn?.isNewUser == true)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an unknown person gets nothing where accounts are not made`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      #expect(try await desk.storage.signIn(desk.intent(createsAccount: false)) == .unknownIdentity)
      #expect(try await desk.storage.accounts(after: nil, limit: 10).accounts.isEmpty)
      #expect(try await desk.storage.spentCredential(.numbered(1)) == nil)
      #expect(try await desk.storage.sessionCounts(within: limits, at: start).isEmpty)
      #expect(try await desk.arrive().isNewUser)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a disabled account gets no session and its credential stays good`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let account = try await desk.arrive().grant.account
      try await desk.storage.disable(account.id)
      #expect(try await desk.storage.signIn(desk.intent(credential: 2)) == .accountDisabled)
      #expect(try await desk.storage.spentCredential(.numbered(2)) == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `what does not fit into the ledger is a fault of the program and changes nothing`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      await #expect(throws: StorageError.defect) { try await desk.storage.insert(grant.account) }
      await #expect(throws: StorageError.defect) { try await desk.storage.insert(grant.session) }
      let second = LinkedIdentity(
        ProviderIdentity(provider: appleProviderID, subject: Subject(unchecked: "002")))
      await #expect(throws: StorageError.defect) {
        try await desk.storage.insert(second, of: grant.account.id)
      }
      await #expect(throws: StorageError.defect) {
        try await desk.storage.insert(second, of: AccountID(unchecked: "nobody"))
      }
      #expect(try await desk.storage.account(grant.account.id) == grant.account)
    }
  }
}

/// Text that must come back from the database as it went in.
@Suite(.timeLimit(.minutes(2)))
struct RoundTripTests {
  static let texts = [
    "Zoë", "e\u{301}", "e\u{FEFF}\u{301}", " undefined", "\u{202E}null", "山田", "👩‍👩‍👧", "می‌خواهم",
    "O'Brien\u{0}x",
    String(repeating: "a", count: 99) + " b", String(repeating: "😀", count: 130),
    String(repeating: "b", count: 127) + "  c", "  \u{301}x ", "ﬁ\u{2028}",
  ]

  @Test(arguments: Engine.allCases, texts)
  func `a name and a device are kept as they were cleaned`(_ engine: Engine, _ text: String) async throws {
    try await engine.run { desk in
      let name = PersonName(
        givenName: text, familyName: text, middleName: text, namePrefix: text, nameSuffix: text,
        nickname: text)
      let device = Device(name: text, model: text, os: text, appVersion: text)
      let grant = try await desk.arrive(name: name, device: device).grant
      let account = try #require(try await desk.storage.account(grant.account.id))
      #expect(account == grant.account)
      #expect(account.name?.givenName.map { Array($0.utf8) } == name.givenName.map { Array($0.utf8) })
      let session = try #require(try await desk.storage.session(grant.session.id))
      #expect(session == grant.session)
      #expect(session.device?.model.map { Array($0.utf8) } == device.model.map { Array($0.utf8) })
    }
  }

  @Test(arguments: texts)
  func `what was cleaned is clean`(_ text: String) {
    let once = cleanedText(text)
    #expect(once.flatMap { cleanedText($0) }.map { Array($0.utf8) } == once.map { Array($0.utf8) })
  }
}
