// Every SQL text of this engine besides the migrations, named after the call of the ledger that runs it. What a
// text names is in the order in which `Slots` binds and `Row` reads.

/// What is run once, or frames the rest.
enum SQL {
  // The write lock from the start: a transaction that reads first and then wants to write could only be told
  // SQLITE_BUSY_SNAPSHOT when another process has written meanwhile (sqlite.org/isolation.html). One that then
  // writes nothing costs no sync.
  static let beginWriting: StaticString = "BEGIN IMMEDIATE"
  static let beginReading: StaticString = "BEGIN DEFERRED"
  static let commit: StaticString = "COMMIT"
  static let rollback: StaticString = "ROLLBACK"

  static let countSchemaEntries: StaticString = "SELECT count(*) FROM sqlite_schema"
}

/// Settings of the file and of the connection (sqlite.org/pragma.html).
enum Pragma {
  static let schemaVersion: StaticString = "PRAGMA user_version"
  static let applicationID: StaticString = "PRAGMA application_id"
  /// "BRAM"; the first migration writes it.
  static let ourApplicationID: Int64 = 0x4252_414D

  static let enterLogMode: StaticString = "PRAGMA journal_mode = WAL"

  // synchronous: FULL syncs the log at each commit; NORMAL would lose the last ones with the power.
  // cache_size: KiB, when negative. A checkpoint each 4 MiB of log; after one that was held up by a reader the
  // log shrinks to 16 MiB again.
  static let service = """
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA journal_size_limit = 16777216;
    PRAGMA cache_size = -8192;
    PRAGMA temp_store = MEMORY;
    """

  static func limit(pages: Int64) -> String { "PRAGMA max_page_count = \(pages)" }
}

/// `accounts` and `identities`.
enum AccountSQL {
  static let accountByID: StaticString = """
    SELECT a.number, a.id, a.created_at, a.last_sign_in_at, a.is_disabled, a.email, a.is_email_verified,
      a.is_private_email, a.real_user_status, a.given_name, a.family_name, a.middle_name, a.name_prefix,
      a.name_suffix, a.nickname, i.provider, i.subject
    FROM accounts AS a LEFT JOIN identities AS i ON i.account = a.number
    WHERE a.id = ?1 ORDER BY i.provider
    """

  static let accountHoldingIdentity: StaticString = """
    SELECT a.number, a.id, a.created_at, a.last_sign_in_at, a.is_disabled, a.email, a.is_email_verified,
      a.is_private_email, a.real_user_status, a.given_name, a.family_name, a.middle_name, a.name_prefix,
      a.name_suffix, a.nickname, i.provider, i.subject
    FROM identities AS held JOIN accounts AS a ON a.number = held.account
      JOIN identities AS i ON i.account = a.number
    WHERE held.provider = ?1 AND held.subject = ?2 ORDER BY i.provider
    """

  static let accountsAfter: StaticString = """
    SELECT a.number, a.id, a.created_at, a.last_sign_in_at, a.is_disabled, a.email, a.is_email_verified,
      a.is_private_email, a.real_user_status, a.given_name, a.family_name, a.middle_name, a.name_prefix,
      a.name_suffix, a.nickname, i.provider, i.subject
    FROM (SELECT * FROM accounts WHERE number > ?1 ORDER BY number LIMIT ?2) AS a
      LEFT JOIN identities AS i ON i.account = a.number
    ORDER BY a.number, i.provider
    """

  static let insertAccount: StaticString = """
    INSERT INTO accounts (id, created_at, last_sign_in_at, is_disabled, email, is_email_verified,
      is_private_email, real_user_status, given_name, family_name, middle_name, name_prefix, name_suffix, nickname)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
    """

  static let updateAccount: StaticString = """
    UPDATE accounts SET last_sign_in_at = ?2, is_disabled = ?3, email = ?4, is_email_verified = ?5,
      is_private_email = ?6, real_user_status = ?7, given_name = ?8, family_name = ?9, middle_name = ?10,
      name_prefix = ?11, name_suffix = ?12, nickname = ?13
    WHERE id = ?1
    """

  static let insertIdentity: StaticString = """
    INSERT INTO identities (account, provider, subject) SELECT number, ?2, ?3 FROM accounts WHERE id = ?1
    """
}

/// `sessions`.
enum SessionSQL {
  static let session: StaticString = """
    SELECT id, account, provider, created_at, device_name, device_model, device_os, app_version, counter,
      master_key, rotated_at, late_rotations, is_late, ended_as, ended_at
    FROM sessions WHERE id = ?1
    """

  static let insertSession: StaticString = """
    INSERT INTO sessions (id, account, provider, created_at, device_name, device_model, device_os, app_version,
      counter, master_key, rotated_at, late_rotations, is_late, ended_as, ended_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
    """

  // A refresh: no column of it is in an index, so this touches one page.
  static let updateLivingSession: StaticString = """
    UPDATE sessions SET counter = ?2, master_key = ?3, rotated_at = ?4, late_rotations = ?5, is_late = ?6
    WHERE id = ?1 AND ended_at IS NULL
    """

  static let updateEndedSession: StaticString = """
    UPDATE sessions SET counter = ?2, master_key = ?3, rotated_at = ?4, late_rotations = ?5, is_late = ?6,
      ended_as = ?7, ended_at = ?8
    WHERE id = ?1
    """

  static let endSessionsOfAccount: StaticString = """
    UPDATE sessions SET ended_as = ?2, ended_at = ?3 WHERE account = ?1 AND ended_at IS NULL
    """

  static let sessionsOfAccount: StaticString = """
    SELECT id, account, provider, created_at, device_name, device_model, device_os, app_version, counter,
      master_key, rotated_at, late_rotations, is_late, ended_as, ended_at
    FROM sessions WHERE account = ?1 AND ended_at IS NULL ORDER BY created_at DESC, id DESC
    """

  static let sessionCounts: StaticString = """
    SELECT master_key, count(*) FROM sessions WHERE ended_at IS NULL GROUP BY master_key
    """

  static let sessionAgesBetween: StaticString = """
    SELECT id, coalesce(ended_at, rotated_at) FROM sessions WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3
    """

  static let deleteSession: StaticString = "DELETE FROM sessions WHERE id = ?1"
}

/// `spent_credentials`.
enum CredentialSQL {
  static let spentCredential: StaticString = """
    SELECT expires_at, used_at, session, is_new_user, link_target FROM spent_credentials
    WHERE stamp = ?1 AND digest = ?2
    """

  static let insertSpentCredential: StaticString = """
    INSERT INTO spent_credentials (stamp, digest, expires_at, used_at, session, is_new_user, link_target)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    """

  static let credentialExpiriesBefore: StaticString = """
    SELECT stamp, digest, expires_at FROM spent_credentials WHERE stamp < ?1 ORDER BY stamp, digest LIMIT ?2
    """

  static let deleteSpentCredential: StaticString = """
    DELETE FROM spent_credentials WHERE stamp = ?1 AND digest = ?2
    """
}

/// `signing_keys`, `signing_key_version` and `pulse`.
enum KeySQL {
  static let signingKeyVersion: StaticString = "SELECT version FROM signing_key_version"

  static let signingKeys: StaticString = """
    SELECT id, algorithm, role, created_at, active_since, retired_at, sealed, master_key, certificate
    FROM signing_keys ORDER BY position
    """

  static let deleteSigningKeys: StaticString = "DELETE FROM signing_keys"

  static let insertSigningKey: StaticString = """
    INSERT INTO signing_keys (position, id, algorithm, role, created_at, active_since, retired_at, sealed,
      master_key, certificate)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    """

  static let updateSigningKeyVersion: StaticString = "UPDATE signing_key_version SET version = ?1"

  static let touch: StaticString = "UPDATE pulse SET beats = beats + 1"
}
