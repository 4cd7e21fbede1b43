package import Domain

/// A notification that Apple signed, with what is to be made of it.
package struct AppleNotificationIntent: Sendable {
  /// 32 bytes: the same for one that is sent twice.
  package let digest: [UInt8]
  /// From when on it would not be taken anyway.
  package let expiresAt: UnixTime
  package let events: [AppleEvent]
  /// Whether sessions end when the consent is gone.
  package let endsSessions: Bool
  package let deletion: AppleDeletionPolicy
  package let origin: Origin
  package let now: UnixTime

  package init(
    digest: [UInt8], expiresAt: UnixTime, events: [AppleEvent], endsSessions: Bool,
    deletion: AppleDeletionPolicy, origin: Origin, now: UnixTime
  ) {
    self.digest = digest
    self.expiresAt = expiresAt
    self.events = events
    self.endsSessions = endsSessions
    self.deletion = deletion
    self.origin = origin
    self.now = now
  }
}

/// What one event of a notification came to.
package enum AppleEventOutcome: String, Sendable, CaseIterable {
  case applied
  /// Something newer is known of the person than what it tells.
  case stale
  /// It is about an address that is not the person's any more.
  case otherAddress = "other_address"
  case unknownSubject = "unknown_subject"
  case unknownType = "unknown_type"
}

/// What a notification came to.
package enum AppleNotificationOutcome: Sendable, Equatable {
  /// It had come before; nothing was changed.
  case duplicate
  /// One outcome for each of its events.
  case taken([AppleEventOutcome])
}

/// That a notification has come, so that it is not taken again; and those of its events that nobody here understands.
package struct AppleNotificationRecord: Sendable, Equatable {
  /// 32 bytes.
  package let digest: [UInt8]
  package let receivedAt: UnixTime
  package let expiresAt: UnixTime
  /// Their outlines, one event to a line; nil where every event was understood.
  package let unknown: String?

  package init(digest: [UInt8], receivedAt: UnixTime, expiresAt: UnixTime, unknown: String?) {
    self.digest = digest
    self.receivedAt = receivedAt
    self.expiresAt = expiresAt
    self.unknown = unknown
  }
}

/// Decides what a notification changes, inside a transaction.
package func decideAppleNotification(
  _ intent: AppleNotificationIntent, in ledger: inout some Ledger
) throws(StorageError) -> AppleNotificationOutcome {
  guard try ledger.insert(try record(of: intent, in: &ledger)) else { return .duplicate }
  var outcomes: [AppleEventOutcome] = []
  for event in intent.events {
    switch event {
    case .unknown(let type, _):
      try ledger.audit(
        .appleNotification, by: intent.origin, at: intent.now,
        detail: "\(type) \(AppleEventOutcome.unknownType.rawValue)")
      outcomes.append(.unknownType)
    case .change(let change, let subject, let moment, let email):
      outcomes.append(try apply(change, of: subject, at: moment, email, intent, in: &ledger))
    }
  }
  return .taken(outcomes)
}

private func record(
  of intent: AppleNotificationIntent, in ledger: inout some Ledger
) throws(StorageError) -> AppleNotificationRecord {
  let outlines: [String] = intent.events.compactMap { event in
    if case .unknown(_, let outline) = event { outline } else { nil }
  }
  var isKept = !outlines.isEmpty
  if isKept { isKept = try ledger.keptNotificationCount() < Limits.keptNotifications }
  return AppleNotificationRecord(
    digest: intent.digest, receivedAt: intent.now,
    expiresAt: isKept
      ? max(intent.expiresAt, intent.now + Limits.keptNotificationSeconds) : intent.expiresAt,
    unknown: isKept ? outlines.joined(separator: "\n") : nil)
}

private func apply(
  _ change: AppleChange, of subject: Subject, at moment: UnixTime, _ email: String?,
  _ intent: AppleNotificationIntent, in ledger: inout some Ledger
) throws(StorageError) -> AppleEventOutcome {
  let identity = ProviderIdentity(provider: appleProviderID, subject: subject)
  let account = try ledger.account(holdingOrHavingHeld: identity)
  let outcome: AppleEventOutcome
  if let account, let linked = account.identity(at: appleProviderID) {
    switch change {
    // What the person allowed the team that the app came from, and its relay, are over with the move. That the account
    // at Apple is gone is true of the person, whatever he is called.
    case .emailDisabled where linked.identity != identity, .emailEnabled where linked.identity != identity,
      .consentRevoked where linked.identity != identity:
      outcome = .stale
    case .emailDisabled, .emailEnabled:
      outcome = try mark(
        linked, of: account, isDeliverable: change == .emailEnabled, at: moment, email, intent, in: &ledger)
    case .consentRevoked:
      outcome = try revokeConsent(of: linked, in: account, at: moment, intent, in: &ledger)
    case .accountDeleted:
      outcome = try forget(linked, of: account, at: moment, intent, in: &ledger)
    }
  } else {
    outcome = .unknownSubject
  }
  try ledger.audit(
    .appleNotification, by: intent.origin, at: intent.now, account: account?.id,
    detail: outcome == .applied ? change.rawValue : "\(change.rawValue) \(outcome.rawValue)")
  return outcome
}

/// Of two events the one that happened later counts, in whatever order they come. One that names an address is about
/// that alone: after a transfer, say, or once the person shares another, word of the old one says nothing of the new.
private func mark(
  _ linked: LinkedIdentity, of account: Account, isDeliverable: Bool, at moment: UnixTime,
  _ email: String?, _ intent: AppleNotificationIntent, in ledger: inout some Ledger
) throws(StorageError) -> AppleEventOutcome {
  if let email {
    // What is older than addresses of identities has its own with the account.
    let held = linked.email.map { EmailAddress($0) } ?? account.profile.email
    guard let held, let told = EmailAddress(email), held.reachesSame(as: told) else { return .otherAddress }
  }
  if let last = linked.emailChangedAt, moment < last { return .stale }
  var marked = linked
  (marked.isEmailDeliverable, marked.emailChangedAt) = (isDeliverable, moment)
  try ledger.update(marked)
  if linked.isEmailDeliverable != isDeliverable {
    try ledger.announce(
      isDeliverable ? .emailEnabled : .emailDisabled, of: account.id, provider: linked.provider,
      at: intent.now)
  }
  return .applied
}

/// What hung on the consent ends: sessions that were opened with Apple, tokens of Apple's, and codes that wait. Whoever
/// signed in with Apple since then has consented again, and what came of that stays.
private func revokeConsent(
  of linked: LinkedIdentity, in account: Account, at moment: UnixTime, _ intent: AppleNotificationIntent,
  in ledger: inout some Ledger
) throws(StorageError) -> AppleEventOutcome {
  // An account that is gone at Apple cannot take anything back.
  guard linked.credentialState != .notFound else { return .stale }
  let isStale = account.hasReturnedToApple(since: moment)
  if intent.endsSessions {
    try ledger.finishAppleSessions(openedUpTo: moment, of: account.id, intent)
  }
  try ledger.drop(ofAppleFor: linked.subject, account.id, upTo: isStale ? moment : UnixTime(.max))
  guard !isStale else { return .stale }
  if intent.endsSessions { try ledger.voidSignIns(of: account.id, before: moment) }
  if linked.credentialState != .revoked {
    try ledger.endConsent(
      .revoked, of: linked.identity, in: account, because: .consentRevoked, at: intent.now)
    try ledger.audit(.credentialRevoked, by: intent.origin, at: intent.now, account: account.id)
  }
  return .applied
}

/// The account at Apple is gone for good. Whom Apple vouched for after that has one all the same, so that an older word
/// changes nothing: it was late, or of an account that Apple gave back.
private func forget(
  _ linked: LinkedIdentity, of account: Account, at moment: UnixTime, _ intent: AppleNotificationIntent,
  in ledger: inout some Ledger
) throws(StorageError) -> AppleEventOutcome {
  guard !account.hasReturnedToApple(since: moment) else { return .stale }
  // Nothing is left at Apple that could be revoked.
  try ledger.drop(ofAppleFor: linked.subject, account.id, upTo: UnixTime(.max))
  switch intent.deletion {
  case .delete:
    // Also those that need no identity: the account goes.
    try ledger.finishSessions(of: account.id, as: .revoked, at: intent.now)
    try ledger.delete(account.id)
    try ledger.revoke(.account, of: account.id, at: intent.now)
    try ledger.audit(.accountDeleted, by: intent.origin, at: intent.now, account: account.id)
    try ledger.announce(.userDeleted, of: account.id, cause: .apple, at: intent.now)
  case .anonymise:
    if try ledger.finishSessions(of: account.id, as: .revoked, at: intent.now) > 0 {
      try ledger.audit(.sessionsEnded, by: intent.origin, at: intent.now, account: account.id)
    }
    var nobody = account
    (nobody.name, nobody.chosenName, nobody.photoURL) = (nil, nil, nil)
    (nobody.profile, nobody.emailOrigin) = (.empty, .provider)
    try ledger.update(nobody)
    try ledger.voidSignIns(of: account.id, before: intent.now)
    // What other providers say of the person is personal data as well.
    nobody.identities = account.identities.map {
      LinkedIdentity($0.identity, credentialState: $0.credentialState, client: $0.client)
    }
    for identity in nobody.identities { try ledger.update(identity) }
    try ledger.endConsent(
      .notFound, of: linked.identity, in: nobody, because: .accountDeleted, at: intent.now)
    if nobody != account || linked.credentialState != .notFound {
      try ledger.announce(.userAnonymised, of: account.id, cause: .apple, at: intent.now)
    }
    try ledger.audit(.accountAnonymised, by: intent.origin, at: intent.now, account: account.id)
  case .keep:
    try ledger.finishAppleSessions(openedUpTo: UnixTime(.max), of: account.id, intent)
    try ledger.endConsent(
      .notFound, of: linked.identity, in: account, because: .accountDeleted, at: intent.now)
  }
  return .applied
}

extension Ledger {
  /// Ends those of an account's sessions that were opened with Apple up to a moment.
  fileprivate mutating func finishAppleSessions(
    openedUpTo moment: UnixTime, of account: AccountID, _ intent: AppleNotificationIntent
  ) throws(StorageError) {
    let ended = try sessions(of: account).filter { $0.provider == appleProviderID && $0.createdAt <= moment }
    guard !ended.isEmpty else { return }
    for session in ended { try finish(session, as: .revoked, at: intent.now) }
    try audit(.sessionsEnded, by: intent.origin, at: intent.now, account: account)
  }

  /// Drops tokens of Apple's, and calls to Apple that wait, which are good for nothing any more.
  ///
  /// - Parameter moment: Those from after it stay.
  fileprivate mutating func drop(
    ofAppleFor subject: Subject, _ account: AccountID, upTo moment: UnixTime
  ) throws(StorageError) {
    for grant in try appleGrants(of: subject) where grant.obtainedAt <= moment {
      try deleteAppleGrant(grant.id)
    }
    for work in try appleWork(of: account) where work.subject == subject && work.createdAt <= moment {
      try deleteAppleWork(work.id)
    }
  }
}

extension LedgerStorage {
  package func take(
    _ notification: AppleNotificationIntent
  ) async throws(StorageError) -> AppleNotificationOutcome {
    try await transact { (book) throws(StorageError) in
      try decideAppleNotification(notification, in: &book)
    }
  }

  package func keptNotifications(
    limit: Int
  ) async throws(StorageError) -> [AppleNotificationRecord] {
    try await read { (book) throws(StorageError) in try book.keptNotifications(limit: limit) }
  }
}
