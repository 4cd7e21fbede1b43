internal import Synchronization

/// What the engine has done since it was opened; each number is right, all together may be of two moments.
package struct SQLiteStatistics: Sendable, Equatable {
  /// Groups that were begun.
  package let groups: Int
  /// Transactions in them.
  package let transactions: Int
  /// Transactions of the last group.
  package let lastGroup: Int
  /// Groups that were undone.
  package let faults: Int
  /// SQLite's extended code of the last fault; zero before the first.
  package let lastFaultCode: Int32
  /// Transactions that wait now.
  package let waiting: Int

  /// Puts the numbers together.
  package init(
    groups: Int, transactions: Int, lastGroup: Int, faults: Int, lastFaultCode: Int32, waiting: Int
  ) {
    self.groups = groups
    self.transactions = transactions
    self.lastGroup = lastGroup
    self.faults = faults
    self.lastFaultCode = lastFaultCode
    self.waiting = waiting
  }
}

/// Counted by the writer's thread, read by any.
final class CommitCounters: Sendable {
  private let groups = Atomic(0)
  private let transactions = Atomic(0)
  private let lastGroup = Atomic(0)
  private let faults = Atomic(0)
  private let lastFaultCode = Atomic<Int32>(0)

  func count(group size: Int) {
    groups.wrappingAdd(1, ordering: .relaxed)
    transactions.wrappingAdd(size, ordering: .relaxed)
    lastGroup.store(size, ordering: .relaxed)
  }

  func count(fault code: Int32) {
    faults.wrappingAdd(1, ordering: .relaxed)
    lastFaultCode.store(code, ordering: .relaxed)
  }

  func snapshot(waiting: Int) -> SQLiteStatistics {
    SQLiteStatistics(
      groups: groups.load(ordering: .relaxed), transactions: transactions.load(ordering: .relaxed),
      lastGroup: lastGroup.load(ordering: .relaxed), faults: faults.load(ordering: .relaxed),
      lastFaultCode: lastFaultCode.load(ordering: .relaxed), waiting: waiting)
  }
}
