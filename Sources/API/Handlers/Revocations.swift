internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// `POST /v1/revoke` (RFC 7009) and `GET /v1/revocations`, the feed for verifiers that want to know at once.
struct Revocations: Sendable {
  let issuer: SessionIssuer
  let storage: any Storage

  /// Ends the session of a token, be it a refresh token or a session token, which may have expired: people sign out
  /// late. A token that is none of ours, or whose session is over, is as revoked as can be (RFC 7009 §2.2).
  func revoke(_ call: Call) async throws(Failure) -> Response {
    guard let text = try call.request.jsonOrFormBody().text("token") else {
      throw Failure(.fieldMissing, field: "token")
    }
    try await asking { () throws(SessionRefusal) in
      try await issuer.endSession(of: text, by: call.origin(.person))
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
    let since = RevocationMark(number: try query.number("since", 0...(.max)) ?? 0)
    let wait = try query.number("wait", 0...Limits.longPollSeconds) ?? 0
    var news = try await news(behind: since)
    if news.revocations.isEmpty, news.end == since, wait > 0 {
      await issuer.watch.wait(behind: since.position, atMost: .seconds(wait))
      news = try await self.news(behind: since)
    }
    var out = JSONWriter(reserving: 64 * (news.revocations.count + 1))
    out.member("revocations", jsonArray: news.revocations.map { $0.json(leeway: issuer.rules.leeway) })
    out.member("cursor", String(news.end.number))
    return .json(out.finish())
  }

  private func news(behind mark: RevocationMark) async throws(Failure) -> RevocationNews {
    try await stored { () throws(StorageError) in
      try await storage.revocations(behind: mark, limit: Limits.revocationPage)
    }
  }
}

extension Revocation {
  /// A node whose clock is ahead may have issued a token shortly before with an `iat` from after this: it is meant too.
  /// None is issued to a disabled account, so that no later token is hit before the account is restored.
  fileprivate func json(leeway: Int64) -> [UInt8] {
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
    out.member("exp", until.seconds)
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
