// As `Statements.swift`: what Apple told, and what the app's back end is told.

/// `apple_notifications`.
enum NotificationSQL {
  static let insert: StaticString = """
    INSERT INTO apple_notifications (digest, received_at, expires_at, unknown) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (digest) DO NOTHING
    """

  static let keptCount: StaticString = "SELECT count(*) FROM apple_notifications WHERE unknown IS NOT NULL"

  static let kept: StaticString = """
    SELECT digest, received_at, expires_at, unknown FROM apple_notifications WHERE unknown IS NOT NULL
    ORDER BY received_at DESC, digest LIMIT ?1
    """

  static let deleteBefore: StaticString = """
    DELETE FROM apple_notifications WHERE digest IN
      (SELECT digest FROM apple_notifications WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2)
    """
}

/// `webhook_events`.
enum WebhookSQL {
  static let insert: StaticString = """
    INSERT INTO webhook_events (id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts)
    VALUES ('evt_' || lower(hex(randomblob(16))), ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)
    """

  static let update: StaticString = """
    UPDATE webhook_events SET due_at = ?2, gives_up_at = ?3, attempts = ?4, fault = ?5, dead_at = ?6 WHERE id = ?1
    """

  static let delete: StaticString = "DELETE FROM webhook_events WHERE id = ?1"

  static let event: StaticString = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE id = ?1
    """

  static let dueBy: StaticString = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE due_at <= ?1 ORDER BY due_at, position LIMIT ?2
    """

  static let firstOfAccount: StaticString = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE account = ?1 AND dead_at IS NULL ORDER BY position LIMIT 1
    """

  static let after: StaticString = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE position > ?1 ORDER BY position LIMIT ?2
    """

  static let deadAfter: StaticString = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE dead_at IS NOT NULL AND position > ?1 ORDER BY position LIMIT ?2
    """

  static let firstDate: StaticString = "SELECT min(due_at) FROM webhook_events WHERE due_at IS NOT NULL"

  static let counts: StaticString = """
    SELECT count(*) FILTER (WHERE dead_at IS NULL), count(*) FILTER (WHERE dead_at IS NOT NULL),
      min(created_at) FILTER (WHERE dead_at IS NULL)
    FROM webhook_events
    """

  static let deleteBefore: StaticString = """
    DELETE FROM webhook_events WHERE position IN
      (SELECT position FROM webhook_events WHERE coalesce(dead_at, gives_up_at) < ?1
        ORDER BY coalesce(dead_at, gives_up_at) LIMIT ?2)
    """
}
