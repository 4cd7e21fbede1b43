import Domain
import Storage
import Testing

/// What storage writes down of what happened: revocations and the audit.
@Suite(.timeLimit(.minutes(3)))
struct HistoryTests {
  private func ending(_ target: SessionEndingIntent.Target, by origin: Origin = person) -> SessionEndingIntent
  {
    SessionEndingIntent(target: target, origin: origin, now: start + 1)
  }

  @Test(arguments: Engine.allCases)
  func `every end of a session is written down once, in its order`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let a = try await desk.arrive().grant
      let b = try await desk.arrive(credential: 2).grant
      let before = try await desk.storage.revocations(after: 0, limit: 10)
      #expect(before == RevocationPage(revocations: [], last: 0))
      #expect(try await desk.storage.endSessions(ending(.own(a.session.id))) == .ended(a.account.id, 1))
      #expect(try await desk.storage.endSessions(ending(.own(a.session.id))) == .ended(a.account.id, 0))
      let bearer = SessionBearer(account: b.account.id, session: b.session.id, isRecentLogin: false)
      #expect(try await desk.storage.endSessions(ending(.all(of: bearer))) == .ended(b.account.id, 1))
      let page = try await desk.storage.revocations(after: 0, limit: 10)
      #expect(page.revocations.map(\.session) == [a.session.id, b.session.id])
      #expect(page.revocations.allSatisfy { $0.kind == .session && $0.at == start + 1 })
      #expect(page.last == page.revocations.last?.position)
      let next = try await desk.storage.revocations(after: page.revocations[0].position, limit: 1)
      #expect(next.revocations == [page.revocations[1]])
      #expect(try await desk.storage.endSessions(ending(.all(of: bearer))) == .refused(.sessionOver(.ended)))
    }
  }

  @Test(arguments: Engine.allCases)
  func `nobody ends a session of somebody else`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let a = try await desk.arrive().grant
      let b = try await desk.arrive("002.bob", credential: 2).grant
      let bearer = SessionBearer(account: a.account.id, session: a.session.id, isRecentLogin: true)
      let unknown = SessionID(at: start, from: desk.entropy)
      for id in [b.session.id, unknown] {
        #expect(try await desk.storage.endSessions(ending(.session(id, of: bearer))) == .notFound)
        #expect(try await desk.storage.endSessions(ending(.administered(a.account.id, id))) == .notFound)
      }
      let nobody = AccountID(unchecked: "nobody")
      #expect(
        try await desk.storage.endSessions(ending(.administered(nobody, nil))) == .refused(.accountNotFound))
      #expect(try await desk.storage.endSessions(ending(.own(unknown))) == .notFound)
      #expect(try await desk.storage.session(b.session.id)?.end == nil)
      let admin = Origin(actor: .administrator("ada"))
      #expect(
        try await desk.storage.endSessions(ending(.administered(b.account.id, nil), by: admin))
          == .ended(b.account.id, 1))
      #expect(try await desk.storage.session(b.session.id)?.end == .revoked)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a disabled account, a deleted one and one that is back are written down`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let a = try await desk.arrive().grant
      func disable(_ isDisabled: Bool) async throws {
        var change = AccountChange()
        change.isDisabled = isDisabled
        _ = try await desk.storage.change(
          AccountChangeIntent(
            target: .administered(a.account.id), change: change, origin: Origin(actor: .command), now: start))
      }
      #expect(
        try await desk.storage.state(of: a.session.id) == SessionState(account: a.account.id, refusal: nil))
      try await disable(true)
      try await disable(true)
      #expect(
        try await desk.storage.state(of: a.session.id)
          == SessionState(account: a.account.id, refusal: .accountDisabled))
      try await disable(false)
      #expect(
        try await desk.storage.state(of: a.session.id) == SessionState(account: a.account.id, refusal: nil))
      _ = try await desk.storage.delete([
        AccountDeletionIntent(
          target: .administered(a.account.id), demandsDisabled: false, origin: Origin(actor: .command),
          now: start)
      ])
      #expect(
        try await desk.storage.state(of: a.session.id)
          == SessionState(account: a.account.id, refusal: .accountNotFound))
      let kinds = try await desk.storage.revocations(after: 0, limit: 10).revocations.map(\.kind)
      #expect(kinds == [.account, .restored, .session, .account])
      let actions = try await desk.storage.audit(AuditQuery(after: 0, account: nil, limit: 100)).map(
        \.entry.action)
      #expect(
        actions == [.accountCreated, .signedIn, .accountDisabled, .accountEnabled, .accountDeleted])
    }
  }

  @Test(arguments: Engine.allCases)
  func `places go on where they were when rows are forgotten`(_ engine: Engine) async throws {
    try await engine.run { desk in
      for number in 1...3 {
        let grant = try await desk.arrive(credential: number).grant
        _ = try await desk.storage.endSessions(ending(.own(grant.session.id)))
      }
      let last = try await desk.storage.revocations(after: 0, limit: 1).last
      #expect(last == 3)
      let rules = SweepRules(
        credentialsBefore: start - 1, sessionsBefore: start - 1, revocationsBefore: start + 100_000,
        appleWorkBefore: start - 864_000,
        limit: 1)
      #expect(try await desk.storage.sweep(rules))
      #expect(try await desk.storage.revocations(after: 0, limit: 10).revocations.map(\.position) == [2, 3])
      _ = try await desk.storage.sweep(rules)
      let left = try await desk.storage.revocations(after: 0, limit: 10)
      #expect(left.revocations.map(\.position) == [3])
      #expect(left.last == 3)
      let grant = try await desk.arrive(credential: 9).grant
      _ = try await desk.storage.endSessions(ending(.own(grant.session.id)))
      #expect(try await desk.storage.revocations(after: 3, limit: 10).revocations.map(\.position) == [4])
    }
  }

  @Test(arguments: Engine.allCases)
  func `the audit names who, whose, from where and by which request`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let other = try await desk.arrive("002.bob", credential: 2).grant
      let lines = try await desk.storage.audit(AuditQuery(after: 0, account: grant.account.id, limit: 10))
      #expect(lines.map(\.entry.action) == [.accountCreated, .signedIn])
      let entry = try #require(lines.last?.entry)
      #expect(entry.actor == "person")
      #expect(entry.account == grant.account.id)
      #expect(entry.session == grant.session.id)
      #expect(entry.address == [192, 0, 2, 1])
      #expect(entry.requestID == "request-1")
      #expect(entry.detail == appleProviderID)
      #expect(lines.allSatisfy { $0.digest == nil })
      let all = try await desk.storage.audit(AuditQuery(after: entry.position, account: nil, limit: 1))
      #expect(all.map(\.entry.account) == [other.account.id])
    }
  }

  @Test(arguments: Engine.allCases)
  func `the audit is read backwards too, of everybody or of one account`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      _ = try await desk.arrive("002.bob", credential: 2)
      func places(_ start: AuditQuery.Start, of account: AccountID? = nil, _ limit: Int = 10) async throws
        -> [Int64]
      {
        try await desk.storage.audit(AuditQuery(start, account: account, limit: limit)).map(\.entry.position)
      }
      let all = try await places(.after(0))
      #expect(all.count == 4)
      #expect(try await places(.before(.max)) == all.reversed())
      #expect(try await places(.before(.max), 1) == [all[3]])
      #expect(try await places(.before(all[3]), 2) == [all[2], all[1]])
      #expect(try await places(.before(all[0])).isEmpty)
      #expect(try await places(.before(.max), of: grant.account.id) == [all[1], all[0]])
      #expect(try await places(.before(all[1]), of: grant.account.id) == [all[0]])
    }
  }

  @Test(arguments: Engine.allCases)
  func `what is refused leaves no line and no revocation`(_ engine: Engine) async throws {
    try await engine.run { desk in
      _ = try await desk.storage.signIn(desk.intent(createsAccount: false))
      _ = try await desk.refresh(SessionID(at: start, from: desk.entropy), 0)
      #expect(try await desk.storage.audit(AuditQuery(after: 0, account: nil, limit: 10)).isEmpty)
      #expect(try await desk.storage.revocations(after: 0, limit: 10).revocations.isEmpty)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a reuse and a late repeat are audited, an ordinary refresh is not`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.arrive().grant.session.id
      for counter in 0..<4 as Range<UInt32> { _ = try await desk.refresh(session, counter) }
      _ = try await desk.refresh(session, 3, at: start + 61)
      _ = try await desk.refresh(session, 0)
      let actions = try await desk.storage.audit(AuditQuery(after: 0, account: nil, limit: 10)).map(
        \.entry.action)
      #expect(actions == [.accountCreated, .signedIn, .lateRepeat, .refreshTokenReused])
      #expect(try await desk.storage.revocations(after: 0, limit: 10).revocations.map(\.session) == [session])
    }
  }

  @Test(arguments: Engine.allCases)
  func `the oldest sessions make room, in the transaction of the new one`(_ engine: Engine) async throws {
    try await engine.run { desk in
      var sessions: [SessionID] = []
      for number in 1...4 {
        let outcome = try await desk.storage.signIn(
          desk.intent(credential: number, at: start + Int64(number), maximum: 2))
        sessions.append(try #require(outcome.signedIn).grant.session.id)
      }
      var ends: [SessionEnd?] = []
      for session in sessions { ends.append(try await desk.storage.session(session)?.end) }
      #expect(ends == [.ended, .ended, nil, nil])
      #expect(
        try await desk.storage.revocations(after: 0, limit: 10).revocations.map(\.session)
          == Array(sessions[..<2]))
    }
  }

  @Test(arguments: Engine.allCases)
  func `of sessions that were opened within one second the oldest ends, and never the one just opened`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      var sessions: [SessionID] = []
      // The last by a node whose clock is behind.
      for (number, moment) in [0, 0, 0, 0, 0, 0, 0, -30].enumerated() {
        let outcome = try await desk.storage.signIn(
          desk.intent(credential: number + 1, at: start + Int64(moment), maximum: 3))
        let grant = try #require(outcome.signedIn).grant
        sessions.append(grant.session.id)
        let living = try await desk.storage.sessions(of: grant.account.id).map(\.id)
        #expect(living == Array(sessions.suffix(3).reversed()))
      }
      let ended = try await desk.storage.revocations(after: 0, limit: 10).revocations.map(\.session)
      #expect(ended == Array(sessions.dropLast(3)))
    }
  }

  @Test(arguments: Engine.allCases)
  func `the ends of the audit are signed anew by compare and swap`(_ engine: Engine) async throws {
    try await engine.run { desk in
      _ = try await desk.arrive()
      let digest = [UInt8](repeating: 7, count: 32)
      func seal(_ position: Int64, code: UInt8) -> AuditSeal {
        AuditSeal(
          position: position, digest: digest, code: [UInt8](repeating: code, count: 32), masterKey: firstKey)
      }
      let none = AuditChainState(anchor: nil, head: nil)
      #expect(
        try await desk.storage.sealAudit(expecting: nil, digests: [digest, digest], head: seal(2, code: 1)))
      #expect(try await desk.storage.truncateAudit(expecting: nil, to: seal(1, code: 2)))
      let sealed = AuditChainState(anchor: seal(1, code: 2), head: seal(2, code: 1))
      #expect(try await desk.storage.auditChain() == sealed)
      let next = AuditChainState(anchor: seal(1, code: 3), head: seal(2, code: 4))
      #expect(try await desk.storage.resealAudit(expecting: none, with: next) == false)
      #expect(try await desk.storage.resealAudit(expecting: sealed, with: next))
      #expect(try await desk.storage.auditChain() == next)
      #expect(try await desk.storage.audit(AuditQuery(after: 0, account: nil, limit: 3)).count == 1)
    }
  }

  @Test(arguments: Engine.allCases)
  func `seals are written by compare and swap`(_ engine: Engine) async throws {
    try await engine.run { desk in
      for number in 1...2 { _ = try await desk.arrive(credential: number) }
      let lines = try await desk.storage.audit(AuditQuery(after: 0, account: nil, limit: 2))
      let digest = [UInt8](repeating: 7, count: 32)
      let head = AuditSeal(
        position: lines[1].entry.position, digest: digest, code: digest, masterKey: firstKey)
      #expect(
        try await desk.storage.sealAudit(expecting: nil, digests: [digest, digest], head: head))
      #expect(
        try await desk.storage.sealAudit(expecting: nil, digests: [digest], head: head) == false)
      #expect(try await desk.storage.auditChain() == AuditChainState(anchor: nil, head: head))
      let sealed = try await desk.storage.audit(AuditQuery(after: 0, account: nil, limit: 3))
      #expect(sealed.map(\.digest) == [digest, digest, nil])
      #expect(try await desk.storage.truncateAudit(expecting: head, to: head) == false)
      #expect(try await desk.storage.truncateAudit(expecting: nil, to: head))
      #expect(try await desk.storage.audit(AuditQuery(after: 0, account: nil, limit: 3)).count == 1)
      #expect(try await desk.storage.auditChain() == AuditChainState(anchor: head, head: head))
    }
  }

  @Test(arguments: Engine.allCases)
  func `one node at a time holds a lease, and another takes over when its time has passed`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      func take(_ holder: String, at now: UnixTime) async throws -> Bool {
        try await desk.storage.take(Lease(name: "work", holder: holder, until: now + 10), at: now)
      }
      #expect(try await take("a", at: start))
      #expect(try await take("b", at: start + 9) == false)
      #expect(try await take("a", at: start + 9))
      #expect(try await take("b", at: start + 19))
      #expect(try await take("a", at: start + 20) == false)
      // One that ends later than one could that was taken now keeps nobody out: its holder's clock was ahead.
      let ahead = Lease(name: "work", holder: "c", until: start + 10_000)
      #expect(try await desk.storage.take(ahead, at: start + 9_990))
      #expect(try await take("a", at: start + 9_930) == false)
      #expect(try await take("a", at: start + 30))
      #expect(try await take("b", at: start + 31) == false)
      let storage = desk.storage
      let takers = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<20 {
          group.addTask {
            try await storage.take(
              Lease(name: "other", holder: "node \(number)", until: start + 10), at: start)
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(takers == 1)
    }
  }
}
