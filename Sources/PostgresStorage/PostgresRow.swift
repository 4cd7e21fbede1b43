internal import CPostgres
internal import Domain
internal import SQLLedger
package import Storage

/// A row of a result, read column by column in their order; lent for the length of one look.
@safe package struct PostgresRow: SQLRow {
  private let result: OpaquePointer
  private let row: Int32
  private var next: Int32 = 0

  init(lending result: OpaquePointer, row: Int32) {
    unsafe self.result = result
    self.row = row
  }

  package mutating func optionalNumber() throws(StorageError) -> Int64? {
    guard let bytes = try unsafe column(of: [ServerType.int2, ServerType.int4, ServerType.int8]) else {
      return nil
    }
    switch bytes.count {
    case 2: return unsafe Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 4: return unsafe Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 8: return unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    default: throw .corrupt
    }
  }

  package mutating func optionalText() throws(StorageError) -> String? {
    guard let bytes = try unsafe column(of: [ServerType.text]) else { return nil }
    guard let text = unsafe String(validating: bytes, as: UTF8.self) else { throw .corrupt }
    return text
  }

  package mutating func shownText() throws(StorageError) -> String? {
    guard let bytes = try unsafe column(of: [ServerType.text]) else { return nil }
    return unsafe String(validating: bytes, as: UTF8.self) ?? hexText(bytes)
  }

  package mutating func optionalBytes() throws(StorageError) -> [UInt8]? {
    guard let bytes = try unsafe column(of: [ServerType.bytes]) else { return nil }
    return unsafe Array(bytes)
  }

  /// The bytes of the next column; nil for a NULL, an error for a value of another type.
  private mutating func column(of types: [Oid]) throws(StorageError) -> UnsafeRawBufferPointer? {
    defer { next += 1 }
    guard unsafe PQgetisnull(result, row, next) == 0 else { return nil }
    guard unsafe types.contains(PQftype(result, next)), let start = unsafe PQgetvalue(result, row, next)
    else {
      throw .corrupt
    }
    return unsafe UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, next)))
  }
}

/// Numbers of the server's types, the same in every database (pg_type.dat).
private enum ServerType {
  static let bytes: Oid = 17
  static let int8: Oid = 20
  static let int2: Oid = 21
  static let int4: Oid = 23
  static let text: Oid = 25
}
