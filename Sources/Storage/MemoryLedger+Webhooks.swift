package import Domain

// What the app's back end is to be told, in the order in which it happened.
extension MemoryLedger {
  package mutating func append(_ news: WebhookNews, dueAt: UnixTime?) throws(StorageError) {
    lastWebhook += 1
    outbox.append(
      WebhookEvent(
        id: WebhookID(unchecked: "evt_\(lastWebhook)"), position: lastWebhook, news: news, dueAt: dueAt,
        givesUpAt: news.givesUpAt))
  }

  package mutating func update(_ event: WebhookEvent) throws(StorageError) {
    guard let place = outbox.firstIndex(where: { $0.id == event.id }) else { throw .defect }
    outbox[place] = event
  }

  package mutating func deleteWebhook(_ id: WebhookID) throws(StorageError) {
    guard let place = outbox.firstIndex(where: { $0.id == id }) else { throw .defect }
    outbox.remove(at: place)
  }

  package mutating func webhook(_ id: WebhookID) throws(StorageError) -> WebhookEvent? {
    outbox.first { $0.id == id }
  }

  package mutating func webhooks(dueBy now: UnixTime, limit: Int) throws(StorageError) -> [WebhookEvent] {
    let due = outbox.compactMap { event in event.dueAt.map { (at: $0, event: event) } }.filter {
      $0.at <= now
    }
    return Array(
      due.sorted { ($0.at, $0.event.position) < ($1.at, $1.event.position) }.map(\.event).prefix(limit))
  }

  package mutating func firstWebhook(of account: AccountID) throws(StorageError) -> WebhookEvent? {
    outbox.first { $0.news.account == account && $0.deadAt == nil }
  }

  package mutating func webhooks(
    after position: Int64, limit: Int, deadOnly: Bool
  ) throws(StorageError) -> [WebhookEvent] {
    Array(
      outbox.filter { $0.position > position && (!deadOnly || $0.deadAt != nil) }.prefix(limit))
  }

  package mutating func firstWebhookDate() throws(StorageError) -> UnixTime? {
    outbox.compactMap(\.dueAt).min()
  }

  package mutating func webhookCounts() throws(StorageError) -> WebhookCounts {
    let waiting = outbox.filter { $0.deadAt == nil }
    return WebhookCounts(
      waiting: waiting.count, dead: outbox.count - waiting.count, oldest: waiting.map(\.news.at).min())
  }

  /// Returns how many went.
  mutating func sweepWebhooks(_ rules: SweepRules) -> Int {
    let end = rules.credentialsBefore - Limits.deadWebhookSeconds
    let old = outbox.filter { $0.deadAt ?? $0.givesUpAt < end }.prefix(rules.limit)
    outbox.removeAll { event in old.contains { $0.id == event.id } }
    return old.count
  }
}
