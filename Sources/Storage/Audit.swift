package import Domain

/// What was done, in one word.
package enum AuditAction: String, Sendable, CaseIterable {
  case accountCreated = "account_created"
  case accountImported = "account_imported"
  case accountChanged = "account_changed"
  case accountDisabled = "account_disabled"
  case accountEnabled = "account_enabled"
  case accountDeleted = "account_deleted"
  case signedIn = "signed_in"
  case identityLinked = "identity_linked"
  case signedOut = "signed_out"
  case sessionsEnded = "sessions_ended"
  case sessionLimit = "session_limit"
  case refreshTokenReused = "refresh_token_reused"
  case lateRepeat = "late_repeat"
  case counterAhead = "counter_ahead"
  case keyRotated = "key_rotated"
  case keyRevoked = "key_revoked"
  case keysRewrapped = "keys_rewrapped"
}

/// One line of the audit: who did what to which account, from where. No secret, no address of mail and no name.
package struct AuditEntry: Sendable, Equatable {
  /// Its place; zero until it is written.
  package let position: Int64
  package let at: UnixTime
  package let action: AuditAction
  /// ``Actor/text``.
  package let actor: String
  package let account: AccountID?
  package let session: SessionID?
  package let address: [UInt8]
  package let requestID: String?
  /// Words of ours: a provider, names of fields, a key's id.
  package let detail: String?

  package init(
    position: Int64 = 0, at: UnixTime, action: AuditAction, actor: String, account: AccountID?,
    session: SessionID?, address: [UInt8], requestID: String?, detail: String?
  ) {
    self.position = position
    self.at = at
    self.action = action
    self.actor = actor
    self.account = account
    self.session = session
    self.address = address
    self.requestID = requestID
    self.detail = detail
  }
}

extension Ledger {
  /// Writes a line of the audit, in the transaction of what it tells of.
  mutating func audit(
    _ action: AuditAction, by origin: Origin, at now: UnixTime, account: AccountID? = nil,
    session: SessionID? = nil, detail: String? = nil
  ) throws(StorageError) {
    try append(
      AuditEntry(
        at: now, action: action, actor: origin.actor.text, account: account, session: session,
        address: origin.address, requestID: origin.requestID, detail: detail))
  }
}

/// A place in the chain of the audit: up to where it is sealed, and with what.
package struct AuditSeal: Sendable, Equatable {
  package let position: Int64
  /// The chain's digest there, 32 bytes.
  package let digest: [UInt8]
  /// A code over both, by a key that is not in the database.
  package let code: [UInt8]
  /// The master key that the code was made with.
  package let masterKey: MasterKeyID

  package init(position: Int64, digest: [UInt8], code: [UInt8], masterKey: MasterKeyID) {
    self.position = position
    self.digest = digest
    self.code = code
    self.masterKey = masterKey
  }
}

/// The two ends of the chain: behind what was forgotten, and before what is not sealed yet. Nil before the first.
package struct AuditChainState: Sendable, Equatable {
  package let anchor: AuditSeal?
  package let head: AuditSeal?

  package init(anchor: AuditSeal?, head: AuditSeal?) {
    self.anchor = anchor
    self.head = head
  }
}

/// A line of the audit with the chain's digest behind it; nil until it is sealed.
package struct ChainedEntry: Sendable, Equatable {
  package let entry: AuditEntry
  package let digest: [UInt8]?

  package init(entry: AuditEntry, digest: [UInt8]?) {
    self.entry = entry
    self.digest = digest
  }
}

/// Which lines of the audit are asked for.
package struct AuditQuery: Sendable, Equatable {
  package let after: Int64
  package let account: AccountID?
  package let limit: Int

  package init(after: Int64, account: AccountID?, limit: Int) {
    self.after = after
    self.account = account
    self.limit = limit
  }
}
