package import Domain

// Everything that is asked about Apple's codes and tokens, as transactions.

/// A bearer wants a code or a token of Apple's revoked.
package struct AppleRevocationIntent: Sendable {
  package let bearer: SessionBearer
  package let secret: AppleSecret
  /// The client that it may have been given out to, if nothing better is known.
  package let fallbackClient: ClientID
  package let redirectURI: String?
  package let origin: Origin
  package let now: UnixTime
  /// The team whose the apps are.
  package var team: TeamID?
  /// Whose they were, during a transfer.
  package var formerTeam: TeamID?

  package init(
    bearer: SessionBearer, secret: AppleSecret, fallbackClient: ClientID, redirectURI: String?,
    origin: Origin, now: UnixTime
  ) {
    self.bearer = bearer
    self.secret = secret
    self.fallbackClient = fallbackClient
    self.redirectURI = redirectURI
    self.origin = origin
    self.now = now
  }
}

/// What it came to.
package enum AppleRevocationOutcome: Sendable, Equatable {
  case queued
  case refused(BearerRefusal)
  /// The account has no identity at Apple.
  case noIdentity
  /// More waits for the account already than anybody needs.
  case tooMany
}

/// Decides it inside a transaction. The client is the one that the person last signed in to: only that is in the app's
/// hands now. Codes that wait to become tokens are revoked as well: the one that is brought may be one of them.
package func decideAppleRevocation(
  _ intent: AppleRevocationIntent, in ledger: inout some Ledger
) throws(StorageError) -> AppleRevocationOutcome {
  let account: Account
  switch try decideGrant(to: intent.bearer, in: &ledger) {
  case .success(let grant): account = grant.account
  case .failure(let refusal): return .refused(refusal)
  }
  guard let apple = account.identity(at: appleProviderID) else { return .noIdentity }
  guard try ledger.appleWork(of: account.id).count < Limits.appleWorkOfAccount else { return .tooMany }
  try ledger.insert(
    AppleWork(
      secret: intent.secret, kind: intent.secret.kind == .code ? .exchangeThenRevoke : .revoke,
      account: account.id, subject: apple.subject, client: apple.client ?? intent.fallbackClient,
      redirectURI: intent.redirectURI, createdAt: intent.now, dueAt: intent.now,
      team: apple.team(among: intent.team, intent.formerTeam), isBrought: true))
  for var waiting in try ledger.appleWork(of: account.id)
  where waiting.kind == .exchange && waiting.subject == apple.subject {
    waiting.kind = .exchangeThenRevoke
    try ledger.update(waiting)
  }
  try ledger.audit(
    .appleRevocationAsked, by: intent.origin, at: intent.now, account: account.id,
    session: intent.bearer.session, detail: intent.secret.kind.rawValue)
  return .queued
}

/// Another seal for a secret.
package struct AppleResealing: Sendable, Equatable {
  package let old: AppleSecret
  package let new: AppleSecret

  package init(old: AppleSecret, new: AppleSecret) {
    self.old = old
    self.new = new
  }
}

/// The name of the lease that says that Apple throttles. Nobody holds it; it has an end.
private let pauseName = "apple_grants_paused"

extension LedgerStorage {
  package func beginAppleWork(
    limit: Int, until: UnixTime, at now: UnixTime
  ) async throws(StorageError) -> [AppleWork] {
    try await transact { (book) throws(StorageError) in
      try decideAppleWorkClaim(limit: limit, until: until, at: now, in: &book)
    }
  }

  package func settle(_ settlement: AppleWorkSettlement) async throws(StorageError) {
    try await transact { (book) throws(StorageError) in
      try decideAppleWorkSettlement(settlement, in: &book)
    }
  }

  package func appleWork(
    after id: AppleSecretID?, limit: Int
  ) async throws(StorageError) -> [AppleWork] {
    try await read { (book) throws(StorageError) in try book.appleWork(after: id, limit: limit) }
  }

  package func appleWorkCounts() async throws(StorageError) -> [AppleWorkCount] {
    try await read { (book) throws(StorageError) in try book.appleWorkCounts() }
  }

  package func hastenAppleWork(
    _ id: AppleSecretID?, at now: UnixTime
  ) async throws(StorageError) -> Int {
    try await transact { (book) throws(StorageError) in
      guard let id else { return try book.hastenAppleWork(to: now) }
      guard var work = try book.appleWork(id) else { return 0 }
      // It is under way, or was until its node died: what it comes to is not known yet.
      guard work.fault != AppleWork.sending else { return 1 }
      work.dueAt = min(work.dueAt, now)
      try book.update(work)
      return 1
    }
  }

  package func revokeAppleSecret(
    _ intent: AppleRevocationIntent
  ) async throws(StorageError) -> AppleRevocationOutcome {
    try await transact { (book) throws(StorageError) in try decideAppleRevocation(intent, in: &book) }
  }

  package func claimAppleGrants(limit: Int, at now: UnixTime) async throws(StorageError) -> [AppleGrant] {
    try await transact { (book) throws(StorageError) in
      if let pause = try book.lease(pauseName), pause.until > now { return [] }
      return try decideAppleGrantClaim(limit: limit, at: now, in: &book)
    }
  }

  package func report(_ report: AppleGrantReport) async throws(StorageError) -> Bool {
    try await transact { (book) throws(StorageError) in try decideAppleGrantReport(report, in: &book) }
  }

  package func appleGrants(of subject: Subject) async throws(StorageError) -> [AppleGrant] {
    try await read { (book) throws(StorageError) in try book.appleGrants(of: subject) }
  }

  package func appleAgenda() async throws(StorageError) -> AppleAgenda {
    try await read { (book) throws(StorageError) in
      let dates = try book.firstAppleDates()
      return AppleAgenda(
        workDueAt: dates.work, grantDueAt: dates.grant, pausedUntil: try book.lease(pauseName)?.until)
    }
  }

  package func pauseAppleGrants(until moment: UnixTime) async throws(StorageError) {
    try await transact { (book) throws(StorageError) in
      if let pause = try book.lease(pauseName), pause.until >= moment { return }
      try book.write(Lease(name: pauseName, holder: "apple", until: moment))
    }
  }

  package func appleSecretCounts() async throws(StorageError) -> [MasterKeyID: Int] {
    try await read { (book) throws(StorageError) in try book.appleSecretCounts() }
  }

  package func appleSecrets(
    notSealedBy key: MasterKeyID, limit: Int
  ) async throws(StorageError) -> [AppleSecret] {
    try await read { (book) throws(StorageError) in try book.appleSecrets(notSealedBy: key, limit: limit) }
  }

  package func resealAppleSecrets(_ changes: [AppleResealing]) async throws(StorageError) {
    try await transact { (book) throws(StorageError) in
      for change in changes {
        let present: AppleSecret?
        if let work = try book.appleWork(change.old.id) {
          present = work.secret
        } else {
          present = try book.appleGrant(change.old.id)?.secret
        }
        if present == change.old { try book.reseal(change.new) }
      }
    }
  }
}
