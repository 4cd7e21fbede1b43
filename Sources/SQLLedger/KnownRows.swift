internal import Domain
package import Storage

/// Rows that were locked and read before a group's transactions, as they are after what these have written since. What
/// is not in it is asked of the database.
package struct KnownRows {
  var sessions: [SessionID: Session?] = [:]
  var accounts: [AccountID: Account] = [:]
  var holders: [ProviderIdentity: AccountID?] = [:]
  var credentials: [CredentialKey: SpentCredential?] = [:]
  private var joined = AccountRows()

  /// Nothing was found yet of what is wanted.
  package init(wanted rows: DecisionRows) {
    for id in rows.sessions { sessions[id] = .some(nil) }
    for identity in rows.identities { holders[identity] = .some(nil) }
    for key in rows.credentials { credentials[key] = .some(nil) }
  }

  /// Takes a row of ``SessionSQL/columns``.
  package mutating func takeSession(_ row: inout some SQLRow) throws(StorageError) {
    let session = try row.session()
    sessions[session.id] = session
  }

  /// Takes a row of an account and one of its identities, those of one account in a row.
  package mutating func takeAccount(_ row: inout some SQLRow) throws(StorageError) {
    try joined.take(&row)
  }

  /// Takes the accounts whose rows have come.
  package mutating func finishAccounts() {
    for account in joined.accounts {
      accounts[account.id] = account
      for linked in account.identities where holders[linked.identity] != nil {
        holders[linked.identity] = account.id
      }
    }
    joined = AccountRows()
  }

  /// Takes a row of a spent credential, its key first.
  package mutating func takeCredential(_ row: inout some SQLRow) throws(StorageError) {
    let key = CredentialKey(stamp: try row.time(), digest: try row.bytes())
    credentials[key] = try row.spentCredential(key)
  }
}

// What is written since.
extension KnownRows {
  mutating func note(_ session: Session) {
    // What else goes from a session that ends, the statement knows.
    sessions[session.id] = session.end == nil ? .some(session) : nil
  }

  /// - Parameter isNew: It has no identities yet; of a known one they stay.
  mutating func note(_ account: Account, isNew: Bool) {
    guard let identities = isNew ? [] : accounts[account.id]?.identities else { return }
    accounts[account.id] = account
    accounts[account.id]?.identities = identities
  }

  mutating func note(_ linked: LinkedIdentity, of account: AccountID) {
    holders[linked.identity] = account
    // In the order of the statement's next answer.
    accounts[account] = nil
  }

  mutating func note(_ linked: LinkedIdentity) {
    guard case let account?? = holders[linked.identity],
      let place = accounts[account]?.identities.firstIndex(where: { $0.identity == linked.identity })
    else { return accounts.removeAll() }
    accounts[account]?.identities[place] = linked
  }

  /// After a change that is not followed here.
  mutating func forget() { self = KnownRows(wanted: DecisionRows()) }
}
