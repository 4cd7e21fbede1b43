-- Until when a signing key has to be published, and whether the next one was asked for.

ALTER TABLE signing_keys ADD COLUMN is_to_retire INTEGER NOT NULL DEFAULT 0 CHECK (is_to_retire IN (0, 1));

-- Of keys from before nobody knows what was signed with them: the longest that a session token may live, and
-- the longest that a session cookie may.
ALTER TABLE signing_keys ADD COLUMN longest_lifetime INTEGER NOT NULL DEFAULT 86400;
ALTER TABLE signing_keys ADD COLUMN cookies_until INTEGER;
UPDATE signing_keys SET cookies_until = CAST(strftime('%s', 'now') AS INTEGER) + 1209600
  WHERE role <> 'standby';

PRAGMA user_version = 3;
