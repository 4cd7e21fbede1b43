internal import Domain

// What Apple told, in the order in which it came.
extension MemoryLedger {
  package mutating func insert(_ notification: AppleNotificationRecord) throws(StorageError) -> Bool {
    guard !notifications.contains(where: { $0.digest == notification.digest }) else { return false }
    notifications.append(notification)
    return true
  }

  package mutating func keptNotificationCount() throws(StorageError) -> Int {
    notifications.count { $0.unknown != nil }
  }

  package mutating func keptNotifications(limit: Int) throws(StorageError) -> [AppleNotificationRecord] {
    Array(notifications.filter { $0.unknown != nil }.reversed().prefix(limit))
  }

  /// Returns how many went.
  mutating func sweepNotifications(_ rules: SweepRules) -> Int {
    let old = notifications.filter { $0.expiresAt < rules.credentialsBefore }.prefix(rules.limit)
    notifications.removeAll { record in old.contains { $0.digest == record.digest } }
    return old.count
  }
}
