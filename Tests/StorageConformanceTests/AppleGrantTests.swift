import Domain
import Storage
import Testing

private let alice = Subject(unchecked: "001.alice")

/// Refresh tokens of Apple's that are looked at once a day.
@Suite(.timeLimit(.minutes(2)))
struct AppleGrantTests {
  private func report(
    _ desk: Desk, _ grant: AppleGrant, _ verdict: AppleGrantVerdict, askedAt: UnixTime,
    endsSessions: Bool = true
  ) async throws -> Bool {
    try await desk.storage.report(
      AppleGrantReport(
        grant: grant, verdict: verdict, askedAt: askedAt, endsSessions: endsSessions, now: askedAt + 1))
  }

  @Test(arguments: Engine.allCases)
  func `a token is looked at when its day has come, and not again before the next`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      try await desk.grant()
      let due = start + 90_000
      #expect(try await desk.storage.claimAppleGrants(limit: 9, at: due - 1) == [])
      let grant = try #require(try await desk.storage.claimAppleGrants(limit: 9, at: due).first)
      // Whatever came of it, and whether anything did.
      #expect(try await desk.storage.claimAppleGrants(limit: 9, at: due + 86_399) == [])
      #expect((86_400..<93_600).contains(grant.dueAt.since(due)))
      #expect(try await report(desk, grant, .good, askedAt: due) == false)
      let kept = try #require(try await desk.storage.appleGrants(of: alice).first)
      #expect(kept.checkedAt == due)
      #expect(kept.dueAt == grant.dueAt)
    }
  }

  @Test func `the looks of tokens that came together are spread`() {
    let days = (0..<200).map { number in
      AppleSecret(
        id: AppleSecretID(at: start, from: .seeded(UInt64(number))), kind: .refreshToken, sealed: [],
        masterKey: firstKey
      ).nextLook(after: start).since(start)
    }
    #expect(days.allSatisfy { (86_400..<93_600).contains($0) })
    #expect(Set(days.map { $0 / 720 }).count == 10)
  }

  @Test(arguments: Engine.allCases)
  func `while Apple throttles nobody looks`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.grant()
      let due = start + 90_000
      try await desk.storage.pauseAppleGrants(until: due + 900)
      try await desk.storage.pauseAppleGrants(until: due + 300)
      #expect(try await desk.storage.appleAgenda().pausedUntil == due + 900)
      #expect(try await desk.storage.claimAppleGrants(limit: 9, at: due + 899) == [])
      #expect(try await desk.storage.claimAppleGrants(limit: 9, at: due + 900).count == 1)
    }
  }

  @Test(arguments: Engine.allCases, [true, false])
  func `a token that is refused means that the consent is gone`(_ engine: Engine, _ ends: Bool) async throws {
    try await engine.run { desk in
      let session = try await desk.grant()
      let due = start + 90_000
      let grant = try #require(try await desk.storage.claimAppleGrants(limit: 9, at: due).first)
      #expect(try await report(desk, grant, .refused, askedAt: due, endsSessions: ends))
      #expect(try await desk.storage.account(session.account.id)?.credentialState == .revoked)
      #expect(try await desk.storage.appleGrants(of: alice) == [])
      #expect(try await desk.deeds(.credentialRevoked) == ["com.example.app"])
      let refusal = try await desk.storage.state(of: session.session.id)?.refusal
      #expect(refusal == (ends ? .sessionOver(.revoked) : nil))
      let page = try await desk.storage.revocations(after: 0, limit: 10)
      #expect(page.revocations.count == (ends ? 1 : 0))
      // Said twice, it is no news.
      #expect(try await report(desk, grant, .refused, askedAt: due) == false)
      try await desk.arrive(credential: 2, at: due + 10)
      #expect(try await desk.storage.account(session.account.id)?.credentialState == .authorized)
    }
  }

  @Test(arguments: Engine.allCases)
  func `V07 who signed in since Apple was asked has consented again`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.grant()
      let due = start + 90_000
      let grant = try #require(try await desk.storage.claimAppleGrants(limit: 9, at: due).first)
      let again = try await desk.arrive(credential: 2, at: due + 1)
      #expect(try await report(desk, grant, .refused, askedAt: due) == false)
      #expect(try await desk.storage.account(session.account.id)?.credentialState == .authorized)
      #expect(try await desk.storage.state(of: again.grant.session.id)?.refusal == nil)
      #expect(try await desk.storage.appleGrants(of: alice) == [])
    }
  }

  @Test(arguments: Engine.allCases)
  func `a verdict on a token that was replaced says nothing`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.grant()
      let old = try #require(try await desk.storage.claimAppleGrants(limit: 9, at: start + 90_000).first)
      try await desk.grant(credential: 2, code: 2, token: 102)
      #expect(try await report(desk, old, .refused, askedAt: start + 90_000) == false)
      #expect(try await desk.storage.account(session.account.id)?.credentialState == .authorized)
      #expect(try await desk.storage.appleGrants(of: alice).count == 1)
    }
  }
}
