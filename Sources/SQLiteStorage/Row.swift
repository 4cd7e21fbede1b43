internal import CSQLite
internal import Domain
internal import Storage

/// A row, read column by column in their order; lent until the next step.
///
/// What this version would not have written is ``StorageError/corrupt``, never a trap.
@safe struct Row: ~Copyable {
  private let raw: OpaquePointer
  private var next: Int32 = 0

  init(lending raw: OpaquePointer) { unsafe self.raw = raw }

  mutating func number() throws(StorageError) -> Int64 {
    try required(optionalNumber())
  }

  mutating func optionalNumber() throws(StorageError) -> Int64? {
    guard let column = try column(of: SQLITE_INTEGER) else { return nil }
    return unsafe sqlite3_column_int64(raw, column)
  }

  mutating func flag() throws(StorageError) -> Bool {
    switch try number() {
    case 0: false
    case 1: true
    default: throw .corrupt
    }
  }

  mutating func time() throws(StorageError) -> UnixTime { UnixTime(try number()) }

  mutating func optionalTime() throws(StorageError) -> UnixTime? { try optionalNumber().map { UnixTime($0) } }

  mutating func text() throws(StorageError) -> String {
    try required(optionalText())
  }

  mutating func optionalText() throws(StorageError) -> String? {
    guard let column = try column(of: SQLITE_TEXT) else { return nil }
    guard let start = unsafe sqlite3_column_text(raw, column) else { throw .unavailable }
    let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column)))
    guard let text = unsafe String(validating: bytes, as: UTF8.self) else { throw .corrupt }
    return text
  }

  /// A text for a person's eyes; one that is no UTF-8 as its bytes in hexadecimal.
  mutating func shownText() throws(StorageError) -> String? {
    guard let column = try column(of: SQLITE_TEXT) else { return nil }
    guard let start = unsafe sqlite3_column_text(raw, column) else { throw .unavailable }
    let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column)))
    return unsafe String(validating: bytes, as: UTF8.self) ?? hexText(bytes)
  }

  mutating func bytes() throws(StorageError) -> [UInt8] { try required(optionalBytes()) }

  mutating func optionalBytes() throws(StorageError) -> [UInt8]? {
    guard let column = try column(of: SQLITE_BLOB) else { return nil }
    // Null is a blob without bytes (sqlite.org/c3ref/column_blob.html).
    guard let start = unsafe sqlite3_column_blob(raw, column) else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
  }

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

  /// The place of the next column; nil for a NULL, an error for a value of another type.
  private mutating func column(of type: Int32) throws(StorageError) -> Int32? {
    defer { next += 1 }
    switch unsafe sqlite3_column_type(raw, next) {
    case type: return next
    case SQLITE_NULL: return nil
    default: throw .corrupt
    }
  }
}

/// A value that every row of this version has.
func required<Value>(_ value: Value?) throws(StorageError) -> Value {
  guard let value else { throw .corrupt }
  return value
}
