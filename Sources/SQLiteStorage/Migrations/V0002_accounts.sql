-- Accounts that nobody's identity made, what an administrator says of accounts, and claims of custom tokens.

ALTER TABLE accounts ADD COLUMN is_anonymous INTEGER NOT NULL DEFAULT 0 CHECK (is_anonymous IN (0, 1));
ALTER TABLE accounts ADD COLUMN email_origin TEXT NOT NULL DEFAULT 'provider'
  CHECK (email_origin IN ('provider', 'administrator', 'imported'));
ALTER TABLE accounts ADD COLUMN chosen_name TEXT;
ALTER TABLE accounts ADD COLUMN photo_url TEXT;
ALTER TABLE accounts ADD COLUMN custom_claims TEXT;
ALTER TABLE accounts ADD COLUMN valid_since INTEGER;

-- Finds accounts by their address, in the order of their creation.
CREATE INDEX accounts_by_email ON accounts (email) WHERE email IS NOT NULL;

-- What the provider says of the person there.
ALTER TABLE identities ADD COLUMN email TEXT;
ALTER TABLE identities ADD COLUMN display_name TEXT;
ALTER TABLE identities ADD COLUMN photo_url TEXT;

ALTER TABLE sessions ADD COLUMN custom_claims TEXT;

-- Whether the record refuses every other use at once, also the same request within the retry window.
ALTER TABLE spent_credentials ADD COLUMN is_final INTEGER NOT NULL DEFAULT 0 CHECK (is_final IN (0, 1));

PRAGMA user_version = 2;
