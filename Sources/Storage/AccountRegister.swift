package import Domain

/// What an account may be looked up by.
package enum AccountKey: Hashable, Sendable {
  case id(AccountID)
  /// The oldest account that holds the address verified, else the oldest that holds it.
  case email(EmailAddress)
  case identity(ProviderIdentity)
}

/// An order of all accounts. What one lacks comes first, as the smallest; ties are in the order of creation.
package struct AccountOrder: Sendable, Equatable {
  /// What is compared, as bytes where it is text.
  package enum Field: Int64, Sendable, CaseIterable { case id, email, name, createdAt, lastSignInAt }

  package let field: Field
  package let isDescending: Bool

  package init(by field: Field, isDescending: Bool) {
    self.field = field
    self.isDescending = isDescending
  }
}

/// Accounts out of an order, and how many there are in all.
package struct AccountList: Sendable, Equatable {
  package let accounts: [Account]
  package let count: Int

  package init(accounts: [Account], count: Int) {
    self.accounts = accounts
    self.count = count
  }
}

/// What became of an account that was to be made.
package enum AccountCreationOutcome: Sendable, Equatable {
  case created
  case idTaken
  case identityTaken
  case emailTaken
}

/// The accounts of several keys, each once, in the order of the keys.
func decideLookup(of keys: [AccountKey], in ledger: inout some Ledger) throws(StorageError) -> [Account] {
  var found: [Account] = []
  var seen: Set<AccountID> = []
  for key in keys {
    let account: Account?
    switch key {
    case .id(let id): account = try ledger.account(id)
    case .identity(let identity): account = try ledger.account(holdingOrHavingHeld: identity)
    case .email(let email):
      account = try ledger.accounts(holding: email).first
    }
    if let account, seen.insert(account.id).inserted { found.append(account) }
  }
  return found
}

extension Ledger {
  /// Who has an identity; or had it at another developer team, of which somebody else may not know yet that it is over.
  mutating func account(
    holdingOrHavingHeld identity: ProviderIdentity
  ) throws(StorageError) -> Account? {
    if let holder = try account(holding: identity) { return holder }
    guard identity.provider == appleProviderID, let present = try subject(formerly: identity.subject) else {
      return nil
    }
    return try account(holding: ProviderIdentity(provider: appleProviderID, subject: present))
  }
}

/// Whether anything of an account that is to be made is taken.
///
/// - Parameter sharesEmail: Whether another account may hold its address.
func judgeCreation(
  of account: Account, sharesEmail: Bool, in ledger: inout some Ledger
) throws(StorageError) -> AccountCreationOutcome {
  guard try ledger.account(account.id) == nil else { return .idTaken }
  for identity in account.identities where try ledger.account(holding: identity.identity) != nil {
    return .identityTaken
  }
  if !sharesEmail, let email = account.profile.email, try !ledger.accounts(holding: email).isEmpty {
    return .emailTaken
  }
  return .created
}

/// Makes one account inside a transaction, if nothing of it is taken.
func decideCreation(
  of account: Account, sharesEmail: Bool, isImport: Bool, by origin: Origin, at now: UnixTime,
  in ledger: inout some Ledger
) throws(StorageError) -> AccountCreationOutcome {
  let outcome = try judgeCreation(of: account, sharesEmail: sharesEmail, in: &ledger)
  if outcome == .created { try ledger.insert(account, isImport: isImport, by: origin, at: now) }
  return outcome
}

extension Ledger {
  /// Writes an account of which nothing is taken, with its identities.
  mutating func insert(
    _ account: Account, isImport: Bool, by origin: Origin, at now: UnixTime
  ) throws(StorageError) {
    try insertNamed(account, at: now)
    for identity in account.identities { try insert(identity, of: account.id) }
    guard isImport else {
      try audit(.accountCreated, by: origin, at: now, account: account.id)
      try announce(.userCreated, of: account.id, at: now)
      return
    }
    // Who imports accounts knows them: nobody is told.
    try markImported(account.id, at: now)
    try audit(.accountImported, by: origin, at: now, account: account.id)
  }
}
