internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// `GET /v1/admin/audit` and `GET /v1/admin/keys`: what was done, and with which keys tokens are signed.
struct OperatorRecords: Sendable {
  let storage: any Storage
  let limits: SessionLimits
  let keyRules: SigningKeyRules
  /// The time of day.
  let now: @Sendable () -> UnixTime

  /// Lines of the audit behind a place, oldest first, or before one, newest first. The cursor is where the next page
  /// begins, or what will be written next.
  func audit(_ call: Call) async throws(Failure) -> Response {
    let query = try call.request.queryFields(named: "after", "before", "limit", "account")
    let before = try query.number("before", 1...(.max))
    if before != nil, query["after"] != nil { throw Failure(.fieldInvalid, field: "before") }
    let after = try query.number("after", 0...(.max)) ?? 0
    let limit = Int(try query.number("limit", 1...Int64(Limits.accountBatch)) ?? 100)
    var account: AccountID?
    if let text = query["account"] { account = try accountID(text, field: "account") }
    let wanted = AuditQuery(
      before.map { .before($0) } ?? .after(after), account: account, limit: limit)
    let lines = try await stored { () throws(StorageError) in try await storage.audit(wanted) }
    var out = JSONWriter(reserving: 256 * (lines.count + 1))
    out.member("entries", jsonArray: lines.map(\.entry.json))
    out.member("cursor", String(lines.last?.entry.position ?? before ?? after))
    return .json(out.finish())
  }

  func signingKeys(_ call: Call) async throws(Failure) -> Response {
    let (book, counts, chain, secrets) = try await stored { () throws(StorageError) in
      (
        try await storage.signingKeys(), try await storage.sessionCounts(within: limits, at: now()),
        try await storage.auditChain(), try await storage.appleSecretCounts()
      )
    }
    return .json(
      book.json(
        liveSessions: counts, auditEnds: chain.endsByMasterKey, appleSecrets: secrets, rules: keyRules))
  }
}
