package import Domain

/// How many identities at Apple have come how far on their way to one team.
package struct TransferCount: Sendable, Equatable {
  package let team: TeamID
  package let state: IdentityTransfer.State
  package let count: Int

  package init(team: TeamID, state: IdentityTransfer.State, count: Int) {
    self.team = team
    self.state = state
    self.count = count
  }
}

/// Two accounts of one person: one that was to be moved, and one that has the new subject already.
package struct TransferConflict: Sendable, Equatable {
  package let account: AccountID
  /// The id of the newer account.
  package let other: String

  package init(account: AccountID, other: String) {
    self.account = account
    self.other = other
  }
}

/// How far the people of an app have come on their way to a team.
package struct TransferStatus: Sendable, Equatable {
  package let team: TeamID
  /// Identities at Apple, of whatever team.
  package let identities: Int
  /// Those that are or were on a way, to whatever team.
  package let movers: [TransferCount]
  /// At most ``Limits/shownTransferConflicts``.
  package let conflicts: [TransferConflict]
  /// Until when people can be moved; nil when nobody said when the transfer was accepted.
  package let endsAt: UnixTime?

  /// How many are at a stage of the way to this team.
  package func count(_ state: IdentityTransfer.State) -> Int {
    movers.first { $0.team == team && $0.state == state }?.count ?? 0
  }

  /// Whether anybody is or was on the way to this team.
  package var isBegun: Bool { movers.contains { $0.team == team } }

  /// Other teams that people are or were on the way to.
  package var otherTeams: [TeamID] {
    Set(movers.map(\.team)).subtracting([team]).sorted { $0.text < $1.text }
  }

  /// How many are still to be asked about.
  package func left(of query: TransferQuery) -> Int {
    let resting = identities - movers.reduce(0) { $0 + $1.count }
    return movers.reduce(query.admits(nil) ? resting : 0) { sum, mover in
      query.admits((mover.state, mover.team)) ? sum + mover.count : sum
    }
  }

  /// How many would lose what Apple gave for another team if they went out to this one.
  package func replaced(by query: TransferQuery) -> Int {
    movers.reduce(0) { sum, mover in
      let isOther = mover.team != query.team && mover.team != query.own
      return isOther && mover.state.isUnderWay ? sum + mover.count : sum
    }
  }
}

/// The name of the lease that says until when people can be moved to the team that holds it.
private let windowName = "apple_transfer_window"

extension LedgerStorage {
  package func transferPage(
    _ query: TransferQuery, after subject: Subject?, limit: Int
  ) async throws(StorageError) -> [TransferItem] {
    try await read { (book) throws(StorageError) in
      try book.transferItems(query, after: subject, limit: limit)
    }
  }

  package func write(
    _ export: TransferExport, by origin: Origin
  ) async throws(StorageError) -> TransferOutcome {
    try await transact { (book) throws(StorageError) in
      try decideTransferExport(export, by: origin, in: &book)
    }
  }

  package func write(
    _ arrival: TransferImport, by origin: Origin
  ) async throws(StorageError) -> TransferOutcome {
    try await transact { (book) throws(StorageError) in
      try decideTransferImport(arrival, by: origin, in: &book)
    }
  }

  package func transferStatus(to team: TeamID) async throws(StorageError) -> TransferStatus {
    try await read { (book) throws(StorageError) in
      let window = try book.lease(windowName)
      return TransferStatus(
        team: team, identities: try book.identityCount(at: appleProviderID),
        movers: try book.transferCounts(),
        conflicts: try book.transferConflicts(to: team, limit: Limits.shownTransferConflicts),
        endsAt: window?.holder == team.text ? window?.until : nil)
    }
  }

  package func noteTransferAcceptance(
    by team: TeamID, at moment: UnixTime, replacesOther: Bool
  ) async throws(StorageError) {
    try await transact { (book) throws(StorageError) in
      if !replacesOther, try book.lease(windowName)?.holder == team.text { return }
      try book.write(
        Lease(name: windowName, holder: team.text, until: moment + Limits.transferSeconds))
    }
  }

  package func adoptAppleSecrets(for team: TeamID, limit: Int) async throws(StorageError) -> Int {
    try await transact { (book) throws(StorageError) in
      try book.adoptAppleSecrets(for: team, limit: limit)
    }
  }
}
