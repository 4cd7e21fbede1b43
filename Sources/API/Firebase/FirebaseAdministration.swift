internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// What an administrator does with anybody's account, by the names of Firebase's Admin SDKs.
struct FirebaseAdministration: Sendable {
  let accounts: AccountAdministration
  let linking: AccountLinking
  let entropy: Entropy

  /// `accounts:lookup`: by ids, addresses and identities, together.
  func lookup(_ body: FirebaseBody) async throws(Failure) -> Response {
    let (ids, emails) = (try body.texts("localId"), try body.texts("email"))
    let users = try body.objects("federatedUserId")
    // There are no telephone numbers here, so nobody has one; and no address but the one that an account has.
    let others = try body.texts("phoneNumber").count + body.texts("initialEmail").count
    guard ids.count + emails.count + users.count + others <= Limits.lookupBatch else {
      throw Failure(.localIDListExceedsLimit)
    }
    // A key that no account can have finds none.
    var keys = ids.compactMap { AccountID($0) }.map(AccountKey.id)
    keys += emails.flatMap { AccountKey.spellings(ofEmail: $0) }
    for user in users {
      guard let provider = try user.text("providerId"), let raw = try user.text("rawId") else { continue }
      guard let subject = Subject(raw) else { continue }
      keys.append(.identity(ProviderIdentity(provider: asciiLowercase(provider), subject: subject)))
    }
    let wanted = keys
    let found = try await stored { () throws(StorageError) in try await accounts.storage.find(wanted) }
    return .users(found, lastUses: try await lastUses(of: found))
  }

  /// `accounts:batchGet`: all accounts, page by page in the order of their creation.
  func list(_ query: FormBody) async throws(Failure) -> Response {
    var limit = 20
    if let text = query["maxResults"] ?? query["max_results"] {
      guard let number = Int(text), (1...Limits.accountBatch).contains(number) else {
        throw Failure(.fieldInvalid, field: "maxResults")
      }
      limit = number
    }
    let token = query["nextPageToken"] ?? query["next_page_token"]
    return try await page(after: token, limit: limit, kind: "identitytoolkit#DownloadAccountResponse")
  }

  /// `downloadAccount`, the older name, whose body says what `accounts:batchGet` has in its query.
  func download(_ body: FirebaseBody) async throws(Failure) -> Response {
    let limit = try body.integer("maxResults") ?? 20
    guard (1...Int64(Limits.accountBatch)).contains(limit) else {
      throw Failure(.fieldInvalid, field: "maxResults")
    }
    return try await page(
      after: body.text("nextPageToken"), limit: Int(limit), kind: "identitytoolkit#DownloadAccountResponse")
  }

  private func page(after token: String?, limit: Int, kind: String) async throws(Failure) -> Response {
    var cursor: AccountCursor?
    if let token {
      guard let position = Int64(token), position >= 0, String(position) == token else {
        throw Failure(.invalidPageSelection)
      }
      cursor = AccountCursor(position: position)
    }
    let after = cursor
    let page = try await stored { () throws(StorageError) in
      try await accounts.storage.accounts(after: after, limit: limit)
    }
    var out = JSONWriter(reserving: 1024 * (page.accounts.count + 1))
    out.member("kind", kind)
    let uses = try await lastUses(of: page.accounts)
    if !page.accounts.isEmpty {
      out.member("users", jsonArray: page.accounts.map { $0.userRecord(lastUse: uses[$0.id]) })
    }
    if let next = page.next { out.member("nextPageToken", String(next.position)) }
    return .json(out.finish())
  }

  private func lastUses(of found: [Account]) async throws(Failure) -> [AccountID: UnixTime] {
    let ids = found.map(\.id)
    return try await stored { () throws(StorageError) in try await accounts.storage.lastUses(of: ids) }
  }

  /// `accounts`, or `accounts:signUp` with an administrator's bearer: a new account.
  func create(_ body: FirebaseBody, by origin: Origin) async throws(Failure) -> Response {
    try body.refuseTenant()
    try body.refuse(["password", "phoneNumber", "mfaInfo"], as: .providerNotEnabled)
    let id = try body.localID() ?? AccountID(from: entropy)
    let account = try newAccount(id, from: body, origin: .administrator, at: accounts.now())
    let outcomes = try await stored { () throws(StorageError) in
      try await accounts.create([account], sharingEmails: false, areImported: false, by: origin)
    }
    switch outcomes.first {
    case .created, nil: break
    case .idTaken: throw Failure(.duplicateLocalID)
    case .identityTaken: throw Failure(.duplicateRawID)
    case .emailTaken: throw Failure(.emailExists)
    }
    var out = JSONWriter(reserving: 256)
    out.member("kind", "identitytoolkit#SignupNewUserResponse")
    out.member("localId", account.id.text)
    out.member("email", account.profile.email?.text)
    return .json(out.finish())
  }

  /// `accounts:update` of anybody's account.
  func update(_ body: FirebaseBody, by origin: Origin) async throws(Failure) -> Response {
    try body.refuseTenant()
    try body.refuse(["password", "phoneNumber", "mfa"], as: .providerNotEnabled)
    guard let id = try body.localID() else { throw Failure(.missingLocalID) }
    let change = try change(from: body)
    let outcome = try await stored { () throws(StorageError) in
      try await accounts.change(id, to: change, by: origin)
    }
    return .json(accountInfo(try outcome.account(inBody: true)))
  }

  private func change(from body: FirebaseBody) throws(Failure) -> AccountChange {
    var change = AccountChange()
    change.displayName = try body.displayName()
    change.photoURL = try body.photoURL()
    change.customClaims = try body.customAttributes()
    if let email = try body.email() { change.email = .set(email) }
    change.isEmailVerified = try body.flag("emailVerified")
    change.isDisabled = try body.flag("disableUser")
    change.validSince = try body.validSince()
    change.removedProviders = try body.removedProviders()
    if let linked = try body.object("linkProviderUserInfo")?.linkedIdentity() {
      change.addedIdentities = [linked]
    }
    for attribute in try body.enumerations("deleteAttribute", of: DeletableAttribute.self) {
      switch attribute {
      case .displayName: change.displayName = .clear
      case .photoURL: change.photoURL = .clear
      case .email: change.email = .clear
      case .provider, .password: break
      }
    }
    return change
  }

  /// `accounts:delete` of anybody's account.
  func delete(_ body: FirebaseBody, by origin: Origin) async throws(Failure) -> Response {
    try body.refuseTenant()
    guard let id = try body.localID() else { throw Failure(.missingLocalID) }
    let outcomes = try await delete([id], demandsDisabled: false, by: origin)
    if case .refused(let refusal)? = outcomes.first {
      throw Failure(refusing: SessionRefusal.bearer(refusal)).withoutChallenge
    }
    return .kind("identitytoolkit#DeleteAccountResponse")
  }

  /// `accounts:batchDelete`: an account that is not there any more is no error, one that is in use is, unless it is
  /// forced.
  func deleteBatch(_ body: FirebaseBody, by origin: Origin) async throws(Failure) -> Response {
    let texts = try body.texts("localIds")
    guard texts.count <= Limits.accountBatch else { throw Failure(.localIDListExceedsLimit) }
    guard !texts.isEmpty else { throw Failure(.missingLocalID) }
    var ids: [AccountID] = []
    for text in texts { ids.append(try accountID(text, field: "localIds")) }
    let outcomes = try await delete(ids, demandsDisabled: !(try body.flag("force") ?? false), by: origin)
    let errors = outcomes.enumerated().compactMap { index, outcome -> [UInt8]? in
      guard outcome == .notDisabled else { return nil }
      var error = JSONWriter(reserving: 128)
      error.member("index", Int64(index))
      error.member("localId", ids[index].text)
      error.member("message", "NOT_DISABLED : Disable the account before batch deletion.")
      return error.finish()
    }
    var out = JSONWriter(reserving: 128)
    if !errors.isEmpty { out.member("errors", jsonArray: errors) }
    return .json(out.finish())
  }

  private func delete(
    _ ids: [AccountID], demandsDisabled: Bool, by origin: Origin
  ) async throws(Failure) -> [AccountDeletionOutcome] {
    try await stored { () throws(StorageError) in
      try await accounts.delete(ids, demandsDisabled: demandsDisabled, by: origin)
    }
  }

  /// Removes every account, as the emulator does for its tools.
  func deleteAll(by origin: Origin) async throws(Failure) -> Response {
    while true {
      let page = try await stored { () throws(StorageError) in
        try await accounts.storage.accounts(after: nil, limit: Limits.accountBatch)
      }
      guard !page.accounts.isEmpty else { return .json(Array("{}".utf8)) }
      _ = try await delete(page.accounts.map(\.id), demandsDisabled: false, by: origin)
    }
  }
}

/// The account that a body describes: of a request, or of an export.
func newAccount(
  _ id: AccountID, from body: FirebaseBody, origin: EmailOrigin, at now: UnixTime
) throws(Failure) -> Account {
  let email = try body.email()
  let isVerified = try body.flag("emailVerified") ?? false
  // The second is what an export calls it.
  let (lastLogin, lastSignIn) = (
    try body.moment("lastLoginAt", at: now), try body.moment("lastSignedInAt", at: now)
  )
  var account = Account(
    id: id, createdAt: try body.moment("createdAt", at: now) ?? now,
    lastSignInAt: lastLogin ?? lastSignIn ?? UnixTime(0),
    isDisabled: try body.flag("disabled") ?? false,
    profile: Profile(
      email: email, isEmailVerified: isVerified && email != nil, isPrivateEmail: false, realUserStatus: nil),
    emailOrigin: email == nil ? .provider : origin, name: nil,
    validSince: try body.validSince().map { min($0, now) },
    identities: try body.identities("providerUserInfo"))
  if case .set(let name) = try body.displayName() { account.chosenName = name }
  if case .set(let url) = try body.photoURL() { account.photoURL = url }
  if case .set(let claims) = try body.customAttributes() { account.customClaims = claims }
  return account
}

/// Asks storage; an outage is a failure.
func stored<R>(_ ask: () async throws(StorageError) -> R) async throws(Failure) -> R {
  do throws(StorageError) {
    return try await ask()
  } catch {
    throw Failure(FailureReason(error))
  }
}

extension FirebaseBody {
  /// A time in milliseconds of something that has happened. Clocks differ, but not by a day: what is later is in another
  /// unit.
  fileprivate func moment(_ name: String, at now: UnixTime) throws(Failure) -> UnixTime? {
    guard let milliseconds = try integer(name) else { return nil }
    guard milliseconds >= 0, milliseconds / 1000 <= now.seconds + 86_400 else {
      throw Failure(.fieldInvalid, field: name)
    }
    // Nothing happened in the first second of 1970: it is how others write that they do not know.
    return milliseconds < 1000 ? nil : UnixTime(milliseconds / 1000)
  }

  /// The moment before which tokens count as revoked, in seconds.
  fileprivate func validSince() throws(Failure) -> UnixTime? {
    guard let seconds = try integer("validSince") else { return nil }
    guard seconds >= 0 else { throw Failure(.fieldInvalid, field: "validSince") }
    return UnixTime(seconds)
  }
}
