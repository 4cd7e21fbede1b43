package import Domain
package import Storage

// What the app's back end is to be told.
extension SQLLedger {
  package var announces: Bool { statements.announces }

  package mutating func append(_ news: WebhookNews, dueAt: UnixTime?) throws(StorageError) {
    try statements.webhooks.insert.run { slots in
      slots.add(news.kind.rawValue)
      slots.add(news.account.text)
      slots.add(news.provider)
      slots.add(news.cause?.rawValue)
      slots.add(news.at)
      slots.add(dueAt)
      slots.add(news.givesUpAt)
    }
  }

  package mutating func update(_ event: WebhookEvent) throws(StorageError) {
    try statements.webhooks.update.runOnOneRow { slots in
      slots.add(event.id.text)
      slots.add(event.dueAt)
      slots.add(event.givesUpAt)
      slots.add(Int64(event.attempts))
      slots.add(event.fault)
      slots.add(event.deadAt)
    }
  }

  package mutating func deleteWebhook(_ id: WebhookID) throws(StorageError) {
    try statements.webhooks.delete.runOnOneRow { $0.add(id.text) }
  }

  package mutating func webhook(_ id: WebhookID) throws(StorageError) -> WebhookEvent? {
    try statements.webhooks.event.webhooks { slots in slots.add(id.text) }.first
  }

  package mutating func webhooks(dueBy now: UnixTime, limit: Int) throws(StorageError) -> [WebhookEvent] {
    try statements.webhooks.dueBy.webhooks { slots in
      slots.add(now)
      slots.add(Int64(limit))
    }
  }

  package mutating func firstWebhook(of account: AccountID) throws(StorageError) -> WebhookEvent? {
    try statements.webhooks.firstOfAccount.webhooks { slots in slots.add(account.text) }.first
  }

  package mutating func webhooks(
    after position: Int64, limit: Int, deadOnly: Bool
  ) throws(StorageError) -> [WebhookEvent] {
    let bind: (inout Slots) -> Void = { slots in
      slots.add(position)
      slots.add(Int64(limit))
    }
    return deadOnly
      ? try statements.webhooks.deadAfter.webhooks(bind) : try statements.webhooks.after.webhooks(bind)
  }

  package mutating func firstWebhookDate() throws(StorageError) -> UnixTime? {
    let date = try statements.webhooks.firstDate.first { (row: inout Row) throws(StorageError) in
      try row.optionalTime()
    }
    return try required(date)
  }

  package mutating func webhookCounts() throws(StorageError) -> WebhookCounts {
    let counts = try statements.webhooks.counts.first { (row: inout Row) throws(StorageError) in
      WebhookCounts(
        waiting: try required(Int(exactly: row.number())), dead: try required(Int(exactly: row.number())),
        oldest: try row.optionalTime())
    }
    return try required(counts)
  }

  /// Returns how many went.
  func sweepWebhooks(_ rules: SweepRules) throws(StorageError) -> Int {
    try statements.webhooks.deleteBefore.count { slots in
      slots.add(rules.credentialsBefore - Limits.deadWebhookSeconds)
      slots.add(Int64(rules.limit))
    }
  }
}

extension SQLStatement {
  fileprivate func webhooks(
    _ bind: (inout Slots) -> Void
  ) throws(StorageError) -> [WebhookEvent] {
    try all(bind) { (row: inout Row) throws(StorageError) in try row.webhook() }
  }
}

extension SQLRow {
  fileprivate mutating func webhook() throws(StorageError) -> WebhookEvent {
    let position = try number()
    let id: WebhookID = try identifier()
    let kind = try required(WebhookKind(rawValue: text()))
    let account: AccountID = try identifier()
    let provider = try optionalText()
    let cause = try optionalText().map { (word) throws(StorageError) in
      try required(WebhookCause(rawValue: word))
    }
    let news = WebhookNews(kind: kind, account: account, provider: provider, cause: cause, at: try time())
    return WebhookEvent(
      id: id, position: position, news: news, dueAt: try optionalTime(), givesUpAt: try time(),
      attempts: try required(Int(exactly: number())), fault: try optionalText(), deadAt: try optionalTime())
  }
}
