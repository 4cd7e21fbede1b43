/// Why bytes are not the form body that is accepted.
package enum FormError: Error, Equatable, Sendable {
  /// A broken percent escape, bad UTF-8 or a control character after decoding.
  case malformed
  /// One name twice: which counts is a matter of taste, and tastes differ between proxies and servers.
  case duplicateMember
}

/// An `application/x-www-form-urlencoded` body or a query: `+` is a space, `%XX` is decoded exactly once.
package struct FormBody: Sendable, Equatable {
  private let fields: [String: String]

  package init(parsing bytes: some Collection<UInt8>) throws(FormError) {
    var fields: [String: String] = [:]
    for piece in Array(bytes).split(separator: UInt8(ascii: "&")) {
      let parts = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = try decodeFormText(parts[0])
      let value = parts.count > 1 ? try decodeFormText(parts[1]) : ""
      guard fields.updateValue(value, forKey: name) == nil else { throw .duplicateMember }
    }
    self.fields = fields
  }

  /// The names of all fields, empty ones too.
  package var names: some Sequence<String> { fields.keys }

  /// The field of this name; an empty value counts as absent.
  package subscript(name: String) -> String? {
    fields[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// The text of a piece of a path, its percent escapes undone once; nil when one is broken, or what comes out is no
/// UTF-8 or has control characters.
package func percentDecoded(_ text: some Collection<UInt8>) -> String? {
  try? decodeText(ArraySlice(text), plusIsSpace: false)
}

private func decodeFormText(_ text: ArraySlice<UInt8>) throws(FormError) -> String {
  try decodeText(text, plusIsSpace: true)
}

private func decodeText(_ text: ArraySlice<UInt8>, plusIsSpace: Bool) throws(FormError) -> String {
  var bytes: [UInt8] = []
  var iterator = text.makeIterator()
  while let byte = iterator.next() {
    switch byte {
    case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
    case UInt8(ascii: "%"):
      guard let high = iterator.next().flatMap(hexValue), let low = iterator.next().flatMap(hexValue) else {
        throw .malformed
      }
      bytes.append(high << 4 | low)
    default: bytes.append(byte)
    }
  }
  guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }),
    let decoded = String(validating: bytes, as: UTF8.self)
  else { throw .malformed }
  return decoded
}

/// The value of one hexadecimal digit in either case.
private func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 0x30...0x39: byte - 0x30
  case 0x41...0x46: byte - 0x41 + 10
  case 0x61...0x66: byte - 0x61 + 10
  default: nil
  }
}

/// Percent-encodes all but the unreserved set of RFC 3986 §2.3.
package func percentEncoded(_ text: String) -> String {
  let digits = Array("0123456789ABCDEF".utf8)
  var out: [UInt8] = []
  for byte in text.utf8 {
    if isUnreserved(byte) {
      out.append(byte)
    } else {
      out.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }
  }
  return String(decoding: out, as: UTF8.self)
}

/// Whether a byte is of the unreserved set of RFC 3986 §2.3.
package func isUnreserved(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
    UInt8(ascii: "~"):
    true
  default: false
  }
}
