internal import API
internal import Assembly
internal import Domain
internal import Settings
internal import Storage
internal import Wire

/// `bramley apple queue list` and `retry`, `bramley apple notifications`, and `bramley apple transfer`.
func apple(_ list: [String]) async throws(CommandFault) -> Int32 {
  if list.first == "transfer" { return try await transfer(Array(list.dropFirst())) }
  let isRetry = list.contains("retry")
  let arguments = try parse(
    list, options: isRetry ? ["config"] : ["config", "after", "limit"],
    switches: isRetry ? ["json", "all"] : ["json"])
  let words = arguments.words
  if words == ["notifications"], !arguments.has("all"), arguments["after"] == nil {
    return try await listNotifications(arguments)
  }
  guard words.first == "queue", words.count >= 2 else {
    throw .usage("apple takes `queue list`, `queue retry`, `notifications` or `transfer`")
  }
  switch (words[1], words.count, arguments.has("all")) {
  case ("list", 2, false): return try await listQueue(arguments)
  case ("retry", 2, true): return try await retry(nil, arguments)
  case ("retry", 3, false): return try await retry(try workID(words[2]), arguments)
  default: throw .usage("apple queue takes `list`, or `retry` and an id or --all")
  }
}

private func workID(_ word: String) throws(CommandFault) -> AppleSecretID {
  guard let id = AppleSecretID(hex: word) else { throw .usage("`\(word)` is no id of the queue") }
  return id
}

private func listQueue(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  let limit = Int(try arguments.number("limit", 1...Int64(Limits.appleWorkPage)) ?? 100)
  let start = try arguments["after"].map { (word) throws(CommandFault) in try workID(word) }
  return try await withDatabase(arguments) { _, storage throws(CommandFault) in
    let counts = try await fromStorage { () throws(StorageError) in try await storage.appleWorkCounts() }
    // One more than asked for tells whether there is a next page.
    let found = try await fromStorage { () throws(StorageError) in
      try await storage.appleWork(after: start, limit: limit + 1)
    }
    let page = found.prefix(limit)
    let next = found.count > limit ? page.last?.id : nil
    if arguments.has("json") {
      var out = JSONWriter(reserving: 256 * (page.count + 1))
      out.member("queue", jsonArray: page.map(\.json))
      out.object("counts") { out in
        for count in counts { out.member(count.kind.rawValue, Int64(count.count)) }
      }
      out.member("next", next?.description)
      printJSON(out)
    } else {
      for work in page { print(work.line) }
      if let next { print("more: --after \(next)") }
    }
    return ExitStatus.done
  }
}

extension AppleWork {
  fileprivate var line: String {
    "\(id)  \(kind.rawValue)  \(account)  \(client)  asked \(createdAt.seconds)  due \(dueAt.seconds)"
      + "  attempts \(attempts)" + (fault.map { "  \($0)" } ?? "")
  }
}

private func retry(_ id: AppleSecretID?, _ arguments: Arguments) async throws(CommandFault) -> Int32 {
  try await withDatabase(arguments, open: openDatabaseForChange) { settings, storage throws(CommandFault) in
    let count = try await fromStorage { () throws(StorageError) in
      try await storage.hastenAppleWork(id, at: WallClock.system.now())
    }
    guard count > 0 || id == nil else {
      throw CommandFault(status: ExitStatus.refused, message: "nothing of that id is in the queue")
    }
    tell(
      arguments,
      "\(count) \(count == 1 ? "call comes" : "calls come") due now; a running service makes "
        + (count == 1 ? "it" : "them")
        + (settings.appleKey == nil ? ", once it has a key: BRAMLEY_APPLE_PRIVATE_KEY is not set" : "")
    ) { out in out.member("due", Int64(count)) }
    return ExitStatus.done
  }
}
