// Every SQL text besides the schemas and what an engine asks of itself, named after the call of the ledger that runs it.
// What a text names is in the order in which `SQLSlots` binds and `SQLRow` reads.

/// `accounts` and `identities`.
package enum AccountSQL {
  /// What each text that reads accounts names.
  package static let columns = """
    a.number, a.id, a.created_at, a.last_sign_in_at, a.is_disabled, a.is_anonymous, a.email,
    a.is_email_verified, a.is_private_email, a.real_user_status, a.email_origin, a.given_name, a.family_name,
    a.middle_name, a.name_prefix, a.name_suffix, a.nickname, a.chosen_name, a.photo_url, a.custom_claims,
    a.valid_since, a.apple_sign_in_at, i.provider, i.subject, i.email, i.display_name, i.photo_url,
    i.credential_state, i.client_id, i.is_email_deliverable, i.email_changed_at, i.transfer_state,
    i.transfer_team, i.transfer_subject, i.transfer_detail, i.transferred_at, i.former_subject
    """

  package static let accountByID = """
    SELECT \(columns)
    FROM accounts AS a LEFT JOIN identities AS i ON i.account = a.number
    WHERE a.id = ?1 ORDER BY i.provider
    """

  package static let accountHoldingIdentity = """
    SELECT \(columns)
    FROM identities AS held JOIN accounts AS a ON a.number = held.account
      JOIN identities AS i ON i.account = a.number
    WHERE held.provider = ?1 AND held.subject = ?2 ORDER BY i.provider
    """

  static let accountsAfter = """
    SELECT \(columns)
    FROM (SELECT * FROM accounts WHERE number > ?1 ORDER BY number LIMIT ?2) AS a
      LEFT JOIN identities AS i ON i.account = a.number
    ORDER BY a.number, i.provider
    """

  static let accountsBefore = """
    SELECT \(columns)
    FROM (SELECT * FROM accounts WHERE number < ?1 ORDER BY number DESC LIMIT ?2) AS a
      LEFT JOIN identities AS i ON i.account = a.number
    ORDER BY a.number DESC, i.provider
    """

  static let accountsHoldingEmail = """
    SELECT \(columns)
    FROM (SELECT * FROM accounts WHERE email = ?1 ORDER BY is_email_verified DESC, number LIMIT ?2) AS a
      LEFT JOIN identities AS i ON i.account = a.number
    ORDER BY a.is_email_verified DESC, a.number, i.provider
    """

  // One statement for all fields: it walks the table whatever the order, and only administrators ask. The rows are
  // fetched only once the order is known.
  static let accountsAscending = """
    SELECT \(columns)
    FROM (SELECT number AS place, CASE CAST(?1 AS INTEGER) WHEN 0 THEN id WHEN 1 THEN email
        WHEN 2 THEN coalesce(chosen_name, given_name) END AS word,
        CASE CAST(?1 AS INTEGER) WHEN 3 THEN created_at WHEN 4 THEN last_sign_in_at END AS moment
        FROM accounts ORDER BY word NULLS FIRST, moment, place LIMIT ?2 OFFSET ?3) AS wanted
      JOIN accounts AS a ON a.number = wanted.place LEFT JOIN identities AS i ON i.account = a.number
    ORDER BY wanted.word NULLS FIRST, wanted.moment, wanted.place, i.provider
    """

  static let accountsDescending = """
    SELECT \(columns)
    FROM (SELECT number AS place, CASE CAST(?1 AS INTEGER) WHEN 0 THEN id WHEN 1 THEN email
        WHEN 2 THEN coalesce(chosen_name, given_name) END AS word,
        CASE CAST(?1 AS INTEGER) WHEN 3 THEN created_at WHEN 4 THEN last_sign_in_at END AS moment
        FROM accounts ORDER BY word DESC NULLS LAST, moment DESC, place LIMIT ?2 OFFSET ?3) AS wanted
      JOIN accounts AS a ON a.number = wanted.place LEFT JOIN identities AS i ON i.account = a.number
    ORDER BY wanted.word DESC NULLS LAST, wanted.moment DESC, wanted.place, i.provider
    """

  static let accountCount = "SELECT count(*) FROM accounts"

  static let insertAccount = """
    INSERT INTO accounts (id, created_at, last_sign_in_at, is_disabled, is_anonymous, email, is_email_verified,
      is_private_email, real_user_status, email_origin, given_name, family_name, middle_name, name_prefix,
      name_suffix, nickname, chosen_name, photo_url, custom_claims, valid_since, apple_sign_in_at, number)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)
    """

  static let updateAccount = """
    UPDATE accounts SET last_sign_in_at = ?2, is_disabled = ?3, is_anonymous = ?4, email = ?5,
      is_email_verified = ?6, is_private_email = ?7, real_user_status = ?8, email_origin = ?9, given_name = ?10,
      family_name = ?11, middle_name = ?12, name_prefix = ?13, name_suffix = ?14, nickname = ?15,
      chosen_name = ?16, photo_url = ?17, custom_claims = ?18, valid_since = ?19,
      apple_sign_in_at = ?20
    WHERE id = ?1
    """

  static let deleteAccount = "DELETE FROM accounts WHERE id = ?1"

  static let deleteAnonymousAccount = """
    DELETE FROM accounts WHERE id = ?1 AND is_anonymous = 1
      AND NOT EXISTS (SELECT 1 FROM sessions WHERE account = ?1 AND ended_at IS NULL)
    """

  static let insertIdentity = """
    INSERT INTO identities (account, provider, subject, email, display_name, photo_url, credential_state, client_id,
      is_email_deliverable, email_changed_at, transfer_state, transfer_team, transfer_subject, transfer_detail,
      transferred_at, former_subject)
    SELECT number, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16 FROM accounts WHERE id = ?1
    """

  static let updateIdentity = """
    UPDATE identities SET email = ?3, display_name = ?4, photo_url = ?5, credential_state = ?6, client_id = ?7,
      is_email_deliverable = ?8, email_changed_at = ?9, transfer_state = ?10, transfer_team = ?11,
      transfer_subject = ?12, transfer_detail = ?13, transferred_at = ?14, former_subject = ?15
    WHERE provider = ?1 AND subject = ?2
    """

  static let deleteIdentity = "DELETE FROM identities WHERE provider = ?1 AND subject = ?2"
}

/// `sessions`.
package enum SessionSQL {
  /// What each text that reads sessions names.
  package static let columns = """
    id, account, provider, created_at, device_name, device_model, device_os, app_version, custom_claims,
    counter, master_key, rotated_at, late_rotations, is_late, ended_as, ended_at
    """

  package static let session = """
    SELECT \(columns)
    FROM sessions WHERE id = ?1
    """

  static let insertSession = """
    INSERT INTO sessions (id, account, provider, created_at, device_name, device_model, device_os, app_version,
      custom_claims, counter, master_key, rotated_at, late_rotations, is_late, ended_as, ended_at, ordinal)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
      (SELECT coalesce(max(ordinal), 0) + 1 FROM sessions WHERE account = ?2 AND ended_at IS NULL))
    """

  // A refresh: no column of it is in an index, so this touches one page.
  static let updateLivingSession = """
    UPDATE sessions SET counter = ?2, master_key = ?3, rotated_at = ?4, late_rotations = ?5, is_late = ?6
    WHERE id = ?1 AND ended_at IS NULL
    """

  static let updateEndedSession = """
    UPDATE sessions SET counter = ?2, master_key = ?3, rotated_at = ?4, late_rotations = ?5, is_late = ?6,
      ended_as = ?7, ended_at = ?8, device_name = NULL, device_model = NULL, device_os = NULL, app_version = NULL
    WHERE id = ?1
    """

  package static let sessionsOfAccount = """
    SELECT \(columns)
    FROM sessions WHERE account = ?1 AND ended_at IS NULL ORDER BY ordinal DESC, created_at DESC, id DESC
    """

  static let sessionCounts = """
    SELECT master_key, count(*) FROM sessions
    WHERE ended_at IS NULL AND created_at > ?1 AND rotated_at > ?2 GROUP BY master_key
    """

  static let sessionAgesBetween = """
    SELECT id, account, coalesce(ended_at, rotated_at) FROM sessions WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3
    """

  static let deleteSession = "DELETE FROM sessions WHERE id = ?1"
}

/// `spent_credentials`.
enum CredentialSQL {
  static let spentCredential = """
    SELECT expires_at, used_at, session, is_new_user, link_target, is_final FROM spent_credentials
    WHERE stamp = ?1 AND digest = ?2
    """

  static let insertSpentCredential = """
    INSERT INTO spent_credentials (stamp, digest, expires_at, used_at, session, is_new_user, link_target,
      is_final)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    """

  static let credentialExpiriesBefore = """
    SELECT stamp, digest, expires_at FROM spent_credentials WHERE stamp < ?1 ORDER BY stamp, digest LIMIT ?2
    """

  static let deleteSpentCredential = """
    DELETE FROM spent_credentials WHERE stamp = ?1 AND digest = ?2
    """
}

/// `signing_keys`, `signing_key_version` and `pulse`.
package enum KeySQL {
  static let signingKeyVersion = "SELECT version FROM signing_key_version"

  static let signingKeys = """
    SELECT id, algorithm, role, created_at, active_since, retired_at, is_to_retire, longest_lifetime,
      cookies_until, sealed, master_key, certificate
    FROM signing_keys ORDER BY position
    """

  static let longestTokenLifetime = """
    SELECT longest_lifetime FROM signing_keys ORDER BY longest_lifetime DESC LIMIT 1
    """

  static let deleteSigningKeys = "DELETE FROM signing_keys"

  static let insertSigningKey = """
    INSERT INTO signing_keys (position, id, algorithm, role, created_at, active_since, retired_at,
      is_to_retire, longest_lifetime, cookies_until, sealed, master_key, certificate)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    """

  static let updateSigningKeyVersion = "UPDATE signing_key_version SET version = ?1"

  /// Writes one small row.
  package static let touch = "UPDATE pulse SET beats = beats + 1"

  /// Finds nothing, and fails where a table is not there that a sign-in or a refresh reads or writes.
  package static func lookAtTables(_ own: [String]) -> String {
    let needed =
      ["accounts", "identities", "sessions", "spent_credentials", "revocations", "audit", "signing_keys"]
      + own
    return "SELECT 1 FROM ("
      + needed.map { "SELECT 1 FROM \($0) WHERE 1 = 0" }.joined(separator: " UNION ALL ") + ") AS needed"
  }
}

/// `revocations`, `audit`, `audit_seals` and `leases`.
enum HistorySQL {
  private static let auditColumns =
    "position, at, action, actor, account, session, address, request_id, detail, digest"

  static let revocationsAfter = """
    SELECT position, kind, account, session, at, until FROM revocations
    WHERE position > ?1 ORDER BY position LIMIT ?2
    """

  static let endOfRevocations = """
    SELECT max(until) FROM revocations WHERE account = ?1 AND session IS NULL
    """

  static let deleteRevocationsBefore = """
    DELETE FROM revocations WHERE position IN
      (SELECT position FROM revocations WHERE until < ?1 AND position < (SELECT max(position) FROM revocations)
        ORDER BY position LIMIT ?2)
    """

  static let auditAfter = """
    SELECT \(auditColumns) FROM audit
    WHERE position > ?1 ORDER BY position LIMIT ?2
    """

  static let auditOfAccount = """
    SELECT \(auditColumns) FROM audit
    WHERE account = ?1 AND position > ?2 ORDER BY position LIMIT ?3
    """

  static let auditBefore = """
    SELECT \(auditColumns) FROM audit
    WHERE position < ?1 ORDER BY position DESC LIMIT ?2
    """

  static let auditOfAccountBefore = """
    SELECT \(auditColumns) FROM audit
    WHERE account = ?1 AND position < ?2 ORDER BY position DESC LIMIT ?3
    """

  static let sealAuditEntry = "UPDATE audit SET digest = ?2 WHERE position = ?1"

  static let deleteAuditUpTo = "DELETE FROM audit WHERE position <= ?1"

  static let auditSeal = """
    SELECT position, digest, code, master_key FROM audit_seals WHERE name = ?1
    """

  static let writeAuditSeal = """
    INSERT INTO audit_seals (name, position, digest, code, master_key) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (name) DO UPDATE SET position = ?2, digest = ?3, code = ?4, master_key = ?5
    """

  static let lease = "SELECT holder, until FROM leases WHERE name = ?1"

  static let writeLease = """
    INSERT INTO leases (name, holder, until) VALUES (?1, ?2, ?3)
    ON CONFLICT (name) DO UPDATE SET holder = ?2, until = ?3
    """
}

/// `apple_grants` and `apple_work`.
enum AppleSQL {
  private static let workColumns = """
    id, kind, secret, sealed, master_key, account, subject, client_id, redirect_uri, created_at, due_at, attempts,
    fault, is_sent, team, is_brought
    """
  private static let grantColumns =
    "id, subject, client_id, account, sealed, master_key, obtained_at, checked_at, due_at, team"

  static let insertWork = """
    INSERT INTO apple_work (id, kind, secret, sealed, master_key, account, subject, client_id, redirect_uri,
      created_at, due_at, attempts, fault, is_sent, team, is_brought)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
    """

  static let updateWork = """
    UPDATE apple_work SET kind = ?2, subject = ?3, due_at = ?4, attempts = ?5, fault = ?6, is_sent = ?7 WHERE id = ?1
    """

  static let deleteWork = "DELETE FROM apple_work WHERE id = ?1"

  static let work = """
    SELECT \(workColumns) FROM apple_work WHERE id = ?1
    """

  static let workDueBy = """
    SELECT \(workColumns) FROM apple_work WHERE due_at <= ?1 ORDER BY due_at, id LIMIT ?2
    """

  static let workOfAccount = """
    SELECT \(workColumns) FROM apple_work WHERE account = ?1 ORDER BY id
    """

  static let workAfter = """
    SELECT \(workColumns) FROM apple_work WHERE id > ?1 ORDER BY id LIMIT ?2
    """

  static let workCounts = """
    SELECT kind, count(*), min(created_at) FROM apple_work GROUP BY kind ORDER BY kind
    """

  static let hastenWork = """
    UPDATE apple_work SET due_at = CASE WHEN due_at < ?1 THEN due_at ELSE ?1 END WHERE fault IS NULL OR fault <> ?2
    """

  static let deleteWorkDueBefore = """
    DELETE FROM apple_work WHERE id IN (SELECT id FROM apple_work WHERE due_at < ?1 ORDER BY due_at LIMIT ?2)
    """

  static let insertGrant = """
    INSERT INTO apple_grants (id, subject, client_id, account, sealed, master_key, obtained_at, checked_at, due_at, team)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    """

  static let updateGrant = "UPDATE apple_grants SET checked_at = ?2, due_at = ?3 WHERE id = ?1"

  static let deleteGrant = "DELETE FROM apple_grants WHERE id = ?1"

  static let grant = """
    SELECT \(grantColumns) FROM apple_grants WHERE id = ?1
    """

  static let grantsOfSubject = """
    SELECT \(grantColumns) FROM apple_grants WHERE subject = ?1 ORDER BY client_id
    """

  static let grantsDueBy = """
    SELECT \(grantColumns) FROM apple_grants WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2
    """

  static let firstDates = """
    SELECT (SELECT min(due_at) FROM apple_work), (SELECT min(due_at) FROM apple_grants)
    """

  static let secretCounts = """
    SELECT master_key, count(*) FROM (SELECT master_key FROM apple_work UNION ALL SELECT master_key FROM apple_grants)
      AS sealed GROUP BY master_key
    """

  static let secretsNotSealedBy = """
    SELECT id, secret, sealed, master_key FROM apple_work WHERE master_key <> ?1
    UNION ALL SELECT id, 'refresh_token', sealed, master_key FROM apple_grants WHERE master_key <> ?1 LIMIT ?2
    """

  static let resealWork = "UPDATE apple_work SET sealed = ?2, master_key = ?3 WHERE id = ?1"

  static let resealGrant = "UPDATE apple_grants SET sealed = ?2, master_key = ?3 WHERE id = ?1"
}

/// `apple_notifications`.
enum NotificationSQL {
  static let insert = """
    INSERT INTO apple_notifications (digest, received_at, expires_at, unknown) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (digest) DO NOTHING
    """

  static let keptCount = "SELECT count(*) FROM apple_notifications WHERE unknown IS NOT NULL"

  static let kept = """
    SELECT digest, received_at, expires_at, unknown FROM apple_notifications WHERE unknown IS NOT NULL
    ORDER BY received_at DESC, digest LIMIT ?1
    """

  static let deleteBefore = """
    DELETE FROM apple_notifications WHERE digest IN
      (SELECT digest FROM apple_notifications WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2)
    """
}

/// `webhook_events`.
enum WebhookSQL {
  static let update = """
    UPDATE webhook_events SET due_at = ?2, gives_up_at = ?3, attempts = ?4, fault = ?5, dead_at = ?6 WHERE id = ?1
    """

  static let delete = "DELETE FROM webhook_events WHERE id = ?1"

  static let event = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE id = ?1
    """

  static let dueBy = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE due_at <= ?1 ORDER BY due_at, position LIMIT ?2
    """

  static let firstOfAccount = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE account = ?1 AND dead_at IS NULL ORDER BY position LIMIT 1
    """

  static let after = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE position > ?1 ORDER BY position LIMIT ?2
    """

  static let deadAfter = """
    SELECT position, id, kind, account, provider, cause, created_at, due_at, gives_up_at, attempts, fault, dead_at
    FROM webhook_events WHERE dead_at IS NOT NULL AND position > ?1 ORDER BY position LIMIT ?2
    """

  static let firstDate = "SELECT min(due_at) FROM webhook_events WHERE due_at IS NOT NULL"

  static let counts = """
    SELECT count(*) FILTER (WHERE dead_at IS NULL), count(*) FILTER (WHERE dead_at IS NOT NULL),
      min(created_at) FILTER (WHERE dead_at IS NULL)
    FROM webhook_events
    """

  static let deleteBefore = """
    DELETE FROM webhook_events WHERE position IN
      (SELECT position FROM webhook_events WHERE coalesce(dead_at, gives_up_at) < ?1
        ORDER BY coalesce(dead_at, gives_up_at) LIMIT ?2)
    """
}
