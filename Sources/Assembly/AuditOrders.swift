package import Sessions
package import Settings
package import Storage
internal import Crypto

/// Walks along the audit's chain with the master keys of the settings, as a command does.
///
/// - Parameter witnesses: Heads that the log told of before.
package func verifyAudit(
  _ settings: Settings, in storage: any Storage, against witnesses: [AuditWitness]
) async throws(StartFault) -> AuditVerdict {
  let ring = try masterKeyRing(
    set: settings.masterKeys, databasePath: settings.databasePath, mayCreate: false, entropy: .system)
  do {
    return try await AuditChain(storage: storage, ring: ring).verify(against: witnesses)
  } catch {
    throw .storage(error)
  }
}
