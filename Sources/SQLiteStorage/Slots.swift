internal import CSQLite
internal import Domain

/// The parameters of a statement, filled in their order; lent for the length of one binding.
@safe struct Slots: ~Copyable {
  private let raw: OpaquePointer
  private var next: Int32 = 1
  /// The first code that was not good.
  private(set) var code: Int32 = SQLITE_OK

  init(lending raw: OpaquePointer) { unsafe self.raw = raw }

  mutating func add(_ number: Int64) {
    keep(unsafe sqlite3_bind_int64(raw, next, number))
  }

  mutating func add(_ number: Int64?) {
    if let number { add(number) } else { addNull() }
  }

  mutating func add(_ flag: Bool) { add(flag ? 1 : 0 as Int64) }

  mutating func add(_ time: UnixTime) { add(time.seconds) }

  mutating func add(_ time: UnixTime?) { add(time?.seconds) }

  mutating func add(_ text: String) {
    let span = text.utf8.span
    let code = unsafe span.withUnsafeBufferPointer { bytes in
      // A length beyond 32 bits is refused as too big instead of trapping.
      unsafe csqlite_bind_text(raw, next, bytes.baseAddress, Int32(clamping: bytes.count))
    }
    keep(code)
  }

  mutating func add(_ text: String?) {
    if let text { add(text) } else { addNull() }
  }

  mutating func add(_ bytes: [UInt8]) {
    let code = unsafe bytes.withUnsafeBytes { bytes in
      unsafe csqlite_bind_blob(raw, next, bytes.baseAddress, Int32(clamping: bytes.count))
    }
    keep(code)
  }

  mutating func add(_ bytes: [UInt8]?) {
    if let bytes { add(bytes) } else { addNull() }
  }

  private mutating func addNull() {
    keep(unsafe sqlite3_bind_null(raw, next))
  }

  private mutating func keep(_ code: Int32) {
    if self.code == SQLITE_OK { self.code = code }
    next += 1
  }
}
