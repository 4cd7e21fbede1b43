package import Domain

/// A person came back from Apple's page, and an app may trade what he brought for a session, or never will.
package struct WebReturn: Sendable {
  package let identity: ProviderIdentity
  package let profile: Profile
  package let name: PersonName?
  package let transferSubject: Subject?
  package let linking: AccountLinking

  package init(
    identity: ProviderIdentity, profile: Profile, name: PersonName?, transferSubject: Subject?,
    linking: AccountLinking
  ) {
    self.identity = identity
    self.profile = profile
    self.name = name
    self.transferSubject = transferSubject
    self.linking = linking
  }
}

/// What is known of the person by then.
package enum WebReturnOutcome: Sendable, Equatable {
  case expected
  /// He would get an account, but an account that he may not join holds his address.
  case emailHeld(Account)
}

/// Decides what becomes of it, inside a transaction.
///
/// Apple tells a name once. Where the person has an account, it is kept with that at once. For a new person none is made
/// before the trade: the code is all that proves that an app which began this also ended it, and an account that nobody
/// asked for is worse than a name that has to be asked for. With a code that nobody trades such a name is lost.
package func decideWebReturn(
  _ visit: WebReturn, in ledger: inout some Ledger
) throws(StorageError) -> WebReturnOutcome {
  if var account = try ledger.account(holding: visit.identity) {
    if account.name == nil, !account.isDisabled, let name = visit.name, !name.isEmpty {
      account.name = name
      try ledger.update(account)
    }
    return .expected
  }
  // Somebody who moves from another team has an account under another subject.
  if let subject = visit.transferSubject, try ledger.subject(transferredAs: subject) != nil {
    return .expected
  }
  guard try ledger.subject(formerly: visit.identity.subject) == nil else { return .expected }
  let place = try ledger.place(
    for: visit.identity, visit.profile, linking: visit.linking)
  if case .taken(let account) = place { return .emailHeld(account) }
  return .expected
}

/// Where somebody belongs whose identity nobody has.
enum NewcomerPlace {
  /// An account of his own.
  case own
  /// This one, which has his address.
  case joining(Account)
  /// Nowhere: this one has his address, and he may not join it.
  case taken(Account)
}

extension Ledger {
  /// Where somebody belongs whose identity nobody has, by his address.
  mutating func place(
    for identity: ProviderIdentity, _ profile: Profile, linking: AccountLinking
  ) throws(StorageError) -> NewcomerPlace {
    guard linking == .verifiedEmail, let email = profile.email else { return .own }
    let holders = try accounts(holding: email)
    if let joined = holders.first(where: {
      $0.admits(profile) && $0.identity(at: identity.provider) == nil
    }) {
      return .joining(joined)
    }
    return holders.first.map { .taken($0) } ?? .own
  }
}

extension LedgerStorage {
  package func take(_ visit: WebReturn) async throws(StorageError) -> WebReturnOutcome {
    try await transact { (book) throws(StorageError) in try decideWebReturn(visit, in: &book) }
  }
}
