package import Domain

/// What becomes of one value.
package enum Change<Value: Sendable & Equatable>: Sendable, Equatable {
  case keep
  case set(Value)
  case clear

  fileprivate func apply(to value: inout Value?) {
    switch self {
    case .keep: break
    case .set(let new): value = new
    case .clear: value = nil
    }
  }
}

/// What is to become of an account; what is not named stays.
package struct AccountChange: Sendable, Equatable {
  package var displayName: Change<String> = .keep
  package var photoURL: Change<String> = .keep
  package var email: Change<EmailAddress> = .keep
  package var isEmailVerified: Bool?
  package var isDisabled: Bool?
  package var customClaims: Change<String> = .keep
  /// Ends the sessions that were opened up to then.
  package var validSince: UnixTime?
  /// Providers whose identity is taken off the account; one that it does not have changes nothing.
  package var removedProviders: [String] = []
  package var addedIdentities: [LinkedIdentity] = []

  package init() {}
}

/// A change, and on whose word.
package struct AccountChangeIntent: Sendable {
  package let target: AccountTarget
  package let change: AccountChange
  package let origin: Origin
  package let now: UnixTime

  package init(target: AccountTarget, change: AccountChange, origin: Origin, now: UnixTime) {
    self.target = target
    self.change = change
    self.origin = origin
    self.now = now
  }
}

/// What a change came to.
package enum AccountChangeOutcome: Sendable, Equatable {
  case changed(Account)
  case refused(BearerRefusal)
  /// Another account holds the address.
  case emailTaken
  /// Another account has the identity, or the account has another of that provider.
  case identityTaken
}

/// A moment that lies no further back counts as now: what an administrator's clock calls now was read before the
/// request was sent.
private let nowSeconds: Int64 = 5

/// Decides a change inside a transaction; all of it or nothing.
package func decideAccountChange(
  _ intent: AccountChangeIntent, in ledger: inout some Ledger
) throws(StorageError) -> AccountChangeOutcome {
  let change = intent.change
  var account: Account
  switch try decideTarget(of: intent.target, isGrave: !change.removedProviders.isEmpty, in: &ledger) {
  case .success(let found): account = found
  case .failure(let refusal): return .refused(refusal)
  }
  if case .set(let email) = change.email, email != account.profile.email,
    try ledger.accounts(holding: email).contains(where: { $0.id != account.id })
  {
    return .emailTaken
  }
  for added in change.addedIdentities {
    let present =
      change.removedProviders.contains(added.provider) ? nil : account.identity(at: added.provider)
    let isOther = present.map { $0.identity != added.identity } ?? false
    let holder = try ledger.account(holding: added.identity)
    guard !isOther, holder == nil || holder?.id == account.id else { return .identityTaken }
  }

  let wasDisabled = account.isDisabled
  account.apply(change, at: intent.now)
  try ledger.update(account)
  try changeIdentities(of: &account, change, at: intent.now, in: &ledger)
  if let moment = change.validSince {
    let limit = moment >= intent.now - nowSeconds ? UnixTime(.max) : moment
    try ledger.finishSessions(of: account.id, openedUpTo: limit, as: .revoked, at: intent.now)
    try ledger.audit(.sessionsEnded, by: intent.origin, at: intent.now, account: account.id)
  }
  try recordDisabling(of: account, wasDisabled: wasDisabled, intent, in: &ledger)
  let fields = change.changedFields
  if !fields.isEmpty {
    try ledger.audit(
      .accountChanged, by: intent.origin, at: intent.now, account: account.id,
      detail: fields.joined(separator: " "))
  }
  return .changed(account)
}

/// A disabled account's tokens are void, though no session of it ends; those of one that is enabled again are not.
private func recordDisabling(
  of account: Account, wasDisabled: Bool, _ intent: AccountChangeIntent, in ledger: inout some Ledger
) throws(StorageError) {
  guard account.isDisabled != wasDisabled else { return }
  try ledger.revoke(account.isDisabled ? .account : .restored, of: account.id, at: intent.now)
  try ledger.audit(
    account.isDisabled ? .accountDisabled : .accountEnabled, by: intent.origin, at: intent.now,
    account: account.id)
}

extension AccountChange {
  /// Names of what is changed, without what is audited under a name of its own.
  fileprivate var changedFields: [String] {
    [
      ("displayName", displayName != .keep), ("photoUrl", photoURL != .keep), ("email", email != .keep),
      ("emailVerified", isEmailVerified != nil), ("customClaims", customClaims != .keep),
      ("unlinked", !removedProviders.isEmpty), ("linked", !addedIdentities.isEmpty),
    ].compactMap { $1 ? $0 : nil }
  }
}

private func changeIdentities(
  of account: inout Account, _ change: AccountChange, at now: UnixTime, in ledger: inout some Ledger
) throws(StorageError) {
  for provider in change.removedProviders {
    // What comes back in the same call never went.
    guard let removed = account.identity(at: provider),
      !change.addedIdentities.contains(where: { $0.identity == removed.identity })
    else { continue }
    // Nobody would know later whose it was.
    if provider == appleProviderID { try ledger.relinquish(removed, of: account.id, at: now) }
    try ledger.delete(removed.identity)
    account.identities.removeAll { $0.provider == provider }
  }
  for added in change.addedIdentities {
    if let place = account.identities.firstIndex(where: { $0.identity == added.identity }) {
      // What was heard of the consent and of the mail is nobody's to say but Apple's.
      let known = account.identities[place]
      var linked = added
      (linked.credentialState, linked.client) = (known.credentialState, known.client)
      (linked.isEmailDeliverable, linked.emailChangedAt) = (known.isEmailDeliverable, known.emailChangedAt)
      (linked.transfer, linked.formerSubject) = (known.transfer, known.formerSubject)
      account.identities[place] = linked
      try ledger.update(linked)
    } else {
      account.identities.append(added)
      try ledger.insert(added, of: account.id)
      try ledger.announce(.userLinked, of: account.id, provider: added.provider, at: now)
    }
  }
}

extension Account {
  fileprivate mutating func apply(_ change: AccountChange, at now: UnixTime) {
    change.displayName.apply(to: &chosenName)
    // What was cleared may be learnt again.
    if change.displayName == .clear { name = nil }
    change.photoURL.apply(to: &photoURL)
    change.customClaims.apply(to: &customClaims)
    if let isDisabled = change.isDisabled { self.isDisabled = isDisabled }
    if let moment = change.validSince { validSince = min(moment, now) }
    if !change.addedIdentities.isEmpty { isAnonymous = false }
    applyEmail(change)
  }

  private mutating func applyEmail(_ change: AccountChange) {
    var email = profile.email
    change.email.apply(to: &email)
    let isNew = email != profile.email
    let isVerified = change.isEmailVerified ?? (isNew ? false : profile.isEmailVerified)
    // Who says it again vouches for what an import said.
    guard change.email != .keep || change.isEmailVerified != nil else { return }
    emailOrigin = email == nil ? .provider : .administrator
    if email != nil { isAnonymous = false }
    profile = Profile(
      email: email, isEmailVerified: isVerified && email != nil,
      isPrivateEmail: isNew ? false : profile.isPrivateEmail, realUserStatus: profile.realUserStatus)
  }
}
