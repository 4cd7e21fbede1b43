/// What databases say differently: the places of what others follow.
///
/// A place must never appear behind one that somebody has seen already. SQLite has one writer, and numbers rows itself;
/// where several write at once, a sequence would give places out in another order than that of the commits, so they
/// come from a counter in a row, whose lock is held until the commit.
package struct SQLDialect: Sendable {
  let insertRevocation, lastRevocation, insertAuditEntry, insertWebhook: String
  /// Advances the counters by a number of places; nil where the database counts by itself.
  let takePlaces: (revocations: String, audit: String)?
  /// What a probe writes; nil where every commit writes a row of its own.
  let touch: String?
  /// Has new places come behind all that are there; nil where the database counts by itself.
  let settlePlaces: String?

  /// What SQLite understands.
  package static let sqlite = SQLDialect(
    insertRevocation: """
      INSERT INTO revocations (kind, account, session, at, until) VALUES (?1, ?2, ?3, ?4, ?5)
      """,
    // What was given out stays in SQLite's own table, also when the rows are gone (sqlite.org/autoinc.html).
    lastRevocation: "SELECT seq FROM sqlite_sequence WHERE name = 'revocations'",
    insertAuditEntry: """
      INSERT INTO audit (at, action, actor, account, session, address, request_id, detail)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      """,
    insertWebhook: """
      INSERT INTO webhook_events (id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts)
      VALUES ('evt_' || lower(hex(randomblob(16))), ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)
      """,
    takePlaces: nil, touch: KeySQL.touch, settlePlaces: nil)

  /// What PostgreSQL and its like understand. The last parameter of what takes part of a row of places is how many of
  /// them come behind it.
  package static let postgres = SQLDialect(
    insertRevocation: """
      INSERT INTO revocations (kind, account, session, at, until, position)
      SELECT ?1, ?2, ?3, ?4, ?5, places.revocations - ?6 FROM places
      """,
    lastRevocation: "SELECT revocations FROM places",
    insertAuditEntry: """
      INSERT INTO audit (at, action, actor, account, session, address, request_id, detail, position)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, places.audit - ?9 FROM places
      """,
    insertWebhook: """
      WITH place AS (UPDATE places SET webhooks = webhooks + 1 RETURNING webhooks)
      INSERT INTO webhook_events (id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, position)
      SELECT 'evt_' || replace(CAST(gen_random_uuid() AS TEXT), '-', ''), ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, place.webhooks
      FROM place
      """,
    takePlaces: (
      revocations: "UPDATE places SET revocations = revocations + ?1",
      audit: "UPDATE places SET audit = audit + ?1"
    ),
    touch: nil,
    settlePlaces: """
      UPDATE places SET revocations = greatest(revocations, (SELECT coalesce(max(position), 0) FROM revocations)),
        audit = greatest(audit, (SELECT coalesce(max(position), 0) FROM audit)),
        webhooks = greatest(webhooks, (SELECT coalesce(max(position), 0) FROM webhook_events))
      """)
}
