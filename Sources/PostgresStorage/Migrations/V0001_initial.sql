-- The first schema. Never edited after a release: a change is the next file, and one that nodes of the version before
-- can work with.
--
-- As SQLite's: flags are 0 or 1, moments whole seconds since 1970. Identifiers are compared as bytes, whatever the
-- database's collation is. No extensions, sequences or triggers.

-- The number is the order of creation, by which accounts are paged. Nodes make it out of the time.
CREATE TABLE accounts (
  number            BIGINT PRIMARY KEY,
  id                TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 128),
  created_at        BIGINT NOT NULL,
  last_sign_in_at   BIGINT NOT NULL,
  is_disabled       SMALLINT NOT NULL CHECK (is_disabled IN (0, 1)),
  is_anonymous      SMALLINT NOT NULL CHECK (is_anonymous IN (0, 1)),
  email             TEXT COLLATE "C",
  is_email_verified SMALLINT NOT NULL CHECK (is_email_verified IN (0, 1)),
  is_private_email  SMALLINT NOT NULL CHECK (is_private_email IN (0, 1)),
  real_user_status  SMALLINT CHECK (real_user_status IN (0, 1, 2)),
  email_origin      TEXT NOT NULL CHECK (email_origin IN ('provider', 'administrator', 'imported')),
  given_name        TEXT COLLATE "C",
  family_name       TEXT,
  middle_name       TEXT,
  name_prefix       TEXT,
  name_suffix       TEXT,
  nickname          TEXT,
  chosen_name       TEXT COLLATE "C",
  photo_url         TEXT,
  custom_claims     TEXT,
  valid_since       BIGINT,
  apple_sign_in_at  BIGINT
);

CREATE INDEX accounts_by_email ON accounts (email, number) WHERE email IS NOT NULL;

-- Who an account is at providers; at most one subject of each. An identity means nothing without its account.
CREATE TABLE identities (
  provider             TEXT COLLATE "C" NOT NULL,
  subject              TEXT COLLATE "C" NOT NULL,
  account              BIGINT NOT NULL REFERENCES accounts (number) ON DELETE CASCADE,
  email                TEXT,
  display_name         TEXT,
  photo_url            TEXT,
  credential_state     TEXT NOT NULL
    CHECK (credential_state IN ('authorized', 'revoked', 'transferred', 'notFound')),
  client_id            TEXT,
  is_email_deliverable SMALLINT NOT NULL CHECK (is_email_deliverable IN (0, 1)),
  email_changed_at     BIGINT,
  transfer_state       TEXT
    CHECK (transfer_state IN ('exported', 'export_refused', 'rekeyed', 'import_refused', 'conflict')),
  transfer_team        TEXT,
  transfer_subject     TEXT,
  transfer_detail      TEXT,
  transferred_at       BIGINT,
  former_subject       TEXT,
  PRIMARY KEY (provider, subject),
  UNIQUE (account, provider),
  CHECK ((transfer_state IS NULL) = (transfer_team IS NULL)),
  CHECK ((transfer_subject IS NULL) = (transfer_state IS NULL OR transfer_state = 'export_refused')),
  CHECK ((transferred_at IS NULL) = (transfer_state IS NULL))
);

CREATE UNIQUE INDEX identities_by_transfer ON identities (provider, transfer_subject)
  WHERE transfer_subject IS NOT NULL;
CREATE INDEX identities_by_former ON identities (provider, former_subject) WHERE former_subject IS NOT NULL;

-- One row a signed-in device. The account is named by its id, and no foreign key holds it: a session outlives its account
-- for a while, so that a token of a deleted account can be told from one of an ended session.
CREATE TABLE sessions (
  id             BYTEA NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  account        TEXT NOT NULL,
  provider       TEXT NOT NULL,
  created_at     BIGINT NOT NULL,
  counter        BIGINT NOT NULL CHECK (counter BETWEEN 0 AND 4294967295),
  master_key     BYTEA NOT NULL CHECK (length(master_key) = 8),
  rotated_at     BIGINT NOT NULL,
  late_rotations INTEGER NOT NULL CHECK (late_rotations >= 0),
  is_late        SMALLINT NOT NULL CHECK (is_late IN (0, 1)),
  ended_as       TEXT CHECK (ended_as IN ('ended', 'revoked', 'reused')),
  ended_at       BIGINT,
  device_name    TEXT,
  device_model   TEXT,
  device_os      TEXT,
  app_version    TEXT,
  custom_claims  TEXT,
  ordinal        BIGINT NOT NULL,
  CHECK ((ended_as IS NULL) = (ended_at IS NULL))
);

CREATE INDEX living_sessions ON sessions (account, ordinal) WHERE ended_at IS NULL;

-- Credentials that were used, in the order of their own time. The record outlives session and account.
CREATE TABLE spent_credentials (
  stamp       BIGINT NOT NULL,
  digest      BYTEA NOT NULL,
  expires_at  BIGINT NOT NULL,
  used_at     BIGINT NOT NULL,
  session     BYTEA NOT NULL CHECK (length(session) = 16),
  is_new_user SMALLINT NOT NULL CHECK (is_new_user IN (0, 1)),
  link_target TEXT,
  is_final    SMALLINT NOT NULL CHECK (is_final IN (0, 1)),
  PRIMARY KEY (stamp, digest)
);

CREATE TABLE signing_keys (
  position         BIGINT PRIMARY KEY,
  id               TEXT NOT NULL UNIQUE,
  algorithm        TEXT NOT NULL,
  role             TEXT NOT NULL CHECK (role IN ('active', 'standby', 'retired')),
  created_at       BIGINT NOT NULL,
  active_since     BIGINT,
  retired_at       BIGINT,
  is_to_retire     SMALLINT NOT NULL CHECK (is_to_retire IN (0, 1)),
  longest_lifetime BIGINT NOT NULL,
  cookies_until    BIGINT,
  sealed           BYTEA NOT NULL,
  master_key       BYTEA NOT NULL CHECK (length(master_key) = 8),
  certificate      TEXT NOT NULL
);

-- What compare-and-swap compares.
CREATE TABLE signing_key_version (
  only_row SMALLINT PRIMARY KEY CHECK (only_row = 1),
  version  BIGINT NOT NULL
);
INSERT INTO signing_key_version (only_row, version) VALUES (1, 0);

-- What a probe writes, to know that writing works.
CREATE TABLE pulse (
  only_row SMALLINT PRIMARY KEY CHECK (only_row = 1),
  beats    BIGINT NOT NULL
);
INSERT INTO pulse (only_row, beats) VALUES (1, 0);

-- The last places that were given out. Whoever takes one has the row's lock until it is committed, so that places become
-- visible in their order.
CREATE TABLE places (
  only_row    SMALLINT PRIMARY KEY CHECK (only_row = 1),
  revocations BIGINT NOT NULL,
  audit       BIGINT NOT NULL,
  webhooks    BIGINT NOT NULL
);
INSERT INTO places (only_row, revocations, audit, webhooks) VALUES (1, 0, 0, 0);

-- What makes tokens bad before their time, in the order in which it happened.
CREATE TABLE revocations (
  position BIGINT PRIMARY KEY,
  kind     TEXT NOT NULL CHECK (kind IN ('session', 'account', 'restored')),
  account  TEXT NOT NULL,
  session  BYTEA CHECK (length(session) = 16),
  at       BIGINT NOT NULL,
  until    BIGINT NOT NULL,
  CHECK ((kind = 'session') = (session IS NOT NULL))
);

CREATE INDEX revoked_accounts ON revocations (account) WHERE session IS NULL;

-- Who did what to which account; `digest` is NULL until the line is chained.
CREATE TABLE audit (
  position   BIGINT PRIMARY KEY,
  at         BIGINT NOT NULL,
  action     TEXT NOT NULL,
  actor      TEXT NOT NULL,
  account    TEXT,
  session    BYTEA CHECK (length(session) = 16),
  address    BYTEA NOT NULL,
  request_id TEXT,
  detail     TEXT,
  digest     BYTEA CHECK (length(digest) = 32)
);

CREATE INDEX audit_of_account ON audit (account, position) WHERE account IS NOT NULL;

-- The two ends of the chain.
CREATE TABLE audit_seals (
  name       TEXT NOT NULL PRIMARY KEY CHECK (name IN ('anchor', 'head')),
  position   BIGINT NOT NULL,
  digest     BYTEA NOT NULL CHECK (length(digest) = 32),
  code       BYTEA NOT NULL CHECK (length(code) = 32),
  master_key BYTEA NOT NULL CHECK (length(master_key) = 8)
);

-- Work that one node at a time does.
CREATE TABLE leases (
  name   TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  until  BIGINT NOT NULL
);

-- Refresh tokens of Apple's, sealed.
CREATE TABLE apple_grants (
  subject     TEXT NOT NULL,
  client_id   TEXT COLLATE "C" NOT NULL,
  id          BYTEA NOT NULL UNIQUE CHECK (length(id) = 16),
  account     TEXT NOT NULL,
  sealed      BYTEA NOT NULL,
  master_key  BYTEA NOT NULL CHECK (length(master_key) = 8),
  obtained_at BIGINT NOT NULL,
  checked_at  BIGINT,
  due_at      BIGINT NOT NULL,
  team        TEXT,
  PRIMARY KEY (subject, client_id)
);

CREATE INDEX apple_grants_due ON apple_grants (due_at);
CREATE INDEX apple_grants_without_team ON apple_grants (id) WHERE team IS NULL;

-- Calls to Apple that have to be made. A row goes when its call has been answered.
CREATE TABLE apple_work (
  id           BYTEA NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  kind         TEXT NOT NULL CHECK (kind IN ('exchange', 'revoke', 'exchange_then_revoke')),
  secret       TEXT NOT NULL CHECK (secret IN ('code', 'refresh_token', 'access_token')),
  sealed       BYTEA NOT NULL,
  master_key   BYTEA NOT NULL CHECK (length(master_key) = 8),
  account      TEXT NOT NULL,
  subject      TEXT,
  client_id    TEXT NOT NULL,
  redirect_uri TEXT,
  created_at   BIGINT NOT NULL,
  due_at       BIGINT NOT NULL,
  attempts     BIGINT NOT NULL CHECK (attempts >= 0),
  fault        TEXT,
  is_sent      SMALLINT NOT NULL CHECK (is_sent IN (0, 1)),
  team         TEXT,
  is_brought   SMALLINT NOT NULL CHECK (is_brought IN (0, 1)),
  CHECK ((kind = 'revoke') = (secret <> 'code'))
);

CREATE INDEX apple_work_due ON apple_work (due_at, id);
CREATE INDEX apple_work_of_account ON apple_work (account);
CREATE INDEX apple_work_without_team ON apple_work (id) WHERE team IS NULL;

-- Notifications that have come, so that none is taken twice; `unknown` holds events of types that nobody understood.
CREATE TABLE apple_notifications (
  digest      BYTEA NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
  received_at BIGINT NOT NULL,
  expires_at  BIGINT NOT NULL,
  unknown     TEXT
);

CREATE INDEX apple_notifications_end ON apple_notifications (expires_at);
CREATE INDEX apple_notifications_kept ON apple_notifications (received_at) WHERE unknown IS NOT NULL;

-- Events for the app's back end, in the order in which they happened. Of each account only the oldest has a time at which
-- it is due; none has one that was given up.
CREATE TABLE webhook_events (
  position    BIGINT PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  kind        TEXT NOT NULL,
  account     TEXT NOT NULL,
  provider    TEXT,
  cause       TEXT,
  created_at  BIGINT NOT NULL,
  due_at      BIGINT,
  gives_up_at BIGINT NOT NULL,
  attempts    BIGINT NOT NULL CHECK (attempts >= 0),
  fault       TEXT,
  dead_at     BIGINT,
  CHECK (due_at IS NULL OR dead_at IS NULL)
);

CREATE INDEX webhook_events_due ON webhook_events (due_at, position) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_events_of_account ON webhook_events (account, position) WHERE dead_at IS NULL;
CREATE INDEX webhook_events_dead ON webhook_events (position) WHERE dead_at IS NOT NULL;
CREATE INDEX webhook_events_end ON webhook_events (coalesce(dead_at, gives_up_at));

-- Which accounts another system's export brought, and when: a session of that system is handed over for these alone.
CREATE TABLE imported_accounts (
  account     BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (number) ON DELETE CASCADE,
  imported_at BIGINT NOT NULL
);

-- Whose lock has the transactions wait for each other that decide on what is not there, or on several rows.
CREATE TABLE locks (
  name TEXT NOT NULL PRIMARY KEY
);
INSERT INTO locks (name) VALUES ('decisions');

-- A row a connection that writes, with the number of its last group: what became of a commit whose answer was lost.
CREATE TABLE writers (
  id         BYTEA NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  last_group BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL
);
