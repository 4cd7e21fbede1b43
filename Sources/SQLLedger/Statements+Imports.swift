// Which accounts an import brought: `imported_accounts`.

/// SQL texts as those of `Statements.swift`.
enum ImportSQL {
  static let mark = """
    INSERT INTO imported_accounts (account, imported_at) SELECT number, ?2 FROM accounts WHERE id = ?1
    """

  static let date = """
    SELECT i.imported_at FROM accounts AS a JOIN imported_accounts AS i ON i.account = a.number WHERE a.id = ?1
    """
}

/// Those about imports.
final class ImportStatements<Statement: SQLStatement> {
  let mark, date: Statement

  init<Fault: Error>(_ prepare: (String) throws(Fault) -> Statement) throws(Fault) {
    mark = try prepare(ImportSQL.mark)
    date = try prepare(ImportSQL.date)
  }
}
