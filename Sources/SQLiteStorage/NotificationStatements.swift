/// Those about what Apple told.
final class NotificationStatements {
  let insert, keptCount, kept, deleteBefore: Statement

  init(on connection: borrowing Connection) throws(SQLiteError) {
    insert = try connection.prepare(NotificationSQL.insert)
    keptCount = try connection.prepare(NotificationSQL.keptCount)
    kept = try connection.prepare(NotificationSQL.kept)
    deleteBefore = try connection.prepare(NotificationSQL.deleteBefore)
  }
}
