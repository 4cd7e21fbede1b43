-- What Apple tells of people without being asked, and what the app's back end is told.

-- Whether the relay passes mail on, and when that changed which was last heard of.
ALTER TABLE identities ADD COLUMN is_email_deliverable INTEGER NOT NULL DEFAULT 1
  CHECK (is_email_deliverable IN (0, 1));
ALTER TABLE identities ADD COLUMN email_changed_at INTEGER;

-- Notifications that have come, so that none is taken twice; `unknown` holds events of types that nobody understood.
CREATE TABLE apple_notifications (
  digest      BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
  received_at INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  unknown     TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX apple_notifications_end ON apple_notifications (expires_at);
CREATE INDEX apple_notifications_kept ON apple_notifications (received_at) WHERE unknown IS NOT NULL;

PRAGMA user_version = 6;
