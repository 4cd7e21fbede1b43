-- What makes tokens bad before their time, in the order in which it happened. The place of a row is never used again:
-- it is what those who follow remember. `until` is when the last token that it means ends.
CREATE TABLE revocations (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  kind     TEXT NOT NULL CHECK (kind IN ('session', 'account', 'restored')),
  account  TEXT NOT NULL,
  session  BLOB CHECK (length(session) = 16),
  at       INTEGER NOT NULL,
  until    INTEGER NOT NULL,
  CHECK ((kind = 'session') = (session IS NOT NULL))
) STRICT;

-- What was said of whole accounts: an id may come back.
CREATE INDEX revoked_accounts ON revocations (account) WHERE session IS NULL;

-- Who did what to which account. A line is written with what it tells of, and chained to the one before it a little
-- later, so that writers do not wait for each other; `digest` is NULL until then.
CREATE TABLE audit (
  position   INTEGER PRIMARY KEY AUTOINCREMENT,
  at         INTEGER NOT NULL,
  action     TEXT NOT NULL,
  actor      TEXT NOT NULL,
  account    TEXT,
  session    BLOB CHECK (length(session) = 16),
  address    BLOB NOT NULL,
  request_id TEXT,
  detail     TEXT,
  digest     BLOB CHECK (length(digest) = 32)
) STRICT;

CREATE INDEX audit_of_account ON audit (account) WHERE account IS NOT NULL;

-- The two ends of the chain.
CREATE TABLE audit_seals (
  name       TEXT NOT NULL PRIMARY KEY CHECK (name IN ('anchor', 'head')),
  position   INTEGER NOT NULL,
  digest     BLOB NOT NULL CHECK (length(digest) = 32),
  code       BLOB NOT NULL CHECK (length(code) = 32),
  master_key BLOB NOT NULL CHECK (length(master_key) = 8)
) STRICT, WITHOUT ROWID;

-- Work that one node at a time does.
CREATE TABLE leases (
  name   TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Tells which of an account's sessions is the newest, also among those of one second and of nodes whose clocks differ:
-- each is given one more than those that live have. Zero for the sessions of before.
ALTER TABLE sessions ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0;
DROP INDEX living_sessions;
CREATE INDEX living_sessions ON sessions (account, ordinal) WHERE ended_at IS NULL;

PRAGMA user_version = 4;
