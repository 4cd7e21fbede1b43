-- The first schema. Never edited after a release: a change is the next file.
--
-- STRICT (sqlite.org/stricttables.html): a value of another type is refused when it is written. Text columns
-- keep the collation BINARY: identifiers are compared as bytes. Moments are whole seconds since 1970.

-- The integer key is the order of creation, by which accounts are paged, and what identities point at.
CREATE TABLE accounts (
  number            INTEGER PRIMARY KEY,
  id                TEXT NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 128),
  created_at        INTEGER NOT NULL,
  last_sign_in_at   INTEGER NOT NULL,
  is_disabled       INTEGER NOT NULL CHECK (is_disabled IN (0, 1)),
  email             TEXT,
  is_email_verified INTEGER NOT NULL CHECK (is_email_verified IN (0, 1)),
  is_private_email  INTEGER NOT NULL CHECK (is_private_email IN (0, 1)),
  real_user_status  INTEGER CHECK (real_user_status IN (0, 1, 2)),
  given_name        TEXT,
  family_name       TEXT,
  middle_name       TEXT,
  name_prefix       TEXT,
  name_suffix       TEXT,
  nickname          TEXT
) STRICT;

-- Who an account is at providers; at most one subject of each. An identity means nothing without its account.
CREATE TABLE identities (
  provider TEXT NOT NULL,
  subject  TEXT NOT NULL,
  account  INTEGER NOT NULL REFERENCES accounts (number) ON DELETE CASCADE,
  PRIMARY KEY (provider, subject),
  UNIQUE (account, provider)
) STRICT, WITHOUT ROWID;

-- One row a signed-in device; the ids begin with a time, so that the table is appended to.
--
-- The account is named by its id and not by its number, and no foreign key holds it: a session outlives its
-- account for a while, so that a token of a deleted account can be told from one of an ended session.
CREATE TABLE sessions (
  id             BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  account        TEXT NOT NULL,
  provider       TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  counter        INTEGER NOT NULL CHECK (counter BETWEEN 0 AND 4294967295),
  master_key     BLOB NOT NULL CHECK (length(master_key) = 8),
  rotated_at     INTEGER NOT NULL,
  late_rotations INTEGER NOT NULL CHECK (late_rotations >= 0),
  is_late        INTEGER NOT NULL CHECK (is_late IN (0, 1)),
  ended_as       TEXT CHECK (ended_as IN ('ended', 'revoked', 'reused')),
  ended_at       INTEGER,
  device_name    TEXT,
  device_model   TEXT,
  device_os      TEXT,
  app_version    TEXT,
  CHECK ((ended_as IS NULL) = (ended_at IS NULL))
) STRICT, WITHOUT ROWID;

-- Lists and ends the sessions of one account. Partial: what is over needs no place in it
-- (sqlite.org/partialindex.html).
CREATE INDEX living_sessions ON sessions (account) WHERE ended_at IS NULL;

-- Credentials that were used, in the order of their own time. They expire in nearly the same order, so the
-- sweep walks the key and needs no index. The record outlives session and account.
CREATE TABLE spent_credentials (
  stamp       INTEGER NOT NULL,
  digest      BLOB NOT NULL,
  expires_at  INTEGER NOT NULL,
  used_at     INTEGER NOT NULL,
  session     BLOB NOT NULL CHECK (length(session) = 16),
  is_new_user INTEGER NOT NULL CHECK (is_new_user IN (0, 1)),
  link_target TEXT,
  PRIMARY KEY (stamp, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE signing_keys (
  position     INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  algorithm    TEXT NOT NULL,
  role         TEXT NOT NULL CHECK (role IN ('active', 'standby', 'retired')),
  created_at   INTEGER NOT NULL,
  active_since INTEGER,
  retired_at   INTEGER,
  sealed       BLOB NOT NULL,
  master_key   BLOB NOT NULL CHECK (length(master_key) = 8),
  certificate  TEXT NOT NULL
) STRICT;

-- What compare-and-swap compares.
CREATE TABLE signing_key_version (
  only    INTEGER PRIMARY KEY CHECK (only = 1),
  version INTEGER NOT NULL
) STRICT;
INSERT INTO signing_key_version (only, version) VALUES (1, 0);

-- What a probe writes, to know that writing works.
CREATE TABLE pulse (
  only  INTEGER PRIMARY KEY CHECK (only = 1),
  beats INTEGER NOT NULL
) STRICT;
INSERT INTO pulse (only, beats) VALUES (1, 0);

-- "BRAM": tells this database from another program's (sqlite.org/pragma.html#pragma_application_id).
PRAGMA application_id = 1112686925;
PRAGMA user_version = 1;
