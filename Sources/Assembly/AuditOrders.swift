package import Sessions
package import Settings
package import Storage
internal import Crypto

/// Walks along the audit's chain with the master keys of the settings, as a command does.
package func verifyAudit(_ settings: Settings, in storage: any Storage) async throws(StartFault)
  -> AuditVerdict
{
  let ring = try masterKeyRing(
    set: settings.masterKeys, databasePath: settings.databasePath, mayCreate: false, entropy: .system)
  do {
    return try await AuditChain(storage: storage, ring: ring).verify()
  } catch {
    throw .storage(error)
  }
}
