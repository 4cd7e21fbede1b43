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
