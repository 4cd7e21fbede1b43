/// The connection and every statement on it, compiled once; what a ledger works with.
///
/// Not Sendable: it goes to the writer's thread and stays there.
final class PreparedStatements {
  let connection: Connection
  let beginWriting, beginReading, commit, rollback: Statement

  let accountByID, accountHoldingIdentity, accountsHoldingEmail, accountsAfter: Statement
  let accountsAscending, accountsDescending, accountCount: Statement
  let insertAccount, updateAccount, deleteAccount, deleteAnonymousAccount: Statement
  let insertIdentity, updateIdentity, deleteIdentity: Statement

  let session, insertSession, updateLivingSession, updateEndedSession: Statement
  let sessionsOfAccount, sessionCounts: Statement
  let sessionAgesBetween, deleteSession: Statement

  let spentCredential, insertSpentCredential, credentialExpiriesBefore, deleteSpentCredential: Statement

  let signingKeyVersion, signingKeys, longestTokenLifetime, deleteSigningKeys: Statement
  let insertSigningKey, updateSigningKeyVersion, touch: Statement

  let insertRevocation, revocationsAfter, endOfRevocations, lastRevocation: Statement
  let deleteRevocationsBefore: Statement
  let insertAuditEntry, auditAfter, auditOfAccount, sealAuditEntry, deleteAuditUpTo: Statement
  let auditSeal, writeAuditSeal, lease, writeLease: Statement
  let apple: AppleStatements
  let notifications: NotificationStatements
  let webhooks: WebhookStatements
  let transfers: TransferStatements
  let imports: ImportStatements
  /// Whether events are written for the app's back end.
  let announces: Bool

  /// The id up to which the sweep has looked at sessions; nil before the first and after the last.
  var sweptSessionsUpTo: [UInt8]?

  init(on connection: consuming Connection, announces: Bool) throws(SQLiteError) {
    self.announces = announces
    beginWriting = try connection.prepare(SQL.beginWriting)
    beginReading = try connection.prepare(SQL.beginReading)
    commit = try connection.prepare(SQL.commit)
    rollback = try connection.prepare(SQL.rollback)

    accountByID = try connection.prepare(AccountSQL.accountByID)
    accountHoldingIdentity = try connection.prepare(AccountSQL.accountHoldingIdentity)
    accountsAfter = try connection.prepare(AccountSQL.accountsAfter)
    accountsHoldingEmail = try connection.prepare(AccountSQL.accountsHoldingEmail)
    accountsAscending = try connection.prepare(AccountSQL.accountsAscending)
    accountsDescending = try connection.prepare(AccountSQL.accountsDescending)
    accountCount = try connection.prepare(AccountSQL.accountCount)
    insertAccount = try connection.prepare(AccountSQL.insertAccount)
    updateAccount = try connection.prepare(AccountSQL.updateAccount)
    deleteAccount = try connection.prepare(AccountSQL.deleteAccount)
    deleteAnonymousAccount = try connection.prepare(AccountSQL.deleteAnonymousAccount)
    insertIdentity = try connection.prepare(AccountSQL.insertIdentity)
    updateIdentity = try connection.prepare(AccountSQL.updateIdentity)
    deleteIdentity = try connection.prepare(AccountSQL.deleteIdentity)

    session = try connection.prepare(SessionSQL.session)
    insertSession = try connection.prepare(SessionSQL.insertSession)
    updateLivingSession = try connection.prepare(SessionSQL.updateLivingSession)
    updateEndedSession = try connection.prepare(SessionSQL.updateEndedSession)
    sessionsOfAccount = try connection.prepare(SessionSQL.sessionsOfAccount)
    sessionCounts = try connection.prepare(SessionSQL.sessionCounts)
    sessionAgesBetween = try connection.prepare(SessionSQL.sessionAgesBetween)
    deleteSession = try connection.prepare(SessionSQL.deleteSession)

    spentCredential = try connection.prepare(CredentialSQL.spentCredential)
    insertSpentCredential = try connection.prepare(CredentialSQL.insertSpentCredential)
    credentialExpiriesBefore = try connection.prepare(CredentialSQL.credentialExpiriesBefore)
    deleteSpentCredential = try connection.prepare(CredentialSQL.deleteSpentCredential)

    signingKeyVersion = try connection.prepare(KeySQL.signingKeyVersion)
    signingKeys = try connection.prepare(KeySQL.signingKeys)
    longestTokenLifetime = try connection.prepare(KeySQL.longestTokenLifetime)
    deleteSigningKeys = try connection.prepare(KeySQL.deleteSigningKeys)
    insertSigningKey = try connection.prepare(KeySQL.insertSigningKey)
    updateSigningKeyVersion = try connection.prepare(KeySQL.updateSigningKeyVersion)
    touch = try connection.prepare(KeySQL.touch)

    insertRevocation = try connection.prepare(HistorySQL.insertRevocation)
    revocationsAfter = try connection.prepare(HistorySQL.revocationsAfter)
    endOfRevocations = try connection.prepare(HistorySQL.endOfRevocations)
    lastRevocation = try connection.prepare(HistorySQL.lastRevocation)
    deleteRevocationsBefore = try connection.prepare(HistorySQL.deleteRevocationsBefore)
    insertAuditEntry = try connection.prepare(HistorySQL.insertAuditEntry)
    auditAfter = try connection.prepare(HistorySQL.auditAfter)
    auditOfAccount = try connection.prepare(HistorySQL.auditOfAccount)
    sealAuditEntry = try connection.prepare(HistorySQL.sealAuditEntry)
    deleteAuditUpTo = try connection.prepare(HistorySQL.deleteAuditUpTo)
    auditSeal = try connection.prepare(HistorySQL.auditSeal)
    writeAuditSeal = try connection.prepare(HistorySQL.writeAuditSeal)
    lease = try connection.prepare(HistorySQL.lease)
    writeLease = try connection.prepare(HistorySQL.writeLease)

    apple = try AppleStatements(on: connection)
    notifications = try NotificationStatements(on: connection)
    webhooks = try WebhookStatements(on: connection)
    transfers = try TransferStatements(on: connection)
    imports = try ImportStatements(on: connection)
    self.connection = connection
  }
}

/// Those about Apple's codes and tokens.
final class AppleStatements {
  let insertWork, updateWork, deleteWork, work, workDueBy, workOfAccount, workAfter, workCounts: Statement
  let hastenWork, deleteWorkDueBefore: Statement
  let insertGrant, updateGrant, deleteGrant, grant, grantsOfSubject, grantsDueBy, firstDates: Statement
  let secretCounts, secretsNotSealedBy, resealWork, resealGrant: Statement

  init(on connection: borrowing Connection) throws(SQLiteError) {
    insertWork = try connection.prepare(AppleSQL.insertWork)
    updateWork = try connection.prepare(AppleSQL.updateWork)
    deleteWork = try connection.prepare(AppleSQL.deleteWork)
    work = try connection.prepare(AppleSQL.work)
    workDueBy = try connection.prepare(AppleSQL.workDueBy)
    workOfAccount = try connection.prepare(AppleSQL.workOfAccount)
    workAfter = try connection.prepare(AppleSQL.workAfter)
    workCounts = try connection.prepare(AppleSQL.workCounts)
    hastenWork = try connection.prepare(AppleSQL.hastenWork)
    deleteWorkDueBefore = try connection.prepare(AppleSQL.deleteWorkDueBefore)
    insertGrant = try connection.prepare(AppleSQL.insertGrant)
    updateGrant = try connection.prepare(AppleSQL.updateGrant)
    deleteGrant = try connection.prepare(AppleSQL.deleteGrant)
    grant = try connection.prepare(AppleSQL.grant)
    grantsOfSubject = try connection.prepare(AppleSQL.grantsOfSubject)
    grantsDueBy = try connection.prepare(AppleSQL.grantsDueBy)
    firstDates = try connection.prepare(AppleSQL.firstDates)
    secretCounts = try connection.prepare(AppleSQL.secretCounts)
    secretsNotSealedBy = try connection.prepare(AppleSQL.secretsNotSealedBy)
    resealWork = try connection.prepare(AppleSQL.resealWork)
    resealGrant = try connection.prepare(AppleSQL.resealGrant)
  }
}
