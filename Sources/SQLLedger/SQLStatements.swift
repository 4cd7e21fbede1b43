package import Storage

/// Every statement of a connection, prepared once; what a ledger works with.
///
/// Not Sendable: it goes to the connection's thread and stays there.
package final class SQLStatements<Statement: SQLStatement> {
  let accountByID, accountHoldingIdentity, accountsHoldingEmail: Statement
  let accountsAfter, accountsBefore, accountsAscending, accountsDescending, accountCount: Statement
  let insertAccount, updateAccount, deleteAccount, deleteAnonymousAccount: Statement
  let insertIdentity, updateIdentity, deleteIdentity: Statement

  let session, insertSession, updateLivingSession, updateEndedSession: Statement
  let sessionsOfAccount, sessionCounts: Statement
  let sessionAgesBetween, deleteSession: Statement

  let spentCredential, insertSpentCredential, credentialExpiriesBefore, deleteSpentCredential: Statement

  let signingKeyVersion, signingKeys, longestTokenLifetime, deleteSigningKeys: Statement
  let insertSigningKey, updateSigningKeyVersion, lookAtTables: Statement
  let touch: Statement?

  let insertRevocation, revocationsAfter, endOfRevocations, lastRevocation: Statement
  let deleteRevocationsBefore: Statement
  /// Both are there where places come from counters.
  let takeRevocationPlaces, takeAuditPlaces: Statement?
  let lease, writeLease: Statement
  let audit: AuditStatements<Statement>
  let apple: AppleStatements<Statement>
  let notifications: NotificationStatements<Statement>
  let webhooks: WebhookStatements<Statement>
  let transfers: TransferStatements<Statement>
  let imports: ImportStatements<Statement>
  /// The place of a new account in the order of creation; nil where the database finds it.
  let nextAccountNumber: () -> Int64?
  /// Whether events are written for the app's back end.
  let announces: Bool
  /// Has new places come behind all that are there; nil where the database counts by itself.
  let settlePlaces: String?
  /// Prepares what is run seldom. The connection's, once it has the others.
  package var prepareText: (String) -> Result<Statement, StorageError> = { _ in .failure(.defect) }

  /// The id up to which the sweep has looked at sessions; nil before the first and after the last.
  var sweptSessionsUpTo: [UInt8]?

  /// Prepares all of them.
  ///
  /// - Parameters:
  ///   - announces: Whether events are written for the app's back end.
  ///   - nextAccountNumber: A number that is larger than all before; nil where the database numbers accounts.
  package init<Fault: Error>(
    for dialect: SQLDialect, announces: Bool, nextAccountNumber: @escaping () -> Int64? = { nil },
    _ prepare: (String) throws(Fault) -> Statement
  ) throws(Fault) {
    self.nextAccountNumber = nextAccountNumber
    self.announces = announces
    settlePlaces = dialect.settlePlaces
    accountByID = try prepare(AccountSQL.accountByID)
    accountHoldingIdentity = try prepare(AccountSQL.accountHoldingIdentity)
    accountsAfter = try prepare(AccountSQL.accountsAfter)
    accountsBefore = try prepare(AccountSQL.accountsBefore)
    accountsHoldingEmail = try prepare(AccountSQL.accountsHoldingEmail)
    accountsAscending = try prepare(AccountSQL.accountsAscending)
    accountsDescending = try prepare(AccountSQL.accountsDescending)
    accountCount = try prepare(AccountSQL.accountCount)
    insertAccount = try prepare(AccountSQL.insertAccount)
    updateAccount = try prepare(AccountSQL.updateAccount)
    deleteAccount = try prepare(AccountSQL.deleteAccount)
    deleteAnonymousAccount = try prepare(AccountSQL.deleteAnonymousAccount)
    insertIdentity = try prepare(AccountSQL.insertIdentity)
    updateIdentity = try prepare(AccountSQL.updateIdentity)
    deleteIdentity = try prepare(AccountSQL.deleteIdentity)

    session = try prepare(SessionSQL.session)
    insertSession = try prepare(SessionSQL.insertSession)
    updateLivingSession = try prepare(SessionSQL.updateLivingSession)
    updateEndedSession = try prepare(SessionSQL.updateEndedSession)
    sessionsOfAccount = try prepare(SessionSQL.sessionsOfAccount)
    sessionCounts = try prepare(SessionSQL.sessionCounts)
    sessionAgesBetween = try prepare(SessionSQL.sessionAgesBetween)
    deleteSession = try prepare(SessionSQL.deleteSession)

    spentCredential = try prepare(CredentialSQL.spentCredential)
    insertSpentCredential = try prepare(CredentialSQL.insertSpentCredential)
    credentialExpiriesBefore = try prepare(CredentialSQL.credentialExpiriesBefore)
    deleteSpentCredential = try prepare(CredentialSQL.deleteSpentCredential)

    signingKeyVersion = try prepare(KeySQL.signingKeyVersion)
    signingKeys = try prepare(KeySQL.signingKeys)
    longestTokenLifetime = try prepare(KeySQL.longestTokenLifetime)
    deleteSigningKeys = try prepare(KeySQL.deleteSigningKeys)
    insertSigningKey = try prepare(KeySQL.insertSigningKey)
    updateSigningKeyVersion = try prepare(KeySQL.updateSigningKeyVersion)
    touch = try dialect.touch.map(prepare)
    lookAtTables = try prepare(KeySQL.lookAtTables(dialect.takePlaces == nil ? [] : ["places"]))
    insertRevocation = try prepare(dialect.insertRevocation)
    let places = dialect.takePlaces
    takeRevocationPlaces = if let places { try prepare(places.revocations) } else { nil }
    takeAuditPlaces = if let places { try prepare(places.audit) } else { nil }
    revocationsAfter = try prepare(HistorySQL.revocationsAfter)
    endOfRevocations = try prepare(HistorySQL.endOfRevocations)
    lastRevocation = try prepare(dialect.lastRevocation)
    deleteRevocationsBefore = try prepare(HistorySQL.deleteRevocationsBefore)
    lease = try prepare(HistorySQL.lease)
    writeLease = try prepare(HistorySQL.writeLease)
    audit = try AuditStatements(for: dialect, prepare)
    apple = try AppleStatements(prepare)
    notifications = try NotificationStatements(prepare)
    webhooks = try WebhookStatements(for: dialect, prepare)
    transfers = try TransferStatements(prepare)
    imports = try ImportStatements(prepare)
  }
}

/// Those about the audit.
final class AuditStatements<Statement: SQLStatement> {
  let insert, after, before, ofAccountAfter, ofAccountBefore, sealEntry, deleteUpTo, seal,
    writeSeal: Statement

  init<Fault: Error>(
    for dialect: SQLDialect, _ prepare: (String) throws(Fault) -> Statement
  ) throws(Fault) {
    insert = try prepare(dialect.insertAuditEntry)
    after = try prepare(HistorySQL.auditAfter)
    before = try prepare(HistorySQL.auditBefore)
    ofAccountAfter = try prepare(HistorySQL.auditOfAccount)
    ofAccountBefore = try prepare(HistorySQL.auditOfAccountBefore)
    sealEntry = try prepare(HistorySQL.sealAuditEntry)
    deleteUpTo = try prepare(HistorySQL.deleteAuditUpTo)
    seal = try prepare(HistorySQL.auditSeal)
    writeSeal = try prepare(HistorySQL.writeAuditSeal)
  }
}

/// Those about Apple's codes and tokens.
final class AppleStatements<Statement: SQLStatement> {
  let insertWork, updateWork, deleteWork, work, workDueBy, workOfAccount, workAfter, workCounts: Statement
  let hastenWork, deleteWorkDueBefore: Statement
  let insertGrant, updateGrant, deleteGrant, grant, grantsOfSubject, grantsDueBy, firstDates: Statement
  let secretCounts, secretsNotSealedBy, resealWork, resealGrant: Statement

  init<Fault: Error>(_ prepare: (String) throws(Fault) -> Statement) throws(Fault) {
    insertWork = try prepare(AppleSQL.insertWork)
    updateWork = try prepare(AppleSQL.updateWork)
    deleteWork = try prepare(AppleSQL.deleteWork)
    work = try prepare(AppleSQL.work)
    workDueBy = try prepare(AppleSQL.workDueBy)
    workOfAccount = try prepare(AppleSQL.workOfAccount)
    workAfter = try prepare(AppleSQL.workAfter)
    workCounts = try prepare(AppleSQL.workCounts)
    hastenWork = try prepare(AppleSQL.hastenWork)
    deleteWorkDueBefore = try prepare(AppleSQL.deleteWorkDueBefore)
    insertGrant = try prepare(AppleSQL.insertGrant)
    updateGrant = try prepare(AppleSQL.updateGrant)
    deleteGrant = try prepare(AppleSQL.deleteGrant)
    grant = try prepare(AppleSQL.grant)
    grantsOfSubject = try prepare(AppleSQL.grantsOfSubject)
    grantsDueBy = try prepare(AppleSQL.grantsDueBy)
    firstDates = try prepare(AppleSQL.firstDates)
    secretCounts = try prepare(AppleSQL.secretCounts)
    secretsNotSealedBy = try prepare(AppleSQL.secretsNotSealedBy)
    resealWork = try prepare(AppleSQL.resealWork)
    resealGrant = try prepare(AppleSQL.resealGrant)
  }
}
