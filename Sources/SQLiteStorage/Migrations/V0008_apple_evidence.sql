-- When Apple last vouched for the person, which a sign-in by another way does not say. Of those from before, the sessions
-- tell that are still here.
ALTER TABLE accounts ADD COLUMN apple_sign_in_at INTEGER;
UPDATE accounts SET apple_sign_in_at = seen.at
FROM (SELECT account, max(created_at) AS at FROM sessions WHERE provider = 'apple.com' GROUP BY account) AS seen
WHERE accounts.id = seen.account;

-- What was kept of events that nobody understood may name people, whom nobody could forget with it.
PRAGMA secure_delete = ON;
UPDATE apple_notifications SET unknown = NULL WHERE unknown IS NOT NULL;

-- Whether an app brought the code or the token, so that it is only guessed whose client it is of.
ALTER TABLE apple_work ADD COLUMN is_brought INTEGER NOT NULL DEFAULT 0 CHECK (is_brought IN (0, 1));

PRAGMA user_version = 8;
