internal import Domain
internal import Sessions
internal import Settings
internal import Storage
internal import Telemetry

/// What is in a database that master keys are needed for.
struct MasterKeyNeeds: Sendable, Equatable {
  /// How many signing keys each seals.
  private let signingKeys: [MasterKeyID: Int]
  /// How many live sessions have a token that it made.
  private let sessions: [MasterKeyID: Int]
  /// How many ends of the audit's chain have a code by it.
  private let auditEnds: [MasterKeyID: Int]
  /// How many of Apple's codes and tokens it seals.
  private let appleSecrets: [MasterKeyID: Int]

  init(
    of book: SigningKeyBook, liveSessions: [MasterKeyID: Int], audit: AuditChainState,
    appleSecrets: [MasterKeyID: Int]
  ) {
    signingKeys = book.keys.reduce(into: [:]) { $0[$1.masterKey, default: 0] += 1 }
    sessions = liveSessions
    auditEnds = audit.endsByMasterKey
    self.appleSecrets = appleSecrets
  }

  /// Codes and tokens of Apple's that are lost with a list of keys, by the key that it lacks.
  func lostSecrets(with ring: MasterKeyRing) -> [(key: MasterKeyID, count: Int)] {
    lost(of: appleSecrets, with: ring)
  }

  private func lost(
    of counts: [MasterKeyID: Int], with ring: MasterKeyRing
  ) -> [(key: MasterKeyID, count: Int)] {
    counts.filter { ring[$0.key] == nil }.map { (key: $0.key, count: $0.value) }
      .sorted { $0.key.description < $1.key.description }
  }

  /// The sessions that are lost with a list of keys, by the key that it lacks.
  func lostSessions(with ring: MasterKeyRing) -> [(key: MasterKeyID, count: Int)] {
    lost(of: sessions, with: ring)
  }

  /// What an operator has to know before a key leaves the list, for each but the first.
  func findings(with ring: MasterKeyRing) -> [Finding] {
    ring.ids.dropFirst().map { id in
      let (keys, sessions, ends) = (signingKeys[id] ?? 0, sessions[id] ?? 0, auditEnds[id] ?? 0)
      let secrets = appleSecrets[id] ?? 0
      guard keys > 0 || sessions > 0 || ends > 0 || secrets > 0 else {
        return Finding(
          subject: "master key", verdict: .ok, detail: "nothing that is in the database needs \(id)")
      }
      return Finding(
        subject: "master key", verdict: .warning,
        detail: "\(id) must not be dropped yet: it seals \(keys) signing keys"
          + (secrets > 0 ? " and \(secrets) of Apple's codes and tokens" : "")
          + (keys > 0 || secrets > 0 ? " (`bramley keys rewrap` changes that)" : "")
          + " and \(sessions) live sessions need it"
          + (ends > 0 ? "; the audit is signed with it, which a running service changes by itself" : ""))
    }
  }
}

/// Tells of live sessions that no master key of this node serves. Counting takes its time with many of them,
/// so it is done over a connection of its own, beside the service.
func warnOfLostSessions(_ settings: Settings, _ ring: MasterKeyRing, to log: Log) async {
  guard let storage = try? inspectDatabase(settings) else { return }
  let limits = settings.sessionLimits
  if let counts = try? await storage.sessionCounts(within: limits, at: WallClock.system.now()) {
    let needs = MasterKeyNeeds(
      of: SigningKeyBook(version: 0, keys: []), liveSessions: counts,
      audit: AuditChainState(anchor: nil, head: nil), appleSecrets: [:])
    for (key, count) in needs.lostSessions(with: ring) {
      log.warning("master_key_missing", [.text("key", key.description), .number("sessions", Int64(count))])
    }
  }
  await storage.stop()
}
