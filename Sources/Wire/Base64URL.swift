/// Why text is not base64 in the one spelling that is accepted.
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
  /// Marks a byte that stands for nothing; valid values are below 64.
  static let none: UInt8 = 0xFF

  private static func values(of alphabet: [UInt8]) -> [UInt8] {
    var table = [UInt8](repeating: none, count: 256)
    for (value, letter) in alphabet.enumerated() { table[Int(letter)] = UInt8(value) }
    return table
  }
}

/// Decodes canonical base64url without padding, and nothing else: one spelling for each value, so that a
/// changed text is a changed token.
package func decodeBase64URL(_ text: some Collection<UInt8>) throws(Base64Error) -> [UInt8] {
  try decode(text, by: Alphabet.urlValues)
}

/// Decodes canonical base64 with its padding.
package func decodeBase64(_ text: some Collection<UInt8>) throws(Base64Error) -> [UInt8] {
  guard text.count.isMultiple(of: 4) else { throw .badLength }
  let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
  return try decode(text.dropLast(padding), by: Alphabet.standardValues)
}

/// base64url without padding.
package func base64URLText(_ bytes: some Sequence<UInt8>) -> String {
  var out: [UInt8] = []
  appendBase64URL(bytes, to: &out)
  return String(decoding: out, as: UTF8.self)
}

/// Appends base64url without padding to a buffer that is being built.
package func appendBase64URL(_ bytes: some Sequence<UInt8>, to out: inout [UInt8]) {
  encode(bytes, with: Alphabet.url, into: &out)
}

/// base64 with padding.
package func base64Text(_ bytes: some Sequence<UInt8>) -> String {
  var out: [UInt8] = []
  encode(bytes, with: Alphabet.standard, into: &out)
  while !out.count.isMultiple(of: 4) { out.append(UInt8(ascii: "=")) }
  return String(decoding: out, as: UTF8.self)
}

private func decode(_ text: some Collection<UInt8>, by values: [UInt8]) throws(Base64Error) -> [UInt8] {
  let length = text.count
  guard length % 4 != 1 else { throw .badLength }
  var out: [UInt8] = []
  out.reserveCapacity(length * 3 / 4)
  var buffer: UInt32 = 0
  var bits: UInt32 = 0
  for byte in text {
    let value = values[Int(byte)]
    guard value != Alphabet.none else { throw .badByte }
    buffer = buffer << 6 | UInt32(value)
    bits += 6
    if bits >= 8 {
      bits -= 8
      out.append(UInt8(truncatingIfNeeded: buffer >> bits))
      buffer &= (1 << bits) - 1
    }
  }
  guard buffer == 0 else { throw .nonCanonical }
  return out
}

private func encode(_ bytes: some Sequence<UInt8>, with alphabet: [UInt8], into out: inout [UInt8]) {
  out.reserveCapacity(out.count + (bytes.underestimatedCount * 4 + 2) / 3)
  var buffer: UInt32 = 0
  var bits: UInt32 = 0
  for byte in bytes {
    buffer = buffer << 8 | UInt32(byte)
    bits += 8
    while bits >= 6 {
      bits -= 6
      out.append(alphabet[Int(buffer >> bits & 63)])
    }
    buffer &= (1 << bits) - 1
  }
  if bits > 0 { out.append(alphabet[Int(buffer << (6 - bits) & 63)]) }
}
