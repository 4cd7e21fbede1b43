internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// `POST /v1/revoke` (RFC 7009) and `GET /v1/revocations`, the feed for verifiers that want to know at once.
struct Revocations: Sendable {
  let issuer: SessionIssuer
  let storage: any Storage

  /// Ends the session of a token, be it a refresh token or a session token. A token that is none of ours, or is over,
  /// is as revoked as can be (RFC 7009 §2.2).
  func revoke(_ call: Call) async throws(Failure) -> Response {
    guard let text = try call.request.jsonOrFormBody().text("token") else {
      throw Failure(.fieldMissing, field: "token")
    }
    let session: SessionID?
    if let token = try? issuer.refreshToken(from: text) {
      session = token.session
    } else {
      session = (try? issuer.verify(text))?.session
    }
    if let session {
      _ = try await asking { () throws(SessionRefusal) in
        try await issuer.endSession(session, by: call.origin(.person))
      }
    }
    return .json(Array("{}".utf8))
  }

  /// Revocations behind a cursor; with `wait` the answer may come later, when there is one.
  ///
  /// `sid` names a session whose tokens are bad; `sub` with `iat` an account whose tokens up to then are, and with an
  /// `iat` of 0 an account of which that is not so any more. Each may be forgotten after `exp`: no token that it means
  /// is within its time then.
  func feed(_ call: Call) async throws(Failure) -> Response {
    let query = try call.request.queryFields(named: "since", "wait")
    let since = try query.number("since", 0...(.max)) ?? 0
    let wait = try query.number("wait", 0...Limits.longPollSeconds) ?? 0
    var page = try await page(after: since)
    if page.revocations.isEmpty, page.last == since, wait > 0 {
      await issuer.watch.wait(behind: since, atMost: .seconds(wait))
      page = try await self.page(after: since)
    }
    let rules = issuer.rules
    var out = JSONWriter(reserving: 64 * (page.revocations.count + 1))
    out.member(
      "revocations",
      jsonArray: page.revocations.map { $0.json(lifetime: rules.lifetime, leeway: rules.leeway) })
    let isWhole = page.revocations.count < Limits.revocationPage
    out.member("cursor", String(isWhole ? page.last : page.revocations.last?.position ?? page.last))
    return .json(out.finish())
  }

  private func page(after position: Int64) async throws(Failure) -> RevocationPage {
    try await stored { () throws(StorageError) in
      let page = try await storage.revocations(after: position, limit: Limits.revocationPage)
      // A place that was never given out is of a database that was put back: from the beginning.
      guard page.last < position else { return page }
      return try await storage.revocations(after: 0, limit: Limits.revocationPage)
    }
  }
}

extension Revocation {
  /// A node whose clock is ahead may have issued a token shortly before with an `iat` from after this: it is meant too.
  /// None is issued to a disabled account, so that no later token is hit before the account is restored.
  fileprivate func json(lifetime: Int64, leeway: Int64) -> [UInt8] {
    var out = JSONWriter(reserving: 96)
    switch kind {
    case .session: out.member("sid", session?.description)
    case .account:
      out.member("sub", account.text)
      out.member("iat", at.seconds + leeway)
    case .restored:
      out.member("sub", account.text)
      out.member("iat", 0)
    }
    out.member("exp", at.seconds + leeway + lifetime)
    return out.finish()
  }
}

extension FormBody {
  /// A whole number of a query.
  func number(_ name: String, _ range: ClosedRange<Int64>) throws(Failure) -> Int64? {
    guard let text = self[name] else { return nil }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
      range.contains(number)
    else { throw Failure(.fieldInvalid, field: name) }
    return number
  }
}
