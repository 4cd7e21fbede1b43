internal import Domain
package import Storage

/// How many rows a sweep looks at for each that it may delete.
///
/// A sweep that finds its fill is followed by another at once, so what decides nothing any more settles at
/// about this fraction of a table, without an index that every sign-in would pay for.
private let rowsSeenPerRowSwept = 16

extension SQLiteLedger {
  package mutating func sweep(_ rules: SweepRules) throws(StorageError) -> Int {
    guard rules.limit > 0 else { return 0 }
    return max(try sweepCredentials(rules), try sweepSessions(rules))
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
    let budget = rowsSeen(for: rules.limit)
    let start = statements.sweptSessionsUpTo ?? []
    var walk = SessionWalk()
    try look(from: start, for: budget, rules, &walk)
    if walk.seen < budget, !walk.isFull, !start.isEmpty {
      try look(from: [], for: budget - walk.seen, rules, &walk)
    }
    // The next one begins at the front when this one came to the end of the table.
    statements.sweptSessionsUpTo = walk.seen < budget && !walk.isFull ? nil : walk.last
    for id in walk.over {
      try statements.deleteSession.run { slots in slots.add(id) }
    }
    return walk.over.count
  }

  private func look(
    from start: [UInt8], for budget: Int64, _ rules: SweepRules, _ walk: inout SessionWalk
  ) throws(StorageError) {
    try statements.sessionAgesAfter.each { slots in
      slots.add(start)
      slots.add(budget)
    } _: { (row: inout Row) throws(StorageError) in
      let id = try row.bytes()
      guard !walk.isFull else { return }
      walk.seen += 1
      walk.last = id
      if try row.time() < rules.sessionsBefore { walk.over.append(id) }
      walk.isFull = walk.over.count == rules.limit
    }
  }

  private func rowsSeen(for limit: Int) -> Int64 {
    let (rows, overflow) = Int64(limit).multipliedReportingOverflow(by: Int64(rowsSeenPerRowSwept))
    return overflow ? .max : rows
  }
}

/// How far a sweep of sessions has come.
private struct SessionWalk {
  var seen: Int64 = 0
  var last: [UInt8]?
  var over: [[UInt8]] = []
  var isFull = false
}
