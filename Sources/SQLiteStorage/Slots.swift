internal import CSQLite
internal import SQLLedger

/// The parameters of a statement, filled in their order; lent for the length of one binding.
@safe package struct SQLiteSlots: SQLSlots {
  private let raw: OpaquePointer
  private var next: Int32 = 1
  /// The first code that was not good.
  private(set) var code: Int32 = SQLITE_OK

  init(lending raw: OpaquePointer) { unsafe self.raw = raw }

  package mutating func add(_ number: Int64) {
    keep(unsafe sqlite3_bind_int64(raw, next, number))
  }

  package mutating func add(_ text: String) {
    let span = text.utf8.span
    let code = unsafe span.withUnsafeBufferPointer { bytes in
      // A length beyond 32 bits is refused as too big instead of trapping.
      unsafe csqlite_bind_text(raw, next, bytes.baseAddress, Int32(clamping: bytes.count))
    }
    keep(code)
  }

  package mutating func add(_ bytes: [UInt8]) {
    let code = unsafe bytes.withUnsafeBytes { bytes in
      unsafe csqlite_bind_blob(raw, next, bytes.baseAddress, Int32(clamping: bytes.count))
    }
    keep(code)
  }

  package mutating func addNull() {
    keep(unsafe sqlite3_bind_null(raw, next))
  }

  private mutating func keep(_ code: Int32) {
    if self.code == SQLITE_OK { self.code = code }
    next += 1
  }
}
