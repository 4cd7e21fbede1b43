-- Which accounts another system's export brought, and when: a session of that system is handed over for these alone.
CREATE TABLE imported_accounts (
  account     INTEGER NOT NULL PRIMARY KEY REFERENCES accounts (number) ON DELETE CASCADE,
  imported_at INTEGER NOT NULL
) STRICT;

-- Of the accounts that are here, the audit tells, unless the one of that id was deleted since.
INSERT INTO imported_accounts (account, imported_at)
SELECT a.number, max(e.at) FROM accounts AS a JOIN audit AS e ON e.account = a.id
WHERE e.action = 'account_imported'
  AND NOT EXISTS (SELECT 1 FROM audit AS d
    WHERE d.account = a.id AND d.action = 'account_deleted' AND d.position > e.position)
GROUP BY a.number;

PRAGMA user_version = 9;
