internal import Domain
package import Storage

/// The parameters of a statement, filled in their order; lent for the length of one binding.
package protocol SQLSlots {
  mutating func add(_ number: Int64)
  mutating func add(_ text: String)
  mutating func add(_ bytes: [UInt8])
  mutating func addNull()
}

extension SQLSlots {
  mutating func add(_ number: Int64?) {
    if let number { add(number) } else { addNull() }
  }

  mutating func add(_ flag: Bool) { add(flag ? 1 : 0 as Int64) }

  mutating func add(_ time: UnixTime) { add(time.seconds) }

  mutating func add(_ time: UnixTime?) { add(time?.seconds) }

  mutating func add(_ text: String?) {
    if let text { add(text) } else { addNull() }
  }

  mutating func add(_ bytes: [UInt8]?) {
    if let bytes { add(bytes) } else { addNull() }
  }
}

/// A row, read column by column in their order; lent until the next one.
///
/// What this version would not have written is ``StorageError/corrupt``, never a trap.
package protocol SQLRow {
  mutating func optionalNumber() throws(StorageError) -> Int64?
  mutating func optionalText() throws(StorageError) -> String?
  /// A text for a person's eyes; one that is no UTF-8 as its bytes in hexadecimal.
  mutating func shownText() throws(StorageError) -> String?
  mutating func optionalBytes() throws(StorageError) -> [UInt8]?
}

extension SQLRow {
  mutating func number() throws(StorageError) -> Int64 { try required(optionalNumber()) }

  mutating func flag() throws(StorageError) -> Bool {
    switch try number() {
    case 0: false
    case 1: true
    default: throw .corrupt
    }
  }

  mutating func time() throws(StorageError) -> UnixTime { UnixTime(try number()) }

  mutating func optionalTime() throws(StorageError) -> UnixTime? { try optionalNumber().map { UnixTime($0) } }

  /// The next column, which is not NULL.
  package mutating func text() throws(StorageError) -> String { try required(optionalText()) }

  /// The next column, which is not NULL.
  package mutating func bytes() throws(StorageError) -> [UInt8] { try required(optionalBytes()) }

  mutating func identifier<Name: Identifier>(as kind: Name.Type = Name.self) throws(StorageError) -> Name {
    try required(kind.init(text()))
  }

  mutating func optionalIdentifier<Name: Identifier>(as kind: Name.Type = Name.self) throws(StorageError)
    -> Name?
  {
    guard let text = try optionalText() else { return nil }
    return try required(kind.init(text))
  }

  mutating func sessionID() throws(StorageError) -> SessionID { try required(SessionID(bytes())) }

  mutating func optionalSessionID() throws(StorageError) -> SessionID? {
    guard let bytes = try optionalBytes() else { return nil }
    return try required(SessionID(bytes))
  }

  mutating func masterKey() throws(StorageError) -> MasterKeyID { try required(MasterKeyID(bytes())) }
}

/// A value that every row of this version has.
package func required<Value>(_ value: Value?) throws(StorageError) -> Value {
  guard let value else { throw .corrupt }
  return value
}

/// One prepared statement of a connection.
package protocol SQLStatement: AnyObject, SendableMetatype {
  associatedtype Slots: SQLSlots
  associatedtype Row: SQLRow

  /// Runs to the end and passes over rows. An engine may put it off until something is read or committed.
  func run(_ bind: (inout Slots) -> Void) throws(StorageError)
  /// As ``run(_:)``, and what touches another number of rows than one is ``StorageError/defect``, now or at the commit.
  func runOnOneRow(_ bind: (inout Slots) -> Void) throws(StorageError)
  /// Runs to the end.
  ///
  /// - Returns: How many rows an INSERT, UPDATE or DELETE touched.
  func count(_ bind: (inout Slots) -> Void) throws(StorageError) -> Int
  /// Reads rows for as long as `read` answers true.
  func visit(
    _ bind: (inout Slots) -> Void, _ read: (inout Row) throws(StorageError) -> Bool
  ) throws(StorageError)
}

extension SQLStatement {
  func run() throws(StorageError) { try run { _ in } }

  func count() throws(StorageError) -> Int { try count { _ in } }

  /// Reads the first row; nil when there is none.
  func first<Value>(
    _ bind: (inout Slots) -> Void = { _ in }, _ read: (inout Row) throws(StorageError) -> Value
  ) throws(StorageError) -> Value? {
    var found: Value?
    try visit(bind) { (row: inout Row) throws(StorageError) in
      found = try read(&row)
      return false
    }
    return found
  }

  /// Reads every row.
  func each(
    _ bind: (inout Slots) -> Void = { _ in }, _ read: (inout Row) throws(StorageError) -> Void
  ) throws(StorageError) {
    try visit(bind) { (row: inout Row) throws(StorageError) in
      try read(&row)
      return true
    }
  }

  /// What is read of every row, in their order.
  func all<Value>(
    _ bind: (inout Slots) -> Void = { _ in }, _ read: (inout Row) throws(StorageError) -> Value
  ) throws(StorageError) -> [Value] {
    var found: [Value] = []
    try each(bind) { (row: inout Row) throws(StorageError) in found.append(try read(&row)) }
    return found
  }
}
