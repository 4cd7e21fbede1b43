import Domain
import Storage
import Testing

private let sender = TeamID(unchecked: "SENDER0001")
private let recipient = TeamID(unchecked: "RECIPIENT2")
private let alice = Subject(unchecked: "001.alice")
private let moved = Subject(unchecked: "002.alice")
private let onTheWay = Subject(unchecked: "t.alice")
private let relayed = Profile.email("old@privaterelay.appleid.com", isPrivate: true)

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
    try await storage.write(
      TransferExport(
        subject: subject, team: recipient, answer: .transferSubject(transferSubject), now: now))
  }

  /// Has Apple say who the person is at the other team.
  @discardableResult
  fileprivate func admit(
    _ answer: TransferImport.Answer = .person(moved, relayAddress: nil), at now: UnixTime = start + 20
  ) async throws -> TransferOutcome {
    try await storage.write(
      TransferImport(subject: alice, transferSubject: onTheWay, answer: answer, now: now),
      by: Origin(actor: .command))
  }

  fileprivate func page(_ half: TransferQuery.Half, after subject: Subject? = nil, retrying: Bool = false)
    async throws -> [String]
  {
    try await storage.transferPage(
      TransferQuery(half: half, team: recipient, retriesRefused: retrying), after: subject, limit: 2
    ).map(\.subject.text)
  }

  fileprivate func holder(of subject: Subject) async throws -> Account? {
    try await storage.holder(of: ProviderIdentity(provider: appleProviderID, subject: subject))
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
        try await desk.storage.write(
          TransferExport(
            subject: Subject(unchecked: "c"), team: recipient, answer: .refused("invalid_request"), now: start
          ))
          == .refused)
      #expect(try await desk.page(.toExport) == ["b", "d"])
      #expect(try await desk.page(.toExport, after: Subject(unchecked: "b"), retrying: true) == ["c", "d"])
      #expect(try await desk.page(.toImport) == ["a"])
      let status = try await desk.storage.transferStatus(to: recipient)
      #expect(status.identities == 5)
      #expect(status.left == 3)
      #expect(status.counts == [.exported: 1, .exportRefused: 1])
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
      let transfer = try await desk.holder(of: alice)?.identities.first?.transfer
      #expect(
        transfer
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
      let address = EmailAddress("new@privaterelay.appleid.com")
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
      try await desk.admit(.person(moved, relayAddress: EmailAddress("new@privaterelay.appleid.com")))
      #expect(try await desk.holder(of: moved)?.profile.email?.text == "alice@example.com")
    }
  }

  @Test(arguments: Engine.allCases)
  func `the old team's tokens and calls go with the re-key`(_ engine: Engine) async throws {
    try await engine.run { desk in
      try await desk.grant()
      try await desk.arrive(credential: 2, code: 2)
      let work = try #require(try await desk.begin().first)
      try await desk.export()
      try await desk.admit()
      #expect(try await desk.storage.appleGrants(of: alice) == [])
      #expect(try await desk.queue() == [])
      // An answer that was on its way is not kept, and not revoked either.
      try await desk.settle(
        work, .exchanged(.numbered(102, .refreshToken), client: app, nextCheck: start + 90_000))
      #expect(try await desk.storage.appleGrants(of: moved) == [])
      #expect(try await desk.queue() == [])
    }
  }

  @Test(arguments: Engine.allCases)
  func `a person who came before the transfer reached him has two accounts, and neither is lost`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let old = try await desk.arrive().grant.account.id
      let new = try await desk.arrive(moved.text, credential: 2).grant.account.id
      try await desk.export()
      #expect(try await desk.admit() == .conflict(new))
      #expect(try await desk.holder(of: alice)?.id == old)
      #expect(try await desk.holder(of: moved)?.id == new)
      #expect(
        try await desk.storage.transferStatus(to: recipient).conflicts == [
          TransferConflict(account: old, other: new.text)
        ])
      try await desk.delete(new)
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
        profile: .email("new@privaterelay.appleid.com", isPrivate: true))
      intent.transferSubject = onTheWay
      let after = try #require(try await desk.storage.signIn(intent).signedIn)
      #expect(!after.isNewUser)
      #expect(after.grant.account.id == before.id)
      let account = try #require(try await desk.holder(of: moved))
      #expect(account.profile.email?.text == "new@privaterelay.appleid.com")
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
      try await desk.admit(.person(moved, relayAddress: EmailAddress("new@privaterelay.appleid.com")))
      var late = desk.intent(credential: 2, at: start + 30, profile: relayed)
      late.admitsFormerSubjects = true
      late.code = AppleCode(secret: .numbered(7), client: app, redirectURI: nil)
      let arrived = try #require(try await desk.storage.signIn(late).signedIn)
      #expect(!arrived.isNewUser)
      #expect(arrived.grant.account.id == id)
      let account = try #require(try await desk.holder(of: moved))
      #expect(account.profile.email?.text == "new@privaterelay.appleid.com")
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
