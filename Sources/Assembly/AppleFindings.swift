internal import AppleIdentity
internal import Domain
internal import Settings
internal import Storage

// What `doctor` says of the side of Apple.

/// Of the key with which codes are exchanged and tokens revoked. That it is a P-256 key and signs was proved when it was
/// read.
func examineAppleKey(_ settings: Settings) -> Finding {
  func finding(_ verdict: Finding.Verdict, _ detail: String) -> Finding {
    Finding(subject: "Apple key", verdict: verdict, detail: detail)
  }
  guard let key = settings.appleKey else {
    return finding(
      .warning,
      "none is set (apple_key_missing): codes are not exchanged, and nothing is revoked at Apple when an account goes"
    )
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
