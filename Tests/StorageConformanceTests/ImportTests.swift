import Domain
import Storage
import Testing

private let operation = Origin(actor: .command)

private func account(_ id: String, apple subject: String? = nil, email: String? = nil) -> Account {
  var account = Account.bare(id, at: UnixTime(1_600_000_000))
  account.profile = email.map { .email($0) } ?? .plain
  account.emailOrigin = email == nil ? .provider : .imported
  account.identities = subject.map { [.apple($0)] } ?? []
  return account
}

extension LinkedIdentity {
  fileprivate static func apple(_ subject: String) -> LinkedIdentity {
    LinkedIdentity(ProviderIdentity(provider: appleProviderID, subject: Subject(unchecked: subject)))
  }
}

extension LedgerStorage {
  /// Imports accounts after it was asked what would come of it, which has to be the same.
  func take(_ accounts: Account..., sharingEmails: Bool = true) async throws -> [AccountImportOutcome] {
    let before = try await tryImport(of: accounts, sharingEmails: sharingEmails)
    let outcomes = try await importAccounts(
      AccountImportIntent(accounts: accounts, sharesEmails: sharingEmails, origin: operation, now: start))
    if accounts.count == 1 { #expect(before == outcomes) }
    return outcomes
  }

  func importDate(of id: String) async throws -> UnixTime? {
    try await read { (book) throws(StorageError) in try book.importDate(of: AccountID(unchecked: id)) }
  }

  fileprivate func deeds(of id: String) async throws -> [AuditAction] {
    try await audit(AuditQuery(after: 0, account: AccountID(unchecked: id), limit: 100)).map(\.entry.action)
  }
}

@Suite(.timeLimit(.minutes(2)))
struct ImportTests {
  @Test(arguments: Engine.allCases)
  func `an account comes in once, and with it the mark that it came so`(_ engine: Engine) async throws {
    try await engine.run(announces: true) { (desk) async throws in
      let ada = account("ada", apple: "001.ada", email: "ada@example.com")
      #expect(try await desk.storage.take(ada) == [.imported])
      #expect(try await desk.storage.account(ada.id) == ada)
      #expect(try await desk.storage.importDate(of: "ada") == start)
      #expect(try await desk.storage.take(ada) == [.present])
      #expect(try await desk.storage.account(ada.id) == ada)
      #expect(try await desk.storage.deeds(of: "ada") == [.accountImported])
      // Who imports accounts knows them.
      #expect(try await desk.storage.webhookCounts().waiting == 0)
    }
  }

  @Test(arguments: Engine.allCases)
  func `the mark outlives a sign-in, and goes with the account`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      _ = try await desk.storage.take(account("ada", apple: "001.ada", email: "ada@example.com"))
      let grant = try await desk.arrive("001.ada", profile: .email("ada@example.com")).grant
      #expect(grant.account.id.text == "ada")
      #expect(grant.account.emailOrigin == .provider)
      #expect(try await desk.storage.importDate(of: "ada") == start)
      let deletion = AccountDeletionIntent(
        target: .administered(grant.account.id), demandsDisabled: false, origin: person, now: start)
      _ = try await desk.storage.delete([deletion])
      #expect(try await desk.storage.importDate(of: "ada") == nil)
      try await desk.storage.insert(Account.bare("ada"))
      #expect(try await desk.storage.importDate(of: "ada") == nil)
    }
  }

  @Test(arguments: Engine.allCases, [true, false])
  func `accounts that are made in a batch have the mark if they were imported`(
    _ engine: Engine, _ areImported: Bool
  ) async throws {
    try await engine.run { (desk) async throws in
      _ = try await desk.storage.create(
        [account("ada")], sharingEmails: true, areImported: areImported, by: person, at: start)
      #expect(try await desk.storage.importDate(of: "ada") == (areImported ? start : nil))
      #expect(
        try await desk.storage.deeds(of: "ada") == [areImported ? .accountImported : .accountCreated])
    }
  }

  @Test(arguments: Engine.allCases)
  func `a later export brings the Apple id that an earlier one lacked`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      _ = try await desk.storage.take(account("ada"), account("bob", apple: "001.bob"))
      #expect(try await desk.storage.take(account("ada")) == [.present])
      #expect(try await desk.storage.take(account("ada", apple: "001.bob")) == [.identityTaken])
      #expect(try await desk.storage.take(account("ada", apple: "001.ada")) == [.linked])
      #expect(try await desk.arrive("001.ada").grant.account.id.text == "ada")
      #expect(try await desk.storage.deeds(of: "ada").prefix(2) == [.accountImported, .identityLinked])
      #expect(try await desk.storage.take(account("ada", apple: "001.ada")) == [.present])
      #expect(try await desk.storage.take(account("ada")) == [.present])
    }
  }

  @Test(arguments: Engine.allCases)
  func `whose id or identity is somebody else's stays out, and harms nobody beside it`(_ engine: Engine)
    async throws
  {
    try await engine.run { (desk) async throws in
      let here = try await desk.arrive("001.here").grant.account
      _ = try await desk.storage.take(account("ada", apple: "001.ada"))
      let outcomes = try await desk.storage.take(
        account(here.id.text), account(here.id.text, apple: "001.other"), account("eve", apple: "001.here"),
        account("ada", apple: "001.eve"), account("cid", apple: "001.cid"), account("cid", apple: "001.cid"),
        account("dan", apple: "001.cid"))
      #expect(
        outcomes == [
          .idTaken, .idTaken, .identityTaken, .idTaken, .imported, .present, .identityTaken,
        ])
      // Somebody of the same id and Apple id is the one that is meant, however he came.
      #expect(try await desk.storage.take(account(here.id.text, apple: "001.here")) == [.present])
      #expect(try await desk.storage.importDate(of: here.id.text) == nil)
      #expect(try await desk.storage.account(here.id) == here)
      #expect(try await desk.storage.account(AccountID(unchecked: "eve")) == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an address is shared or not, as accounts are joined by it or not`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      let email = "ada@example.com"
      let (ada, bob, cid) = (
        account("a", email: email), account("b", email: email), account("c", email: email)
      )
      #expect(try await desk.storage.take(ada, sharingEmails: false) == [.imported])
      #expect(try await desk.storage.take(bob, sharingEmails: false) == [.emailTaken])
      #expect(try await desk.storage.take(cid) == [.imported])
    }
  }

  @Test(arguments: Engine.allCases)
  func `an imported verified address joins nobody`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      _ = try await desk.storage.take(account("ada", email: "ada@example.com"))
      let outcome = try await desk.storage.signIn(
        desk.intent("001.other", profile: .email("ada@example.com"), linking: .verifiedEmail))
      guard case .emailHeld(let holder) = outcome else {
        Issue.record("\(outcome)")
        return
      }
      #expect(holder.id.text == "ada")
    }
  }
}
