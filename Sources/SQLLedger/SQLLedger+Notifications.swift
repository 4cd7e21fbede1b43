internal import Domain
package import Storage

// What Apple told.
extension SQLLedger {
  package mutating func insert(_ notification: AppleNotificationRecord) throws(StorageError) -> Bool {
    let count = try statements.notifications.insert.count { slots in
      slots.add(notification.digest)
      slots.add(notification.receivedAt)
      slots.add(notification.expiresAt)
      slots.add(notification.unknown)
    }
    return count == 1
  }

  package mutating func keptNotificationCount() throws(StorageError) -> Int {
    let count = try statements.notifications.keptCount.first { (row: inout Row) throws(StorageError) in
      try row.number()
    }
    return try required(count.flatMap { Int(exactly: $0) })
  }

  package mutating func keptNotifications(limit: Int) throws(StorageError) -> [AppleNotificationRecord] {
    try statements.notifications.kept.all { slots in
      slots.add(Int64(limit))
    } _: { (row: inout Row) throws(StorageError) in
      AppleNotificationRecord(
        digest: try row.bytes(), receivedAt: try row.time(), expiresAt: try row.time(),
        unknown: try row.optionalText())
    }
  }

  /// Returns how many went.
  func sweepNotifications(_ rules: SweepRules) throws(StorageError) -> Int {
    try statements.notifications.deleteBefore.count { slots in
      slots.add(rules.credentialsBefore)
      slots.add(Int64(rules.limit))
    }
  }
}
