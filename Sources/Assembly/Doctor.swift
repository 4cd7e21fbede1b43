internal import AppleIdentity
internal import Crypto
internal import Domain
internal import JOSE
internal import Outbound
internal import ProviderTokens
internal import Sessions
package import Settings
internal import Storage
internal import Wire

/// One thing that was looked at.
package struct Finding: Sendable, Equatable {
  /// How bad it is.
  package enum Verdict: String, Sendable {
    case ok, warning, failed
  }

  package let subject: String
  package let verdict: Verdict
  package let detail: String
}

/// Looks at everything that a service with these settings needs: what they say, the database, the keys, Apple's
/// endpoint and the clock. Makes and migrates nothing; it writes only to see whether the database takes it.
package func examine(_ settings: Settings) async -> [Finding] {
  var findings = settings.warnings.map { Finding(subject: "settings", verdict: .warning, detail: $0) }
  if findings.isEmpty {
    findings.append(Finding(subject: "settings", verdict: .ok, detail: "nothing doubtful"))
  }
  findings += await examineDatabase(settings)
  findings += examineAppleKeys(settings)
  findings += await examineApple(settings)
  return findings
}

private func examineDatabase(_ settings: Settings) async -> [Finding] {
  guard !settings.database.isAbsent else {
    return [
      Finding(
        subject: "database", verdict: .warning,
        detail: "there is none at \(settings.database.name) yet: the first start makes it")
    ]
  }
  let storage: any CountedStorage
  do {
    storage = try inspectDatabase(settings)
  } catch .databaseUnusable(_, .olderSchema(found: 0, _)) {
    let database = Finding(
      subject: "database", verdict: .warning, detail: "it has no schema yet: the first start makes it")
    return [database] + examineKeys(nil, settings)
  } catch .databaseUnusable(_, let error) where error.isOlderSchema {
    // No failure: the next start brings it up to date by itself.
    return [Finding(subject: "database", verdict: .warning, detail: error.sentence)]
  } catch {
    return [Finding(subject: "database", verdict: .failed, detail: error.sentence)]
  }
  let findings: [Finding]
  do {
    try await demandWhole(storage)
    findings = await examineContents(of: storage, settings)
  } catch {
    findings = [Finding(subject: "database", verdict: .failed, detail: error.sentence)]
  }
  await storage.stop()
  return [examineWriting(settings)] + findings
}

/// Whether the database takes a write, which only a connection that may write can tell.
private func examineWriting(_ settings: Settings) -> Finding {
  do {
    try probeWrite(settings)
    return Finding(subject: "database", verdict: .ok, detail: "takes writes")
  } catch {
    return Finding(subject: "database", verdict: .failed, detail: "does not take writes: \(error.sentence)")
  }
}

private func examineContents(of storage: any Storage, _ settings: Settings) async -> [Finding] {
  do {
    if try await isUnused(storage) { return examineKeys(nil, settings) }
    let contents = Contents(
      book: try await storage.signingKeys(),
      liveSessions: try await storage.sessionCounts(
        within: settings.sessionLimits, at: WallClock.system.now()),
      audit: try await storage.auditChain(), appleSecrets: try await storage.appleSecretCounts())
    return try await examineKeys(contents, settings) + examineAudit(in: storage, settings)
      + examineQueue(in: storage) + examineLosses(in: storage)
  } catch {
    return [Finding(subject: "database", verdict: .failed, detail: "cannot be read: \(error.sentence)")]
  }
}

/// What is in a database that keys are needed for.
private struct Contents {
  let book: SigningKeyBook
  let liveSessions: [MasterKeyID: Int]
  let audit: AuditChainState
  let appleSecrets: [MasterKeyID: Int]
}

/// Whether the audit's chain can be gone on with. Of a ring that cannot be made, the keys tell.
private func examineAudit(
  in storage: any Storage, _ settings: Settings
) async throws(StorageError) -> [Finding] {
  guard
    let ring = try? masterKeyRing(of: settings, mayCreate: false, entropy: .system)
  else { return [] }
  let chain = AuditChain(storage: storage, ring: ring)
  func finding(_ verdict: Finding.Verdict, _ detail: String) -> [Finding] {
    [Finding(subject: "audit", verdict: verdict, detail: detail)]
  }
  if let fault = try await chain.fault() {
    return finding(.failed, "position \(fault.position): \(fault.kind.sentence); see `bramley audit verify`")
  }
  if let position = try await chain.overdue(at: WallClock.system.now()) {
    return finding(
      .warning,
      "the line at position \(position) should be chained for more than a minute, which a running service does"
    )
  }
  return finding(.ok, "its ends are as they were signed; `bramley audit verify` looks at every line")
}

/// Whether the keys that are set open what is in the database.
///
/// - Parameter contents: Nil for a database that is empty, for which a new key shuts nothing out.
private func examineKeys(_ contents: Contents?, _ settings: Settings) -> [Finding] {
  var findings: [Finding] = []
  if let doubt = masterKeyFileWarning(settings) {
    findings.append(Finding(subject: "master key", verdict: .warning, detail: doubt))
  }
  let ring: MasterKeyRing
  do {
    ring = try masterKeyRing(of: settings, mayCreate: false, entropy: .system)
  } catch .masterKeyMissing where contents == nil {
    return findings + [
      Finding(
        subject: "master key", verdict: .warning,
        detail: "the database is empty: the first start makes the key")
    ]
  } catch {
    return findings + [Finding(subject: "master key", verdict: .failed, detail: error.sentence)]
  }
  guard let contents else {
    return findings + [
      Finding(subject: "signing keys", verdict: .warning, detail: "none yet: the first start makes them")
    ]
  }
  findings.append(examine(contents.book, with: ring))
  let needs = MasterKeyNeeds(
    of: contents.book, liveSessions: contents.liveSessions, audit: contents.audit,
    appleSecrets: contents.appleSecrets)
  for (id, count) in needs.lostSecrets(with: ring) {
    findings.append(
      Finding(
        subject: "master key", verdict: .failed,
        detail:
          "\(count) of Apple's codes and tokens are sealed by master key \(id), which is not set: nobody can revoke them"
      ))
  }
  for (id, count) in needs.lostSessions(with: ring) {
    findings.append(
      Finding(
        subject: "master key", verdict: .failed,
        detail:
          "\(count) live sessions were made with master key \(id), which is not set: they will be lost"))
  }
  findings += needs.findings(with: ring)
  return findings
}

private func examine(_ book: SigningKeyBook, with ring: MasterKeyRing) -> Finding {
  do {
    let keys = try SigningKeys(opening: book, with: ring, known: nil)
    let hasStandby = keys.published.contains { $0.role == .standby }
    return Finding(
      subject: "signing keys", verdict: hasStandby ? .ok : .warning,
      detail: hasStandby ? "\(keys.published.count) published, one of them ready to follow" : "no standby key"
    )
  } catch {
    return Finding(
      subject: "signing keys", verdict: .failed, detail: StartFault.signingKeys(error).sentence)
  }
}

private func examineApple(_ settings: Settings) async -> [Finding] {
  let fetcher: any HTTPFetching
  let stop: () async -> Void
  do {
    let curl = try makeFetcher()
    fetcher = curl
    stop = { await curl.stop() }
  } catch {
    return [Finding(subject: "Apple", verdict: .failed, detail: error.sentence)]
  }
  let url = settings.appleBaseURL + "/auth/keys"
  let apple = await examineKeys(of: "Apple", at: url, .keySet, with: fetcher)
  var findings = [apple.finding]
  if let response = apple.response { findings.append(examineClock(response.date, settings)) }
  if apple.finding.verdict != .failed { findings += await examineIDs(settings, with: fetcher) }
  if let firebase = settings.firebase {
    findings.append(
      await examineKeys(of: "Firebase", at: firebase.keysURL, .keySetOrCertificates, with: fetcher).finding)
  }
  await stop()
  return findings
}

/// Whether an issuer's keys are to be had.
///
/// - Returns: The answer as well, if there was one.
private func examineKeys(
  of issuer: String, at url: String, _ form: KeySetForm, with fetcher: any HTTPFetching
) async -> (finding: Finding, response: FetchResponse?) {
  var response: FetchResponse?
  let fetched: Result<KeySet, KeyFetchFault>
  do throws(FetchError) {
    let answer = try await fetcher.fetch(keySetRequest(url))
    response = answer
    fetched = keySet(in: answer, form)
  } catch {
    fetched = .failure(.transport(error))
  }
  switch fetched {
  case .success(let keys):
    return (Finding(subject: issuer, verdict: .ok, detail: "\(url) publishes \(keys.count) keys"), response)
  case .failure(let fault):
    return (Finding(subject: issuer, verdict: .failed, detail: "\(url): \(fault.sentence)"), response)
  }
}

/// Compares the clock with the one of whoever answered for Apple.
private func examineClock(_ date: String?, _ settings: Settings) -> Finding {
  guard let seconds = date.flatMap(secondsOfHTTPDate) else {
    return Finding(subject: "clock", verdict: .warning, detail: "nothing to compare it with")
  }
  let difference = WallClock.system.now().since(UnixTime(seconds))
  let detail = "\(abs(difference)) s \(difference < 0 ? "behind" : "ahead of") Apple's"
  if abs(difference) <= 2 { return Finding(subject: "clock", verdict: .ok, detail: detail) }
  return Finding(
    subject: "clock", verdict: abs(difference) <= settings.clockLeeway ? .warning : .failed, detail: detail)
}
