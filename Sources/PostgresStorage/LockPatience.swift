internal import SQLLedger
internal import Storage

/// A transaction that waits for its turn, and for how long.
struct Transaction: Sendable {
  /// How long after it was asked for it may still be tried again because of others' locks. What is tried last takes a
  /// moment, and who asks hears within four seconds.
  private static let patience = Duration.milliseconds(2500)

  private let body: SQLTransaction<PostgresStatement>
  let deadline: ContinuousClock.Instant

  init(_ body: SQLTransaction<PostgresStatement>, askedAt now: ContinuousClock.Instant) {
    (self.body, deadline) = (body, now + Self.patience)
  }

  var rows: DecisionRows? { body.rows }

  func run(_ ledger: inout SQLLedger<PostgresStatement>) throws(StorageError) -> @Sendable () -> Void {
    try body.run(&ledger)
  }

  func fail(_ error: StorageError) { body.fail(error) }
}

/// How long each lock is waited for, in milliseconds.
enum LockWait: Int, CaseIterable {
  case moment = 50
  case shortly = 300
  case long = 2000

  /// What sets it.
  static var texts: [LockWait: PreparedText] {
    Dictionary(
      uniqueKeysWithValues: allCases.map { wait in
        (
          wait,
          PreparedText(
            name: "wait-\(wait.rawValue)", text: OwnSQL.waitForLocks(milliseconds: wait.rawValue))
        )
      })
  }
}

/// How long a group waits for what others have locked.
struct LockPatience {
  /// For rows that somebody's request wants, of which one that is held is no reason for others to wait.
  let rows: LockWait
  /// For what every group needs: the others are nodes that commit, one after the other.
  let places: LockWait
  /// Whether who decides on a row that is held is left out instead.
  let passesOver: Bool
  /// How long it is looked for who of a group needs what is held, before all of it is set aside.
  let search: Duration

  /// As a rule: who holds a row is another node, for its commit.
  static let waiting = LockPatience(
    rows: .shortly, places: .long, passesOver: false, search: .milliseconds(700))
  /// When a row is known to be held for longer.
  static let passing = LockPatience(
    rows: .moment, places: .long, passesOver: true, search: .milliseconds(700))
  /// Of those that were set aside.
  static let again = LockPatience(
    rows: .moment, places: .shortly, passesOver: true, search: .milliseconds(200))
}

/// Transactions that need what somebody holds. They are tried again now and then, while those that came later are
/// committed.
struct SetAside {
  /// Between two attempts.
  private static let pause = Duration.milliseconds(100)

  private let limit: Int
  private var waiting: [Transaction] = []
  private var triedAt: ContinuousClock.Instant?

  /// - Parameter limit: The most that are kept.
  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { waiting.isEmpty }

  /// Keeps as many as there is room for and time left; returns the others.
  mutating func keep(_ transactions: ArraySlice<Transaction>, at now: ContinuousClock.Instant)
    -> [Transaction]
  {
    if waiting.isEmpty { triedAt = now }
    var others: [Transaction] = []
    for transaction in transactions {
      if now < transaction.deadline, waiting.count < limit {
        waiting.append(transaction)
      } else {
        others.append(transaction)
      }
    }
    return others
  }

  /// Gives out all when it is time for another attempt.
  mutating func takeDue(at now: ContinuousClock.Instant) -> [Transaction] {
    guard let triedAt, !waiting.isEmpty, now - triedAt >= Self.pause else { return [] }
    return takeAll()
  }

  /// Gives out all.
  mutating func takeAll() -> [Transaction] {
    defer { waiting = [] }
    return waiting
  }
}
