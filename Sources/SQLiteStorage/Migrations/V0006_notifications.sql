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

-- Events for the app's back end, in the order in which they happened. Of each account only the oldest has a time at which
-- it is due; none has one that was given up. What an event says is never changed.
CREATE TABLE webhook_events (
  position    INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT NOT NULL UNIQUE,
  kind        TEXT NOT NULL,
  account     TEXT NOT NULL,
  provider    TEXT,
  cause       TEXT,
  created_at  INTEGER NOT NULL,
  due_at      INTEGER,
  gives_up_at INTEGER NOT NULL,
  attempts    INTEGER NOT NULL CHECK (attempts >= 0),
  fault       TEXT,
  dead_at     INTEGER,
  CHECK (due_at IS NULL OR dead_at IS NULL)
) STRICT;

CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_events_of_account ON webhook_events (account, position) WHERE dead_at IS NULL;
CREATE INDEX webhook_events_dead ON webhook_events (position) WHERE dead_at IS NOT NULL;
CREATE INDEX webhook_events_end ON webhook_events (coalesce(dead_at, gives_up_at));

PRAGMA user_version = 6;
