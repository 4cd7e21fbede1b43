package import Domain

/// Accounts of another system that are to be here, in one transaction.
package struct AccountImportIntent: Sendable {
  package let accounts: [Account]
  /// Whether several accounts may hold one address.
  package let sharesEmails: Bool
  package let origin: Origin
  package let now: UnixTime

  package init(accounts: [Account], sharesEmails: Bool, origin: Origin, now: UnixTime) {
    self.accounts = accounts
    self.sharesEmails = sharesEmails
    self.origin = origin
    self.now = now
  }
}

/// What became of an account that another system knows.
package enum AccountImportOutcome: Sendable, Equatable {
  case imported
  /// It is here, and stays as it is.
  case present
  /// It was here without its identity at Apple, and has got it.
  case linked
  /// The id is somebody's who did not come by an import, or who is somebody else at Apple.
  case idTaken
  case identityTaken
  case emailTaken
}

/// Whether and how an account comes in, before anything is written: a trial asks this alone.
package func judgeImport(
  of account: Account, sharesEmail: Bool, in ledger: inout some Ledger
) throws(StorageError) -> AccountImportOutcome {
  guard let known = try ledger.account(account.id) else {
    switch try judgeCreation(of: account, sharesEmail: sharesEmail, in: &ledger) {
    case .created: return .imported
    case .idTaken: return .idTaken
    case .identityTaken: return .identityTaken
    case .emailTaken: return .emailTaken
    }
  }
  let isImported = try ledger.importDate(of: known.id) != nil
  guard let apple = account.identity(at: appleProviderID) else { return isImported ? .present : .idTaken }
  guard let present = known.identity(at: appleProviderID) else {
    guard isImported else { return .idTaken }
    return try ledger.account(holding: apple.identity) == nil ? .linked : .identityTaken
  }
  // Who went to another developer team since is the same person.
  return present.subject == apple.subject || present.formerSubject == apple.subject ? .present : .idTaken
}

/// Takes accounts in inside a transaction, each by itself. One that is here already is not overwritten: done again, an
/// import does what is left to be done, and nothing twice.
package func decideImport(
  _ intent: AccountImportIntent, in ledger: inout some Ledger
) throws(StorageError) -> [AccountImportOutcome] {
  var outcomes: [AccountImportOutcome] = []
  for account in intent.accounts {
    let outcome = try judgeImport(of: account, sharesEmail: intent.sharesEmails, in: &ledger)
    switch outcome {
    case .imported:
      try ledger.insert(account, isImport: true, by: intent.origin, at: intent.now)
    case .linked:
      guard let apple = account.identity(at: appleProviderID) else { throw .defect }
      try ledger.insert(apple, of: account.id)
      try ledger.audit(
        .identityLinked, by: intent.origin, at: intent.now, account: account.id, detail: appleProviderID)
    case .present, .idTaken, .identityTaken, .emailTaken: break
    }
    outcomes.append(outcome)
  }
  return outcomes
}

extension LedgerStorage {
  package func importAccounts(
    _ intent: AccountImportIntent
  ) async throws(StorageError) -> [AccountImportOutcome] {
    try await transact { (book) throws(StorageError) in try decideImport(intent, in: &book) }
  }

  package func tryImport(
    of accounts: [Account], sharingEmails: Bool
  ) async throws(StorageError) -> [AccountImportOutcome] {
    try await read { (book) throws(StorageError) in
      var outcomes: [AccountImportOutcome] = []
      for account in accounts {
        outcomes.append(try judgeImport(of: account, sharesEmail: sharingEmails, in: &book))
      }
      return outcomes
    }
  }
}
