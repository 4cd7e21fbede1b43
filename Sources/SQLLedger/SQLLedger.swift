//===-- SQLLedger ---------------------------------------------------------===//
// Rows as SQL, for any engine: what intentions read and write, as statements with their texts, written once. An engine
// brings statements that can be run, transactions around them, and the schema.
//
// Nothing here knows which database answers; what databases say differently stands side by side in `SQLDialect`.
//===------------------------------------------------------------------------===//

internal import Domain
package import Storage

/// The rows of one transaction on one connection; lent to a transaction's body.
package struct SQLLedger<Statement: SQLStatement>: Ledger {
  typealias Slots = Statement.Slots
  typealias Row = Statement.Row

  let statements: SQLStatements<Statement>
  var unwritten = UnwrittenHistory()

  /// A ledger over the statements of a connection.
  package init(_ statements: SQLStatements<Statement>) {
    self.statements = statements
  }
}

// Credentials that were used.
extension SQLLedger {
  package mutating func spentCredential(_ key: CredentialKey) throws(StorageError) -> SpentCredential? {
    try statements.spentCredential.first { slots in
      slots.add(key.stamp)
      slots.add(key.digest)
    } _: { (row: inout Row) throws(StorageError) in
      SpentCredential(
        key: key, expiresAt: try row.time(), usedAt: try row.time(), session: try row.sessionID(),
        isNewUser: try row.flag(), linkTarget: try row.optionalIdentifier(), isFinal: try row.flag())
    }
  }

  package mutating func insert(_ spent: SpentCredential) throws(StorageError) {
    try statements.insertSpentCredential.run { slots in
      slots.add(spent.key.stamp)
      slots.add(spent.key.digest)
      slots.add(spent.expiresAt)
      slots.add(spent.usedAt)
      slots.add(spent.session.bytes)
      slots.add(spent.isNewUser)
      slots.add(spent.linkTarget?.text)
      slots.add(spent.isFinal)
    }
  }
}

// Signing keys, and the probe.
extension SQLLedger {
  package mutating func signingKeys() throws(StorageError) -> SigningKeyBook {
    let version = try statements.signingKeyVersion.first { (row: inout Row) throws(StorageError) in
      try row.number()
    }
    let keys = try statements.signingKeys.all { (row: inout Row) throws(StorageError) in
      SigningKeyRecord(
        id: try row.identifier(), algorithm: try row.text(),
        role: try required(SigningKeyRole(rawValue: row.text())), createdAt: try row.time(),
        activeSince: try row.optionalTime(), retiredAt: try row.optionalTime(),
        isToRetire: try row.flag(), longestLifetime: try row.number(),
        cookiesUntil: try row.optionalTime(), sealed: try row.bytes(), masterKey: try row.masterKey(),
        certificate: try row.text())
    }
    return SigningKeyBook(version: try required(version), keys: keys)
  }

  package mutating func longestTokenLifetime() throws(StorageError) -> Int64? {
    try statements.longestTokenLifetime.first { (row: inout Row) throws(StorageError) in
      try row.number()
    }
  }

  package mutating func writeSigningKeys(_ book: SigningKeyBook) throws(StorageError) {
    try statements.deleteSigningKeys.run()
    for (position, key) in book.keys.enumerated() {
      try statements.insertSigningKey.run { slots in
        slots.add(Int64(position))
        slots.add(key.id.text)
        slots.add(key.algorithm)
        slots.add(key.role.rawValue)
        slots.add(key.createdAt)
        slots.add(key.activeSince)
        slots.add(key.retiredAt)
        slots.add(key.isToRetire)
        slots.add(key.longestLifetime)
        slots.add(key.cookiesUntil)
        slots.add(key.sealed)
        slots.add(key.masterKey.bytes)
        slots.add(key.certificate)
      }
    }
    try statements.updateSigningKeyVersion.run { slots in slots.add(book.version) }
  }

  package mutating func touch() throws(StorageError) {
    guard try statements.touch.count() == 1 else { throw .corrupt }
  }
}
