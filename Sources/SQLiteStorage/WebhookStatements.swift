/// Those about what the app's back end is told.
final class WebhookStatements {
  let insert, update, delete, event, dueBy, firstOfAccount: Statement
  let after, deadAfter, firstDate, counts, deleteBefore: Statement

  init(on connection: borrowing Connection) throws(SQLiteError) {
    insert = try connection.prepare(WebhookSQL.insert)
    update = try connection.prepare(WebhookSQL.update)
    delete = try connection.prepare(WebhookSQL.delete)
    event = try connection.prepare(WebhookSQL.event)
    dueBy = try connection.prepare(WebhookSQL.dueBy)
    firstOfAccount = try connection.prepare(WebhookSQL.firstOfAccount)
    after = try connection.prepare(WebhookSQL.after)
    deadAfter = try connection.prepare(WebhookSQL.deadAfter)
    firstDate = try connection.prepare(WebhookSQL.firstDate)
    counts = try connection.prepare(WebhookSQL.counts)
    deleteBefore = try connection.prepare(WebhookSQL.deleteBefore)
  }
}
