import Crypto
import Domain
import Sessions
import Storage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct SessionIssuerTests {
  @Test func `N13 the same request twice at once is one session`() async throws {
    let bench = try SessionBench()
    let request = try bench.request()
    let issuer = bench.issuer
    let answers = try await withThrowingTaskGroup(of: IssuedSession.self) { group in
      for _ in 0..<20 { group.addTask { try await issuer.signIn(request) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(answers.map(\.session.id)).count == 1)
    #expect(Set(answers.map { $0.refreshToken.reveal() }).count == 1)
    #expect(answers.allSatisfy { $0.isNewUser })
    #expect(try await bench.storage.accounts(after: nil, limit: 10).accounts.count == 1)
  }

  @Test func `N13 after the first refresh the same request is a used credential`() async throws {
    let bench = try SessionBench()
    let request = try bench.request()
    let first = try await bench.issuer.signIn(request)
    bench.clock.advance(120)
    #expect(try await bench.issuer.signIn(request).refreshToken.reveal() == first.refreshToken.reveal())
    _ = try await bench.issuer.refresh(first.refreshToken.reveal())
    await #expect(throws: SessionRefusal.credentialAlreadyUsed) { try await bench.issuer.signIn(request) }
  }

  @Test func `N13 after the retry window the same request is a used credential`() async throws {
    let bench = try SessionBench()
    let request = try bench.request()
    _ = try await bench.issuer.signIn(request)
    bench.clock.advance(121)
    await #expect(throws: SessionRefusal.credentialAlreadyUsed) { try await bench.issuer.signIn(request) }
  }

  @Test func `a repeat is not answered when the session has reached its age`() async throws {
    let bench = try SessionBench(rules(absolute: 600, retryWindow: 3600))
    let request = try bench.request()
    _ = try await bench.issuer.signIn(request)
    bench.clock.advance(599)
    #expect(try await bench.issuer.signIn(request).expiresIn == 1)
    bench.clock.advance(1)
    await #expect(throws: SessionRefusal.credentialAlreadyUsed) { try await bench.issuer.signIn(request) }
  }

  @Test func `a repeat is answered though its token has grown too old meanwhile`() async throws {
    let bench = try SessionBench()
    let first = try await bench.issuer.signIn(bench.request(issuedAt: bench.clock.now))
    let again = try bench.request(issuedAt: bench.clock.now, isTooOld: true)
    #expect(try await bench.issuer.signIn(again).session.id == first.session.id)
    let fresh = try bench.request(digest: 2, isTooOld: true)
    await #expect(throws: SessionRefusal.objected(.tokenTooOld)) { try await bench.issuer.signIn(fresh) }
  }

  @Test func `C01 many first sign-ins of one person make one account`() async throws {
    let bench = try SessionBench()
    let issuer = bench.issuer
    let requests = try (1...50).map { try bench.request(digest: $0) }
    let answers = try await withThrowingTaskGroup(of: IssuedSession.self) { group in
      for request in requests { group.addTask { try await issuer.signIn(request) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(answers.map(\.account.id)).count == 1)
    #expect(Set(answers.map(\.session.id)).count == 50)
    #expect(answers.count { $0.isNewUser } == 1)
  }

  @Test func `U08 a second sign-in without a name keeps the first one's`() async throws {
    let bench = try SessionBench()
    _ = try await bench.issuer.signIn(bench.request(name: PersonName(givenName: "Ada")))
    let second = try await bench.issuer.signIn(bench.request(email: nil, digest: 2))
    #expect(second.account.name?.givenName == "Ada")
    #expect(second.account.profile.email?.text == "ada@example.com")
    #expect(!second.isNewUser)
  }

  @Test func `U08 an empty name at first does not keep the real one out`() async throws {
    let bench = try SessionBench()
    _ = try await bench.issuer.signIn(bench.request(name: PersonName()))
    let second = try await bench.issuer.signIn(bench.request(name: PersonName(givenName: "Ada"), digest: 2))
    #expect(second.account.name?.givenName == "Ada")
  }

  @Test func `nobody gets an account who does not want one`() async throws {
    let bench = try SessionBench()
    let request = try bench.request()
    await #expect(throws: SessionRefusal.unknownIdentity) {
      try await bench.issuer.signIn(request, createsAccount: false)
    }
    _ = try await bench.issuer.signIn(bench.request(digest: 2))
    _ = try await bench.issuer.signIn(request)
  }

  @Test func `T10 a clock that goes back an hour breaks no session`() async throws {
    let bench = try SessionBench()
    let first = try await bench.issuer.signIn(bench.request())
    bench.clock.step(by: -3600)
    let second = try await bench.issuer.refresh(first.refreshToken.reveal()).session
    _ = try bench.issuer.verify(second.idToken.reveal())
    let again = try await bench.issuer.refresh(first.refreshToken.reveal()).session
    #expect(again.refreshToken.reveal() == second.refreshToken.reveal())
    let early = first.idToken.reveal()
    #expect(throws: SessionTokenError.invalid) { try bench.issuer.verify(early) }
    bench.clock.step(by: 3600)
    _ = try bench.issuer.verify(first.idToken.reveal())
  }

  @Test func `T10 a clock that was a day ahead revives nothing and ends nothing`() async throws {
    let bench = try SessionBench()
    let first = try await bench.issuer.signIn(bench.request())
    bench.clock.step(by: 86_400)
    let second = try await bench.issuer.refresh(first.refreshToken.reveal()).session
    bench.clock.step(by: -86_400)
    let third = try await bench.issuer.refresh(second.refreshToken.reveal()).session
    let fourth = try await bench.issuer.refresh(third.refreshToken.reveal()).session
    bench.clock.advance(60)
    let old = second.refreshToken.reveal()
    await #expect(throws: SessionRefusal.refreshTokenReused) { try await bench.issuer.refresh(old) }
    let last = fourth.refreshToken.reveal()
    await #expect(throws: SessionRefusal.sessionOver(.reused)) { try await bench.issuer.refresh(last) }
  }

  @Test func `R02 a lost answer is repeated exactly`() async throws {
    let bench = try SessionBench()
    let first = try await bench.issuer.signIn(bench.request())
    let second = try await bench.issuer.refresh(first.refreshToken.reveal())
    bench.clock.advance(8)
    let again = try await bench.issuer.refresh(first.refreshToken.reveal())
    #expect(again.session.refreshToken.reveal() == second.session.refreshToken.reveal())
    #expect(again.remark == nil)
    bench.clock.advance(200)
    let late = try await bench.issuer.refresh(first.refreshToken.reveal())
    #expect(late.session.refreshToken.reveal() == second.session.refreshToken.reveal())
    #expect(late.remark == .lateRepeat)
  }

  @Test func `an idle session is over`() async throws {
    let bench = try SessionBench(rules(idle: 1000))
    let first = try await bench.issuer.signIn(bench.request())
    bench.clock.advance(999)
    let second = try await bench.issuer.refresh(first.refreshToken.reveal()).session
    bench.clock.advance(1000)
    let text = second.refreshToken.reveal()
    await #expect(throws: SessionRefusal.sessionIdle) { try await bench.issuer.refresh(text) }
  }

  @Test func `a session changes its master key when it is refreshed, and repeats are made with the new one`()
    async throws
  {
    let bench = try SessionBench()
    let first = try await bench.issuer.signIn(bench.request())
    let moved = try SessionBench(ring: ring(2, 1), key: bench.key, clock: bench.clock, storage: bench.storage)
    let second = try await moved.issuer.refresh(first.refreshToken.reveal()).session
    let again = try await moved.issuer.refresh(first.refreshToken.reveal()).session
    #expect(again.refreshToken.reveal() == second.refreshToken.reveal())
    #expect(
      try await bench.storage.sessionCounts(within: bench.issuer.rules.limits, at: bench.clock.now) == [
        try masterKey(2).id: 1
      ])
    let alone = try SessionBench(ring: ring(2), key: bench.key, clock: bench.clock, storage: bench.storage)
    _ = try await alone.issuer.refresh(second.refreshToken.reveal())
    let old = first.refreshToken.reveal()
    await #expect(throws: SessionRefusal.refreshTokenUnknown) { try await alone.issuer.refresh(old) }
  }

  @Test func `garbage is told apart from a token that nobody made`() async throws {
    let bench = try SessionBench()
    await #expect(throws: SessionRefusal.refreshTokenMalformed) { try await bench.issuer.refresh("garbage") }
    let foreign = try ring(2)
    let text = try #require(
      foreign.text(
        of: RefreshToken(session: SessionID(at: UnixTime(1), from: .seeded(1)), counter: 0),
        madeWith: foreign.current.id))
    await #expect(throws: SessionRefusal.refreshTokenUnknown) { try await bench.issuer.refresh(text) }
    let own = try ring(1)
    let gone = try #require(
      own.text(
        of: RefreshToken(session: SessionID(at: UnixTime(1), from: .seeded(1)), counter: 0),
        madeWith: own.current.id))
    await #expect(throws: SessionRefusal.sessionOver(nil)) { try await bench.issuer.refresh(gone) }
  }

  @Test func `L08 an identity is linked to one account only`() async throws {
    let bench = try SessionBench()
    let ada = try await bench.issuer.signIn(bench.request())
    let bearer = try bench.issuer.verify(ada.idToken.reveal())
    let eve = try bench.request(subject: "eve", digest: 2, link: bearer)
    await #expect(throws: SessionRefusal.accountHasOtherIdentity) { try await bench.issuer.signIn(eve) }
    _ = try await bench.issuer.signIn(bench.request(subject: "eve", digest: 3))
    let taken = try bench.request(subject: "eve", digest: 4, link: bearer)
    await #expect(throws: SessionRefusal.identityAlreadyLinked) { try await bench.issuer.signIn(taken) }
    bench.clock.advance(301)
    let late = try bench.request(subject: "eve", digest: 5, link: bearer)
    await #expect(throws: SessionRefusal.bearer(.loginTooOld)) { try await bench.issuer.signIn(late) }
  }
}
