internal import API
internal import Assembly
internal import Domain
internal import Sessions
internal import Settings
internal import Storage
internal import Wire

/// `bramley keys list`, `rotate`, `revoke KID` and `rewrap`.
func keys(_ list: [String]) async throws(CommandFault) -> Int32 {
  let isRotation = list.contains("rotate")
  let arguments = try parse(list, switches: isRotation ? ["json", "now", "force"] : ["json"])
  switch arguments.words.first {
  case "list" where arguments.words.count == 1: return try await listKeys(arguments)
  case "rotate" where arguments.words.count == 1: return try await rotateKeys(arguments)
  case "revoke" where arguments.words.count == 2: return try await revokeKey(arguments)
  case "rewrap" where arguments.words.count == 1: return try await rewrapKeys(arguments)
  default: throw .usage("keys takes `list`, `rotate`, `revoke` and a kid, or `rewrap`")
  }
}

private func rotateKeys(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  let urgency: RotationUrgency =
    arguments.has("force") ? .forced : arguments.has("now") ? .now : .whenReady
  return try await withKeys(arguments) { settings, storage throws(StartFault) in
    switch try await rotateSigningKeys(settings, in: storage, urgency) {
    case .rotated(let active):
      tell(arguments, "\(active) signs now") { out in
        out.member("outcome", "rotated")
        out.member("active", active.text)
      }
    case .scheduled(let time):
      tell(arguments, "the next key is too young; the running services change to it at \(time.seconds)") {
        out in
        out.member("outcome", "scheduled")
        out.member("at", time.seconds)
      }
    case .tooEarly(let time):
      complain(
        "verifiers may not have the next key yet" + (time.map { " before \($0.seconds)" } ?? "")
          + ": --force changes to it all the same, and what it signs may be refused for a while")
      guard arguments.has("json") else { return ExitStatus.refused }
      var out = JSONWriter()
      out.member("outcome", "too_early")
      if let time { out.member("at", time.seconds) }
      printJSON(out)
      return ExitStatus.refused
    }
    return ExitStatus.done
  }
}

private func revokeKey(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  guard let id = KeyID(arguments.words[1]) else { throw .usage("that is no kid") }
  return try await withKeys(arguments) { settings, storage throws(StartFault) in
    guard let active = try await revokeSigningKey(id, settings, in: storage) else {
      complain("there is no signing key \(id)")
      return ExitStatus.refused
    }
    tell(arguments, "\(id) is withdrawn; \(active) signs") { out in
      out.member("revoked", id.text)
      out.member("active", active.text)
    }
    return ExitStatus.done
  }
}

private func rewrapKeys(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  try await withKeys(arguments) { settings, storage throws(StartFault) in
    let rewrapping = try await rewrap(settings, in: storage)
    let count = rewrapping.signingKeys
    tell(
      arguments,
      """
      \(count) signing \(count == 1 ? "key was" : "keys were") sealed with the first master key, and \
      \(rewrapping.appleSecrets) of Apple's codes and tokens. A node whose BRAMLEY_MASTER_KEY lacks it cannot start \
      any more, and loses the next key that is made.
      """
    ) { out in
      out.member("rewrapped", Int64(count))
      out.member("appleSecretsRewrapped", Int64(rewrapping.appleSecrets))
    }
    if rewrapping.unreadable > 0 {
      complain("\(rewrapping.unreadable) of Apple's codes and tokens were sealed by a key that is not set")
    }
    return ExitStatus.done
  }
}

/// Changes the signing keys of a database that has some.
private func withKeys(
  _ arguments: Arguments, _ work: (Settings, any Storage) async throws(StartFault) -> Int32
) async throws(CommandFault) -> Int32 {
  try await withDatabase(arguments, open: openDatabaseForChange) { settings, storage throws(CommandFault) in
    let book = try await fromStorage { () throws(StorageError) in try await storage.signingKeys() }
    guard !book.keys.isEmpty else {
      throw CommandFault(
        status: ExitStatus.refused, message: "there are no signing keys yet: the first start makes them")
    }
    do throws(StartFault) {
      return try await work(settings, storage)
    } catch {
      throw CommandFault(status: error.exitStatus, message: error.sentence)
    }
  }
}

private func listKeys(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  try await withDatabase(arguments, open: inspectDatabase) { settings, storage throws(CommandFault) in
    let book = try await fromStorage { () throws(StorageError) in try await storage.signingKeys() }
    let counts = try await fromStorage { () throws(StorageError) in
      try await storage.sessionCounts(within: settings.sessionLimits, at: WallClock.system.now())
    }
    let secrets = try await fromStorage { () throws(StorageError) in try await storage.appleSecretCounts() }
    let chain = try await fromStorage { () throws(StorageError) in try await storage.auditChain() }
    if arguments.has("json") {
      printJSON(
        book.json(
          liveSessions: counts, auditEnds: chain.endsByMasterKey, appleSecrets: secrets,
          rules: SigningKeyRules(settings)))
    } else {
      printTable(book, counts, leeway: settings.clockLeeway)
      for id in chain.endsByMasterKey.keys.map(\.description).sorted() {
        print("master key \(id): signs the audit")
      }
      for (id, count) in secrets.sorted(by: { $0.key.description < $1.key.description }) {
        print("master key \(id): seals \(count) of Apple's codes and tokens")
      }
    }
    return ExitStatus.done
  }
}

private func printTable(_ book: SigningKeyBook, _ counts: [MasterKeyID: Int], leeway: Int64) {
  for key in book.keys {
    var line = "\(key.id)  \(key.algorithm)  \(key.role.rawValue)  sealed by \(key.masterKey)"
    line += "  created \(key.createdAt.seconds)"
    if key.role == .standby { line += "  may sign from \(key.readyAt(leeway: leeway).seconds)" }
    if let time = key.activeSince { line += "  active since \(time.seconds)" }
    if key.isToRetire { line += "  rotation requested" }
    if let time = key.retiredAt { line += "  retired \(time.seconds)" }
    if let time = key.publishedUntil(leeway: leeway) { line += "  published until \(time.seconds)" }
    print(line)
  }
  for (id, count) in counts.sorted(by: { $0.key.description < $1.key.description }) {
    print("master key \(id): \(count) live \(count == 1 ? "session" : "sessions")")
  }
}
