import Domain
import Storage
import Testing

let app = ClientID(unchecked: "com.example.app")
let web = ClientID(unchecked: "com.example.web")

extension AppleSecret {
  /// A secret of which nothing but its number and its kind matters.
  static func numbered(
    _ number: UInt8, _ kind: AppleSecretKind = .code, masterKey: MasterKeyID = firstKey
  ) -> AppleSecret {
    AppleSecret(
      id: AppleSecretID(at: start, from: Entropy { Array(repeating: number, count: $0) }), kind: kind,
      sealed: [number, 0xFF, 0], masterKey: masterKey)
  }
}

extension Desk {
  /// Signs in with a code and must get a session.
  @discardableResult
  func arrive(
    _ subject: String = "001.alice", credential: Int = 1, code: UInt8, client: ClientID = app,
    at now: UnixTime = start
  ) async throws -> SessionGrant {
    var intent = intent(subject, credential: credential, at: now)
    intent.client = client
    intent.code = AppleCode(secret: .numbered(code), client: client, redirectURI: nil)
    return try #require(try await storage.signIn(intent).signedIn).grant
  }

  func begin(at now: UnixTime = start, limit: Int = 10) async throws -> [AppleWork] {
    try await storage.beginAppleWork(limit: limit, until: now + 20, at: now)
  }

  func settle(_ work: AppleWork, _ result: AppleWorkResult, at now: UnixTime = start) async throws {
    try await storage.settle(AppleWorkSettlement(work: work, result: result, now: now))
  }

  func queue() async throws -> [AppleWork] { try await storage.appleWork(after: nil, limit: 100) }

  /// Signs in with a code that is exchanged for a token of that number.
  @discardableResult
  func grant(
    _ subject: String = "001.alice", credential: Int = 1, code: UInt8 = 1, token: UInt8 = 101,
    client: ClientID = app, at now: UnixTime = start
  ) async throws -> SessionGrant {
    let session = try await arrive(subject, credential: credential, code: code, client: client, at: now)
    let work = try #require(try await begin(at: now).first)
    try await settle(
      work, .exchanged(.numbered(token, .refreshToken), client: client, nextCheck: now + 90_000), at: now)
    return session
  }

  func delete(_ account: AccountID, at now: UnixTime = start) async throws {
    let outcomes = try await storage.delete([
      AccountDeletionIntent(
        target: .administered(account), demandsDisabled: false, origin: person, now: now)
    ])
    guard case .deleted? = outcomes.first else { throw StorageError.corrupt }
  }

  func deeds(_ action: AuditAction) async throws -> [String?] {
    try await storage.audit(AuditQuery(after: 0, account: nil, limit: 1000))
      .filter { $0.entry.action == action }.map(\.entry.detail)
  }
}

/// Calls to Apple that wait: each made once, whoever makes it and whatever comes between.
@Suite(.timeLimit(.minutes(2)))
struct AppleQueueTests {
  @Test(arguments: Engine.allCases)
  func `a code waits with its sign-in, and none waits without one`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive()
      #expect(try await desk.queue() == [])
      let session = try await desk.arrive("002.bob", credential: 2, code: 7, client: web)
      let expected = AppleWork(
        secret: .numbered(7), kind: .exchange, account: session.account.id,
        subject: Subject(unchecked: "002.bob"), client: web, redirectURI: nil, createdAt: start, dueAt: start)
      #expect(try await desk.queue() == [expected])
      #expect(try await desk.storage.appleAgenda().workDueAt == start)
      #expect(session.account.identities.first?.client == web)
    }
  }

  @Test(arguments: Engine.allCases)
  func `the same sign-in again adds nothing, and neither does one that is refused`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let first = try await desk.arrive(code: 1)
      #expect(try await desk.arrive(code: 2) == first)
      try await desk.storage.disable(first.account.id)
      var intent = desk.intent(credential: 3)
      intent.code = AppleCode(secret: .numbered(3), client: app, redirectURI: nil)
      #expect(try await desk.storage.signIn(intent) == .accountDisabled)
      #expect(try await desk.queue().map(\.secret) == [.numbered(1)])
    }
  }

  @Test(arguments: Engine.allCases)
  func `what one has begun no other begins, until it has been silent for too long`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      try await desk.arrive(code: 1)
      // What is due already is among those that an operator has tried now.
      #expect(try await desk.storage.hastenAppleWork(nil, at: start + 5) == 1)
      #expect(try await desk.queue().map(\.dueAt) == [start])
      let first = try #require(try await desk.begin().first)
      #expect(!first.isSent)
      #expect(first.attempts == 1)
      #expect(try await desk.begin(at: start + 19) == [])
      #expect(try await desk.storage.hastenAppleWork(nil, at: start) == 0)
      #expect(try await desk.storage.hastenAppleWork(first.id, at: start) == 1)
      #expect(try await desk.begin() == [])
      let second = try #require(try await desk.begin(at: start + 20).first)
      #expect(second.isSent)
      #expect(second.attempts == 2)
      // Of two that were at it, the later one's failure counts.
      try await desk.settle(first, .dropped("code_refused"))
      try await desk.settle(first, .postponed(until: start, fault: "timed_out", isSent: false))
      #expect(try await desk.queue().map(\.attempts) == [2])
      #expect(try await desk.queue().map(\.isSent) == [true])
      try await desk.settle(second, .dropped("code_ambiguous"))
      #expect(try await desk.queue() == [])
      #expect(try await desk.deeds(.appleWorkGivenUp) == ["exchange code_ambiguous"])
    }
  }

  @Test(arguments: Engine.allCases)
  func `a success counts from whomever it comes`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.arrive(code: 1)
      let first = try #require(try await desk.begin().first)
      let second = try #require(try await desk.begin(at: start + 20).first)
      try await desk.settle(second, .dropped("code_ambiguous"))
      try await desk.settle(
        first, .exchanged(.numbered(101, .refreshToken), client: app, nextCheck: start + 90_000))
      let grants = try await desk.storage.appleGrants(of: Subject(unchecked: "001.alice"))
      #expect(grants.map(\.secret) == [.numbered(101, .refreshToken)])
      #expect(grants.map(\.account) == [session.account.id])
    }
  }

  @Test(arguments: Engine.allCases)
  func `work comes in the order in which it is due, and is counted by kind`(_ engine: Engine) async throws {
    try await engine.run { desk in
      for number in UInt8(1)...4 {
        try await desk.arrive(
          "00\(number)", credential: Int(number), code: number, at: start + Int64(10 - number))
      }
      #expect(
        try await desk.begin(at: start + 100, limit: 3).map(\.secret) == [4, 3, 2].map { .numbered($0) })
      #expect(
        try await desk.storage.appleWorkCounts() == [
          AppleWorkCount(kind: .exchange, count: 4, oldest: start + 6)
        ])
      let page = try await desk.storage.appleWork(after: nil, limit: 2)
      #expect(page.map(\.secret) == [.numbered(1), .numbered(2)])
      #expect(
        try await desk.storage.appleWork(after: page.last?.id, limit: 9).map(\.secret) == [
          .numbered(3), .numbered(4),
        ])
    }
  }

  @Test(arguments: Engine.allCases)
  func `a new token takes the place of the one of before`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.grant(code: 1, token: 101)
      try await desk.grant(credential: 2, code: 2, token: 102)
      try await desk.grant(credential: 3, code: 3, token: 103, client: web)
      let grants = try await desk.storage.appleGrants(of: Subject(unchecked: "001.alice"))
      #expect(grants.map(\.secret) == [.numbered(102, .refreshToken), .numbered(103, .refreshToken)])
      #expect(grants.map(\.client) == [app, web])
      #expect(try await desk.storage.appleAgenda().grantDueAt == start + 90_000)
    }
  }

  @Test(arguments: Engine.allCases)
  func `P07 a deletion turns what was kept and what waits into revocations`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.grant(code: 1, token: 101)
      try await desk.grant("002.bob", credential: 3, code: 3, token: 103)
      try await desk.arrive(credential: 2, code: 2, client: web)
      try await desk.delete(session.account.id, at: start + 5)
      let queue = try await desk.queue().filter { $0.account == session.account.id }
      #expect(queue.map(\.kind) == [.exchangeThenRevoke, .revoke])
      let revocation = try #require(queue.last)
      #expect(revocation.secret == .numbered(101, .refreshToken))
      #expect(revocation.client == app)
      #expect(revocation.subject == nil)
      #expect(revocation.dueAt == start + 5)
      #expect(try await desk.storage.appleGrants(of: Subject(unchecked: "001.alice")) == [])
      #expect(try await desk.storage.appleGrants(of: Subject(unchecked: "002.bob")).count == 1)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a token that arrives after its account went is revoked`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.arrive(code: 1)
      let work = try #require(try await desk.begin().first)
      try await desk.delete(session.account.id)
      try await desk.settle(work, .exchanged(.numbered(101, .refreshToken), client: app, nextCheck: start))
      let queue = try await desk.queue()
      #expect(queue.map(\.kind) == [.revoke])
      #expect(queue.map(\.secret) == [.numbered(101, .refreshToken)])
      #expect(queue.map(\.subject) == [nil])
      let revocation = try #require(try await desk.begin().first)
      try await desk.settle(revocation, .revoked(by: revocation.client))
      #expect(try await desk.queue() == [])
      #expect(try await desk.deeds(.appleTokenRevoked) == ["com.example.app"])
    }
  }

  @Test(arguments: Engine.allCases)
  func `taking Apple off an account revokes what was given out for it`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.grant()
      var change = AccountChange()
      change.removedProviders = [appleProviderID]
      _ = try await desk.storage.change(
        AccountChangeIntent(
          target: .administered(session.account.id), change: change, origin: person, now: start))
      #expect(try await desk.queue().map(\.kind) == [.revoke])
      #expect(try await desk.storage.appleGrants(of: Subject(unchecked: "001.alice")) == [])
    }
  }

  @Test(arguments: Engine.allCases, [true, false])
  func `an administrator who writes the same identity anew changes nothing of the consent`(
    _ engine: Engine, _ isTakenOffFirst: Bool
  ) async throws {
    try await engine.run { desk in
      let session = try await desk.grant(client: web)
      var change = AccountChange()
      if isTakenOffFirst { change.removedProviders = [appleProviderID] }
      let identity = try #require(session.account.identities.first?.identity)
      change.addedIdentities = [LinkedIdentity(identity, email: "ada@example.com")]
      _ = try await desk.storage.change(
        AccountChangeIntent(
          target: .administered(session.account.id), change: change, origin: person, now: start))
      #expect(try await desk.queue() == [])
      #expect(try await desk.storage.appleGrants(of: identity.subject).count == 1)
      let linked = try await desk.storage.account(session.account.id)?.identities.first
      #expect(linked?.email == "ada@example.com")
      if !isTakenOffFirst { #expect(linked?.client == web) }
    }
  }

  @Test(arguments: Engine.allCases)
  func `a code or token that a bearer brings is revoked for the client that he signed in to`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let session = try await desk.grant(client: web, at: start)
      let bearer = SessionBearer(
        account: session.account.id, session: session.session.id, isRecentLogin: false)
      func revoke(_ secret: AppleSecret) async throws -> AppleRevocationOutcome {
        try await desk.storage.revokeAppleSecret(
          AppleRevocationIntent(
            bearer: bearer, secret: secret, fallbackClient: app, redirectURI: nil, origin: person,
            now: start + 9))
      }
      #expect(try await revoke(.numbered(1, .code)) == .queued)
      #expect(try await revoke(.numbered(2, .refreshToken)) == .queued)
      #expect(try await revoke(.numbered(3, .accessToken)) == .queued)
      let queue = try await desk.queue()
      #expect(queue.map(\.kind) == [.exchangeThenRevoke, .revoke, .revoke])
      #expect(queue.allSatisfy { $0.client == web && $0.subject?.text == "001.alice" })
      for number in UInt8(4)...20 { #expect(try await revoke(.numbered(number, .code)) == .queued) }
      #expect(try await revoke(.numbered(21, .code)) == .tooMany)
      // Done, the consent is known to be gone and its token of no use; the sessions live.
      try await desk.settle(queue[1], .revoked(by: queue[1].client), at: start + 10)
      #expect(try await desk.storage.account(session.account.id)?.credentialState == .revoked)
      #expect(try await desk.storage.appleGrants(of: Subject(unchecked: "001.alice")) == [])
      #expect(try await desk.storage.state(of: session.session.id)?.refusal == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `V07 a revocation that is done after a new sign-in leaves the new consent alone`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let session = try await desk.grant()
      let bearer = SessionBearer(
        account: session.account.id, session: session.session.id, isRecentLogin: false)
      _ = try await desk.storage.revokeAppleSecret(
        AppleRevocationIntent(
          bearer: bearer, secret: .numbered(2, .refreshToken), fallbackClient: app, redirectURI: nil,
          origin: person, now: start + 1))
      let work = try #require(try await desk.begin(at: start + 1).first)
      try await desk.grant(credential: 9, code: 9, token: 109, at: start + 2)
      try await desk.settle(work, .revoked(by: work.client), at: start + 3)
      let grants = try await desk.storage.appleGrants(of: Subject(unchecked: "001.alice"))
      #expect(grants.map(\.secret) == [.numbered(109, .refreshToken)])
      #expect(try await desk.storage.account(session.account.id)?.credentialState == .authorized)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a code that an app brought is revoked for the client that it turned out to be of`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let session = try await desk.arrive().grant
      let bearer = SessionBearer(
        account: session.account.id, session: session.session.id, isRecentLogin: false)
      _ = try await desk.storage.revokeAppleSecret(
        AppleRevocationIntent(
          bearer: bearer, secret: .numbered(1), fallbackClient: app, redirectURI: nil, origin: person,
          now: start))
      #expect(try await desk.deeds(.appleRevocationAsked) == ["code"])
      let work = try #require(try await desk.begin().first)
      try await desk.settle(work, .exchanged(.numbered(101, .refreshToken), client: web, nextCheck: start))
      let revocation = try #require(try await desk.queue().first)
      #expect(revocation.kind == .revoke)
      #expect(revocation.client == web)
      #expect(revocation.subject?.text == "001.alice")
    }
  }

  @Test(arguments: Engine.allCases)
  func `what nobody can do for too long is forgotten`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.grant()
      try await desk.delete(session.account.id)
      func sweep(at now: UnixTime) async throws {
        _ = try await desk.storage.sweep(SweepRules(at: now, limits: limits, leeway: 60, limit: 10))
      }
      try await sweep(at: start + 864_000 + 86_400)
      #expect(try await desk.queue().count == 1)
      try await sweep(at: start + 864_000 + 86_401)
      #expect(try await desk.queue() == [])
    }
  }

  @Test(arguments: Engine.allCases)
  func `secrets are counted by their master key, and get other seals wherever they are`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      try await desk.grant(code: 1, token: 101)
      try await desk.arrive(credential: 2, code: 2)
      #expect(try await desk.storage.appleSecretCounts() == [firstKey: 2])
      let others = try await desk.storage.appleSecrets(notSealedBy: secondKey, limit: 10)
      #expect(Set(others.map(\.id.description)).count == 2)
      func resealed(_ old: AppleSecret) -> AppleSecret {
        AppleSecret(id: old.id, kind: old.kind, sealed: [9, 9], masterKey: secondKey)
      }
      // One of them was resealed by another meanwhile.
      let stale = AppleSecret(id: others[0].id, kind: others[0].kind, sealed: [8], masterKey: firstKey)
      try await desk.storage.resealAppleSecrets([
        AppleResealing(old: stale, new: resealed(stale)),
        AppleResealing(old: others[1], new: resealed(others[1])),
      ])
      #expect(try await desk.storage.appleSecretCounts() == [firstKey: 1, secondKey: 1])
      #expect(try await desk.storage.appleSecrets(notSealedBy: secondKey, limit: 10) == [others[0]])
      try await desk.storage.resealAppleSecrets([AppleResealing(old: others[0], new: resealed(others[0]))])
      #expect(try await desk.storage.appleSecretCounts() == [secondKey: 2])
      #expect(
        try await desk.storage.appleGrants(of: Subject(unchecked: "001.alice")).map(\.secret.sealed) == [
          [9, 9]
        ])
    }
  }
}
