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
  guard key.teamID == old.teamID else { return findings }
  return findings + [
    Finding(
      subject: "Apple key of the old team", verdict: .warning,
      detail: "it is of the same team as the other one: no app goes anywhere")
  ]
}

private func examine(_ key: TeamKey, _ settings: Settings, isOld: Bool) -> Finding {
  func finding(_ verdict: Finding.Verdict, _ detail: String) -> Finding {
    Finding(
      subject: isOld ? "Apple key of the old team" : "Apple key", verdict: verdict, detail: detail)
  }
  guard key.hasUsualIDs else {
    return finding(
      .failed,
      "team id `\(key.team)` and key id `\(key.keyID)` must have ten characters each: Apple will say invalid_client"
    )
  }
  let client = settings.appleRules.clients.keys.min { $0.text < $1.text }
  guard let client, (try? key.clientSecret(for: client, at: WallClock.system.now())) != nil else {
    return finding(.failed, "no client secret can be signed with it")
  }
  return finding(.ok, "key \(key.keyID) of team \(key.team) is a P-256 key and signs client secrets")
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
