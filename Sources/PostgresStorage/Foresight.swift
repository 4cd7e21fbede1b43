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

  init(_ connection: Connection) { self.connection = connection }

  func look(_ group: ArraySlice<Transaction>) throws(StorageError) -> KnownRows {
    var wanted = DecisionRows()
    for rows in group.lazy.compactMap(\.rows) {
      wanted.sessions += rows.sessions
      wanted.identities += rows.identities
      wanted.credentials += rows.credentials
    }
    // In the order in which they are sent; what comes before them is not looked at.
    var kinds: [Kind] = []
    if !wanted.identities.isEmpty {
      var slots = PostgresSlots()
      slots.add(texts: wanted.identities.map(\.provider))
      slots.add(texts: wanted.identities.map(\.subject.text))
      connection.send(lockAccounts, slots)
      connection.send(accountsOfIdentities, slots)
      kinds += [.lock, .accounts]
    }
    if !wanted.sessions.isEmpty {
      var slots = PostgresSlots()
      slots.add(blobs: wanted.sessions.map(\.bytes))
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
