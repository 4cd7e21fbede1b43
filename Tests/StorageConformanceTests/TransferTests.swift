import Domain
import Storage
import Testing

private let sender = TeamID(unchecked: "SENDER0001")
private let third = TeamID(unchecked: "ANOTHER003")
private let recipient = TeamID(unchecked: "RECIPIENT2")
private let alice = Subject(unchecked: "001.alice")
private let moved = Subject(unchecked: "002.alice")
private let onTheWay = Subject(unchecked: "t.alice")
private let relayed = Profile.email("old@privaterelay.appleid.com", isPrivate: true)
private let newAddress = "new@privaterelay.appleid.com"
private let byCommand = Origin(actor: .command)

extension LedgerStorage {
  /// Who has an identity now.
  fileprivate func holder(of identity: ProviderIdentity) async throws -> Account? {
    try await read { (book) throws(StorageError) in try book.account(holding: identity) }
  }
}

extension Desk {
  /// Has Apple give a transfer subject.
  @discardableResult
  fileprivate func export(
    _ subject: Subject = alice, as transferSubject: Subject = onTheWay, at now: UnixTime = start + 10
  ) async throws -> TransferOutcome {
    try await export(.out(), .transferSubject(transferSubject), of: subject, at: now)
  }

  @discardableResult
  fileprivate func export(
    _ query: TransferQuery, _ answer: TransferExport.Answer, of subject: Subject = alice,
    at now: UnixTime = start + 10
  ) async throws -> TransferOutcome {
    try await storage.write(
      TransferExport(subject: subject, query: query, answer: answer, now: now), by: byCommand)
  }

  /// Has Apple say who the person is at the other team.
  @discardableResult
  fileprivate func admit(
    _ answer: TransferImport.Answer = .person(moved, relayAddress: nil), at now: UnixTime = start + 20
  ) async throws -> TransferOutcome {
    try await storage.write(
      TransferImport(subject: alice, transferSubject: onTheWay, answer: answer, now: now),
      by: byCommand)
  }

  fileprivate func page(_ half: TransferQuery.Half, after subject: Subject? = nil, retrying: Bool = false)
    async throws -> [String]
  {
    try await page(
      TransferQuery(half: half, team: recipient, own: sender, retriesRefused: retrying), after: subject)
  }

  fileprivate func page(_ query: TransferQuery, after subject: Subject? = nil) async throws -> [String] {
    try await storage.transferPage(query, after: subject, limit: 2).map(\.subject.text)
  }

  /// Takes Apple off an account, and puts identities on it, in one call.
  fileprivate func unlink(_ account: AccountID, then added: [LinkedIdentity]) async throws {
    var change = AccountChange()
    (change.removedProviders, change.addedIdentities) = ([appleProviderID], added)
    let outcome = try await storage.change(
      AccountChangeIntent(target: .administered(account), change: change, origin: person, now: start + 30))
    guard case .changed = outcome else { throw StorageError.corrupt }
  }

  /// What was kept of the transfer of a person.
  fileprivate func transfer(of subject: Subject = alice) async throws -> IdentityTransfer? {
    try await holder(of: subject)?.identity(at: appleProviderID)?.transfer
  }

  fileprivate func holder(of subject: Subject) async throws -> Account? {
    try await storage.holder(of: ProviderIdentity(provider: appleProviderID, subject: subject))
  }
}

extension TransferQuery {
  /// Who goes out, as one team asks it for another.
  fileprivate static func out(
    from own: TeamID = sender, to team: TeamID = recipient, replacing: Bool = false
  ) -> TransferQuery {
    TransferQuery(half: .toExport, team: team, own: own, replacesOthers: replacing)
  }
}

/// The move of people to another developer team: one person, one transaction, and never a second account.
@Suite(.timeLimit(.minutes(2)))
struct TransferTests {
  @Test(arguments: Engine.allCases)
  func `X04 pages go on where the last one ended, and hold whoever is still to go`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      for (number, name) in ["e", "d", "c", "b", "a"].enumerated() {
        try await desk.arrive(name, credential: number)
      }
      var other = desk.intent("a", provider: "google.com", credential: 9)
      other.client = nil
      _ = try await desk.storage.signIn(other)
      #expect(try await desk.page(.toExport) == ["a", "b"])
      #expect(try await desk.page(.toExport, after: Subject(unchecked: "b")) == ["c", "d"])
      try await desk.export(Subject(unchecked: "a"), as: Subject(unchecked: "t.a"))
      #expect(
        try await desk.export(.out(), .refused("invalid_request"), of: Subject(unchecked: "c")) == .refused)
      #expect(try await desk.page(.toExport) == ["b", "d"])
      #expect(try await desk.page(.toExport, after: Subject(unchecked: "b"), retrying: true) == ["c", "d"])
      #expect(try await desk.page(.toImport) == ["a"])
      let status = try await desk.storage.transferStatus(to: recipient)
      #expect(status.identities == 5)
      #expect(status.left(of: .out()) == 3)
      #expect(status.count(.exported) == 1)
      #expect(status.count(.exportRefused) == 1)
      #expect(try await desk.storage.transferStatus(to: sender).otherTeams == [recipient])
    }
  }

  @Test(arguments: Engine.allCases)
  func `an export that is answered twice is written once, and no two people share a transfer subject`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      try await desk.arrive()
      try await desk.arrive("002.bob", credential: 2)
      #expect(try await desk.export() == .moved)
      #expect(try await desk.export(at: start + 11) == .overtaken)
      #expect(try await desk.export(Subject(unchecked: "002.bob")) == .refused)
      #expect(
        try await desk.export(Subject(unchecked: "nobody"), as: Subject(unchecked: "t.n")) == .overtaken)
      #expect(try await desk.deeds(.appleTransferExported) == [recipient.text])
      #expect(
        try await desk.transfer()
          == IdentityTransfer(
            state: .exported, team: recipient, subject: onTheWay, detail: nil, at: start + 10))
    }
  }

  @Test(arguments: Engine.allCases)
  func `P02 a re-keyed person keeps account and sessions, and has the new team's relay address`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let before = try await desk.arrive(profile: relayed).grant
      try await desk.export()
      let address = EmailAddress(newAddress)
      #expect(try await desk.admit(.person(moved, relayAddress: address)) == .moved)
      #expect(try await desk.holder(of: alice) == nil)
      let account = try #require(try await desk.holder(of: moved))
      #expect(account.id == before.account.id)
      #expect(account.profile.email == address)
      #expect(account.profile.isPrivateEmail)
      #expect(account.identities.first?.email == address?.text)
      #expect(account.identities.first?.formerSubject == alice)
      #expect(account.identities.first?.transfer?.state == .rekeyed)
      #expect(try await desk.storage.state(of: before.session.id)?.refusal == nil)
      // Whoever looks for the old subject finds the person.
      let old = AccountKey.identity(ProviderIdentity(provider: appleProviderID, subject: alice))
      #expect(try await desk.storage.find([old]) == [account])
      #expect(try await desk.deeds(.identityRekeyed) == [recipient.text])
      // Once is enough.
      #expect(try await desk.admit() == .overtaken)
      #expect(try await desk.page(.toImport) == [])
    }
  }

  @Test(arguments: Engine.allCases)
  func `an address that is no relay's stays`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive(profile: .email("alice@example.com"))
      try await desk.export()
      try await desk.admit(.person(moved, relayAddress: EmailAddress(newAddress)))
      #expect(try await desk.holder(of: moved)?.profile.email?.text == "alice@example.com")
    }
  }

  @Test(arguments: Engine.allCases)
  func `the old team's codes go with the re-key, and its tokens stay to be revoked with the account`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let account = try await desk.grant().account.id
      try await desk.arrive(credential: 2, code: 2)
      let work = try #require(try await desk.begin().first)
      try await desk.export()
      try await desk.admit()
      #expect(try await desk.storage.appleGrants(of: alice) == [])
      #expect(try await desk.queue() == [])
      // An answer that was on its way is not kept, and not revoked either.
      try await desk.settle(
        work, .exchanged(.numbered(102, .refreshToken), client: app, nextCheck: start + 90_000))
      #expect(
        try await desk.storage.appleGrants(of: moved).map(\.secret) == [.numbered(101, .refreshToken)])
      #expect(try await desk.queue() == [])
      try await desk.delete(account)
      #expect(try await desk.queue().map(\.kind) == [.revoke])
      #expect(try await desk.queue().map(\.secret) == [.numbered(101, .refreshToken)])
      #expect(try await desk.deeds(.accountDeleted) == [nil])
    }
  }

  @Test(arguments: Engine.allCases)
  func `what an app wants revoked is revoked, also when the person is moved meanwhile`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      try await desk.export()
      let bearer = SessionBearer(
        account: grant.account.id, session: grant.session.id, isRecentLogin: true)
      func revoke(_ number: UInt8) async throws -> AppleRevocationOutcome {
        var wish = AppleRevocationIntent(
          bearer: bearer, secret: .numbered(number, .refreshToken), fallbackClient: app, redirectURI: nil,
          origin: person, now: start)
        (wish.team, wish.formerTeam) = (recipient, sender)
        return try await desk.storage.revokeAppleSecret(wish)
      }
      #expect(try await revoke(9) == .queued)
      // Who was not moved yet got it from the team that the app came from.
      #expect(try await desk.queue().map(\.team) == [sender])
      try await desk.admit()
      #expect(try await desk.queue().map(\.subject) == [moved])
      #expect(try await revoke(10) == .queued)
      #expect(Set(try await desk.queue().map(\.team)) == [sender, recipient])
    }
  }

  @Test(arguments: Engine.allCases)
  func `a person who came before the transfer reached him has two accounts, and neither is lost`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let old = try await desk.arrive().grant.account.id
      let new = try await desk.grant(moved.text, credential: 2).account.id
      try await desk.export()
      #expect(try await desk.admit() == .conflict(new))
      #expect(try await desk.holder(of: alice)?.id == old)
      #expect(try await desk.holder(of: moved)?.id == new)
      #expect(
        try await desk.storage.transferStatus(to: recipient).conflicts == [
          TransferConflict(account: old, other: new.text)
        ])
      // The consent is the person's, whose old account is about to get the subject: nothing is revoked.
      try await desk.delete(new)
      #expect(try await desk.queue() == [])
      #expect(try await desk.storage.appleGrants(of: moved) == [])
      #expect(try await desk.deeds(.accountDeleted) == ["apple_consent_stays"])
      #expect(try await desk.page(.toImport) == [alice.text])
      #expect(try await desk.admit() == .moved)
      #expect(try await desk.holder(of: moved)?.id == old)
    }
  }

  @Test(arguments: Engine.allCases)
  func `X02 a sign-in that names the transfer subject moves the account that has it`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let before = try await desk.arrive(profile: relayed).grant.account
      try await desk.export()
      var intent = desk.intent(
        moved.text, credential: 2, at: start + 30,
        profile: .email(newAddress, isPrivate: true))
      intent.transferSubject = onTheWay
      let after = try #require(try await desk.storage.signIn(intent).signedIn)
      #expect(!after.isNewUser)
      #expect(after.grant.account.id == before.id)
      let account = try #require(try await desk.holder(of: moved))
      #expect(account.profile.email?.text == newAddress)
      #expect(account.identities.first?.formerSubject == alice)
      #expect(try await desk.admit() == .overtaken)
      // A transfer subject that nobody has is somebody new.
      var stranger = desk.intent("003.carol", credential: 3, at: start + 40)
      stranger.transferSubject = Subject(unchecked: "t.carol")
      #expect(try await desk.storage.signIn(stranger).signedIn?.isNewUser == true)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a token of the old team makes no second account, and brings nothing of that team back`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive(profile: relayed).grant.account.id
      try await desk.export()
      try await desk.admit(.person(moved, relayAddress: EmailAddress(newAddress)))
      var late = desk.intent(credential: 2, at: start + 30, profile: relayed)
      late.formerTeam = sender
      late.code = AppleCode(secret: .numbered(7), client: app, redirectURI: nil)
      let arrived = try #require(try await desk.storage.signIn(late).signedIn)
      #expect(!arrived.isNewUser)
      #expect(arrived.grant.account.id == id)
      let account = try #require(try await desk.holder(of: moved))
      #expect(account.profile.email?.text == newAddress)
      #expect(try await desk.queue() == [])
      // Once no old team is known any more, it is somebody new.
      let outcome = try await desk.storage.signIn(desk.intent(credential: 3, at: start + 40))
      #expect(outcome.signedIn?.isNewUser == true)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a refusal at the import is kept, and asked for again only when that is wanted`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      try await desk.arrive()
      try await desk.export()
      #expect(try await desk.admit(.refused("invalid_request")) == .refused)
      #expect(try await desk.page(.toImport) == [])
      #expect(try await desk.page(.toImport, retrying: true) == [alice.text])
      #expect(try await desk.admit() == .moved)
    }
  }

  @Test(arguments: Engine.allCases)
  func `of two accounts of one person the old one may go as well, and the other is found by both subjects`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let old = try await desk.grant().account.id
      let new = try await desk.arrive(moved.text, credential: 2, code: 2).account.id
      try await desk.export()
      #expect(try await desk.admit() == .conflict(new))
      try await desk.delete(old)
      #expect(try await desk.queue().map(\.kind) == [.exchange])
      var late = desk.intent(credential: 3, at: start + 30)
      late.formerTeam = sender
      #expect(try await desk.storage.signIn(late).signedIn?.grant.account.id == new)
    }
  }

  @Test(arguments: Engine.allCases)
  func `Apple taken off the newer account revokes nothing of the person either`(_ engine: Engine) async throws
  {
    try await engine.run { desk in
      try await desk.arrive()
      let new = try await desk.grant(moved.text, credential: 2).account.id
      try await desk.export()
      #expect(try await desk.admit() == .conflict(new))
      try await desk.unlink(new, then: [])
      #expect(try await desk.queue() == [])
      #expect(try await desk.admit() == .moved)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an identity that is taken off and put back in one call keeps what is known of it`(_ engine: Engine)
    async throws
  {
    try await engine.run { desk in
      let id = try await desk.grant().account.id
      try await desk.take([.change(.emailDisabled, of: alice, at: start + 5)])
      try await desk.export()
      let before = try #require(try await desk.holder(of: alice)?.identities.first)
      try await desk.unlink(id, then: [LinkedIdentity(before.identity, email: before.email)])
      #expect(try await desk.holder(of: alice)?.identities == [before])
      #expect(before.transfer?.subject == onTheWay)
      #expect(!before.isEmailDeliverable)
      #expect(try await desk.storage.appleGrants(of: alice).count == 1)
    }
  }

  @Test(arguments: Engine.allCases)
  func `no export takes away what cannot be had again`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive()
      try await desk.export()
      let kept = try await desk.transfer()
      // The team that the person is to come in to cannot ask about him.
      let onwards = TransferQuery.out(from: recipient, to: third, replacing: true)
      #expect(try await desk.page(onwards) == [])
      #expect(try await desk.export(onwards, .transferSubject(Subject(unchecked: "t.3"))) == .overtaken)
      #expect(try await desk.export(onwards, .refused("invalid_request")) == .overtaken)
      // The team that he leaves can, and does so only when that is asked for.
      #expect(try await desk.page(.out(to: third)) == [])
      #expect(try await desk.export(.out(to: third), .refused("invalid_request")) == .overtaken)
      let replacing = TransferQuery.out(to: third, replacing: true)
      #expect(try await desk.page(replacing) == [alice.text])
      #expect(try await desk.storage.transferStatus(to: third).replaced(by: replacing) == 1)
      #expect(try await desk.export(replacing, .refused("invalid_request")) == .refused)
      #expect(try await desk.transfer() == kept)
      // Who has come in may go on.
      try await desk.admit()
      #expect(try await desk.page(onwards) == [moved.text])
      #expect(try await desk.storage.transferStatus(to: third).left(of: onwards) == 1)
      #expect(
        try await desk.export(onwards, .transferSubject(Subject(unchecked: "t.3")), of: moved) == .moved)
    }
  }

  @Test(arguments: Engine.allCases)
  func `nobody is left to export to the team whose the app is`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.arrive()
      try await desk.export()
      try await desk.admit()
      try await desk.arrive("009.newcomer", credential: 2)
      let after = TransferQuery.out(from: recipient)
      #expect(try await desk.page(after) == [])
      #expect(try await desk.storage.transferStatus(to: recipient).left(of: after) == 0)
      #expect(try await desk.storage.transferStatus(to: recipient).left(of: .out()) == 1)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a relay address is Apple's, whatever system it was imported from`(_ engine: Engine) async throws {
    try await engine.run { desk in
      for (number, way) in ["import", "sign-in"].enumerated() {
        let (old, new) = (Subject(unchecked: "001.\(way)"), Subject(unchecked: "002.\(way)"))
        let (onTheWay, address) = (Subject(unchecked: "t.\(way)"), "\(way)@privaterelay.appleid.com")
        try await desk.storage.insert(
          Account(
            id: AccountID(unchecked: way), createdAt: start, lastSignInAt: start, isDisabled: false,
            profile: .email("old-\(address)"), emailOrigin: .imported, name: nil,
            identities: [LinkedIdentity(ProviderIdentity(provider: appleProviderID, subject: old))]))
        try await desk.export(old, as: onTheWay)
        if way == "import" {
          let answer = TransferImport.Answer.person(new, relayAddress: EmailAddress(address))
          _ = try await desk.storage.write(
            TransferImport(subject: old, transferSubject: onTheWay, answer: answer, now: start), by: byCommand
          )
        } else {
          var intent = desk.intent(
            new.text, credential: number, profile: .email(address, isPrivate: true))
          intent.transferSubject = onTheWay
          _ = try await desk.storage.signIn(intent)
        }
        let account = try #require(try await desk.holder(of: new))
        #expect(account.id.text == way)
        #expect(account.profile.email?.text == address)
        #expect(account.isEmailDeliverable)
      }
    }
  }

  @Test(arguments: Engine.allCases, [Profile.plain, relayed])
  func `a relay address of the old team that nothing takes the place of is one that no mail reaches`(
    _ engine: Engine, _ known: Profile
  ) async throws {
    try await engine.run { desk in
      try await desk.arrive(profile: known)
      if known == .plain {
        // As an import of another system leaves it: the account has the address, and the identity none.
        var account = try #require(try await desk.holder(of: alice))
        (account.profile, account.emailOrigin) = (.email("old@privaterelay.appleid.com"), .imported)
        try await desk.storage.update(account)
      }
      try await desk.export()
      var silent = desk.intent(moved.text, credential: 2, at: start + 30)
      silent.transferSubject = onTheWay
      _ = try await desk.storage.signIn(silent)
      #expect(try await desk.holder(of: moved)?.isEmailDeliverable == false)
      try await desk.arrive(
        moved.text, credential: 3, at: start + 40, profile: .email(newAddress, isPrivate: true))
      let account = try #require(try await desk.holder(of: moved))
      #expect(account.profile.email?.text == newAddress)
      #expect(account.isEmailDeliverable)
    }
  }

  @Test(arguments: Engine.allCases)
  func `that a token is bad says nothing of who goes to another team`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let session = try await desk.grant().session.id
      try await desk.export()
      let grant = try #require(try await desk.storage.appleGrants(of: alice).first)
      let report = AppleGrantReport(
        grant: grant, verdict: .refused, askedAt: start + 50, endsSessions: true, now: start + 51)
      #expect(try await desk.storage.report(report) == false)
      #expect(try await desk.holder(of: alice)?.credentialState == .authorized)
      #expect(try await desk.storage.state(of: session)?.refusal == nil)
      #expect(try await desk.storage.appleGrants(of: alice) == [grant])
    }
  }

  @Test(arguments: Engine.allCases)
  func `under the old subject only the end of the account at Apple concerns a person who was moved`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let session = try await desk.arrive(profile: relayed).grant.session.id
      try await desk.export()
      try await desk.admit(.person(moved, relayAddress: EmailAddress(newAddress)))
      let early: [AppleEvent] = [.emailDisabled, .consentRevoked].map {
        .change($0, of: alice, at: start + 50)
      }
      #expect(try await desk.take(early, at: start + 50) == .taken([.stale, .stale]))
      #expect(try await desk.holder(of: moved)?.isEmailDeliverable == true)
      #expect(try await desk.storage.state(of: session)?.refusal == nil)
      let end = [AppleEvent.change(.accountDeleted, of: alice, at: start + 60)]
      #expect(try await desk.take(end, number: 2, at: start + 60) == .taken([.applied]))
      #expect(try await desk.holder(of: moved) == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `that nothing could be revoked at Apple is in the audit`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.delete(try await desk.arrive().grant.account.id)
      try await desk.delete(try await desk.arrive("002.bob", credential: 2, code: 2).account.id)
      #expect(try await desk.deeds(.accountDeleted) == ["apple_nothing_to_revoke", nil])
    }
  }

  @Test func `an identity is transferred for the team that it was exported to, until it is re-keyed`() {
    var linked = LinkedIdentity(ProviderIdentity(provider: appleProviderID, subject: alice))
    func state(at team: TeamID?) -> CredentialState {
      var account = Account.bare("alice")
      account.identities = [linked]
      return account.credentialState(at: team)
    }
    #expect(state(at: recipient) == .authorized)
    let transfer = IdentityTransfer(
      state: .exported, team: recipient, subject: onTheWay, detail: nil, at: start)
    linked.transfer = transfer
    #expect(state(at: sender) == .authorized)
    #expect(state(at: recipient) == .transferred)
    #expect(state(at: nil) == .authorized)
    linked.transfer = transfer.moved(to: .rekeyed, at: start)
    #expect(state(at: recipient) == .authorized)
    // Whom Apple would not name there is on no way any more.
    linked.transfer = transfer.moved(to: .importRefused, detail: "invalid_request", at: start)
    #expect(state(at: recipient) == .authorized)
  }

  @Test(arguments: Engine.allCases)
  func `what was kept without a team is given one, and what has one keeps it`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.grant()
      var intent = desk.intent("002.bob", credential: 2)
      intent.code = AppleCode(secret: .numbered(2), client: app, redirectURI: nil)
      intent.code?.team = recipient
      _ = try await desk.storage.signIn(intent)
      try await desk.arrive("003.carol", credential: 3, code: 3)
      #expect(try await desk.storage.adoptAppleSecrets(for: sender, limit: 100) == 2)
      #expect(try await desk.storage.adoptAppleSecrets(for: recipient, limit: 100) == 0)
      #expect(try await desk.storage.appleGrants(of: alice).map(\.team) == [sender])
      #expect(Set(try await desk.queue().map(\.team)) == [sender, recipient])
    }
  }

  @Test(arguments: Engine.allCases)
  func `the sixty days begin where somebody says, or else at the first import`(_ engine: Engine) async throws
  {
    try await engine.run { desk in
      #expect(try await desk.storage.transferStatus(to: recipient).endsAt == nil)
      try await desk.storage.noteTransferAcceptance(by: recipient, at: start + 5, replacesOther: false)
      try await desk.storage.noteTransferAcceptance(by: recipient, at: start + 900, replacesOther: false)
      #expect(try await desk.storage.transferStatus(to: recipient).endsAt == start + 5 + 60 * 86_400)
      try await desk.storage.noteTransferAcceptance(by: recipient, at: start, replacesOther: true)
      #expect(try await desk.storage.transferStatus(to: recipient).endsAt == start + 60 * 86_400)
      #expect(try await desk.storage.transferStatus(to: sender).endsAt == nil)
    }
  }
}
