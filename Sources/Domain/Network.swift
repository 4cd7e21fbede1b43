/// A network by its address and the length of its prefix (RFC 4632 §3.1).
package struct Network: Sendable, Equatable {
  /// 4 or 16 bytes, with nothing behind the prefix.
  private let address: [UInt8]
  private let prefixLength: Int

  /// Reads `10.0.0.0/8`, `fd00::/8`, or an address alone; nil for anything else, bits behind the prefix too.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = addressBytes(String(parts[0])) else { return nil }
    var length = address.count * 8
    if parts.count > 1 {
      guard let given = Int(parts[1]), (0...length).contains(given), parts[1].utf8.first != UInt8(ascii: "+")
      else {
        return nil
      }
      length = given
    }
    self.address = address
    prefixLength = length
    guard masked(address, to: length) == address else { return nil }
  }

  /// Whether an address of 4 or 16 bytes lies in the network.
  package func contains(_ other: [UInt8]) -> Bool {
    other.count == address.count && masked(other, to: prefixLength) == address
  }
}

/// An address with everything behind the first `length` bits zero.
package func masked(_ address: [UInt8], to length: Int) -> [UInt8] {
  address.enumerated().map { index, byte in
    let bits = min(max(length - index * 8, 0), 8)
    return byte & UInt8(truncatingIfNeeded: 0xFF00 >> bits)
  }
}

/// The bytes of a literal address: 4 of dotted decimals, 16 of RFC 4291 §2.2 text; a mapped IPv4 address becomes its
/// 4 bytes. Nil for anything else, names and zones too.
package func addressBytes(_ text: String) -> [UInt8]? {
  guard text.utf8.contains(UInt8(ascii: ":")) else { return fourBytes(text) }
  let halves = text.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
  guard text.utf8.count <= 45, halves.count <= 2, let front = groups(halves[0]) else { return nil }
  var bytes = front
  if halves.count == 2 {
    guard let back = groups(halves[1]), front.count + back.count <= 14 else { return nil }
    bytes += [UInt8](repeating: 0, count: 16 - front.count - back.count) + back
  }
  guard bytes.count == 16 else { return nil }
  return bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] ? Array(bytes.suffix(4)) : bytes
}

private func fourBytes(_ text: some StringProtocol) -> [UInt8]? {
  let parts = text.split(separator: ".", omittingEmptySubsequences: false)
  let bytes = parts.compactMap { part -> UInt8? in
    let isPlain =
      part.utf8.allSatisfy { (0x30...0x39).contains($0) } && (part.utf8.count == 1 || part.first != "0")
    return isPlain ? UInt8(part) : nil
  }
  return parts.count == 4 && bytes.count == 4 ? bytes : nil
}

/// The bytes of groups between colons; an IPv4 address may stand at the end.
private func groups(_ text: some StringProtocol) -> [UInt8]? {
  guard !text.isEmpty else { return [] }
  var bytes: [UInt8] = []
  let parts = text.split(separator: ":", omittingEmptySubsequences: false)
  for (index, part) in parts.enumerated() {
    if index == parts.count - 1, part.utf8.contains(UInt8(ascii: ".")) {
      guard let four = fourBytes(part) else { return nil }
      bytes += four
    } else {
      guard (1...4).contains(part.utf8.count), part.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit),
        let group = UInt16(part, radix: 16)
      else { return nil }
      bytes += [UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
    }
  }
  return bytes
}
