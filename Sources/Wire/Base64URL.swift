/// Why text is not base64 in the one spelling that is accepted.
@usableFromInline
package enum Base64Error: Error, Equatable, Sendable {
  /// No number of bytes has an encoding of this length.
  case badLength
  /// A byte outside the alphabet; padding, spaces and the other alphabet count here.
  case badByte
  /// The unused bits of the last character are not zero (RFC 4648 §3.5).
  case nonCanonical
}

/// The two alphabets of RFC 4648: base64url without padding (§5, RFC 7515 §2) and base64 with padding (§4).
private enum Alphabet {
  static let url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  static let urlValues = values(of: url)
  static let standardValues = values(of: standard)
  /// Marks a byte that stands for nothing; valid values are below 64, so any bit above tells it from them.
  static let none: UInt8 = 0xFF

  private static func values(of alphabet: [UInt8]) -> [UInt8] {
    var table = [UInt8](repeating: none, count: 256)
    for (value, letter) in alphabet.enumerated() { table[Int(letter)] = UInt8(value) }
    return table
  }
}

/// Decodes canonical base64url without padding, and nothing else: one spelling for each value, so that a
/// changed text is a changed token.
@inlinable
package func decodeBase64URL(_ text: some Collection<UInt8>) throws(Base64Error) -> [UInt8] {
  try withBytes(of: text) { bytes throws(Base64Error) in try decodeURL(bytes) }
}

/// Decodes canonical base64 with its padding.
package func decodeBase64(_ text: some Collection<UInt8>) throws(Base64Error) -> [UInt8] {
  guard text.count.isMultiple(of: 4) else { throw .badLength }
  let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
  return try withBytes(of: text.dropLast(padding)) { bytes throws(Base64Error) in
    try decode(bytes, by: Alphabet.standardValues)
  }
}

/// base64url without padding.
@inlinable
package func base64URLText(_ bytes: some Sequence<UInt8>) -> String {
  var out: [UInt8] = []
  appendBase64URL(bytes, to: &out)
  return String(decoding: out, as: UTF8.self)
}

/// Appends base64url without padding to a buffer that is being built.
@inlinable
package func appendBase64URL(_ bytes: some Sequence<UInt8>, to out: inout [UInt8]) {
  withBytes(of: bytes) { encodeURL($0, into: &out) }
}

/// base64 with padding.
package func base64Text(_ bytes: some Sequence<UInt8>) -> String {
  var out: [UInt8] = []
  withBytes(of: bytes) { encode($0, with: Alphabet.standard, into: &out) }
  while !out.count.isMultiple(of: 4) { out.append(UInt8(ascii: "=")) }
  return String(decoding: out, as: UTF8.self)
}

@usableFromInline
func decodeURL(_ bytes: Span<UInt8>) throws(Base64Error) -> [UInt8] {
  try decode(bytes, by: Alphabet.urlValues)
}

@usableFromInline
func encodeURL(_ bytes: Span<UInt8>, into out: inout [UInt8]) {
  encode(bytes, with: Alphabet.url, into: &out)
}

private func decode(_ bytes: Span<UInt8>, by values: [UInt8]) throws(Base64Error) -> [UInt8] {
  guard bytes.count % 4 != 1 else { throw .badLength }
  var rest: UInt32 = 0
  // An invalid value has its high bits set, which stay in the union of all values.
  var union: UInt8 = 0
  let decoded = [UInt8](capacity: bytes.count / 4 * 3 + 2) { out in
    let values = values.span
    func value(_ index: Int) -> UInt32 {
      let value = values[Int(bytes[index])]
      union |= value
      return UInt32(value)
    }
    let whole = bytes.count / 4 * 4
    for index in stride(from: 0, to: whole, by: 4) {
      let group =
        value(index) << 18 | value(index + 1) << 12 | value(index + 2) << 6 | value(index + 3)
      out.append(UInt8(truncatingIfNeeded: group >> 16))
      out.append(UInt8(truncatingIfNeeded: group >> 8))
      out.append(UInt8(truncatingIfNeeded: group))
    }
    switch bytes.count - whole {
    case 2:
      let group = value(whole) << 6 | value(whole + 1)
      out.append(UInt8(truncatingIfNeeded: group >> 4))
      rest = group & 0xF
    case 3:
      let group = value(whole) << 12 | value(whole + 1) << 6 | value(whole + 2)
      out.append(UInt8(truncatingIfNeeded: group >> 10))
      out.append(UInt8(truncatingIfNeeded: group >> 2))
      rest = group & 3
    default: break
    }
  }
  guard union < 64 else { throw .badByte }
  guard rest == 0 else { throw .nonCanonical }
  return decoded
}

private func encode(_ bytes: Span<UInt8>, with alphabet: [UInt8], into out: inout [UInt8]) {
  out.append(addingCapacity: (bytes.count * 4 + 2) / 3) { out in
    let alphabet = alphabet.span
    let whole = bytes.count / 3 * 3
    for index in stride(from: 0, to: whole, by: 3) {
      let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
      out.append(alphabet[Int(group >> 18)])
      out.append(alphabet[Int(group >> 12 & 63)])
      out.append(alphabet[Int(group >> 6 & 63)])
      out.append(alphabet[Int(group & 63)])
    }
    switch bytes.count - whole {
    case 1:
      let group = UInt32(bytes[whole]) << 4
      out.append(alphabet[Int(group >> 6)])
      out.append(alphabet[Int(group & 63)])
    case 2:
      let group = UInt32(bytes[whole]) << 10 | UInt32(bytes[whole + 1]) << 2
      out.append(alphabet[Int(group >> 12)])
      out.append(alphabet[Int(group >> 6 & 63)])
      out.append(alphabet[Int(group & 63)])
    default: break
    }
  }
}
