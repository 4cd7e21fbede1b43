internal import Domain
internal import SQLLedger
internal import Storage

/// Locks and reads what the transactions of a group decide on, in one way there and back.
final class Foresight {
  private let connection: Connection
  private let lockAccounts = PreparedText(name: "lock-accounts", text: GroupSQL.lockAccounts)
  private let accountsOfIdentities = PreparedText(
    name: "accounts-of-identities", text: GroupSQL.accountsOfIdentities)
  private let sessions = PreparedText(name: "sessions", text: GroupSQL.sessions)
  private let accountsOfSessions = PreparedText(
    name: "accounts-of-sessions", text: GroupSQL.accountsOfSessions)
  private let credentials = PreparedText(name: "credentials", text: GroupSQL.credentials)
  private let heldIdentities = PreparedText(name: "held-identities", text: GroupSQL.heldIdentities)
  private let heldSessions = PreparedText(name: "held-sessions", text: GroupSQL.heldSessions)

  init(_ connection: Connection) { self.connection = connection }

  /// The places in the group of those that decide on a row that somebody holds; what nobody held is locked. Waits for
  /// no row.
  func held(_ group: ArraySlice<Transaction>) throws(StorageError) -> Set<Int> {
    let wanted = rows(of: group)
    if !wanted.identities.isEmpty { connection.send(heldIdentities, identitySlots(wanted)) }
    if !wanted.sessions.isEmpty { connection.send(heldSessions, sessionSlots(wanted)) }
    let asked = (wanted.identities.isEmpty ? 0 : 1) + (wanted.sessions.isEmpty ? 0 : 1)
    guard asked > 0 else { return [] }
    var answers = try connection.answers(asked)[...]
    var identities: Set<ProviderIdentity> = []
    if !wanted.identities.isEmpty, let found = answers.popFirst() {
      for index in 0..<found.count {
        try found.withRow(index) { (row) throws(StorageError) in
          _ = identities.insert(
            ProviderIdentity(provider: try row.text(), subject: Subject(unchecked: try row.text())))
        }
      }
    }
    var sessions: Set<[UInt8]> = []
    if let found = answers.popFirst() {
      for index in 0..<found.count {
        try found.withRow(index) { (row) throws(StorageError) in _ = sessions.insert(try row.bytes()) }
      }
    }
    return Set(
      group.indices.filter { index in
        guard let rows = group[index].rows else { return false }
        return rows.identities.contains { identities.contains($0) }
          || rows.sessions.contains { sessions.contains($0.bytes) }
      })
  }

  private func rows(of group: ArraySlice<Transaction>) -> DecisionRows {
    var wanted = DecisionRows()
    for rows in group.lazy.compactMap(\.rows) {
      wanted.sessions += rows.sessions
      wanted.identities += rows.identities
      wanted.credentials += rows.credentials
    }
    return wanted
  }

  private func identitySlots(_ wanted: DecisionRows) -> PostgresSlots {
    var slots = PostgresSlots()
    slots.add(texts: wanted.identities.map(\.provider))
    slots.add(texts: wanted.identities.map(\.subject.text))
    return slots
  }

  private func sessionSlots(_ wanted: DecisionRows) -> PostgresSlots {
    var slots = PostgresSlots()
    slots.add(blobs: wanted.sessions.map(\.bytes))
    return slots
  }

  func look(_ group: ArraySlice<Transaction>) throws(StorageError) -> KnownRows {
    let wanted = rows(of: group)
    // In the order in which they are sent; what comes before them is not looked at.
    var kinds: [Kind] = []
    if !wanted.identities.isEmpty {
      let slots = identitySlots(wanted)
      connection.send(lockAccounts, slots)
      connection.send(accountsOfIdentities, slots)
      kinds += [.lock, .accounts]
    }
    if !wanted.sessions.isEmpty {
      let slots = sessionSlots(wanted)
      connection.send(sessions, slots)
      connection.send(accountsOfSessions, slots)
      kinds += [.sessions, .accounts]
    }
    if !wanted.credentials.isEmpty {
      var slots = PostgresSlots()
      slots.add(numbers: wanted.credentials.map(\.stamp.seconds))
      slots.add(blobs: wanted.credentials.map(\.digest))
      connection.send(credentials, slots)
      kinds.append(.credentials)
    }
    return try take(kinds, wanted)
  }

  private enum Kind { case lock, accounts, sessions, credentials }

  private func take(_ kinds: [Kind], _ wanted: DecisionRows) throws(StorageError) -> KnownRows {
    var known = KnownRows(wanted: wanted)
    for (kind, rows) in zip(kinds, try connection.answers(kinds.count)) {
      for index in 0..<rows.count {
        try rows.withRow(index) { (row) throws(StorageError) in
          switch kind {
          case .lock: break
          case .accounts: try known.takeAccount(&row)
          case .sessions: try known.takeSession(&row)
          case .credentials: try known.takeCredential(&row)
          }
        }
      }
      known.finishAccounts()
    }
    return known
  }
}
