package import Sessions
package import Settings
package import Storage
internal import Crypto
internal import Domain

/// Walks along the audit's chain with the master keys of the settings, as a command does.
///
/// - Parameter witnesses: Heads that the log told of before.
package func verifyAudit(
  _ settings: Settings, in storage: any Storage, against witnesses: [AuditWitness]
) async throws(StartFault) -> AuditVerdict {
  try await withChain(settings, storage) { (chain) throws(StorageError) in
    try await chain.verify(against: witnesses, at: WallClock.system.now())
  }
}

/// Has the audit begin anew where it is broken.
package func restartAudit(
  _ settings: Settings, in storage: any Storage
) async throws(StartFault) -> AuditVerdict {
  try await withChain(settings, storage) { (chain) throws(StorageError) in
    try await chain.restart(by: Origin(actor: .command), at: WallClock.system.now())
  }
}

private func withChain(
  _ settings: Settings, _ storage: any Storage,
  _ work: (AuditChain) async throws(StorageError) -> AuditVerdict
) async throws(StartFault) -> AuditVerdict {
  let ring = try masterKeyRing(of: settings, mayCreate: false, entropy: .system)
  do {
    return try await work(AuditChain(storage: storage, ring: ring))
  } catch {
    throw .storage(error)
  }
}
