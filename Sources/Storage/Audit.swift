package import Domain

/// What was done, in one word.
///
/// No closed list: a newer node beside this one, during an upgrade or before a step back, writes words that this one
/// does not know, and they are chained and shown as they stand.
package struct AuditAction: RawRepresentable, Hashable, Sendable, CaseIterable {
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }

  package static let accountCreated = AuditAction(rawValue: "account_created")
  package static let accountImported = AuditAction(rawValue: "account_imported")
  package static let accountChanged = AuditAction(rawValue: "account_changed")
  package static let accountDisabled = AuditAction(rawValue: "account_disabled")
  package static let accountEnabled = AuditAction(rawValue: "account_enabled")
  package static let accountDeleted = AuditAction(rawValue: "account_deleted")
  package static let signedIn = AuditAction(rawValue: "signed_in")
  package static let identityLinked = AuditAction(rawValue: "identity_linked")
  package static let signedOut = AuditAction(rawValue: "signed_out")
  package static let sessionsEnded = AuditAction(rawValue: "sessions_ended")
  package static let sessionLimit = AuditAction(rawValue: "session_limit")
  package static let refreshTokenReused = AuditAction(rawValue: "refresh_token_reused")
  package static let lateRepeat = AuditAction(rawValue: "late_repeat")
  package static let counterAhead = AuditAction(rawValue: "counter_ahead")
  package static let keyMade = AuditAction(rawValue: "key_made")
  package static let keyRotated = AuditAction(rawValue: "key_rotated")
  package static let keyRevoked = AuditAction(rawValue: "key_revoked")
  package static let keysRewrapped = AuditAction(rawValue: "keys_rewrapped")
  package static let appleCodeExchanged = AuditAction(rawValue: "apple_code_exchanged")
  package static let appleRevocationAsked = AuditAction(rawValue: "apple_revocation_asked")
  package static let appleTokenRevoked = AuditAction(rawValue: "apple_token_revoked")
  package static let appleWorkGivenUp = AuditAction(rawValue: "apple_work_given_up")
  package static let credentialRevoked = AuditAction(rawValue: "credential_revoked")
  package static let appleNotification = AuditAction(rawValue: "apple_notification")
  package static let accountAnonymised = AuditAction(rawValue: "account_anonymised")
  package static let identityRekeyed = AuditAction(rawValue: "identity_rekeyed")
  package static let appleTransferExported = AuditAction(rawValue: "apple_transfer_exported")
  package static let databaseRestored = AuditAction(rawValue: "database_restored")
  package static let auditRestarted = AuditAction(rawValue: "audit_restarted")
  package static let sessionHandedOver = AuditAction(rawValue: "session_handed_over")

  /// The words that this version writes.
  package static let allCases: [AuditAction] = [
    accountCreated, accountImported, accountChanged, accountDisabled, accountEnabled, accountDeleted,
    signedIn,
    identityLinked, signedOut, sessionsEnded, sessionLimit, refreshTokenReused, lateRepeat, counterAhead,
    keyMade, keyRotated, keyRevoked, keysRewrapped, appleCodeExchanged, appleRevocationAsked,
    appleTokenRevoked, appleWorkGivenUp,
    credentialRevoked, appleNotification, accountAnonymised, identityRekeyed, appleTransferExported,
    databaseRestored, auditRestarted, sessionHandedOver,
  ]
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

/// Which end of the audit's chain.
package enum AuditEnd: String, Sendable {
  /// Behind what was forgotten.
  case anchor
  /// Before what is not sealed yet.
  case head
}

/// A place in the chain of the audit: up to where it is sealed, and with what.
package struct AuditSeal: Sendable, Equatable {
  package let position: Int64
  /// The chain's digest there, 32 bytes.
  package let digest: [UInt8]
  /// A code over both and over which end it is, by a key that is not in the database.
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

/// The two ends of the chain: the anchor nil until something was forgotten, the head until something was sealed.
package struct AuditChainState: Sendable, Equatable {
  package let anchor: AuditSeal?
  package let head: AuditSeal?

  package init(anchor: AuditSeal?, head: AuditSeal?) {
    self.anchor = anchor
    self.head = head
  }

  /// The ends that there are, in the order of their positions.
  package var ends: [(end: AuditEnd, seal: AuditSeal)] {
    [(AuditEnd.anchor, anchor), (AuditEnd.head, head)].compactMap { end, seal in seal.map { (end, $0) } }
  }

  /// How many ends have a code by each master key.
  package var endsByMasterKey: [MasterKeyID: Int] {
    ends.reduce(into: [:]) { $0[$1.seal.masterKey, default: 0] += 1 }
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
  /// From where, and which way.
  package enum Start: Sendable, Equatable {
    /// Behind a position, oldest first. None of ours is below 1; who asks from further down sees those of others.
    case after(Int64)
    /// Before a position, newest first.
    case before(Int64)
  }

  package let start: Start
  package let account: AccountID?
  package let limit: Int

  package init(_ start: Start, account: AccountID?, limit: Int) {
    self.start = start
    self.account = account
    self.limit = limit
  }

  /// Lines behind a position, oldest first.
  package init(after: Int64, account: AccountID?, limit: Int) {
    self.init(.after(after), account: account, limit: limit)
  }
}
