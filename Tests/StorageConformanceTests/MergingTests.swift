import Domain
import Storage
import Testing

/// What an e-mail address may decide.
@Suite(.timeLimit(.minutes(2)))
struct MergingTests {
  private static let address = "ada@example.com"

  /// An account that an administrator made, with an address.
  private static func held(
    _ id: String = "held", email: String = address, isVerified: Bool = true, isPrivate: Bool = false,
    origin: EmailOrigin = .administrator
  ) -> Account {
    var account = Account.bare(id)
    account.profile = Profile(
      email: EmailAddress(email), isEmailVerified: isVerified, isPrivateEmail: isPrivate, realUserStatus: nil)
    account.emailOrigin = origin
    return account
  }

  private static func unverified(_ email: String) -> Profile {
    Profile(
      email: EmailAddress(email), isEmailVerified: false, isPrivateEmail: false, realUserStatus: nil)
  }

  @Test(arguments: Engine.allCases)
  func `two verified addresses make one account where that is set`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.storage.insert(Self.held())
      let intent = desk.intent(profile: .email(Self.address), linking: .verifiedEmail)
      let (grant, isNewUser) = try #require(try await desk.storage.signIn(intent).signedIn)
      #expect(!isNewUser)
      #expect(grant.account.id.text == "held")
      #expect(grant.account.identities.map(\.identity) == [intent.identity])
      #expect(try await desk.storage.account(grant.account.id) == grant.account)
      #expect(try await desk.arrive(credential: 2).grant.account.id.text == "held")
    }
  }

  @Test(arguments: Engine.allCases)
  func `L07 with linking off an address decides nothing`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.storage.insert(Self.held())
      let arrived = try await desk.arrive(profile: .email(Self.address))
      #expect(arrived.isNewUser)
      #expect(arrived.grant.account.id.text != "held")
    }
  }

  private static let kept: [(String, Account, Profile)] = [
    ("unverified account", held(isVerified: false), .email(address)),
    ("unverified token", held(), unverified(address)),
    ("neither", held(isVerified: false), unverified(address)),
    ("an import's word", held(origin: .imported), .email(address)),
    ("relay account", held(isPrivate: true), .email(address)),
    ("relay token", held(), .email(address, isPrivate: true)),
    ("relay domain", held(email: "x1@privaterelay.appleid.com"), .email("x1@privaterelay.appleid.com")),
  ]

  @Test(arguments: Engine.allCases, kept)
  func `L04 L05 L07 an address that one side has not verified joins nothing`(
    _ engine: Engine, _ row: (String, Account, Profile)
  ) async throws {
    try await engine.run { desk in
      try await desk.storage.insert(row.1)
      let outcome = try await desk.storage.signIn(desk.intent(profile: row.2, linking: .verifiedEmail))
      #expect(outcome == .emailHeld(row.1), "\(row.0)")
      #expect(try await desk.storage.account(row.1.id) == row.1)
      #expect(try await desk.storage.spentCredential(.numbered(1)) == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an account with an Apple identity of its own takes no second`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let first = try await desk.arrive(profile: .email(Self.address)).grant.account
      let outcome = try await desk.storage.signIn(
        desk.intent("002.bob", credential: 2, profile: .email(Self.address), linking: .verifiedEmail))
      #expect(outcome == .emailHeld(first))
    }
  }

  @Test(arguments: Engine.allCases)
  func `a disabled account is joined by nobody`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.storage.insert(Self.held())
      try await desk.storage.disable(AccountID(unchecked: "held"))
      let outcome = try await desk.storage.signIn(
        desk.intent(profile: .email(Self.address), linking: .verifiedEmail))
      #expect(outcome == .accountDisabled)
    }
  }

  @Test(arguments: Engine.allCases)
  func `who may not make an account does not join one`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.storage.insert(Self.held())
      let outcome = try await desk.storage.signIn(
        desk.intent(profile: .email(Self.address), createsAccount: false, linking: .verifiedEmail))
      #expect(outcome == .unknownIdentity)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a link with an address that somebody else holds is refused`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let other = Self.held()
      try await desk.storage.insert(other)
      let account = Account.bare("own")
      let session = Session.bare(1, of: account.id)
      try await desk.storage.insert(account)
      try await desk.storage.insert(session)
      let link = SessionBearer(account: account.id, session: session.id, isRecentLogin: true)
      func ask(_ linking: AccountLinking) async throws -> SignInOutcome {
        try await desk.storage.signIn(
          desk.intent(profile: .email(Self.address), link: link, linking: linking))
      }
      #expect(try await ask(.verifiedEmail) == .emailHeld(other))
      #expect(try await ask(.off).signedIn?.grant.account.id == account.id)
    }
  }

  @Test(arguments: Engine.allCases)
  func `addresses are compared as bytes`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.storage.insert(Self.held(email: "é@example.com"))
      let outcome = try await desk.storage.signIn(
        desk.intent(profile: .email("e\u{301}@example.com"), linking: .verifiedEmail))
      #expect(outcome.signedIn?.isNewUser == true)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an address that an administrator gave stays until Apple has verified it`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      var account = try await desk.arrive(profile: .email("apple@example.com")).grant.account
      account.profile = Self.held().profile
      account.emailOrigin = .administrator
      try await desk.storage.update(account)
      let second = try await desk.arrive(credential: 2, profile: .email("apple@example.com")).grant.account
      #expect(second.profile.email?.text == Self.address)
      #expect(second.identity(at: appleProviderID)?.email == "apple@example.com")
      let third = try await desk.arrive(credential: 3, profile: .email(Self.address)).grant.account
      #expect(third.emailOrigin == .provider)
      let fourth = try await desk.arrive(credential: 4, profile: .email("new@example.com")).grant.account
      #expect(fourth.profile.email?.text == "new@example.com")
    }
  }
}
