import Domain
import Storage
import Testing

@Suite(.timeLimit(.minutes(2)))
struct SweepTests {
  static func rules(limit: Int = 100) -> SweepRules {
    SweepRules(
      credentialsBefore: start, sessionsBefore: start, revocationsBefore: start - 1000,
      appleWorkBefore: start - 864_000, limit: limit)
  }

  static func spent(_ number: Int, stamp: UnixTime, expiresAt: UnixTime) -> SpentCredential {
    SpentCredential(
      key: .numbered(number, stamp: stamp), expiresAt: expiresAt, usedAt: stamp,
      session: Session.bare(1, of: AccountID(unchecked: "a")).id, isNewUser: false,
      linkTarget: AccountID("target"))
  }

  @Test(arguments: Engine.allCases)
  func `a credential goes when it has expired and not before`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let expired = Self.spent(1, stamp: start - 100, expiresAt: start - 1)
      let alive = Self.spent(2, stamp: start - 200, expiresAt: start)
      let young = Self.spent(3, stamp: start + 5, expiresAt: start + 100)
      for credential in [expired, alive, young] { try await desk.storage.insert(credential) }
      #expect(try await desk.storage.sweep(Self.rules()) == false)
      #expect(try await desk.storage.spentCredential(expired.key) == nil)
      #expect(try await desk.storage.spentCredential(alive.key) == alive)
      #expect(try await desk.storage.spentCredential(young.key) == young)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a session goes when it is long over or long unused`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let account = AccountID(unchecked: "a")
      let unused = Session.bare(1, of: account, at: start - 100, rotatedAt: start - 1)
      let used = Session.bare(2, of: account, at: start - 100, rotatedAt: start)
      var over = Session.bare(3, of: account, at: start - 100, rotatedAt: start - 50)
      over.finish(as: .ended, at: start - 2)
      var overToday = Session.bare(4, of: account, at: start - 100, rotatedAt: start - 50)
      overToday.finish(as: .revoked, at: start)
      for session in [unused, used, over, overToday] { try await desk.storage.insert(session) }
      #expect(try await desk.storage.sweep(Self.rules()) == false)
      for gone in [unused, over] { #expect(try await desk.storage.session(gone.id) == nil) }
      for kept in [used, overToday] { #expect(try await desk.storage.session(kept.id) == kept) }
    }
  }

  @Test(arguments: Engine.allCases)
  func `a sweep is bounded and says whether more is left`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      let account = AccountID(unchecked: "a")
      for number in 0..<25 as Range<UInt8> {
        try await desk.storage.insert(Session.bare(number, of: account, at: start - 100))
        try await desk.storage.insert(
          Self.spent(Int(number), stamp: start - 100, expiresAt: start - 50))
      }
      #expect(try await desk.storage.sweep(Self.rules(limit: 10)))
      #expect(try await desk.storage.sessions(of: account).count == 15)
      #expect(try await desk.storage.sweep(Self.rules(limit: 10)))
      #expect(try await desk.storage.sweep(Self.rules(limit: 10)) == false)
      #expect(try await desk.storage.sessions(of: account).isEmpty)
      for number in 0..<25 {
        #expect(try await desk.storage.spentCredential(.numbered(number, stamp: start - 100)) == nil)
      }
    }
  }

  @Test(arguments: Engine.allCases)
  func `sweeps reach what lies behind many that stay`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let account = AccountID(unchecked: "a")
      for number in 0..<100 as Range<UInt8> {
        let isOld = number % 50 == 49
        try await desk.storage.insert(
          Session.bare(number, of: account, at: start - 100, rotatedAt: isOld ? start - 10 : start))
      }
      // Twice through a table of a hundred, at 16 rows or more each time.
      for _ in 0..<14 { _ = try await desk.storage.sweep(Self.rules(limit: 1)) }
      #expect(try await desk.storage.sessions(of: account).count == 98)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an anonymous account goes with its last session, and no other account does`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let idle = Account.bare("idle", isAnonymous: true)
      let used = Account.bare("used", isAnonymous: true)
      let known = Account.bare("known")
      for account in [idle, used, known] { try await desk.storage.insert(account) }
      try await desk.storage.insert(Session.bare(1, of: idle.id, at: start - 100, rotatedAt: start - 1))
      try await desk.storage.insert(Session.bare(2, of: used.id, at: start - 100, rotatedAt: start - 1))
      try await desk.storage.insert(Session.bare(3, of: used.id, at: start - 100, rotatedAt: start))
      try await desk.storage.insert(Session.bare(4, of: known.id, at: start - 100, rotatedAt: start - 1))
      #expect(try await desk.storage.sweep(Self.rules()) == false)
      #expect(try await desk.storage.account(idle.id) == nil)
      #expect(try await desk.storage.account(used.id) != nil)
      #expect(try await desk.storage.account(known.id) != nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `the record of a swept session still tells that the credential was used`(_ engine: Engine) async throws
  {
    try await engine.run { desk in
      let session = try await desk.arrive().grant.session
      let rules = SweepRules(
        credentialsBefore: start, sessionsBefore: start + 1, revocationsBefore: start - 1000,
        appleWorkBefore: start - 864_000, limit: 10)
      _ = try await desk.storage.sweep(rules)
      #expect(try await desk.storage.session(session.id) == nil)
      #expect(try await desk.storage.signIn(desk.intent()) == .credentialAlreadyUsed)
    }
  }

  @Test(arguments: Engine.allCases)
  func
    `a revocation stays for as long as any clock takes a token that it means, and the last one for ever`(
      _ engine: Engine
    ) async throws
  {
    try await engine.run { desk in
      let (lifetime, leeway): (Int64, Int64) = (7200, 60)
      _ = try await desk.storage.replaceSigningKeys(
        expecting: 0, with: [RegisterTests.key("a", .active), RegisterTests.key("b", .standby)])
      let grants = [
        try await desk.arrive().grant, try await desk.arrive(credential: 2, at: start + 1).grant,
      ]
      for grant in grants {
        _ = try await desk.storage.endSessions(
          SessionEndingIntent(target: .own(grant.session.id), origin: person, now: start))
      }
      func sweep(at now: UnixTime) async throws -> [Revocation] {
        let limits = SessionLimits(idle: 86_400, absolute: 86_400, retryWindow: 60)
        _ = try await desk.storage.sweep(
          SweepRules(at: now, limits: limits, leeway: leeway, limit: 10))
        let page = try await desk.storage.revocations(after: 0, limit: 10)
        #expect(page.last == 2)
        return page.revocations
      }
      // Issued by a clock that is ahead, taken by a verifier that is behind, forgotten by a clock that is ahead.
      let lastUse = start + 300 + lifetime + leeway
      let kept = try await sweep(at: lastUse + leeway)
      #expect(kept.map(\.session) == grants.map(\.session.id))
      // Who follows remembers the last one: it tells this database from one that was put back.
      for late in [1, 1_000_000] as [Int64] {
        let left = try await sweep(at: lastUse + leeway + late)
        #expect(left.map(\.session) == [grants[1].session.id])
      }
    }
  }
}
