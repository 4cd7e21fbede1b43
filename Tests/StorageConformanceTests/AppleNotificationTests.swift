import Domain
import Storage
import Testing

private let alice = Subject(unchecked: "001.alice")
private let aliceIdentity = ProviderIdentity(provider: appleProviderID, subject: alice)

extension Desk {
  /// Takes a notification.
  @discardableResult
  func take(
    _ events: [AppleEvent], number: Int = 1, at now: UnixTime = start, expiresAt: UnixTime = start + 1000,
    endsSessions: Bool = true, deletion: AppleDeletionPolicy = .delete
  ) async throws -> AppleNotificationOutcome {
    try await storage.take(
      AppleNotificationIntent(
        digest: CredentialKey.numbered(number).digest, expiresAt: expiresAt, events: events,
        endsSessions: endsSessions, deletion: deletion, origin: Origin(actor: .apple), now: now))
  }

  fileprivate func take(_ change: AppleChange, at moment: UnixTime, number: Int) async throws
    -> AppleNotificationOutcome
  {
    try await take([.change(change, of: alice, at: moment)], number: number, at: moment)
  }

  fileprivate func identity() async throws -> LinkedIdentity {
    try #require(try await storage.find([.identity(aliceIdentity)]).first?.identities.first)
  }

  fileprivate func details() async throws -> [String?] {
    try await storage.audit(AuditQuery(after: 0, account: nil, limit: 1000)).map(\.entry)
      .filter { $0.action == .appleNotification }.map(\.detail)
  }
}

/// What comes of what Apple tells.
@Suite(.timeLimit(.minutes(2)))
struct AppleNotificationTests {
  @Test(arguments: Engine.allCases)
  func `a notification is taken once, and of many at once one is`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.arrive().grant.session.id
      let event = AppleEvent.change(.consentRevoked, of: alice, at: start)
      let outcomes = try await withThrowingTaskGroup(of: AppleNotificationOutcome.self) { group in
        for _ in 0..<20 { group.addTask { try await desk.take([event]) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes.count { $0 == .taken([.applied]) } == 1)
      #expect(outcomes.count { $0 == .duplicate } == 19)
      #expect(try await desk.storage.session(session)?.end == .revoked)
      #expect(try await desk.details() == ["consent-revoked"])
      #expect(try await desk.take([event], number: 2) == .taken([.applied]))
    }
  }

  @Test(arguments: Engine.allCases)
  func `a consent that is gone ends what was opened with Apple, and nothing else`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let own = Session.bare(7, of: grant.account.id)
      try await desk.storage.insert(own)
      let other = try await desk.arrive("002.bob", credential: 2).grant.session
      #expect(try await desk.take(.consentRevoked, at: start + 5, number: 1) == .taken([.applied]))
      #expect(try await desk.storage.session(grant.session.id)?.end == .revoked)
      #expect(try await desk.storage.session(own.id)?.end == nil)
      #expect(try await desk.storage.session(other.id)?.end == nil)
      #expect(try await desk.identity().credentialState == .revoked)
      let told = try await desk.storage.revocations(after: 0, limit: 10).revocations
      #expect(told.map(\.session) == [grant.session.id])
    }
  }

  @Test(arguments: Engine.allCases)
  func `what Apple gave out goes with the consent, also what comes for a code that was under way`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      try await desk.grant(code: 1, token: 101)
      try await desk.arrive(credential: 2, code: 2, client: web)
      let underWay = try #require(try await desk.begin().first)
      try await desk.arrive(credential: 3, code: 3)
      #expect(try await desk.take(.consentRevoked, at: start + 1, number: 1) == .taken([.applied]))
      #expect(try await desk.queue().isEmpty)
      #expect(try await desk.storage.appleGrants(of: alice).isEmpty)
      try await desk.settle(
        underWay, .exchanged(.numbered(102, .refreshToken), client: web, nextCheck: start + 90_000),
        at: start + 2)
      #expect(try await desk.storage.appleGrants(of: alice).isEmpty)
      #expect(try await desk.queue().map(\.kind) == [.revoke])
      for work in try await desk.begin(at: start + 3) {
        try await desk.settle(work, .revoked(by: work.client), at: start + 3)
      }
      // Whoever comes back has a new consent, and a late word of the old one leaves its token alone.
      try await desk.grant(credential: 4, code: 4, token: 104, at: start + 10)
      #expect(try await desk.take(.consentRevoked, at: start + 5, number: 2) == .taken([.stale]))
      #expect(try await desk.storage.appleGrants(of: alice).map(\.id) == [AppleSecret.numbered(104).id])
    }
  }

  @Test(arguments: Engine.allCases)
  func `V07 who came back since then stays`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let old = try await desk.arrive(credential: 1, at: start).grant.session
      let new = try await desk.arrive(credential: 2, at: start + 100).grant.session
      let event = [AppleEvent.change(.consentRevoked, of: alice, at: start + 50)]
      #expect(try await desk.take(event, at: start + 200) == .taken([.stale]))
      #expect(try await desk.storage.session(old.id)?.end == .revoked)
      #expect(try await desk.storage.session(new.id)?.end == nil)
      #expect(try await desk.identity().credentialState == .authorized)
      // Also when the new session is over meanwhile.
      try await desk.storage.end(new.id, as: .ended)
      #expect(try await desk.take(event, number: 2, at: start + 300) == .taken([.stale]))
      #expect(try await desk.identity().credentialState == .authorized)
    }
  }

  @Test(arguments: Engine.allCases, [false, true])
  func `who came back by another way has not consented again`(
    _ engine: Engine, _ isSignedOut: Bool
  ) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let outcome = try await desk.storage.openSession(
        AccountSessionIntent(
          account: grant.account.id, provider: "custom", isAnonymous: false, createsAccount: false,
          customClaims: nil, newSession: SessionID(at: start + 100, from: desk.entropy), masterKey: firstKey,
          rules: SessionOpeningRules(maximum: 0), origin: person, now: start + 100))
      guard case .opened(let custom, _) = outcome else { throw StorageError.corrupt }
      // Whether that session still lives has nothing to do with it.
      if isSignedOut { try await desk.storage.end(custom.session.id, as: .ended, at: start + 150) }
      let event = [AppleEvent.change(.consentRevoked, of: alice, at: start + 50)]
      #expect(try await desk.take(event, at: start + 200) == .taken([.applied]))
      #expect(try await desk.storage.session(grant.session.id)?.end == .revoked)
      #expect(try await desk.storage.session(custom.session.id)?.end == (isSignedOut ? .ended : nil))
      #expect(try await desk.identity().credentialState == .revoked)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an event about an address that is not the identity's changes nothing`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive(profile: .email("x@privaterelay.appleid.com", isPrivate: true))
      func take(_ email: String?, number: Int) async throws -> AppleNotificationOutcome {
        let event = AppleEvent.change(.emailDisabled, of: alice, at: start + Int64(number), email: email)
        return try await desk.take([event], number: number, at: start + 100)
      }
      for (number, other) in ["y@privaterelay.appleid.com", "X@privaterelay.appleid.com", "no address"]
        .enumerated()
      {
        #expect(try await take(other, number: number) == .taken([.otherAddress]))
      }
      #expect(try await desk.identity().isEmailDeliverable)
      #expect(try await desk.identity().emailChangedAt == nil)
      #expect(try await desk.details().last == "email-disabled other_address")
      #expect(try await take("x@PrivateRelay.appleid.com", number: 8) == .taken([.applied]))
      #expect(try await desk.identity().isEmailDeliverable == false)
      // Somebody of whom no address is known is not hit by word of one.
      try await desk.arrive("002.bob", credential: 2)
      let bob = AppleEvent.change(
        .emailDisabled, of: Subject(unchecked: "002.bob"), at: start, email: "b@example.com")
      #expect(try await desk.take([bob], number: 9) == .taken([.otherAddress]))
    }
  }

  @Test(arguments: Engine.allCases)
  func `sessions stay where they are not to end`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.arrive().grant.session
      let event = [AppleEvent.change(.consentRevoked, of: alice, at: start)]
      #expect(try await desk.take(event, endsSessions: false) == .taken([.applied]))
      #expect(try await desk.storage.session(session.id)?.end == nil)
      #expect(try await desk.identity().credentialState == .revoked)
    }
  }

  @Test(arguments: Engine.allCases)
  func `of two events about the address the one that happened later counts`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive(profile: .email("x@privaterelay.appleid.com", isPrivate: true))
      let steps: [(AppleChange, Int64, AppleEventOutcome, Bool)] = [
        (.emailDisabled, 20, .applied, false), (.emailEnabled, 10, .stale, false),
        (.emailEnabled, 20, .applied, true), (.emailDisabled, 30, .applied, false),
        (.emailEnabled, 29, .stale, false), (.emailEnabled, 40, .applied, true),
      ]
      for (number, (change, moment, outcome, isDeliverable)) in steps.enumerated() {
        #expect(try await desk.take(change, at: start + moment, number: number) == .taken([outcome]))
        #expect(try await desk.identity().isEmailDeliverable == isDeliverable)
      }
      #expect(try await desk.identity().emailChangedAt == start + 40)
      // Of another address nothing was said.
      _ = try await desk.take(.emailDisabled, at: start + 50, number: 9)
      try await desk.arrive(credential: 2, profile: .email("x@privaterelay.appleid.com", isPrivate: true))
      #expect(try await desk.identity().isEmailDeliverable == false)
      try await desk.arrive(credential: 3, profile: .email("y@private.icloud.com", isPrivate: true))
      #expect(try await desk.identity().isEmailDeliverable)
    }
  }

  @Test(arguments: Engine.allCases, AppleDeletionPolicy.allCases)
  func `V04 an account that is gone at Apple goes as the policy says`(
    _ engine: Engine, _ policy: AppleDeletionPolicy
  ) async throws {
    try await engine.run { desk in
      let name = PersonName(
        givenName: "Ada", familyName: nil, middleName: nil, namePrefix: nil, nameSuffix: nil, nickname: nil)
      let grant = try await desk.arrive(
        name: name, profile: .email("x@privaterelay.appleid.com", isPrivate: true)
      ).grant
      let own = Session.bare(7, of: grant.account.id)
      try await desk.storage.insert(own)
      var change = AccountChange()
      change.photoURL = .set("https://example.com/ada.png")
      change.displayName = .set("Countess")
      change.customClaims = .set(#"{"role":"admin"}"#)
      _ = try await desk.storage.change(
        AccountChangeIntent(
          target: .administered(grant.account.id), change: change, origin: person, now: start))
      // Older than the person's return: whom Apple vouched for since then has an account there.
      let late = [AppleEvent.change(.accountDeleted, of: alice, at: start - 1)]
      #expect(try await desk.take(late, number: 9, deletion: policy) == .taken([.stale]))
      #expect(try await desk.storage.session(grant.session.id)?.end == nil)
      #expect(try await desk.storage.account(grant.account.id)?.credentialState == .authorized)
      let event = [AppleEvent.change(.accountDeleted, of: alice, at: start)]
      #expect(try await desk.take(event, deletion: policy) == .taken([.applied]))
      #expect(try await desk.storage.session(grant.session.id)?.end == .revoked)
      #expect(try await desk.storage.session(own.id)?.end == (policy == .keep ? nil : .revoked))
      let account = try await desk.storage.account(grant.account.id)
      switch policy {
      case .delete: #expect(account == nil)
      case .anonymise:
        let left = try #require(account)
        #expect(left.displayName == nil && left.photoURL == nil && left.profile == .empty)
        #expect(left.identities == [LinkedIdentity(aliceIdentity, credentialState: .notFound)])
        #expect(left.customClaims == #"{"role":"admin"}"#)
      case .keep:
        let left = try #require(account)
        #expect(left.displayName == "Countess" && left.profile.email != nil && left.photoURL != nil)
        #expect(left.credentialState == .notFound)
        // There is nothing that could be taken back, and a late word of it changes nothing.
        #expect(try await desk.take(.consentRevoked, at: start + 1, number: 3) == .taken([.stale]))
        #expect(try await desk.identity().credentialState == .notFound)
      }
      let again = try await desk.take(event, number: 2, deletion: policy)
      #expect(again == .taken([policy == .delete ? .unknownSubject : .applied]))
    }
  }

  @Test(arguments: Engine.allCases)
  func `V10 what nobody understands is kept, up to a bound and for a time`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let unknown = AppleEvent.unknown(type: "new", outline: #"{"type":"new"}"#)
      #expect(
        try await desk.take([unknown, unknown], at: start + 1) == .taken([.unknownType, .unknownType]))
      let kept = try await desk.storage.keptNotifications(limit: 10)
      #expect(kept.map(\.unknown) == [#"{"type":"new"}"# + "\n" + #"{"type":"new"}"#])
      #expect(kept.first?.receivedAt == start + 1)
      #expect(try await desk.details() == ["new unknown_type", "new unknown_type"])
      for number in 2...Limits.keptNotifications { _ = try await desk.take([unknown], number: number) }
      #expect(try await desk.take([unknown], number: 5000) == .taken([.unknownType]))
      #expect(try await desk.storage.keptNotifications(limit: 2000).count == Limits.keptNotifications)
      #expect(try await desk.take([unknown], number: 5000) == .duplicate)
    }
  }

  @Test(arguments: Engine.allCases)
  func `that a notification came is forgotten when it would not be taken any more`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let event = [AppleEvent.change(.consentRevoked, of: alice, at: start)]
      let unknown = [AppleEvent.unknown(type: "new", outline: "{}")]
      _ = try await desk.take(event, number: 1, expiresAt: start + 100)
      _ = try await desk.take(event, number: 2, expiresAt: start + 101)
      _ = try await desk.take(unknown, number: 3, expiresAt: start + 100)
      func sweep(_ moment: UnixTime) async throws {
        let rules = SweepRules(
          credentialsBefore: moment, sessionsBefore: UnixTime(0), revocationsBefore: UnixTime(0),
          appleWorkBefore: UnixTime(0), limit: 10)
        #expect(try await desk.storage.sweep(rules) == false)
      }
      try await sweep(start + 101)
      #expect(try await desk.take(event, number: 1) == .taken([.unknownSubject]))
      #expect(try await desk.take(event, number: 2) == .duplicate)
      #expect(try await desk.storage.keptNotifications(limit: 10).count == 1)
      try await sweep(start + (Limits.keptNotificationSeconds + 1))
      #expect(try await desk.storage.keptNotifications(limit: 10).isEmpty)
    }
  }

  @Test(arguments: Engine.allCases)
  func `events of one notification have each an effect, in their order`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive()
      let bob = Subject(unchecked: "002.bob")
      let outcome = try await desk.take([
        .change(.emailDisabled, of: alice, at: start), .change(.consentRevoked, of: bob, at: start),
        .unknown(type: "new", outline: "{}"), .change(.emailEnabled, of: alice, at: start - 1),
      ])
      #expect(outcome == .taken([.applied, .unknownSubject, .unknownType, .stale]))
    }
  }
}
