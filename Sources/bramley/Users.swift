internal import Domain
internal import Storage
internal import Wire

/// `bramley users list` and `bramley users show ID`.
func users(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(list, options: ["config", "limit", "after"])
  switch arguments.words.first {
  case "list" where arguments.words.count == 1: return try await listUsers(arguments)
  case "show" where arguments.words.count == 2: return try await showUser(arguments)
  default: throw .usage("users takes `list`, or `show` and an id")
  }
}

private func listUsers(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  let limit = Int(try number("limit", of: arguments, 1...1000) ?? 100)
  let cursor = try number("after", of: arguments, 0...(.max)).map { AccountCursor(position: $0) }
  return try await withDatabase(arguments) { _, storage throws(CommandFault) in
    let page = try await fromStorage { () throws(StorageError) in
      try await storage.accounts(after: cursor, limit: limit)
    }
    if arguments.has("json") {
      var out = JSONWriter()
      out.member("users", jsonArray: page.accounts.map { json($0, sessions: nil) })
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

private func showUser(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  guard let id = AccountID(arguments.words[1]) else { throw .usage("that is no account id") }
  return try await withDatabase(arguments) { _, storage throws(CommandFault) in
    let account = try await fromStorage { () throws(StorageError) in try await storage.account(id) }
    guard let account else {
      throw CommandFault(status: ExitStatus.refused, message: "there is no account \(id)")
    }
    let sessions = try await fromStorage { () throws(StorageError) in try await storage.sessions(of: id) }
    if arguments.has("json") {
      print(String(decoding: json(account, sessions: sessions), as: UTF8.self))
    } else {
      printAccount(account, sessions)
    }
    return ExitStatus.done
  }
}

private func json(_ account: Account, sessions: [Session]?) -> [UInt8] {
  var out = JSONWriter()
  out.member("localId", account.id.text)
  out.member("createdAt", account.createdAt.seconds)
  out.member("lastSignInAt", account.lastSignInAt.seconds)
  out.member("disabled", account.isDisabled)
  if let email = account.profile.email {
    out.member("email", email.text)
    out.member("emailVerified", account.profile.isEmailVerified)
    out.member("isPrivateEmail", account.profile.isPrivateEmail)
  }
  out.member("displayName", account.displayName)
  if let status = account.profile.realUserStatus { out.member("realUserStatus", status.rawValue) }
  out.member(
    "identities",
    jsonArray: account.identities.map { identity in
      var out = JSONWriter()
      out.member("providerId", identity.provider)
      out.member("subject", identity.subject.text)
      return out.finish()
    })
  if let sessions { out.member("sessions", jsonArray: sessions.map(json)) }
  return out.finish()
}

private func json(_ session: Session) -> [UInt8] {
  var out = JSONWriter()
  out.member("sessionId", session.id.description)
  out.member("createdAt", session.createdAt.seconds)
  out.member("lastUsedAt", session.rotatedAt.seconds)
  if let device = session.device {
    out.object("device") { out in
      out.member("name", device.name)
      out.member("model", device.model)
      out.member("os", device.os)
      out.member("appVersion", device.appVersion)
    }
  }
  return out.finish()
}

private func printAccount(_ account: Account, _ sessions: [Session]) {
  print("id            \(account.id)")
  print("created       \(account.createdAt.seconds)")
  print("last sign-in  \(account.lastSignInAt.seconds)")
  print("disabled      \(account.isDisabled)")
  print("name          \(account.displayName ?? "-")")
  print(
    "e-mail        \(account.profile.email?.text ?? "-")"
      + (account.profile.isEmailVerified ? ", verified" : "")
      + (account.profile.isPrivateEmail ? ", relay address" : ""))
  for identity in account.identities { print("identity      \(identity.provider) \(identity.subject)") }
  for session in sessions { print("session       \(session.id), last used \(session.rotatedAt.seconds)") }
}
