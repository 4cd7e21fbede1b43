/// Builds one JSON object in one buffer, member by member, in the order of the calls.
package struct JSONWriter: Sendable {
  private var out: [UInt8]
  private var isFirst = true

  package init(reserving capacity: Int = 256) {
    out = []
    out.reserveCapacity(capacity)
    out.append(UInt8(ascii: "{"))
  }

  /// The finished object.
  package consuming func finish() -> [UInt8] {
    out.append(UInt8(ascii: "}"))
    return out
  }

  /// A member that is a string.
  package mutating func member(_ name: String, _ value: String) {
    key(name)
    appendJSONString(value, to: &out)
  }

  /// Left out when nil: unknown values are absent, never null.
  package mutating func member(_ name: String, _ value: String?) {
    if let value { member(name, value) }
  }

  /// A member that is a whole number.
  package mutating func member(_ name: String, _ value: Int64) {
    key(name)
    out.append(contentsOf: String(value).utf8)
  }

  /// A member that is a boolean.
  package mutating func member(_ name: String, _ value: Bool) {
    key(name)
    out.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Left out when nil.
  package mutating func member(_ name: String, _ value: Bool?) {
    if let value { member(name, value) }
  }

  /// A member that is an array of strings.
  package mutating func member(_ name: String, _ values: [String]) {
    key(name)
    out.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      appendJSONString(value, to: &out)
    }
    out.append(UInt8(ascii: "]"))
  }

  /// A member whose value is JSON already.
  package mutating func member(_ name: String, json: some Sequence<UInt8>) {
    key(name)
    out.append(contentsOf: json)
  }

  /// A member that is an array of values which are JSON already.
  package mutating func member(_ name: String, jsonArray values: some Sequence<[UInt8]>) {
    key(name)
    out.append(UInt8(ascii: "["))
    var isFirst = true
    for value in values {
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      out.append(contentsOf: value)
    }
    out.append(UInt8(ascii: "]"))
  }

  /// A member that is an object.
  package mutating func object(_ name: String, _ build: (inout JSONWriter) -> Void) {
    key(name)
    out.append(UInt8(ascii: "{"))
    isFirst = true
    build(&self)
    out.append(UInt8(ascii: "}"))
    isFirst = false
  }

  private mutating func key(_ name: String) {
    if !isFirst { out.append(UInt8(ascii: ",")) }
    isFirst = false
    appendJSONString(name, to: &out)
    out.append(UInt8(ascii: ":"))
  }
}

/// Appends a JSON string: what RFC 8259 §7 wants escaped, and U+2028 and U+2029, which break JavaScript.
package func appendJSONString(_ text: String, to out: inout [UInt8]) {
  out.append(UInt8(ascii: "\""))
  defer { out.append(UInt8(ascii: "\"")) }
  // Almost every text may stand as it is.
  guard unsafe needsEscape(text.utf8.span.bytes) else {
    out.append(contentsOf: text.utf8)
    return
  }
  var previous: (UInt8, UInt8) = (0, 0)
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      out.append(UInt8(ascii: "\\"))
      out.append(byte)
    case 0x0A: out.append(contentsOf: "\\n".utf8)
    case 0x0D: out.append(contentsOf: "\\r".utf8)
    case 0x09: out.append(contentsOf: "\\t".utf8)
    case 0..<0x20, 0x7F:
      let digits = Array("0123456789abcdef".utf8)
      out.append(contentsOf: "\\u00".utf8)
      out.append(digits[Int(byte >> 4)])
      out.append(digits[Int(byte & 15)])
    case 0xA8 where previous == (0xE2, 0x80), 0xA9 where previous == (0xE2, 0x80):
      out.removeLast(2)
      out.append(contentsOf: (byte == 0xA8 ? "\\u2028" : "\\u2029").utf8)
    default: out.append(byte)
    }
    previous = (previous.1, byte)
  }
}

/// Whether there may be something to escape: 0xE2 begins U+2028, and other characters too. Eight bytes at a time, since
/// tokens of a thousand bytes go through here.
private func needsEscape(_ text: RawSpan) -> Bool {
  let ones: UInt64 = 0x0101_0101_0101_0101
  // The high bit of each byte that is below `limit`, of those below 0x80 (Bit Twiddling Hacks, "hasless").
  func hasLess(_ word: UInt64, than limit: UInt64) -> UInt64 { (word &- ones &* limit) & ~word & ones << 7 }
  func has(_ word: UInt64, _ byte: UInt64) -> UInt64 { hasLess(word ^ ones &* byte, than: 1) }
  var offset = 0
  while offset < text.byteCount {
    let rest = text.byteCount - offset
    var word = ones << 5
    if rest >= 8 {
      word = unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
    } else {
      for place in offset..<text.byteCount {
        word = unsafe word << 8 | UInt64(text.unsafeLoad(fromByteOffset: place, as: UInt8.self))
      }
    }
    let found =
      hasLess(word, than: 0x20) | has(word, 0x22) | has(word, 0x5C) | has(word, 0x7F) | has(word, 0xE2)
    if found != 0 { return true }
    offset += 8
  }
  return false
}
