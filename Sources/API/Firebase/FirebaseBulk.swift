internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// What Firebase's Admin SDKs and tools do with many accounts at once, and session cookies.
struct FirebaseBulk: Sendable {
  let administration: FirebaseAdministration
  let issuer: SessionIssuer
  let bearers: BearerReader

  /// `accounts:batchCreate`, or `uploadAccount`: accounts of another system. Each that cannot be taken is named; the
  /// others are there. Passwords and telephone numbers are of no use here and are left behind.
  func importAccounts(_ body: FirebaseBody, by origin: Origin) async throws(Failure) -> Response {
    try body.refuseTenant()
    let users = try body.objects("users")
    guard !users.isEmpty else { throw Failure(.missingUserAccount) }
    guard users.count <= Limits.accountBatch else { throw Failure(.localIDListExceedsLimit) }
    var faults: [(index: Int, failure: Failure)] = []
    var accounts: [(index: Int, account: Account)] = []
    let now = administration.accounts.now()
    for (index, user) in users.enumerated() {
      do throws(Failure) {
        guard let id = try user.localID() else { throw Failure(.missingLocalID) }
        accounts.append((index, try newAccount(id, from: user, origin: .imported, at: now)))
      } catch {
        faults.append((index, error))
      }
    }
    let (made, sharing) = (accounts.map(\.account), administration.linking == .off)
    let outcomes = try await stored { () throws(StorageError) in
      try await administration.accounts.create(
        made, sharingEmails: sharing, areImported: true, by: origin)
    }
    for (place, outcome) in zip(accounts, outcomes) {
      switch outcome {
      case .created: break
      case .idTaken: faults.append((place.index, Failure(.duplicateLocalID)))
      case .identityTaken: faults.append((place.index, Failure(.duplicateRawID)))
      case .emailTaken: faults.append((place.index, Failure(.emailExists)))
      }
    }
    var out = JSONWriter(reserving: 256)
    out.member("kind", "identitytoolkit#UploadAccountResponse")
    if !faults.isEmpty {
      out.member("error", jsonArray: faults.sorted { $0.index < $1.index }.map(importError))
    }
    return .json(out.finish())
  }

  /// `accounts:query`: by one address or id, or all in an order.
  func query(_ body: FirebaseBody) async throws(Failure) -> Response {
    try body.refuseTenant()
    let returnsAccounts = try body.flag("returnUserInfo") ?? true
    let expressions = try body.objects("expression")
    let list: AccountList
    if expressions.isEmpty {
      list = try await listed(body, returnsAccounts: returnsAccounts)
    } else {
      let found = try await found(by: expressions)
      list = AccountList(accounts: found, count: found.count)
    }
    var out = JSONWriter(reserving: 1024 * (list.accounts.count + 1))
    out.member("recordsCount", String(list.count))
    if returnsAccounts, !list.accounts.isEmpty {
      out.member("userInfo", jsonArray: list.accounts.map { $0.userRecord() })
    }
    return .json(out.finish())
  }

  private func listed(_ body: FirebaseBody, returnsAccounts: Bool) async throws(Failure) -> AccountList {
    let limit = try body.integer("limit") ?? 500
    let offset = try body.integer("offset") ?? 0
    guard (1...500).contains(limit) else { throw Failure(.fieldInvalid, field: "limit") }
    guard (0...1_000_000).contains(offset) else { throw Failure(.fieldInvalid, field: "offset") }
    let field = try body.enumeration("sortBy", of: SortField.self)?.field ?? .id
    let order = AccountOrder(
      by: field, isDescending: try body.enumeration("order", of: SortOrder.self) == .descending)
    return try await stored { () throws(StorageError) in
      try await administration.accounts.storage.accounts(
        in: order, offset: Int(offset), limit: returnsAccounts ? Int(limit) : 0)
    }
  }

  private func found(by expressions: [FirebaseBody]) async throws(Failure) -> [Account] {
    guard expressions.count == 1, let expression = expressions.first else {
      throw Failure(.fieldInvalid, field: "expression")
    }
    let key: AccountKey
    if let id = try expression.text("userId") {
      key = .id(try accountID(id, field: "expression.userId"))
    } else if let email = try expression.email() {
      key = .email(email)
    } else {
      // A telephone number, which nobody has here.
      return []
    }
    return try await stored { () throws(StorageError) in try await administration.accounts.storage.find([key])
    }
  }

  /// `:createSessionCookie`: a session token for another that lives longer.
  func sessionCookie(_ body: FirebaseBody) async throws(Failure) -> Response {
    try body.refuseTenant()
    guard let claims = try bearers.claims(of: body.text("idToken")) else { throw Failure(.missingIDToken) }
    let lifetime = try body.integer("validDuration") ?? Limits.cookieSeconds.upperBound
    guard Limits.cookieSeconds.contains(lifetime) else { throw Failure(.invalidDuration) }
    let cookie = try await outOfBody { () throws(Failure) in
      try await asking { () throws(SessionRefusal) in
        try await issuer.sessionCookie(for: claims, lifetime: lifetime)
      }
    }
    var out = JSONWriter(reserving: 2048)
    out.member("sessionCookie", cookie.reveal())
    return .json(out.finish())
  }
}

private func importError(_ fault: (index: Int, failure: Failure)) -> [UInt8] {
  var error = JSONWriter(reserving: 128)
  error.member("index", Int64(fault.index))
  error.member("message", fault.failure.message)
  return error.finish()
}

/// What `accounts:query` sorts by (`sortBy`).
private enum SortField: String, FirebaseEnumeration {
  case id = "USER_ID"
  case name = "NAME"
  case createdAt = "CREATED_AT"
  case lastLoginAt = "LAST_LOGIN_AT"
  case email = "USER_EMAIL"

  var number: Int64 {
    switch self {
    case .id: 1
    case .name: 2
    case .createdAt: 3
    case .lastLoginAt: 4
    case .email: 5
    }
  }

  var field: AccountOrder.Field {
    switch self {
    case .id: .id
    case .name: .name
    case .createdAt: .createdAt
    case .lastLoginAt: .lastSignInAt
    case .email: .email
    }
  }
}

/// In which direction (`order`).
private enum SortOrder: String, FirebaseEnumeration {
  case ascending = "ASC"
  case descending = "DESC"

  var number: Int64 { self == .ascending ? 1 : 2 }
}
