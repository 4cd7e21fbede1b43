// The SQL texts that only this engine has, besides the migrations.

internal import SQLLedger

/// What frames the rows, and what locks them.
enum OwnSQL {
  // Not SERIALIZABLE: every sign-in appends to the same tables, and the whole of a group would be run again whenever two
  // of different people met on one page. What decisions read is locked instead, what must not be there is held by
  // unique keys, and what decides on more than that waits for `decisions`.
  static let beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED"
  static let beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
  static let commit = "COMMIT"
  static let rollback = "ROLLBACK"

  /// Before anything else of its transaction, so that nobody waits for it with a lock of his own.
  static let awaitDecisions = "SELECT name FROM locks WHERE name = 'decisions' FOR UPDATE"

  /// Waits at most so long for each lock, until the transaction ends or says otherwise.
  static func waitForLocks(milliseconds: Int) -> String { "SET LOCAL lock_timeout = \(milliseconds)" }

  /// Finds nothing, and waits where a group would wait for a table, or for the row that all groups need.
  static let lookAtTables =
    "WITH "
    + ["accounts", "identities", "sessions", "spent_credentials", "revocations", "audit"]
    .map { "\($0)_lock AS (DELETE FROM \($0) WHERE 1 = 0)" }.joined(separator: ", ")
    + " SELECT 1 WHERE 1 = 0"
  static let lookAtPlaces = "SELECT audit FROM places FOR UPDATE"

  /// Each connection takes what the operator did not set longer; a commit that is not on the disk is none.
  static let prepareConnection = [
    "SET lock_timeout = '1s'", "SET statement_timeout = '5s'",
    "SET idle_in_transaction_session_timeout = '15s'",
    """
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
    """,
  ]

  /// By the common text: what locks the rows that it reads, of the same parameters; several in the order of their keys.
  static let locks: [String: String] = [
    AccountSQL.accountByID: "SELECT number FROM accounts WHERE id = $1 FOR UPDATE",
    AccountSQL.accountHoldingIdentity: """
    SELECT number FROM accounts
    WHERE number = (SELECT account FROM identities WHERE provider = $1 AND subject = $2) FOR UPDATE
    """,
    SessionSQL.session: "SELECT counter FROM sessions WHERE id = $1 FOR UPDATE",
    SessionSQL.sessionsOfAccount: """
    SELECT counter FROM sessions WHERE account = $1 AND ended_at IS NULL ORDER BY id FOR UPDATE
    """,
  ]

  /// Divides by zero when no row was touched, so that the commit behind it fails without anybody waiting for the count.
  static func failingUnlessOne(_ text: String) -> String {
    "WITH touched AS (\(text) RETURNING 1) SELECT 1 / count(*) FROM touched"
  }

  static let registerWriter = """
    INSERT INTO writers (id, last_group, seen_at) VALUES ($1, 0, CAST(extract(epoch FROM now()) AS BIGINT))
    """
  static let noteGroup = """
    UPDATE writers SET last_group = $2, seen_at = CAST(extract(epoch FROM now()) AS BIGINT) WHERE id = $1
    """
  // Waits for the transaction that may still be under way.
  static let lastGroup = "SELECT last_group FROM writers WHERE id = $1 FOR UPDATE"
  // What comes late finds no row to note itself in, and fails.
  static let forgetWriter = "DELETE FROM writers WHERE id = $1"
  static let forgetOldWriters = """
    DELETE FROM writers WHERE seen_at < CAST(extract(epoch FROM now()) AS BIGINT) - 604800
    """
}

/// What a group decides on, locked and read for all of it at once. A text of one statement that locks and reads sees the
/// row as it was when the lock was had; one that joins is sent behind the lock's own.
enum GroupSQL {
  static let lockAccounts = """
    SELECT number FROM accounts WHERE number IN (SELECT i.account
      FROM unnest(CAST($1 AS TEXT[]), CAST($2 AS TEXT[])) AS wanted (provider, subject)
        JOIN identities AS i ON i.provider = wanted.provider AND i.subject = wanted.subject)
    ORDER BY number FOR UPDATE
    """

  static let accountsOfIdentities = """
    SELECT \(AccountSQL.columns)
    FROM accounts AS a JOIN identities AS i ON i.account = a.number
    WHERE a.number IN (SELECT held.account
      FROM unnest(CAST($1 AS TEXT[]), CAST($2 AS TEXT[])) AS wanted (provider, subject)
        JOIN identities AS held ON held.provider = wanted.provider AND held.subject = wanted.subject)
    ORDER BY a.number, i.provider
    """

  static let sessions = """
    SELECT \(SessionSQL.columns) FROM sessions WHERE id = ANY(CAST($1 AS BYTEA[])) ORDER BY id FOR UPDATE
    """

  // Not locked: a refresh writes nothing of the account, and what ends an account ends its sessions too.
  static let accountsOfSessions = """
    SELECT \(AccountSQL.columns)
    FROM accounts AS a LEFT JOIN identities AS i ON i.account = a.number
    WHERE a.id IN (SELECT account FROM sessions WHERE id = ANY(CAST($1 AS BYTEA[])))
    ORDER BY a.number, i.provider
    """

  /// Locks what nobody holds, as ``lockAccounts``, and finds the identities of the other accounts.
  static let heldIdentities = """
    WITH free AS (SELECT number FROM accounts WHERE number IN (SELECT i.account
        FROM unnest(CAST($1 AS TEXT[]), CAST($2 AS TEXT[])) AS wanted (provider, subject)
          JOIN identities AS i ON i.provider = wanted.provider AND i.subject = wanted.subject)
      ORDER BY number FOR UPDATE SKIP LOCKED)
    SELECT i.provider, i.subject
    FROM unnest(CAST($1 AS TEXT[]), CAST($2 AS TEXT[])) AS wanted (provider, subject)
      JOIN identities AS i ON i.provider = wanted.provider AND i.subject = wanted.subject
    WHERE i.account NOT IN (SELECT number FROM free)
    """

  /// As ``heldIdentities``, of sessions.
  static let heldSessions = """
    WITH free AS (SELECT id FROM sessions WHERE id = ANY(CAST($1 AS BYTEA[])) ORDER BY id FOR UPDATE SKIP LOCKED)
    SELECT id FROM sessions WHERE id = ANY(CAST($1 AS BYTEA[])) AND id NOT IN (SELECT id FROM free)
    """

  static let credentials = """
    SELECT spent.stamp, spent.digest, spent.expires_at, spent.used_at, spent.session, spent.is_new_user,
      spent.link_target, spent.is_final
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BYTEA[])) AS wanted (stamp, digest)
      JOIN spent_credentials AS spent ON spent.stamp = wanted.stamp AND spent.digest = wanted.digest
    """
}

/// The schema and its version.
enum SchemaSQL {
  /// NULL where there is no schema that may be used. Not by `information_schema`, which names what the role may read or
  /// write and nothing else.
  static let countVersionTables = """
    SELECT CASE WHEN current_schema() IS NOT NULL THEN (SELECT count(*) FROM pg_catalog.pg_tables
      WHERE schemaname = current_schema() AND tablename = 'bramley_schema') END
    """
  static let version = "SELECT version FROM bramley_schema"
  // "BRAM"; the lock goes with the transaction. CockroachDB takes the call and locks nothing, so the row is locked too.
  static let lock = "SELECT pg_advisory_xact_lock(1112686925)"
  static let lockRow = "SELECT version FROM bramley_schema FOR UPDATE"
  static let createVersion = """
    CREATE TABLE IF NOT EXISTS bramley_schema
      (only_row SMALLINT PRIMARY KEY CHECK (only_row = 1), version BIGINT NOT NULL)
    """
  static let fillVersion =
    "INSERT INTO bramley_schema (only_row, version) VALUES (1, 0) ON CONFLICT DO NOTHING"
  static func setVersion(_ version: Int64) -> String { "UPDATE bramley_schema SET version = \(version)" }
}
