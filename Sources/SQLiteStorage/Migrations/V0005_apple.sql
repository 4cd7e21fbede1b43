-- What Apple gave out for people, what has to be asked of Apple, and what was last heard of a consent.

ALTER TABLE identities ADD COLUMN credential_state TEXT NOT NULL DEFAULT 'authorized'
  CHECK (credential_state IN ('authorized', 'revoked', 'transferred', 'notFound'));
-- The client that the person last signed in to.
ALTER TABLE identities ADD COLUMN client_id TEXT;

-- Refresh tokens of Apple's, sealed; the id is bound into the seal. By subject: they follow the person, not the account.
CREATE TABLE apple_grants (
  subject     TEXT NOT NULL,
  client_id   TEXT NOT NULL,
  id          BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  account     TEXT NOT NULL,
  sealed      BLOB NOT NULL,
  master_key  BLOB NOT NULL CHECK (length(master_key) = 8),
  obtained_at INTEGER NOT NULL,
  checked_at  INTEGER,
  due_at      INTEGER NOT NULL,
  PRIMARY KEY (subject, client_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX apple_grants_due ON apple_grants (due_at);

-- Calls to Apple that have to be made; the ids begin with a time. A row goes when its call has been answered.
CREATE TABLE apple_work (
  id           BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  kind         TEXT NOT NULL CHECK (kind IN ('exchange', 'revoke', 'exchange_then_revoke')),
  secret       TEXT NOT NULL CHECK (secret IN ('code', 'refresh_token', 'access_token')),
  sealed       BLOB NOT NULL,
  master_key   BLOB NOT NULL CHECK (length(master_key) = 8),
  account      TEXT NOT NULL,
  subject      TEXT,
  client_id    TEXT NOT NULL,
  redirect_uri TEXT,
  created_at   INTEGER NOT NULL,
  due_at       INTEGER NOT NULL,
  attempts     INTEGER NOT NULL CHECK (attempts >= 0),
  fault        TEXT,
  is_sent      INTEGER NOT NULL CHECK (is_sent IN (0, 1)),
  CHECK ((kind = 'revoke') = (secret <> 'code'))
) STRICT, WITHOUT ROWID;

CREATE INDEX apple_work_due ON apple_work (due_at);
CREATE INDEX apple_work_of_account ON apple_work (account);

PRAGMA user_version = 5;
