package import Domain

/// A session that no identity provider stands behind: an anonymous account's, or one that a custom token asks for.
package struct AccountSessionIntent: Sendable {
  package let account: AccountID
  /// `sign_in_provider` of its tokens.
  package let provider: String
  /// Whether a new account is anonymous.
  package let isAnonymous: Bool
  /// Whether an account that is not there is made.
  package let createsAccount: Bool
  package let customClaims: String?
  package let newSession: SessionID
  package let masterKey: MasterKeyID
  package let rules: SessionOpeningRules
  package let origin: Origin
  package let now: UnixTime

  package init(
    account: AccountID, provider: String, isAnonymous: Bool, createsAccount: Bool, customClaims: String?,
    newSession: SessionID, masterKey: MasterKeyID, rules: SessionOpeningRules, origin: Origin, now: UnixTime
  ) {
    self.account = account
    self.provider = provider
    self.isAnonymous = isAnonymous
    self.createsAccount = createsAccount
    self.customClaims = customClaims
    self.newSession = newSession
    self.masterKey = masterKey
    self.rules = rules
    self.origin = origin
    self.now = now
  }
}

/// How many sessions one account may have; the oldest makes room.
package struct SessionOpeningRules: Sendable, Equatable {
  /// Zero for any number.
  package let maximum: Int
  /// By which a session is over, and takes up no room, that nobody ended; nil where none is.
  package let limits: SessionLimits?

  package init(maximum: Int, limits: SessionLimits? = nil) {
    self.maximum = maximum
    self.limits = limits
  }
}

extension Ledger {
  /// Writes a new session, and ends the oldest ones of its account that are too many.
  ///
  /// - Parameter action: What the audit calls it.
  mutating func open(
    _ session: Session, as action: AuditAction, _ rules: SessionOpeningRules, by origin: Origin,
    at now: UnixTime
  ) throws(StorageError) {
    if rules.maximum > 0 {
      // Newest first, by when they were opened.
      let living = try sessions(of: session.account).filter { other in
        rules.limits.map { !other.isSpent(by: $0, at: now) } ?? true
      }
      for surplus in living.dropFirst(rules.maximum - 1) {
        try finish(surplus, as: .ended, at: now)
        try audit(
          .sessionLimit, by: Origin(actor: .system), at: now, account: session.account, session: surplus.id)
      }
    }
    try insert(session)
    try audit(
      action, by: origin, at: now, account: session.account, session: session.id, detail: session.provider)
  }
}

/// What it came to.
package enum AccountSessionOutcome: Sendable, Equatable {
  case opened(SessionGrant, isNewUser: Bool)
  case accountDisabled
  case accountNotFound
}

/// Decides it inside a transaction.
package func decideAccountSession(
  _ intent: AccountSessionIntent, in ledger: inout some Ledger
) throws(StorageError) -> AccountSessionOutcome {
  var account: Account
  let isNewUser: Bool
  if let known = try ledger.account(intent.account) {
    guard !known.isDisabled else { return .accountDisabled }
    account = known
    account.lastSignInAt = max(account.lastSignInAt, intent.now)
    try ledger.update(account)
    isNewUser = false
  } else {
    guard intent.createsAccount else { return .accountNotFound }
    account = Account(
      id: intent.account, createdAt: intent.now, lastSignInAt: intent.now, isDisabled: false,
      isAnonymous: intent.isAnonymous, profile: .empty, name: nil, identities: [])
    try ledger.insertNamed(account, at: intent.now)
    try ledger.audit(
      .accountCreated, by: intent.origin, at: intent.now, account: account.id, detail: intent.provider)
    try ledger.announce(.userCreated, of: account.id, provider: intent.provider, at: intent.now)
    isNewUser = true
  }
  let session = Session(
    id: intent.newSession, account: account.id, provider: intent.provider, createdAt: intent.now, device: nil,
    customClaims: intent.customClaims, masterKey: intent.masterKey, rotatedAt: intent.now)
  try ledger.open(session, as: .signedIn, intent.rules, by: intent.origin, at: intent.now)
  return .opened(SessionGrant(account: account, session: session), isNewUser: isNewUser)
}
