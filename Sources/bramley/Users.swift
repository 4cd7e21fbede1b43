internal import API
internal import AppleIdentity
internal import Assembly
internal import Domain
internal import Sessions
internal import Settings
internal import Storage
internal import Wire

/// `bramley users list` and `show`, and what changes accounts.
func users(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments =
    list.contains("list")
    ? try parse(
      list, options: ["config", "limit", "after", "id", "email", "provider", "subject"],
      switches: ["json", "newest"])
    : try parse(list)
  let words = arguments.words
  switch (words.first, words.count) {
  case ("list", 1): return try await listUsers(arguments)
  case ("show", 2): return try await showUser(arguments, try accountID(words[1]))
  case ("disable", 2): return try await setDisabled(true, arguments, try accountID(words[1]))
  case ("enable", 2): return try await setDisabled(false, arguments, try accountID(words[1]))
  case ("set-claims", 3): return try await setClaims(words[2], arguments, try accountID(words[1]))
  case ("end-sessions", 2), ("end-sessions", 3):
    return try await endSessions(arguments, try accountID(words[1]), words.count > 2 ? words[2] : nil)
  case ("delete", 2): return try await deleteUser(arguments, try accountID(words[1]))
  default:
    throw .usage(
      "users takes `list`; `show`, `disable`, `enable`, `end-sessions` or `delete` and an id; "
        + "or `set-claims`, an id and a JSON object")
  }
}

/// The account id that a word is.
func accountID(_ word: String) throws(CommandFault) -> AccountID {
  guard let id = AccountID(word) else { throw .usage("`\(word)` is no account id") }
  return id
}

// What is only read.

private func listUsers(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  let limit = Int(try arguments.number("limit", 1...1000) ?? 100)
  let cursor = try arguments.number("after", 0...(.max)).map { AccountCursor(position: $0) }
  let isNewestFirst = arguments.has("newest")
  let keys = try searchKeys(arguments)
  return try await withDatabase(arguments) { settings, storage throws(CommandFault) in
    let page = try await fromStorage { () throws(StorageError) in
      if let keys { return AccountPage(accounts: try await storage.find(keys), next: nil) }
      return try await storage.accounts(from: cursor, isNewestFirst: isNewestFirst, limit: limit)
    }
    if keys != nil, page.accounts.isEmpty {
      throw CommandFault(status: ExitStatus.refused, message: "there is no such account")
    }
    if arguments.has("json") {
      var out = JSONWriter()
      out.member("users", jsonArray: page.accounts.map { $0.json(at: settings.appleKey?.teamID) })
      if let next = page.next { out.member("next", String(next.position)) }
      printJSON(out)
    } else {
      for account in page.accounts {
        print(
          "\(account.id)  \(account.profile.email?.text ?? "-")  \(account.displayName ?? "-")"
            + (account.isDisabled ? "  disabled" : ""))
      }
      if let next = page.next { print("more: --after \(next.position)") }
    }
    return ExitStatus.done
  }
}

/// What is searched for; nil when everybody is listed.
private func searchKeys(_ arguments: Arguments) throws(CommandFault) -> [AccountKey]? {
  switch (arguments["id"], arguments["email"], arguments["provider"], arguments["subject"]) {
  case (nil, nil, nil, nil): return nil
  case (let id?, nil, nil, nil): return [.id(try accountID(id))]
  case (nil, let text?, nil, nil):
    let keys = AccountKey.spellings(ofEmail: text)
    guard !keys.isEmpty else { throw .usage("--email takes an e-mail address") }
    return keys
  case (nil, nil, let provider?, let text?):
    guard let subject = Subject(text) else { throw .usage("--subject takes a person's id at the provider") }
    return [.identity(ProviderIdentity(provider: provider, subject: subject))]
  default: throw .usage("search by --id, by --email, or by --provider and --subject")
  }
}

private func showUser(_ arguments: Arguments, _ id: AccountID) async throws(CommandFault) -> Int32 {
  try await withDatabase(arguments) { settings, storage throws(CommandFault) in
    let account = try await fromStorage { () throws(StorageError) in try await storage.account(id) }
    guard let account else { throw noAccount(id) }
    let limits = settings.sessionLimits
    let sessions = try await fromStorage { () throws(StorageError) in
      try await storage.sessions(of: id, within: limits, at: WallClock.system.now())
    }
    let grants = try await fromStorage { () throws(StorageError) in
      try await storage.appleGrants(of: account)
    }
    if arguments.has("json") {
      printJSON(
        account.json(at: settings.appleKey?.teamID) { out in
          out.member("sessions", jsonArray: sessions.map { $0.json(limits: limits, isCurrent: nil) })
          out.member("appleTokens", jsonArray: grants.map(\.json))
        })
    } else {
      printAccount(account, sessions, at: settings.appleKey?.teamID)
      for grant in grants {
        print("Apple token   of \(grant.client), looked at again \(grant.dueAt.seconds)")
      }
    }
    return ExitStatus.done
  }
}

private func printAccount(_ account: Account, _ sessions: [Session], at team: TeamID?) {
  print("id            \(account.id)")
  print("created       \(account.createdAt.seconds)")
  print("last sign-in  \(account.lastSignInAt.seconds)")
  print("disabled      \(account.isDisabled)")
  print("name          \(account.displayName ?? "-")")
  print(
    "e-mail        \(account.profile.email?.text ?? "-")"
      + (account.profile.isEmailVerified ? ", verified" : "")
      + (account.profile.isPrivateEmail ? ", relay address" : "")
      + (account.profile.email != nil && !account.isEmailDeliverable ? ", switched off there" : ""))
  print("consent       \(account.credentialState(at: team).rawValue)")
  if let claims = account.customClaims { print("claims        \(claims)") }
  for identity in account.identities {
    let former = identity.formerSubject.map { ", formerly \($0)" } ?? ""
    print("identity      \(identity.provider) \(identity.subject)\(former)")
  }
  for session in sessions { print("session       \(session.id), last used \(session.rotatedAt.seconds)") }
}

private func noAccount(_ id: AccountID) -> CommandFault {
  CommandFault(status: ExitStatus.refused, message: "there is no account \(id)")
}

// What is changed: by one node more, whose changes the running ones notice.

private let origin = Origin(actor: .command)

private func setDisabled(
  _ isDisabled: Bool, _ arguments: Arguments, _ id: AccountID
) async throws(CommandFault) -> Int32 {
  var change = AccountChange()
  change.isDisabled = isDisabled
  return try await changeUser(arguments, id, change, "\(id) is \(isDisabled ? "disabled" : "enabled")")
}

private func setClaims(
  _ text: String, _ arguments: Arguments, _ id: AccountID
) async throws(CommandFault) -> Int32 {
  var change = AccountChange()
  do {
    change.customClaims = try customClaims(from: text).map { .set($0) } ?? .clear
  } catch {
    switch error {
    case .malformed: throw .usage("claims are one JSON object")
    case .tooLarge: throw .usage("claims have at most \(Limits.customClaimsLength) characters")
    case .forbidden(let name): throw .usage("no claim of yours may be called `\(name)`")
    }
  }
  return try await changeUser(arguments, id, change, "the next tokens of \(id) have these claims")
}

private func changeUser(
  _ arguments: Arguments, _ id: AccountID, _ change: AccountChange, _ sentence: String
) async throws(CommandFault) -> Int32 {
  let intent = AccountChangeIntent(
    target: .administered(id), change: change, origin: origin, now: WallClock.system.now())
  return try await withDatabase(arguments, open: openDatabaseForChange) {
    settings, storage throws(CommandFault) in
    let outcome = try await fromStorage { () throws(StorageError) in try await storage.change(intent) }
    // Neither an address nor an identity is changed here, so that none can be taken.
    guard case .changed(let account) = outcome else { throw noAccount(id) }
    if arguments.has("json") {
      printJSON(account.json(at: settings.appleKey?.teamID))
    } else {
      print(sentence)
    }
    return ExitStatus.done
  }
}

private func endSessions(
  _ arguments: Arguments, _ id: AccountID, _ word: String?
) async throws(CommandFault) -> Int32 {
  var session: SessionID?
  if let word {
    guard let named = SessionID(hex: word) else { throw .usage("`\(word)` is no session id") }
    session = named
  }
  let intent = SessionEndingIntent(
    target: .administered(id, session), origin: origin, now: WallClock.system.now())
  return try await withDatabase(arguments, open: openDatabaseForChange) { _, storage throws(CommandFault) in
    switch try await fromStorage({ () throws(StorageError) in try await storage.endSessions(intent) }) {
    case .ended(_, let count):
      tell(arguments, "\(count) \(count == 1 ? "session has" : "sessions have") ended") { out in
        out.member("ended", Int64(count))
      }
      return ExitStatus.done
    case .refused: throw noAccount(id)
    case .notFound: throw CommandFault(status: ExitStatus.refused, message: "\(id) has no such session")
    }
  }
}

private func deleteUser(_ arguments: Arguments, _ id: AccountID) async throws(CommandFault) -> Int32 {
  let intent = AccountDeletionIntent(
    target: .administered(id), demandsDisabled: false, origin: origin, now: WallClock.system.now())
  return try await withDatabase(arguments, open: openDatabaseForChange) { _, storage throws(CommandFault) in
    let outcomes = try await fromStorage { () throws(StorageError) in try await storage.delete([intent]) }
    guard case .deleted? = outcomes.first else { throw noAccount(id) }
    tell(arguments, "\(id) and everything that was known of the person is deleted") { out in
      out.member("deleted", id.text)
    }
    return ExitStatus.done
  }
}
