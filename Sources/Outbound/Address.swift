/// Where a request goes, as far as the rule about addresses needs to know.
///
/// The rule admits https anywhere, and http to this very machine only. It is judged on an alphabet so narrow
/// that libcurl's parser can't read another host out of the same text: no user, no escapes, no backslash, no
/// number in an unusual notation for a loopback address.
struct Address: Equatable, Sendable {
  enum Scheme: String, Sendable { case https, http }

  let scheme: Scheme

  /// Nil unless the rule admits the URL.
  init?(url: String) {
    guard url.utf8.count <= 8192, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5C }) else {
      return nil
    }
    let bytes = Array(url.utf8)
    let scheme: Scheme
    if bytes.starts(with: Array("https://".utf8)) {
      scheme = .https
    } else if bytes.starts(with: Array("http://".utf8)) {
      scheme = .http
    } else {
      return nil
    }
    let rest = bytes.dropFirst(scheme.rawValue.utf8.count + 3)
    let authority = rest.prefix { !"/?#".utf8.contains($0) }
    guard let host = Self.host(of: authority) else { return nil }
    guard scheme == .https || Self.isLoopback(host) else { return nil }
    self.scheme = scheme
  }

  /// The host of `host`, `host:port`, `[v6]` or `[v6]:port`; nil for any other authority.
  private static func host(of authority: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let host: ArraySlice<UInt8>
    if authority.first == UInt8(ascii: "[") {
      guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      host = authority[...end]
      let inside = host.dropFirst().dropLast()
      guard !inside.isEmpty, inside.allSatisfy(isV6Byte) else { return nil }
    } else {
      host = authority.prefix { $0 != UInt8(ascii: ":") }
      guard !host.isEmpty, host.allSatisfy(isNameByte) else { return nil }
    }
    let port = authority[host.endIndex...]
    guard port.isEmpty || isPort(port) else { return nil }
    return host
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func isV6Byte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  /// True for a colon and 1 to 65535 in at most five digits.
  private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
    let digits = text.dropFirst()
    guard (1...5).contains(digits.count), let port = number(digits) else { return false }
    return (1...65535).contains(port)
  }

  /// True for `localhost` (which libcurl itself resolves to a loopback address), `[::1]` and 127.0.0.0/8.
  private static func isLoopback(_ host: ArraySlice<UInt8>) -> Bool {
    if host.elementsEqual("localhost".utf8) || host.elementsEqual("[::1]".utf8) { return true }
    let parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0].elementsEqual("127".utf8) else { return false }
    return parts.allSatisfy { part in
      // A leading zero would be octal to some parsers.
      guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0"),
        let value = number(part)
      else { return false }
      return value <= 255
    }
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard !digits.isEmpty, digits.count <= 9 else { return nil }
    var value = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value = value * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return value
  }
}

/// Whether the headers can be written as they are: names are tokens (RFC 9110 §5.6.2), values hold no control
/// character that would end the line.
func areWritable(_ headers: [(name: String, value: String)]) -> Bool {
  headers.allSatisfy { name, value in
    !name.isEmpty && name.utf8.allSatisfy(isTokenByte)
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}

private func isTokenByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    true
  default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
