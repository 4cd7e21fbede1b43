import Domain
import Storage
import Testing

@Suite(.timeLimit(.minutes(2)))
struct LinkingTests {
  @Test(arguments: Engine.allCases)
  func `an anonymous account takes an identity and all of its sessions end`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let account = Account.bare("anonymous1", isAnonymous: true)
      let old = [Session.bare(1, of: account.id), Session.bare(2, of: account.id)]
      try await desk.storage.insert(account)
      for session in old { try await desk.storage.insert(session) }

      let link = SessionBearer(account: account.id, session: old[0].id, isRecentLogin: false)
      let intent = desk.intent(name: PersonName(givenName: "Alice"), link: link)
      let (grant, isNewUser) = try #require(try await desk.storage.signIn(intent).signedIn)
      #expect(!isNewUser)
      #expect(grant.account.id == account.id)
      #expect(!grant.account.isAnonymous)
      #expect(grant.account.identities.map(\.identity) == [intent.identity])
      #expect(try await desk.storage.account(account.id) == grant.account)
      #expect(try await desk.storage.sessions(of: account.id) == [grant.session])
      #expect(try await desk.storage.session(old[1].id)?.end == .ended)
      // The same request again, though the session that linked is over by now.
      #expect(try await desk.storage.signIn(intent) == .signedIn(grant, isNewUser: false))
      // And the identity signs in to this account from now on.
      #expect(try await desk.arrive(credential: 2).grant.account.id == account.id)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an account of another provider takes one and keeps its sessions`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let first = try #require(
        try await desk.storage.signIn(desk.intent("g1", provider: "google.com")).signedIn)
      let link = SessionBearer(
        account: first.grant.account.id, session: first.grant.session.id, isRecentLogin: true)
      let linked = try #require(
        try await desk.storage.signIn(desk.intent(credential: 2, link: link)).signedIn)
      #expect(linked.grant.account.id == first.grant.account.id)
      #expect(Set(linked.grant.account.identities.map(\.provider)) == ["google.com", appleProviderID])
      #expect(try await desk.storage.sessions(of: first.grant.account.id).count == 2)
      let again = try await desk.arrive(credential: 3)
      #expect(Set(again.grant.account.identities) == Set(linked.grant.account.identities))
    }
  }

  @Test(arguments: Engine.allCases)
  func `refusals come in their order`(_ engine: Engine) async throws {
    try await engine.run { desk in
      // The identity that is asked for belongs to Bob; Alice has an Apple identity of her own.
      try await desk.arrive("002.bob", credential: 100)
      let alice = try await desk.arrive("001.alice", credential: 101).grant
      let ended = try await desk.arrive("001.alice", credential: 102).grant
      try await desk.storage.end(ended.session.id, as: .revoked)
      func ask(
        _ account: AccountID, _ session: SessionID, recent: Bool, for subject: String = "002.bob"
      ) async throws -> SignInOutcome {
        let link = SessionBearer(account: account, session: session, isRecentLogin: recent)
        return try await desk.storage.signIn(desk.intent(subject, credential: 200, link: link))
      }
      let unknown = SessionID(at: start, from: desk.entropy)
      #expect(
        try await ask(AccountID(unchecked: "nobody"), unknown, recent: false)
          == .linkRefused(.accountNotFound))
      #expect(try await ask(alice.account.id, unknown, recent: false) == .linkRefused(.sessionOver(nil)))
      #expect(
        try await ask(alice.account.id, ended.session.id, recent: false)
          == .linkRefused(.sessionOver(.revoked)))
      #expect(try await ask(alice.account.id, alice.session.id, recent: false) == .linkRefused(.loginTooOld))
      #expect(try await ask(alice.account.id, alice.session.id, recent: true) == .identityAlreadyLinked)
      #expect(
        try await ask(alice.account.id, alice.session.id, recent: true, for: "003.new")
          == .accountHasOtherIdentity)
      try await desk.storage.disable(alice.account.id)
      #expect(try await ask(alice.account.id, unknown, recent: false) == .accountDisabled)
      #expect(try await desk.storage.spentCredential(.numbered(200)) == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a session of another account links nothing`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let alice = try await desk.arrive("001.alice").grant
      let bob = try await desk.arrive("002.bob", credential: 2).grant
      let link = SessionBearer(account: alice.account.id, session: bob.session.id, isRecentLogin: true)
      let outcome = try await desk.storage.signIn(desk.intent("003", credential: 3, link: link))
      #expect(outcome == .linkRefused(.sessionOver(nil)))
    }
  }

  @Test(arguments: Engine.allCases)
  func `an identity of the very account is linked already`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let alice = try await desk.arrive().grant
      let link = SessionBearer(account: alice.account.id, session: alice.session.id, isRecentLogin: true)
      let outcome = try await desk.storage.signIn(desk.intent(credential: 2, link: link))
      #expect(outcome == .identityAlreadyLinked)
    }
  }
}
