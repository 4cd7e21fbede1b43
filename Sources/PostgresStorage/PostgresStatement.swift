internal import SQLLedger
package import Storage

/// One statement of a connection. What writes is sent and not waited for; whoever reads waits for all that was sent
/// before.
package final class PostgresStatement: SQLStatement {
  private let connection: Connection
  private let plain: PreparedText
  /// Fails when it does not touch one row.
  private let strict: PreparedText
  /// Locks the rows that are read next, so that a decision on them holds until the commit.
  ///
  /// Of its own, since a statement sees what was committed before it began: one that waited for a lock and joined would
  /// put new rows beside old ones (postgresql.org/docs/current/transaction-iso.html, Read Committed).
  private let lock: PreparedText?

  init(_ text: String, number: Int, lock: String?, on connection: Connection) {
    self.connection = connection
    plain = PreparedText(name: "s\(number)", text: text)
    strict = PreparedText(name: "o\(number)", text: OwnSQL.failingUnlessOne(text))
    self.lock = lock.map { PreparedText(name: "l\(number)", text: $0) }
  }

  package func run(_ bind: (inout PostgresSlots) -> Void) throws(StorageError) {
    connection.send(plain, slots(bind))
  }

  package func runOnOneRow(_ bind: (inout PostgresSlots) -> Void) throws(StorageError) {
    connection.send(strict, slots(bind))
  }

  package func count(_ bind: (inout PostgresSlots) -> Void) throws(StorageError) -> Int {
    connection.send(plain, slots(bind))
    return try connection.lastAnswer().touched
  }

  package func visit(
    _ bind: (inout PostgresSlots) -> Void, _ read: (inout PostgresRow) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let slots = slots(bind)
    if let lock { connection.send(lock, slots) }
    connection.send(plain, slots)
    let rows = try connection.lastAnswer()
    for index in 0..<rows.count {
      guard try rows.withRow(index, read) else { return }
    }
  }

  private func slots(_ bind: (inout PostgresSlots) -> Void) -> PostgresSlots {
    var slots = PostgresSlots()
    bind(&slots)
    return slots
  }
}
