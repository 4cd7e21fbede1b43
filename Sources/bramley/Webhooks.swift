internal import API
internal import Assembly
internal import Domain
internal import Settings
internal import Storage
internal import Wire

/// `bramley webhooks list` and `retry`.
func webhooks(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(
    list, options: list.contains("retry") ? ["config"] : ["config", "after", "limit"],
    switches: ["json", "all"])
  switch (arguments.words.first, arguments.words.count, arguments.has("all")) {
  case ("list", 1, _): return try await listEvents(arguments)
  case ("retry", 1, true): return try await retryAll(arguments)
  case ("retry", 2, false): return try await retry(arguments.words[1], arguments)
  default: throw .usage("webhooks takes `list`, or `retry` and an id or --all")
  }
}

private func listEvents(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  let limit = Int(try arguments.number("limit", 1...Int64(Limits.webhookPage)) ?? 100)
  let start = try arguments.number("after", 0...(.max)) ?? 0
  let deadOnly = !arguments.has("all")
  return try await withDatabase(arguments) { _, storage throws(CommandFault) in
    let counts = try await fromStorage { () throws(StorageError) in try await storage.webhookCounts() }
    // One more than asked for tells whether there is a next page.
    let found = try await fromStorage { () throws(StorageError) in
      try await storage.webhooks(after: start, limit: limit + 1, deadOnly: deadOnly)
    }
    let page = found.prefix(limit)
    let next = found.count > limit ? page.last?.position : nil
    if arguments.has("json") {
      var out = JSONWriter(reserving: 256 * (page.count + 1))
      out.member("events", jsonArray: page.map(\.json))
      out.member("waiting", Int64(counts.waiting))
      out.member("dead", Int64(counts.dead))
      if let next { out.member("next", String(next)) }
      printJSON(out)
    } else {
      for event in page { print(event.line) }
      print("\(counts.waiting) waiting, \(counts.dead) given up")
      if let next { print("more: --after \(next)") }
    }
    return ExitStatus.done
  }
}

extension WebhookEvent {
  fileprivate var line: String {
    let fate =
      deadAt.map { "given up \($0.seconds)" } ?? dueAt.map { "due \($0.seconds)" } ?? "behind another"
    return "\(id)  \(news.kind.rawValue)  \(news.account)  happened \(news.at.seconds)  \(fate)"
      + "  attempts \(attempts)" + (fault.map { "  \($0)" } ?? "")
  }

  fileprivate var json: [UInt8] {
    var out = JSONWriter(reserving: 256)
    out.member("id", id.text)
    out.member("type", news.kind.rawValue)
    out.member("localId", news.account.text)
    out.member("createdAt", news.at.seconds)
    if let dueAt { out.member("dueAt", dueAt.seconds) }
    if let deadAt { out.member("givenUpAt", deadAt.seconds) }
    out.member("attempts", Int64(attempts))
    out.member("fault", fault)
    return out.finish()
  }
}

private func retry(_ word: String, _ arguments: Arguments) async throws(CommandFault) -> Int32 {
  guard let id = WebhookID(word) else { throw .usage("`\(word)` is no id of an event") }
  return try await withDatabase(arguments, open: openDatabaseForChange) {
    settings, storage throws(CommandFault) in
    let count = try await fromStorage { () throws(StorageError) in
      try await storage.retryWebhooks([id], at: WallClock.system.now())
    }
    guard count > 0 else {
      throw CommandFault(status: ExitStatus.refused, message: "no event of that id waits or was given up")
    }
    report(count, settings, arguments)
    return ExitStatus.done
  }
}

/// Page by page, so that a service beside it is never held up for long.
private func retryAll(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  try await withDatabase(arguments, open: openDatabaseForChange) { settings, storage throws(CommandFault) in
    var (count, position) = (0, Int64(0))
    while true {
      let start = position
      let page = try await fromStorage { () throws(StorageError) in
        try await storage.webhooks(after: start, limit: Limits.webhookPage, deadOnly: false)
      }
      guard let last = page.last else { break }
      position = last.position
      let ids = page.map(\.id)
      count += try await fromStorage { () throws(StorageError) in
        try await storage.retryWebhooks(ids, at: WallClock.system.now())
      }
    }
    report(count, settings, arguments)
    return ExitStatus.done
  }
}

private func report(_ count: Int, _ settings: Settings, _ arguments: Arguments) {
  tell(
    arguments,
    "\(count) \(count == 1 ? "event is" : "events are") sent again by a running service"
      + (settings.webhook == nil ? ", once it knows where to: BRAMLEY_WEBHOOK_URL is not set" : "")
  ) { out in out.member("due", Int64(count)) }
}
