internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// `/v1/admin/users`: what an administrator sees and changes of anybody's account and sessions.
struct UserAdministration: Sendable {
  let accounts: AccountAdministration
  let limits: SessionLimits

  /// All accounts in the order of their creation or from the newest on, page by page; or the one that a search finds.
  func list(_ call: Call) async throws(Failure) -> Response {
    let query = try call.request.queryFields(
      named: "limit", "cursor", "order", "id", "email", "providerId", "subject")
    let limit = Int(try query.number("limit", 1...Int64(Limits.accountBatch)) ?? 100)
    let cursor = try query.number("cursor", 0...(.max)).map { AccountCursor(position: $0) }
    let isNewestFirst = try isNewestFirst(query)
    let keys = try searchKeys(query)
    let page = try await stored { () throws(StorageError) in
      if let keys { return AccountPage(accounts: try await accounts.storage.find(keys), next: nil) }
      return try await accounts.storage.accounts(from: cursor, isNewestFirst: isNewestFirst, limit: limit)
    }
    var out = JSONWriter(reserving: 1024 * (page.accounts.count + 1))
    out.member("users", jsonArray: page.accounts.map { $0.json(at: call.policy.appleTeam) })
    out.member("cursor", page.next.map { String($0.position) })
    return .json(out.finish())
  }

  private func isNewestFirst(_ query: FormBody) throws(Failure) -> Bool {
    switch query["order"] {
    case nil, "oldest": return false
    case "newest": return true
    default: throw Failure(.fieldInvalid, field: "order")
    }
  }

  /// What is searched for; nil when nothing is. A key that no account can have finds none.
  private func searchKeys(_ query: FormBody) throws(Failure) -> [AccountKey]? {
    switch (query["id"], query["email"], query["providerId"], query["subject"]) {
    case (nil, nil, nil, nil): return nil
    case (let id?, nil, nil, nil): return AccountID(id).map { [.id($0)] } ?? []
    case (nil, let email?, nil, nil): return AccountKey.spellings(ofEmail: email)
    case (nil, nil, let provider?, let subject?):
      guard let subject = Subject(subject) else { return [] }
      return [.identity(ProviderIdentity(provider: asciiLowercase(provider), subject: subject))]
    case (nil, nil, _, nil): throw Failure(.fieldMissing, field: "subject")
    case (nil, nil, nil, _): throw Failure(.fieldMissing, field: "providerId")
    // Two questions at once: whether both have to hold or one is a matter of taste.
    case (_, nil, _, _): throw Failure(.fieldInvalid, field: "id")
    default: throw Failure(.fieldInvalid, field: "email")
    }
  }

  func show(_ call: Call) async throws(Failure) -> Response {
    let (account, sessions) = try await accountAndSessions(of: call)
    let grants = try await stored { () throws(StorageError) in
      try await accounts.storage.appleGrants(of: account)
    }
    return .json(
      account.json(at: call.policy.appleTeam) { out in
        out.member("sessions", jsonArray: sessions)
        out.member("appleTokens", jsonArray: grants.map(\.json))
      })
  }

  func sessions(_ call: Call) async throws(Failure) -> Response {
    let (_, sessions) = try await accountAndSessions(of: call)
    var out = JSONWriter(reserving: 256 * (sessions.count + 1))
    out.member("sessions", jsonArray: sessions)
    return .json(out.finish())
  }

  private func accountAndSessions(
    of call: Call
  ) async throws(Failure) -> (account: Account, sessions: [[UInt8]]) {
    let id = try user(of: call)
    let account = try await stored { () throws(StorageError) in try await accounts.storage.account(id) }
    guard let account else { throw Failure(.userNotFound) }
    let sessions = try await stored { () throws(StorageError) in
      try await accounts.storage.sessions(of: id, within: limits, at: accounts.now())
    }
    return (account, sessions.map { $0.json(limits: limits, isCurrent: nil) })
  }

  /// A member that is null or empty clears (RFC 7396 §1); one that is not there stays.
  func change(_ call: Call) async throws(Failure) -> Response {
    let id = try user(of: call)
    let change = try accountChange(from: call.request.jsonBody())
    let outcome = try await stored { () throws(StorageError) in
      try await accounts.change(id, to: change, by: call.origin)
    }
    return .json(try outcome.account(inBody: true).json(at: call.policy.appleTeam))
  }

  private func accountChange(from object: JSONObject) throws(Failure) -> AccountChange {
    let body = FirebaseBody(object)
    var change = AccountChange()
    change.displayName = try body.mergedDisplayName()
    change.photoURL = try body.mergedPhotoURL()
    change.email = try body.mergedEmail()
    change.isEmailVerified = try object.field(flag: "emailVerified")
    change.isDisabled = try object.field(flag: "disabled")
    change.customClaims = try body.customClaims()
    return change
  }

  func delete(_ call: Call) async throws(Failure) -> Response {
    let id = try user(of: call)
    let outcomes = try await stored { () throws(StorageError) in
      try await accounts.delete([id], demandsDisabled: false, by: call.origin)
    }
    if case .refused(let refusal)? = outcomes.first {
      throw Failure(refusing: .bearer(refusal)).withoutChallenge
    }
    return .json(Array("{}".utf8))
  }

  /// Ends the session that the path names, or all when it names none.
  func endSessions(_ call: Call) async throws(Failure) -> Response {
    let id = try user(of: call)
    var session: SessionID?
    if let text = call.parameters["session"] {
      guard let named = SessionID(hex: text) else { throw Failure(.notFound) }
      session = named
    }
    let wanted = session
    let outcome = try await stored { () throws(StorageError) in
      try await accounts.endSessions(of: id, wanted, by: call.origin)
    }
    switch outcome {
    case .ended(_, let count):
      var out = JSONWriter(reserving: 16)
      out.member("ended", Int64(count))
      return .json(out.finish())
    case .refused(let refusal): throw Failure(refusing: .bearer(refusal)).withoutChallenge
    case .notFound: throw Failure(.notFound)
    }
  }

  /// The account that the path names; ids that came from elsewhere may need escapes there.
  private func user(of call: Call) throws(Failure) -> AccountID {
    guard let id = call.parameters["user"].flatMap({ percentDecoded($0.utf8) }).flatMap({ AccountID($0) })
    else { throw Failure(.userNotFound) }
    return id
  }
}
