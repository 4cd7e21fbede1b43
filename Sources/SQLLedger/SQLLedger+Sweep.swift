internal import Domain
package import Storage

/// How many rows a sweep looks at for each that it may delete.
///
/// A sweep that finds its fill is followed by another at once, so what decides nothing any more settles at
/// about this fraction of a table, without an index that every sign-in would pay for.
private let rowsSeenPerRowSwept = 16

extension SQLLedger {
  package mutating func sweep(_ rules: SweepRules) throws(StorageError) -> Int {
    guard rules.limit > 0 else { return 0 }
    return max(
      try sweepCredentials(rules), try sweepSessions(rules), try sweepRevocations(rules),
      try sweepAppleWork(rules), try sweepNotifications(rules), try sweepWebhooks(rules))
  }

  private func sweepAppleWork(_ rules: SweepRules) throws(StorageError) -> Int {
    try statements.apple.deleteWorkDueBefore.count { slots in
      slots.add(rules.appleWorkBefore)
      slots.add(Int64(rules.limit))
    }
  }

  private func sweepRevocations(_ rules: SweepRules) throws(StorageError) -> Int {
    try statements.deleteRevocationsBefore.count { slots in
      slots.add(rules.revocationsBefore)
      slots.add(Int64(rules.limit))
    }
  }

  /// From the oldest on. No credential expires before its own time, and all of one provider live equally long:
  /// the first that may go is always near the start.
  private func sweepCredentials(_ rules: SweepRules) throws(StorageError) -> Int {
    var expired: [CredentialKey] = []
    try statements.credentialExpiriesBefore.each { slots in
      slots.add(rules.credentialsBefore)
      slots.add(rowsSeen(for: rules.limit))
    } _: { (row: inout Row) throws(StorageError) in
      let key = CredentialKey(stamp: try row.time(), digest: try row.bytes())
      if try row.time() < rules.credentialsBefore, expired.count < rules.limit { expired.append(key) }
    }
    for key in expired {
      try statements.deleteSpentCredential.run { slots in
        slots.add(key.stamp)
        slots.add(key.digest)
      }
    }
    return expired.count
  }

  /// From where the last sweep stopped, and round to there again if the table is small.
  private func sweepSessions(_ rules: SweepRules) throws(StorageError) -> Int {
    let start = statements.sweptSessionsUpTo ?? []
    var walk = SessionWalk(budget: rowsSeen(for: rules.limit))
    try look(from: start, to: lastSessionID, rules, &walk)
    if !start.isEmpty { try look(from: [], to: start, rules, &walk) }
    // Nothing is left to look at: the next one begins at the front.
    statements.sweptSessionsUpTo = walk.isOver ? walk.last : nil
    for id in walk.found {
      try statements.deleteSession.run { slots in slots.add(id) }
    }
    for account in walk.accounts {
      try statements.deleteAnonymousAccount.run { slots in slots.add(account) }
    }
    return walk.found.count
  }

  private func look(
    from start: [UInt8], to end: [UInt8], _ rules: SweepRules, _ walk: inout SessionWalk
  ) throws(StorageError) {
    guard !walk.isOver else { return }
    try statements.sessionAgesBetween.each { slots in
      slots.add(start)
      slots.add(end)
      slots.add(walk.budget)
    } _: { (row: inout Row) throws(StorageError) in
      guard !walk.isOver else { return }
      let id = try row.bytes()
      walk.last = id
      walk.budget -= 1
      let account = try row.text()
      if try row.time() < rules.sessionsBefore {
        walk.found.append(id)
        walk.accounts.insert(account)
      }
      walk.isOver = walk.budget == 0 || walk.found.count == rules.limit
    }
  }

  private func rowsSeen(for limit: Int) -> Int64 {
    let (rows, overflow) = Int64(limit).multipliedReportingOverflow(by: Int64(rowsSeenPerRowSwept))
    return overflow ? .max : rows
  }
}

/// How far a sweep of sessions has come.
private struct SessionWalk {
  /// Rows that may still be looked at.
  var budget: Int64
  var last: [UInt8]?
  var found: [[UInt8]] = []
  /// Whose those were.
  var accounts: Set<String> = []
  /// All were looked at that may be, or all found that may go.
  var isOver = false

  init(budget: Int64) {
    self.budget = budget
  }
}

private let lastSessionID = [UInt8](repeating: 0xFF, count: SessionID.byteCount)
