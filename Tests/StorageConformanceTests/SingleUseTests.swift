import Domain
import Storage
import Testing

@Suite(.timeLimit(.minutes(2)))
struct SingleUseTests {
  @Test(arguments: Engine.allCases, [0, 60] as [Int64])
  func `the same request in the window gets the same session`(_ engine: Engine, _ later: Int64) async throws {
    try await engine.run { desk in
      let first = try await desk.arrive()
      let again = try await desk.arrive(at: start + later)
      #expect(again.grant == first.grant)
      #expect(again.isNewUser)
      #expect(again.grant.session.counter == 0)
      #expect(try await desk.storage.sessions(of: first.grant.account.id).count == 1)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a repeat of a return visit is no new user`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive()
      try await desk.arrive(credential: 2)
      #expect(try await desk.arrive(credential: 2).isNewUser == false)
    }
  }

  @Test(arguments: Engine.allCases)
  func `after the window the credential is used`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive()
      #expect(try await desk.storage.signIn(desk.intent(at: start + 61)) == .credentialAlreadyUsed)
    }
  }

  @Test(arguments: Engine.allCases)
  func `after the first refresh the credential is used`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.arrive().grant.session
      _ = try await desk.refresh(session.id, 0)
      #expect(try await desk.storage.signIn(desk.intent()) == .credentialAlreadyUsed)
    }
  }

  @Test(arguments: Engine.allCases)
  func `once the session is over the credential is used`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.arrive().grant.session
      try await desk.storage.end(session.id, as: .ended)
      #expect(try await desk.storage.signIn(desk.intent()) == .credentialAlreadyUsed)
    }
  }

  @Test(arguments: Engine.allCases)
  func `another link target is another request`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let link = SessionBearer(account: grant.account.id, session: grant.session.id, isRecentLogin: true)
      #expect(try await desk.storage.signIn(desk.intent(link: link)) == .credentialAlreadyUsed)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a repeat for an account that was disabled meanwhile is refused`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let account = try await desk.arrive().grant.account
      try await desk.storage.disable(account.id)
      #expect(try await desk.storage.signIn(desk.intent()) == .accountDisabled)
    }
  }

  @Test(
    arguments: Engine.allCases,
    [SignInObjection.tokenTooOld, .challengeRequired, .challengeExpired])
  func `an objection gives way to a record and blocks otherwise`(
    _ engine: Engine, _ objection: SignInObjection
  ) async throws {
    try await engine.run { desk in
      #expect(try await desk.storage.signIn(desk.intent(objection: objection)) == .objected(objection))
      #expect(try await desk.storage.spentCredential(.numbered(1)) == nil)
      let first = try await desk.arrive()
      let again = try await desk.storage.signIn(desk.intent(objection: objection))
      #expect(again == .signedIn(first.grant, isNewUser: true))
    }
  }

  @Test(arguments: Engine.allCases)
  func `a challenge is used up once, whatever the credential`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let first = try await desk.arrive(credential: 1, challenge: 7)
      let second = desk.intent("002.bob", credential: 2, challenge: 7)
      #expect(try await desk.storage.signIn(second) == .credentialAlreadyUsed)
      #expect(try await desk.storage.spentCredential(.numbered(2)) == nil)
      // The very request is still repeated.
      #expect(try await desk.arrive(credential: 1, challenge: 7).grant == first.grant)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a failed attempt burns neither credential nor challenge`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      let link = SessionBearer(
        account: AccountID(unchecked: "nobody"), session: SessionID(at: start, from: desk.entropy),
        isRecentLogin: true)
      #expect(
        try await desk.storage.signIn(desk.intent(challenge: 7, link: link)) == .linkRefused(.accountNotFound)
      )
      #expect(
        try await desk.storage.signIn(desk.intent(challenge: 7, createsAccount: false)) == .unknownIdentity)
      #expect(try await desk.arrive(challenge: 7).isNewUser)
    }
  }
}
