internal import Domain
internal import SQLLedger

/// The parameters of a statement, filled in their order.
///
/// Numbers go as text, since the server knows which of its integer types it wants; the rest as its bytes.
package struct PostgresSlots: SQLSlots {
  struct Slot {
    /// Nil for NULL.
    let start: Int?
    let count: Int
    let isBinary: Bool
  }

  /// All values; those that go as text end with a zero.
  private(set) var bytes: [UInt8] = []
  private(set) var slots: [Slot] = []

  package mutating func add(_ number: Int64) {
    let start = bytes.count
    bytes.append(contentsOf: String(number).utf8)
    slots.append(Slot(start: start, count: bytes.count - start, isBinary: false))
    bytes.append(0)
  }

  package mutating func add(_ text: String) {
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    guard bytes[start...].contains(0) else {
      slots.append(Slot(start: start, count: bytes.count - start, isBinary: true))
      return
    }
    // No text of the server's has a zero in it (postgresql.org/docs/current/datatype-character.html), and refusing a
    // person's device name for one would be worse than showing it differently.
    let replaced = bytes[start...].flatMap { $0 == 0 ? [0xEF, 0xBF, 0xBD] : [$0] }
    bytes.replaceSubrange(start..., with: replaced)
    slots.append(Slot(start: start, count: replaced.count, isBinary: true))
  }

  package mutating func add(_ bytes: [UInt8]) {
    slots.append(Slot(start: self.bytes.count, count: bytes.count, isBinary: true))
    self.bytes.append(contentsOf: bytes)
  }

  package mutating func addNull() {
    slots.append(Slot(start: nil, count: 0, isBinary: true))
  }

  /// An array of texts, for `= ANY` and `unnest`.
  mutating func add(texts: [String]) {
    addArray(texts.map { text in "\"" + text.flatMap { "\\\"".contains($0) ? ["\\", $0] : [$0] } + "\"" })
  }

  /// An array of bytes.
  mutating func add(blobs: [[UInt8]]) { addArray(blobs.map { "\"\\\\x\(hexText($0))\"" }) }

  /// An array of numbers.
  mutating func add(numbers: [Int64]) { addArray(numbers.map { "\($0)" }) }

  /// As text: `{a,b}` (postgresql.org/docs/current/arrays.html#ARRAYS-IO), with what has meaning there quoted. A zero
  /// byte matches no text that is stored.
  private mutating func addArray(_ elements: [String]) {
    let start = bytes.count
    bytes.append(contentsOf: ("{" + elements.joined(separator: ",") + "}").utf8.map { $0 == 0 ? 0x3F : $0 })
    slots.append(Slot(start: start, count: bytes.count - start, isBinary: false))
    bytes.append(0)
  }
}
