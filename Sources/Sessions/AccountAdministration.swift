package import Domain
package import Storage

/// What an administrator does with anybody's account; this node knows at once what it makes of tokens.
package struct AccountAdministration: Sendable {
  package let storage: any Storage
  private let watch: SessionWatch
  private let clock: WallClock
  private let appleBell: Bell

  /// - Parameter appleBell: Rings when there is something to be asked of Apple.
  package init(storage: any Storage, watch: SessionWatch, appleBell: Bell, clock: WallClock) {
    self.storage = storage
    self.watch = watch
    self.appleBell = appleBell
    self.clock = clock
  }

  /// The time of day.
  package func now() -> UnixTime { clock.now() }

  /// Makes accounts in one transaction.
  ///
  /// - Parameter areImported: Whether another system had them before.
  package func create(
    _ accounts: [Account], sharingEmails: Bool, areImported: Bool, by origin: Origin
  ) async throws(StorageError) -> [AccountCreationOutcome] {
    try await storage.create(
      accounts, sharingEmails: sharingEmails, areImported: areImported, by: origin, at: clock.now())
  }

  package func change(
    _ id: AccountID, to change: AccountChange, by origin: Origin
  ) async throws(StorageError) -> AccountChangeOutcome {
    let outcome = try await storage.change(
      AccountChangeIntent(target: .administered(id), change: change, origin: origin, now: clock.now()))
    await watch.followOwnWrite()
    if !change.removedProviders.isEmpty { appleBell.ring() }
    return outcome
  }

  /// Deletes accounts in one transaction.
  package func delete(
    _ ids: [AccountID], demandsDisabled: Bool, by origin: Origin
  ) async throws(StorageError) -> [AccountDeletionOutcome] {
    let now = clock.now()
    let outcomes = try await storage.delete(
      ids.map {
        AccountDeletionIntent(
          target: .administered($0), demandsDisabled: demandsDisabled, origin: origin, now: now)
      })
    await watch.followOwnWrite()
    appleBell.ring()
    return outcomes
  }

  /// Ends one session of an account, or all.
  package func endSessions(
    of account: AccountID, _ session: SessionID?, by origin: Origin
  ) async throws(StorageError) -> SessionEndingOutcome {
    let outcome = try await storage.endSessions(
      SessionEndingIntent(target: .administered(account, session), origin: origin, now: clock.now()))
    await watch.followOwnWrite()
    return outcome
  }
}
