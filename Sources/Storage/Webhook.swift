package import Domain

/// What the app's back end is told of an account.
package enum WebhookKind: String, Sendable, CaseIterable {
  case userCreated = "user.created"
  /// An identity was added to an account.
  case userLinked = "user.linked"
  case consentRevoked = "user.consent_revoked"
  case userDeleted = "user.deleted"
  /// The account stayed, without anything that is known of the person.
  case userAnonymised = "user.anonymised"
  case emailDisabled = "user.email_disabled"
  case emailEnabled = "user.email_enabled"
}

/// Why, or by whom: the words that an event says beside its kind.
package enum WebhookCause: String, Sendable, CaseIterable {
  /// Who deleted an account.
  case person, `operator`, apple, system
  /// Apple told that the consent was taken back.
  case consentRevoked = "consent_revoked"
  /// Apple told that the account there is gone.
  case accountDeleted = "account_deleted"
  /// Apple would not have the refresh token any more.
  case revalidation
  /// It was revoked from here.
  case revokedHere = "revoked_here"

  package init(_ actor: Actor) {
    self =
      switch actor {
      case .person: .person
      case .administrator, .service, .command: .operator
      case .apple: .apple
      case .system: .system
      }
  }
}

/// Names an event, wherever it goes and however often it is sent.
package struct WebhookID: Identifier {
  package static let maximumBytes = 64
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// Something to be told that has just happened.
package struct WebhookNews: Sendable, Equatable {
  package let kind: WebhookKind
  package let account: AccountID
  /// Which identity it is about, or by which way the account came to be.
  package let provider: String?
  package let cause: WebhookCause?
  package let at: UnixTime

  package init(kind: WebhookKind, account: AccountID, provider: String?, cause: WebhookCause?, at: UnixTime) {
    self.kind = kind
    self.account = account
    self.provider = provider
    self.cause = cause
    self.at = at
  }

  /// When it is given up, if nobody took it by then.
  package var givesUpAt: UnixTime { at + Limits.webhookSeconds }
}

/// An event that the back end has not taken yet, or that was given up. What it says never changes: whoever gets it twice
/// gets the same bytes.
package struct WebhookEvent: Sendable, Equatable {
  package let id: WebhookID
  /// Its place in the order in which events happened.
  package let position: Int64
  package let news: WebhookNews
  /// Nil while an older one of the account waits, and once it is given up.
  package var dueAt: UnixTime?
  package var givesUpAt: UnixTime
  /// How often it was begun. Also tells one beginning from the next.
  package var attempts: Int
  /// What the last attempt met, in a word.
  package var fault: String?
  /// When it was given up.
  package var deadAt: UnixTime?

  package init(
    id: WebhookID, position: Int64, news: WebhookNews, dueAt: UnixTime?, givesUpAt: UnixTime,
    attempts: Int = 0, fault: String? = nil, deadAt: UnixTime? = nil
  ) {
    self.id = id
    self.position = position
    self.news = news
    self.dueAt = dueAt
    self.givesUpAt = givesUpAt
    self.attempts = attempts
    self.fault = fault
    self.deadAt = deadAt
  }

  /// What `fault` says while it is on its way.
  package static let sending = "sending"
}

/// How many events wait, and how many were given up.
package struct WebhookCounts: Sendable, Equatable {
  package let waiting: Int
  package let dead: Int
  /// When the oldest that waits happened; nil while none does.
  package let oldest: UnixTime?

  package init(waiting: Int, dead: Int, oldest: UnixTime?) {
    self.waiting = waiting
    self.dead = dead
    self.oldest = oldest
  }
}

/// What an attempt to deliver came to.
package enum WebhookResult: Sendable, Equatable {
  case delivered
  /// - fault: What it met, in a word.
  case failed(fault: String, until: UnixTime)
}

/// What became of the event after that.
package enum WebhookFate: String, Sendable, CaseIterable {
  case delivered, postponed, dead
  /// Somebody else has begun it since.
  case overtaken
}

extension WebhookEvent {
  /// When it is tried again after a failure: seconds at first, half an hour at last.
  ///
  /// - Parameters:
  ///   - jitter: From 0 to 1, so that what failed together does not come back together.
  ///   - wait: Seconds for which the back end wants no other; an hour at most is believed.
  package func nextAttempt(jitter: Double, wait: Int64 = 0, after now: UnixTime) -> UnixTime {
    let doubled = 2 * Double(1 << min(max(attempts - 1, 0), 12))
    return now + max(Int64((min(doubled, 1800) * (0.8 + 0.4 * jitter)).rounded()), min(wait, 3600))
  }
}

extension Ledger {
  /// Writes an event for the app's back end, in the transaction of what it tells of; nothing where there is none.
  ///
  /// Only the oldest event of an account is due: the others follow one by one, so that they arrive in their order.
  mutating func announce(
    _ kind: WebhookKind, of account: AccountID, provider: String? = nil, cause: WebhookCause? = nil,
    at now: UnixTime
  ) throws(StorageError) {
    guard announces else { return }
    let isFirst = try firstWebhook(of: account) == nil
    try append(
      WebhookNews(kind: kind, account: account, provider: provider, cause: cause, at: now),
      dueAt: isFirst ? now : nil)
  }

  /// Has the oldest event of an account come due, if it waited for one before it.
  fileprivate mutating func advance(_ account: AccountID, at now: UnixTime) throws(StorageError) {
    guard var first = try firstWebhook(of: account), first.dueAt == nil else { return }
    first.dueAt = now
    try update(first)
  }
}

/// Begins what is due; it comes due again when nothing is heard of it.
///
/// - Parameter until: When it comes due again.
package func decideWebhookClaim(
  limit: Int, until: UnixTime, at now: UnixTime, in ledger: inout some Ledger
) throws(StorageError) -> [WebhookEvent] {
  var begun: [WebhookEvent] = []
  for var event in try ledger.webhooks(dueBy: now, limit: limit) {
    event.attempts += 1
    (event.fault, event.dueAt) = (WebhookEvent.sending, until)
    try ledger.update(event)
    begun.append(event)
  }
  return begun
}

/// Decides what becomes of an event after an attempt, inside a transaction.
///
/// - Parameter event: As it was begun.
package func decideWebhookSettlement(
  _ event: WebhookEvent, _ result: WebhookResult, at now: UnixTime, in ledger: inout some Ledger
) throws(StorageError) -> WebhookFate {
  guard var present = try ledger.webhook(event.id) else { return .overtaken }
  switch result {
  case .delivered:
    // Whoever else has begun it since.
    try ledger.deleteWebhook(event.id)
    try ledger.advance(event.news.account, at: now)
    return .delivered
  case .failed(let fault, let until):
    guard present.attempts == event.attempts, present.deadAt == nil else { return .overtaken }
    present.fault = fault
    if until > present.givesUpAt {
      (present.dueAt, present.deadAt) = (nil, now)
      try ledger.update(present)
      try ledger.advance(event.news.account, at: now)
      return .dead
    }
    // An older one may have come back to life meanwhile.
    present.dueAt = try ledger.firstWebhook(of: event.news.account)?.id == present.id ? until : nil
    try ledger.update(present)
    return .postponed
  }
}

/// Has an event tried anew: one that was given up begins its days once more.
///
/// - Returns: Whether there is such an event.
package func decideWebhookRetry(
  _ id: WebhookID, at now: UnixTime, in ledger: inout some Ledger
) throws(StorageError) -> Bool {
  guard var event = try ledger.webhook(id) else { return false }
  // It is under way, or was until its node died: what it comes to is not known yet.
  guard event.fault != WebhookEvent.sending || event.deadAt != nil else { return true }
  let account = event.news.account
  if event.deadAt != nil {
    (event.deadAt, event.fault, event.attempts) = (nil, nil, 0)
    event.givesUpAt = now + Limits.webhookSeconds
  }
  if var first = try ledger.firstWebhook(of: account), first.id != id {
    guard event.position < first.position else {
      event.dueAt = nil
      try ledger.update(event)
      return true
    }
    if first.fault != WebhookEvent.sending {
      first.dueAt = nil
      try ledger.update(first)
    }
  }
  event.dueAt = min(event.dueAt ?? now, now)
  try ledger.update(event)
  return true
}

extension LedgerStorage {
  package func beginWebhooks(
    limit: Int, until: UnixTime, at now: UnixTime
  ) async throws(StorageError) -> [WebhookEvent] {
    try await transact { (book) throws(StorageError) in
      try decideWebhookClaim(limit: limit, until: until, at: now, in: &book)
    }
  }

  package func settle(
    _ event: WebhookEvent, _ result: WebhookResult, at now: UnixTime
  ) async throws(StorageError) -> WebhookFate {
    try await transact { (book) throws(StorageError) in
      try decideWebhookSettlement(event, result, at: now, in: &book)
    }
  }

  package func firstWebhookDate() async throws(StorageError) -> UnixTime? {
    try await read { (book) throws(StorageError) in try book.firstWebhookDate() }
  }

  package func webhookCounts() async throws(StorageError) -> WebhookCounts {
    try await read { (book) throws(StorageError) in try book.webhookCounts() }
  }

  package func webhooks(
    after position: Int64, limit: Int, deadOnly: Bool
  ) async throws(StorageError) -> [WebhookEvent] {
    try await read { (book) throws(StorageError) in
      try book.webhooks(after: position, limit: limit, deadOnly: deadOnly)
    }
  }

  package func retryWebhooks(
    _ ids: [WebhookID], at now: UnixTime
  ) async throws(StorageError) -> Int {
    try await transact { (book) throws(StorageError) in
      var count = 0
      for id in ids { if try decideWebhookRetry(id, at: now, in: &book) { count += 1 } }
      return count
    }
  }
}
