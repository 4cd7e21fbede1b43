/// Those about what Apple told.
final class NotificationStatements<Statement: SQLStatement> {
  let insert, keptCount, kept, deleteBefore: Statement

  init<Fault: Error>(_ prepare: (String) throws(Fault) -> Statement) throws(Fault) {
    insert = try prepare(NotificationSQL.insert)
    keptCount = try prepare(NotificationSQL.keptCount)
    kept = try prepare(NotificationSQL.kept)
    deleteBefore = try prepare(NotificationSQL.deleteBefore)
  }
}
