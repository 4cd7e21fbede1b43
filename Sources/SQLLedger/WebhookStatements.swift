/// Those about what the app's back end is told.
final class WebhookStatements<Statement: SQLStatement> {
  let insert, update, delete, event, dueBy, firstOfAccount: Statement
  let after, deadAfter, firstDate, counts, deleteBefore: Statement

  init<Fault: Error>(
    for dialect: SQLDialect, _ prepare: (String) throws(Fault) -> Statement
  ) throws(Fault) {
    insert = try prepare(dialect.insertWebhook)
    update = try prepare(WebhookSQL.update)
    delete = try prepare(WebhookSQL.delete)
    event = try prepare(WebhookSQL.event)
    dueBy = try prepare(WebhookSQL.dueBy)
    firstOfAccount = try prepare(WebhookSQL.firstOfAccount)
    after = try prepare(WebhookSQL.after)
    deadAfter = try prepare(WebhookSQL.deadAfter)
    firstDate = try prepare(WebhookSQL.firstDate)
    counts = try prepare(WebhookSQL.counts)
    deleteBefore = try prepare(WebhookSQL.deleteBefore)
  }
}
