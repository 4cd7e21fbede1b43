package import Domain

/// An account is to go, with everything that is known of the person.
package struct AccountDeletionIntent: Sendable {
  package let target: AccountTarget
  /// Whether only a disabled account may go.
  package let demandsDisabled: Bool
  package let origin: Origin
  package let now: UnixTime

  package init(target: AccountTarget, demandsDisabled: Bool, origin: Origin, now: UnixTime) {
    self.target = target
    self.demandsDisabled = demandsDisabled
    self.origin = origin
    self.now = now
  }
}

/// What it came to.
package enum AccountDeletionOutcome: Sendable, Equatable {
  case deleted(Account)
  case refused(BearerRefusal)
  case notDisabled
}

/// Decides a deletion inside a transaction. Records of used credentials outlive the account.
package func decideAccountDeletion(
  _ intent: AccountDeletionIntent, in ledger: inout some Ledger
) throws(StorageError) -> AccountDeletionOutcome {
  let account: Account
  switch try decideTarget(of: intent.target, isGrave: true, in: &ledger) {
  case .success(let found): account = found
  case .failure(let refusal): return .refused(refusal)
  }
  guard account.isDisabled || !intent.demandsDisabled else { return .notDisabled }
  try ledger.finishSessions(of: account.id, as: .ended, at: intent.now)
  var remark: String?
  if let apple = account.identity(at: appleProviderID) {
    remark = try ledger.relinquish(apple, of: account.id, at: intent.now)
  }
  try ledger.delete(account.id)
  try ledger.revoke(.account, of: account.id, at: intent.now)
  try ledger.audit(
    .accountDeleted, by: intent.origin, at: intent.now, account: account.id, detail: remark)
  try ledger.announce(
    .userDeleted, of: account.id, cause: WebhookCause(intent.origin.actor), at: intent.now)
  return .deleted(account)
}
