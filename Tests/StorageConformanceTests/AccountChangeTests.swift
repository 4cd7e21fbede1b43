import Domain
import Storage
import Testing

/// What bearers and administrators do to accounts.
@Suite(.timeLimit(.minutes(2)))
struct AccountChangeTests {
  private func bearer(_ grant: SessionGrant, recent: Bool = true) -> SessionBearer {
    SessionBearer(account: grant.account.id, session: grant.session.id, isRecentLogin: recent)
  }

  private func change(
    _ target: AccountTarget, to change: AccountChange, on desk: Desk
  ) async throws -> AccountChangeOutcome {
    try await desk.storage.change(
      AccountChangeIntent(target: target, change: change, origin: person, now: start))
  }

  @Test(arguments: Engine.allCases)
  func `a change writes what it names and nothing else`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let before = try await desk.arrive(
        name: PersonName(givenName: "Ada"), profile: .email("ada@example.com")
      ).grant
      let outcome = try await change(
        .bearer(bearer(before)),
        to: AccountChange { change in
          change.displayName = .set("Countess")
          change.photoURL = .set("https://example.com/ada.png")
        }, on: desk)
      var expected = before.account
      expected.chosenName = "Countess"
      expected.photoURL = "https://example.com/ada.png"
      #expect(outcome == .changed(expected))
      #expect(try await desk.storage.account(before.account.id) == expected)
      #expect(expected.displayName == "Countess")
      let cleared = try await change(
        .bearer(bearer(before)),
        to: AccountChange { change in
          change.displayName = .clear
          change.photoURL = .clear
        }, on: desk)
      guard case .changed(let bare) = cleared else { throw StorageError.corrupt }
      #expect(bare.displayName == nil)
      #expect(bare.photoURL == nil)
      // What was cleared may be learnt again.
      let again = try await desk.arrive(credential: 2, name: PersonName(givenName: "Augusta"))
      #expect(again.grant.account.displayName == "Augusta")
    }
  }

  @Test(arguments: Engine.allCases)
  func `a bearer whose session or account is over changes and deletes nothing`(_ engine: Engine) async throws
  {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let other = try await desk.arrive("002.bob", credential: 2).grant
      let stranger = SessionBearer(
        account: grant.account.id, session: other.session.id, isRecentLogin: true)
      func expectRefused(_ bearer: SessionBearer, _ refusal: BearerRefusal) async throws {
        let changed = try await change(
          .bearer(bearer), to: AccountChange { $0.displayName = .set("x") }, on: desk)
        #expect(changed == .refused(refusal))
        let deletion = AccountDeletionIntent(
          target: .bearer(bearer), demandsDisabled: false, origin: person, now: start)
        #expect(try await desk.storage.delete([deletion]) == [.refused(refusal)])
        #expect(try await desk.storage.grant(to: bearer) == .failure(refusal))
      }
      try await expectRefused(stranger, .sessionOver(nil))
      #expect(try await desk.storage.grant(to: bearer(grant)) == .success(grant))
      try await desk.storage.end(grant.session.id, as: .revoked)
      try await expectRefused(bearer(grant), .sessionOver(.revoked))
      try await desk.storage.disable(grant.account.id)
      try await expectRefused(bearer(grant), .accountDisabled)
      let nobody = SessionBearer(
        account: AccountID(unchecked: "nobody"), session: other.session.id, isRecentLogin: true)
      try await expectRefused(nobody, .accountNotFound)
    }
  }

  @Test(arguments: Engine.allCases)
  func `what is grave wants a recent sign-in`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let old = AccountTarget.bearer(bearer(grant, recent: false))
      let unlinked = try await change(
        old, to: AccountChange { $0.removedProviders = [appleProviderID] }, on: desk)
      #expect(unlinked == .refused(.loginTooOld))
      let deletion = AccountDeletionIntent(target: old, demandsDisabled: false, origin: person, now: start)
      #expect(try await desk.storage.delete([deletion]) == [.refused(.loginTooOld)])
      let named = try await change(old, to: AccountChange { $0.displayName = .set("x") }, on: desk)
      var expected = grant.account
      expected.chosenName = "x"
      #expect(named == .changed(expected))
    }
  }

  @Test(arguments: Engine.allCases)
  func `an identity that is taken off signs in to a new account`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let outcome = try await change(
        .bearer(bearer(grant)),
        to: AccountChange { change in
          change.removedProviders = [appleProviderID, "google.com"]
        }, on: desk)
      guard case .changed(let account) = outcome else { throw StorageError.corrupt }
      #expect(account.identities.isEmpty)
      #expect(!account.isAnonymous)
      #expect(try await desk.storage.account(account.id) == account)
      let next = try await desk.arrive(credential: 2)
      #expect(next.isNewUser)
      #expect(next.grant.account.id != account.id)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an administrator adds an identity that nobody has`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let alice = try await desk.arrive().grant.account
      let bare = Account.bare("bare", isAnonymous: true)
      try await desk.storage.insert(bare)
      func add(_ subject: String, to id: AccountID) async throws -> AccountChangeOutcome {
        let identity = LinkedIdentity(
          ProviderIdentity(provider: appleProviderID, subject: Subject(unchecked: subject)),
          displayName: "Ada")
        return try await change(
          .administered(id), to: AccountChange { $0.addedIdentities = [identity] }, on: desk)
      }
      #expect(try await add("001.alice", to: bare.id) == .identityTaken)
      #expect(try await add("002.new", to: alice.id) == .identityTaken)
      guard case .changed(let linked) = try await add("002.new", to: bare.id) else {
        throw StorageError.corrupt
      }
      #expect(!linked.isAnonymous)
      #expect(try await desk.storage.account(bare.id) == linked)
      #expect(try await desk.arrive("002.new", credential: 2).grant.account.id == bare.id)
      // The same once more writes what the provider says anew.
      guard case .changed(let same) = try await add("001.alice", to: alice.id) else {
        throw StorageError.corrupt
      }
      #expect(same.identities.map(\.displayName) == ["Ada"])
      #expect(try await desk.storage.account(alice.id) == same)
    }
  }

  @Test(arguments: Engine.allCases)
  func `revocation ends the sessions that are there, and none that come after`(_ engine: Engine) async throws
  {
    try await engine.run { desk in
      let old = try await desk.arrive(at: start - 1000).grant
      let young = try await desk.arrive(credential: 2).grant
      // Of a node whose clock is ahead.
      let ahead = try await desk.arrive(credential: 3, at: start + 60).grant
      let target = AccountTarget.administered(old.account.id)
      _ = try await change(target, to: AccountChange { $0.validSince = start - 500 }, on: desk)
      #expect(try await desk.refresh(old.session.id, 0) == .sessionOver(.revoked))
      #expect(try await desk.refresh(young.session.id, 0).session != nil)

      let outcome = try await change(
        target, to: AccountChange { $0.validSince = start + 1_000_000 }, on: desk)
      guard case .changed(let account) = outcome else { throw StorageError.corrupt }
      #expect(account.validSince == start)
      #expect(try await desk.refresh(young.session.id, 1) == .sessionOver(.revoked))
      #expect(try await desk.refresh(ahead.session.id, 0, at: start + 61) == .sessionOver(.revoked))
      let next = try await desk.arrive(credential: 4).grant
      #expect(try await desk.refresh(next.session.id, 0).session != nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an address that another account holds is not given away`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let alice = try await desk.arrive(profile: .email("ada@example.com")).grant.account
      let bob = try await desk.arrive("002.bob", credential: 2).grant.account
      let email = try #require(EmailAddress("ada@example.com"))
      let same = AccountChange { $0.email = .set(email) }
      #expect(try await change(.administered(bob.id), to: same, on: desk) == .emailTaken)
      var vouched = alice
      vouched.emailOrigin = .administrator
      vouched.profile = Profile(
        email: email, isEmailVerified: true, isPrivateEmail: false,
        realUserStatus: alice.profile.realUserStatus)
      #expect(try await change(.administered(alice.id), to: same, on: desk) == .changed(vouched))
      let other = try #require(EmailAddress("countess@example.com"))
      let outcome = try await change(
        .administered(alice.id), to: AccountChange { $0.email = .set(other) }, on: desk)
      guard case .changed(let changed) = outcome else { throw StorageError.corrupt }
      #expect(!changed.profile.isEmailVerified)
      #expect(changed.emailOrigin == .administrator)
      #expect(try await desk.storage.account(alice.id) == changed)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a deleted account leaves nothing of the person`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let device = Device(name: "Ada's phone", model: nil, os: nil, appVersion: nil)
      let grant = try await desk.arrive(profile: .email("ada@example.com"), device: device).grant
      let deletion = AccountDeletionIntent(
        target: .bearer(bearer(grant)), demandsDisabled: false, origin: person, now: start + 1)
      #expect(try await desk.storage.delete([deletion]) == [.deleted(grant.account)])
      #expect(try await desk.storage.account(grant.account.id) == nil)
      #expect(try await desk.storage.find([.identity(desk.intent().identity)]).isEmpty)
      #expect(try await desk.refresh(grant.session.id, 0) == .accountNotFound)
      #expect(try await desk.storage.session(grant.session.id)?.device == nil)
      #expect(try await desk.storage.session(grant.session.id)?.end == .ended)
      #expect(try await desk.storage.delete([deletion]) == [.refused(.accountNotFound)])
      // The credential stays used.
      #expect(try await desk.storage.signIn(desk.intent()) == .credentialAlreadyUsed)
      #expect(try await desk.arrive(credential: 2).isNewUser)
    }
  }

  @Test(arguments: Engine.allCases)
  func `of several deletions each has an outcome of its own`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let alice = try await desk.arrive().grant.account
      let bob = try await desk.arrive("002.bob", credential: 2).grant.account
      try await desk.storage.disable(bob.id)
      let nobody = AccountID(unchecked: "nobody")
      let outcomes = try await desk.storage.delete(
        [alice.id, bob.id, nobody].map {
          AccountDeletionIntent(target: .administered($0), demandsDisabled: true, origin: person, now: start)
        })
      #expect(outcomes.first == .notDisabled)
      #expect(outcomes.last == .refused(.accountNotFound))
      #expect(try await desk.storage.account(alice.id) != nil)
      #expect(try await desk.storage.account(bob.id) == nil)
    }
  }
}

extension AccountChange {
  fileprivate init(_ build: (inout AccountChange) -> Void) {
    self.init()
    build(&self)
  }
}
