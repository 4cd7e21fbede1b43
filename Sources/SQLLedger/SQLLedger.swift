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
  /// What is known before it is asked for; nil where nothing is.
  package var known: KnownRows?

  /// A ledger over the statements of a connection.
  package init(_ statements: SQLStatements<Statement>) {
    self.statements = statements
  }

  /// Forgets what a transaction had put off and known that was undone.
  package mutating func reset() {
    unwritten = UnwrittenHistory()
    known = nil
  }
}

// Credentials that were used.
extension SQLLedger {
  package mutating func spentCredential(_ key: CredentialKey) throws(StorageError) -> SpentCredential? {
    if let known = known?.credentials[key] { return known }
    return try statements.spentCredential.first { slots in
      slots.add(key.stamp)
      slots.add(key.digest)
    } _: { (row: inout Row) throws(StorageError) in
      try row.spentCredential(key)
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
    known?.credentials[spent.key] = spent
  }
}

extension SQLRow {
  mutating func spentCredential(_ key: CredentialKey) throws(StorageError) -> SpentCredential {
    SpentCredential(
      key: key, expiresAt: try time(), usedAt: try time(), session: try sessionID(), isNewUser: try flag(),
      linkTarget: try optionalIdentifier(), isFinal: try flag())
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
    try statements.lookAtTables.visit({ _ in }, { _ in false })
    guard let touch = statements.touch else { return }
    guard try touch.count() == 1 else { throw .corrupt }
  }
}
