// The move of identities to another developer team: columns of `identities`, and of `apple_grants` and `apple_work`.

/// SQL texts as those of `Statements.swift`.
enum TransferSQL {
  // Both walk the primary key from where the last page ended, so that all pages together walk it once.
  static let toExport = """
    SELECT subject, client_id, CASE WHEN transfer_team = ?3 THEN transfer_subject END FROM identities
    WHERE provider = ?1 AND subject > ?2
      AND CASE
        WHEN ?3 = ?6 THEN FALSE
        WHEN transfer_state IS NULL THEN TRUE
        WHEN transfer_team = ?3 THEN ?4 = 1 AND transfer_state = 'export_refused'
        WHEN transfer_team = ?6 THEN transfer_state = 'rekeyed'
        ELSE ?7 = 1 OR transfer_state IN ('rekeyed', 'export_refused')
      END
    ORDER BY subject LIMIT ?5
    """

  static let toImport = """
    SELECT subject, client_id, transfer_subject FROM identities
    WHERE provider = ?1 AND subject > ?2 AND transfer_team = ?3
      AND (transfer_state IN ('exported', 'conflict') OR ?4 = 1 AND transfer_state = 'import_refused')
    ORDER BY subject LIMIT ?5
    """

  static let subjectTransferredAs = """
    SELECT subject FROM identities WHERE provider = ?1 AND transfer_subject = ?2
    """

  static let subjectFormerly = """
    SELECT subject FROM identities WHERE provider = ?1 AND former_subject = ?2 ORDER BY subject LIMIT 1
    """

  static let counts = """
    SELECT transfer_team, transfer_state, count(*) FROM identities WHERE provider = ?1 AND transfer_state IS NOT NULL
    GROUP BY transfer_team, transfer_state
    """

  static let conflicts = """
    SELECT a.id, i.transfer_detail FROM identities AS i JOIN accounts AS a ON a.number = i.account
    WHERE i.provider = ?1 AND i.transfer_team = ?2 AND i.transfer_state = 'conflict' ORDER BY i.subject LIMIT ?3
    """

  static let identityCount = "SELECT count(*) FROM identities WHERE provider = ?1"

  static let adoptWork = """
    UPDATE apple_work SET team = ?1 WHERE id IN (SELECT id FROM apple_work WHERE team IS NULL LIMIT ?2)
    """

  static let adoptGrants = """
    UPDATE apple_grants SET team = ?1 WHERE id IN (SELECT id FROM apple_grants WHERE team IS NULL LIMIT ?2)
    """
}

/// Those about the move to another team.
final class TransferStatements<Statement: SQLStatement> {
  let toExport, toImport, subjectTransferredAs, subjectFormerly, counts, conflicts, identityCount: Statement
  let adoptWork, adoptGrants: Statement

  init<Fault: Error>(_ prepare: (String) throws(Fault) -> Statement) throws(Fault) {
    toExport = try prepare(TransferSQL.toExport)
    toImport = try prepare(TransferSQL.toImport)
    subjectTransferredAs = try prepare(TransferSQL.subjectTransferredAs)
    subjectFormerly = try prepare(TransferSQL.subjectFormerly)
    counts = try prepare(TransferSQL.counts)
    conflicts = try prepare(TransferSQL.conflicts)
    identityCount = try prepare(TransferSQL.identityCount)
    adoptWork = try prepare(TransferSQL.adoptWork)
    adoptGrants = try prepare(TransferSQL.adoptGrants)
  }
}
