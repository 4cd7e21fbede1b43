package import Domain

/// A refresh token of Apple's: the proof that a person lets a client know who he is, and what it takes to give that back.
/// A person has one for each client.
package struct AppleGrant: Sendable, Equatable {
  package let secret: AppleSecret
  package let account: AccountID
  package let subject: Subject
  /// The client that got it, and that alone may use it.
  package let client: ClientID
  package let obtainedAt: UnixTime
  /// When Apple last said that it is good.
  package var checkedAt: UnixTime?
  package var dueAt: UnixTime
  /// The team whose key got it, and by whose key alone it is looked after; nil for one that was kept before teams were.
  package let team: TeamID?

  package init(
    secret: AppleSecret, account: AccountID, subject: Subject, client: ClientID, obtainedAt: UnixTime,
    checkedAt: UnixTime?, dueAt: UnixTime, team: TeamID? = nil
  ) {
    self.secret = secret
    self.account = account
    self.subject = subject
    self.client = client
    self.obtainedAt = obtainedAt
    self.checkedAt = checkedAt
    self.dueAt = dueAt
    self.team = team
  }

  package var id: AppleSecretID { secret.id }

  /// The same of a person who has another subject by now.
  func moved(to subject: Subject) -> AppleGrant {
    AppleGrant(
      secret: secret, account: account, subject: subject, client: client, obtainedAt: obtainedAt,
      checkedAt: checkedAt, dueAt: dueAt, team: team)
  }

  /// When it is looked at again after a look now: a day later at the earliest, and each at another second of the day.
  package func nextLook(after now: UnixTime) -> UnixTime { secret.nextLook(after: now) }
}

extension AppleSecret {
  /// When a token is looked at again, if something was heard of it now.
  package func nextLook(after now: UnixTime) -> UnixTime {
    let number = id.bytes.suffix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    return now + Limits.revalidationSeconds + number % Limits.revalidationSpread
  }
}

/// What Apple says of a refresh token.
package enum AppleGrantVerdict: Sendable, Equatable {
  case good
  /// It is good no more: the person took the consent back.
  case refused
}

/// Apple has said something of a refresh token.
package struct AppleGrantReport: Sendable {
  /// As it was when Apple was asked.
  package let grant: AppleGrant
  package let verdict: AppleGrantVerdict
  /// When Apple was asked.
  package let askedAt: UnixTime
  /// Whether the person's sessions end when the consent is gone.
  package let endsSessions: Bool
  package let now: UnixTime

  package init(
    grant: AppleGrant, verdict: AppleGrantVerdict, askedAt: UnixTime, endsSessions: Bool, now: UnixTime
  ) {
    self.grant = grant
    self.verdict = verdict
    self.askedAt = askedAt
    self.endsSessions = endsSessions
    self.now = now
  }
}

/// Takes out grants to look at. Whatever comes of it, each has another day before it is its turn again: Apple throttles
/// who asks more often.
package func decideAppleGrantClaim(
  limit: Int, at now: UnixTime, in ledger: inout some Ledger
) throws(StorageError) -> [AppleGrant] {
  var claimed: [AppleGrant] = []
  for var grant in try ledger.appleGrants(dueBy: now, limit: limit) {
    grant.dueAt = grant.nextLook(after: now)
    try ledger.update(grant)
    claimed.append(grant)
  }
  return claimed
}

/// Decides what a report changes, inside a transaction.
///
/// - Returns: Whether the consent is gone, which was not known before.
package func decideAppleGrantReport(
  _ report: AppleGrantReport, in ledger: inout some Ledger
) throws(StorageError) -> Bool {
  // Replaced or revoked meanwhile: then it says nothing.
  guard var grant = try ledger.appleGrant(report.grant.id) else { return false }
  switch report.verdict {
  case .good:
    grant.checkedAt = report.askedAt
    try ledger.update(grant)
    return false
  case .refused:
    let identity = ProviderIdentity(provider: appleProviderID, subject: grant.subject)
    let holder = try ledger.account(holding: identity)
    // Of who goes to another team Apple may say so because the app has gone already: that is no word about the consent.
    if holder?.identity(at: appleProviderID)?.transfer?.isUnderWay ?? false { return false }
    try ledger.deleteAppleGrant(grant.id)
    // Who signed in since Apple was asked has consented again.
    guard let account = holder, !account.hasReturnedToApple(since: report.askedAt - 1) else {
      return false
    }
    let apple = Origin(actor: .apple)
    try ledger.endConsent(.revoked, of: identity, in: account, because: .revalidation, at: report.now)
    try ledger.audit(
      .credentialRevoked, by: apple, at: report.now, account: account.id, detail: grant.client.text)
    if report.endsSessions {
      try ledger.finishAllSessions(of: account.id, as: .revoked, at: report.now)
      try ledger.audit(.sessionsEnded, by: apple, at: report.now, account: account.id)
    }
    return true
  }
}
