internal import AppleIdentity
internal import Domain
internal import Settings
internal import Storage

// What `doctor` says of the side of Apple.

/// Of the keys with which codes are exchanged and tokens revoked. That each is a P-256 key and signs was proved when it was
/// read.
func examineAppleKeys(_ settings: Settings) -> [Finding] {
  guard let key = settings.appleKey else {
    let missing = Finding(
      subject: "Apple key", verdict: .warning,
      detail:
        "none is set (apple_key_missing): codes are not exchanged, and nothing is revoked at Apple when an account goes"
    )
    return [missing] + (settings.oldAppleKey.map { [examine($0, settings, isOld: true)] } ?? [])
  }
  guard let old = settings.oldAppleKey else { return [examine(key, settings, isOld: false)] }
  let findings = [examine(key, settings, isOld: false), examine(old, settings, isOld: true)]
  func doubt(_ detail: String) -> [Finding] {
    [Finding(subject: "Apple key of the old team", verdict: .warning, detail: detail)]
  }
  if key.teamID == old.teamID {
    return findings + doubt("it is of the same team as the other one: no app goes anywhere")
  }
  if key.keyID == old.keyID || key.isSameKey(as: old) {
    return findings + doubt("it is the other team's key as well, and Apple gives no two teams one")
  }
  return findings
}

private func examine(_ key: TeamKey, _ settings: Settings, isOld: Bool) -> Finding {
  func finding(_ verdict: Finding.Verdict, _ detail: String) -> Finding {
    Finding(
      subject: isOld ? "Apple key of the old team" : "Apple key", verdict: verdict, detail: detail)
  }
  let client = settings.appleRules.clients.keys.min { $0.text < $1.text }
  guard let client, (try? key.clientSecret(for: client, at: WallClock.system.now())) != nil else {
    return finding(.failed, "no client secret can be signed with it")
  }
  return finding(.ok, "key \(key.keyID) of team \(key.team) is a P-256 key and signs client secrets")
}

/// Whether Apple knows the key and its ids: it refuses a made-up token of whom it knows, and anything of whom it does not.
func examineIDs(_ settings: Settings, with fetcher: any HTTPFetching) async -> [Finding] {
  guard let key = settings.appleKey else { return [] }
  let endpoints = AppleEndpoints(baseURL: settings.appleBaseURL, fetcher: fetcher, clock: .system)
  var findings: [Finding] = []
  for client in settings.appleRules.clients.keys.sorted(by: { $0.text < $1.text }).prefix(askedClients) {
    func finding(_ verdict: Finding.Verdict, _ detail: String) -> Finding {
      Finding(subject: "Apple key", verdict: verdict, detail: detail)
    }
    do throws(AppleFault) {
      try await endpoints.refresh(Secret("made-up"), for: client, by: key)
      findings.append(finding(.ok, "Apple knows it for \(client)"))
    } catch .grantRefused {
      findings.append(finding(.ok, "Apple knows it for \(client)"))
    } catch .misconfigured(let word) {
      findings.append(
        finding(
          .failed,
          "Apple does not know key \(key.keyID) of team \(key.team) for \(client) (\(word.rawValue)): look at the ids, and "
            + "whether the key is linked to that app"))
    } catch {
      findings.append(
        finding(.warning, "Apple did not say whether it knows it for \(client) (\(error.label))"))
    }
  }
  return findings
}

/// Clients that Apple is asked about; more are rare, and alike.
private let askedClients = 8

/// Lines of the audit that are looked at for losses.
private let newestLines = 5000

/// Of what was given up: events that the back end never took, and revocations that Apple never heard of.
func examineLosses(in storage: any Storage) async throws(StorageError) -> [Finding] {
  var findings: [Finding] = []
  let dead = try await storage.webhookCounts().dead
  if dead > 0 {
    findings.append(
      Finding(
        subject: "webhooks", verdict: .warning,
        detail: "\(dead) events were given up; see `bramley webhooks list`"))
  }
  // Of the newest lines: all of them may be millions.
  let lines = try await storage.audit(AuditQuery(.before(.max), account: nil, limit: newestLines))
  let lost = lines.count { line in
    let words = line.entry.detail?.split(separator: " ").map(String.init) ?? []
    return line.entry.action == .appleWorkGivenUp && words.count == 2
      && words[0] != AppleWork.Kind.exchange.rawValue
      && words[1] != AppleSurrender.broughtUnusable.rawValue
  }
  if lost > 0 {
    findings.append(
      Finding(
        subject: "Apple queue", verdict: .warning,
        detail: "\(lost) revocations were given up lately: those people's consent lives on at Apple; see "
          + "`apple_work_given_up` in the audit"))
  }
  return findings
}

/// Of the calls that wait.
func examineQueue(in storage: any Storage) async throws(StorageError) -> [Finding] {
  let counts = try await storage.appleWorkCounts()
  guard let oldest = counts.map(\.oldest).min() else {
    return [Finding(subject: "Apple queue", verdict: .ok, detail: "nothing waits")]
  }
  let first = try await storage.appleWork(after: nil, limit: Limits.appleWorkPage)
  let waiting = counts.map { "\($0.count) \($0.kind.rawValue)" }.joined(separator: ", ")
  let age = WallClock.system.now().since(oldest)
  guard let broken = first.first(where: \.isMisconfigured) else {
    // A minute is what a busy Apple may take.
    return [
      Finding(
        subject: "Apple queue", verdict: age > 60 ? .warning : .ok,
        detail: "\(waiting) wait, the oldest since \(age) s")
    ]
  }
  return [
    Finding(
      subject: "Apple queue", verdict: .failed,
      detail:
        "\(waiting) wait, and Apple does not know us: \(broken.fault ?? ""); see `bramley apple queue list`")
  ]
}
