import Domain
import Storage
import Testing

/// Accounts that are made, found and listed without a sign-in.
@Suite(.timeLimit(.minutes(2)))
struct AccountRegisterTests {
  private func account(_ id: String, email: String? = nil, isVerified: Bool = false, subject: String? = nil)
    -> Account
  {
    var account = Account.bare(id)
    account.profile = Profile(
      email: email.flatMap(EmailAddress.init), isEmailVerified: isVerified, isPrivateEmail: false,
      realUserStatus: nil)
    account.emailOrigin = .imported
    account.chosenName = "Name of \(id)"
    account.photoURL = "https://example.com/\(id)"
    account.customClaims = "{\"role\":\"\(id)\"}"
    account.validSince = start - 5
    account.identities =
      subject.map {
        [
          LinkedIdentity(
            ProviderIdentity(provider: appleProviderID, subject: Subject(unchecked: $0)), email: email)
        ]
      } ?? []
    return account
  }

  @Test(arguments: Engine.allCases)
  func `what is made is found by everything that it has`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let ada = account("ada", email: "ada@example.com", isVerified: true, subject: "001")
      let bob = account("bob")
      #expect(
        try await desk.storage.create(
          [ada, bob], sharingEmails: false, areImported: false, by: person, at: start) == [
            .created, .created,
          ])
      let email = try #require(ada.profile.email)
      let keys: [AccountKey] = [
        .email(email), .id(bob.id), .identity(ada.identities[0].identity),
        .id(AccountID(unchecked: "nobody")),
      ]
      #expect(try await desk.storage.find(keys) == [ada, bob])
      #expect(try await desk.arrive("001").grant.account.id == ada.id)
    }
  }

  @Test(arguments: Engine.allCases)
  func `what is taken is not made again, and harms no neighbour`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let ada = account("ada", email: "ada@example.com", subject: "001")
      _ = try await desk.storage.create(
        [ada], sharingEmails: false, areImported: false, by: person, at: start)
      let outcomes = try await desk.storage.create(
        [
          account("ada"), account("b", subject: "001"), account("c", email: "ada@example.com"), account("d"),
          account("d"),
        ], sharingEmails: false, areImported: false, by: person, at: start)
      #expect(outcomes == [.idTaken, .identityTaken, .emailTaken, .created, .idTaken])
      #expect(
        try await desk.storage.create(
          [account("c", email: "ada@example.com")], sharingEmails: true, areImported: false, by: person,
          at: start)
          == [.created])
    }
  }

  @Test(arguments: Engine.allCases)
  func `an address finds the oldest account that holds it verified, else the oldest`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let email = try #require(EmailAddress("ada@example.com"))
      let accounts = [
        account("z", email: email.text), account("y", email: email.text, isVerified: true),
        account("x", email: email.text, isVerified: true),
      ]
      _ = try await desk.storage.create(
        [accounts[0]], sharingEmails: true, areImported: false, by: person, at: start)
      #expect(try await desk.storage.find([.email(email)]).map(\.id.text) == ["z"])
      _ = try await desk.storage.create(
        Array(accounts[1...]), sharingEmails: true, areImported: false, by: person, at: start)
      #expect(try await desk.storage.find([.email(email)]).map(\.id.text) == ["y"])
    }
  }

  @Test(arguments: Engine.allCases)
  func `accounts are listed in every order, forwards and backwards`(_ engine: Engine) async throws {
    try await engine.run { desk in
      var accounts = [
        account("B", email: "b@example.com", subject: "1"), account("a"),
        account("C", email: "a@example.com"),
      ]
      accounts[1].chosenName = nil
      accounts[2].lastSignInAt = start + 9
      _ = try await desk.storage.create(
        accounts, sharingEmails: true, areImported: false, by: person, at: start)
      func list(_ field: AccountOrder.Field, down: Bool, offset: Int = 0, limit: Int = 10) async throws
        -> String
      {
        let list = try await desk.storage.accounts(
          in: AccountOrder(by: field, isDescending: down), offset: offset, limit: limit)
        #expect(list.count == 3)
        return list.accounts.map(\.id.text).joined()
      }
      #expect(try await list(.id, down: false) == "BCa")
      #expect(try await list(.id, down: true) == "aCB")
      #expect(try await list(.email, down: false) == "aCB")
      #expect(try await list(.email, down: true) == "BCa")
      #expect(try await list(.name, down: false) == "aBC")
      #expect(try await list(.name, down: true) == "CBa")
      #expect(try await list(.createdAt, down: false) == "BaC")
      #expect(try await list(.createdAt, down: true) == "BaC")
      #expect(try await list(.lastSignInAt, down: false) == "BaC")
      #expect(try await list(.lastSignInAt, down: true) == "CBa")
      #expect(try await list(.id, down: false, offset: 1, limit: 1) == "C")
      #expect(try await list(.id, down: false, offset: 3) == "")
      let listed = try await desk.storage.accounts(
        in: AccountOrder(by: .id, isDescending: false), offset: 0, limit: 1)
      #expect(listed.accounts == [accounts[0]])
    }
  }

  @Test(arguments: Engine.allCases)
  func `a session without an identity provider is one of its account's`(_ engine: Engine) async throws {
    try await engine.run { desk in
      func intent(_ id: String, isAnonymous: Bool = false, creates: Bool = true) -> AccountSessionIntent {
        AccountSessionIntent(
          account: AccountID(unchecked: id), provider: "custom", isAnonymous: isAnonymous,
          createsAccount: creates,
          customClaims: "{\"a\":1}", newSession: SessionID(at: start, from: desk.entropy),
          masterKey: firstKey,
          rules: SessionOpeningRules(maximum: 0), origin: person, now: start)
      }
      #expect(try await desk.storage.openSession(intent("uid", creates: false)) == .accountNotFound)
      let made = try await desk.storage.openSession(intent("uid", isAnonymous: true))
      guard case .opened(let grant, isNewUser: true) = made else { throw StorageError.corrupt }
      #expect(grant.account.isAnonymous)
      #expect(try await desk.storage.account(grant.account.id) == grant.account)
      #expect(try await desk.storage.session(grant.session.id) == grant.session)
      #expect(try await desk.refresh(grant.session.id, 0).session?.customClaims == "{\"a\":1}")
      let again = try await desk.storage.openSession(intent("uid", creates: false))
      guard case .opened(_, isNewUser: false) = again else { throw StorageError.corrupt }
      try await desk.storage.disable(grant.account.id)
      #expect(try await desk.storage.openSession(intent("uid")) == .accountDisabled)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a pending credential is used once, whichever of its two forms comes`(_ engine: Engine) async throws {
    try await engine.run { desk in
      _ = try #require(try await desk.storage.signIn(desk.intent(challenge: 5, isPending: true)).signedIn)
      #expect(
        try await desk.storage.signIn(desk.intent(challenge: 5, isPending: true)) == .credentialAlreadyUsed)
      #expect(try await desk.storage.signIn(desk.intent(challenge: 5)) == .credentialAlreadyUsed)
      #expect(
        try await desk.storage.signIn(desk.intent(credential: 2, challenge: 5)) == .credentialAlreadyUsed)
      _ = try await desk.arrive(credential: 3)
      #expect(
        try await desk.storage.signIn(desk.intent(credential: 3, isPending: true)) == .credentialAlreadyUsed)
    }
  }
}
