internal import Synchronization

/// What the engine has done since it was opened; each number is right, all together may be of two moments.
package struct StorageStatistics: Sendable, Equatable {
  /// Groups that were begun.
  package let groups: Int
  /// Transactions in them.
  package let transactions: Int
  /// Transactions of the last group.
  package let lastGroup: Int
  /// Groups that were undone.
  package let faults: Int
  /// The database's own code of the last fault; empty before the first.
  package let lastFaultCode: String
  /// Transactions that wait now.
  package let waiting: Int

  /// Puts the numbers together.
  package init(
    groups: Int, transactions: Int, lastGroup: Int, faults: Int, lastFaultCode: String, waiting: Int
  ) {
    self.groups = groups
    self.transactions = transactions
    self.lastGroup = lastGroup
    self.faults = faults
    self.lastFaultCode = lastFaultCode
    self.waiting = waiting
  }
}

/// An engine that can be watched, and moved out of and into.
package protocol CountedStorage: Archive {
  /// What the engine has done since it was opened.
  var statistics: StorageStatistics { get }
}

/// Counted by writers' threads, read by any.
package final class CommitCounters: Sendable {
  private let groups = Atomic(0)
  private let transactions = Atomic(0)
  private let lastGroup = Atomic(0)
  private let faults = Atomic(0)
  private let lastFaultCode = Mutex("")

  /// Begins at nothing.
  package init() {}

  /// Counts a group that was begun.
  package func count(group size: Int) {
    groups.wrappingAdd(1, ordering: .relaxed)
    transactions.wrappingAdd(size, ordering: .relaxed)
    lastGroup.store(size, ordering: .relaxed)
  }

  /// Counts a group that was undone.
  package func count(fault code: String) {
    faults.wrappingAdd(1, ordering: .relaxed)
    lastFaultCode.withLock { $0 = code }
  }

  /// The numbers of this moment.
  package func snapshot(waiting: Int) -> StorageStatistics {
    StorageStatistics(
      groups: groups.load(ordering: .relaxed), transactions: transactions.load(ordering: .relaxed),
      lastGroup: lastGroup.load(ordering: .relaxed), faults: faults.load(ordering: .relaxed),
      lastFaultCode: lastFaultCode.withLock { $0 }, waiting: waiting)
  }
}
