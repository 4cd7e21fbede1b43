internal import Domain

/// `host[:port]` as it stands in `Host` and in an origin (RFC 3986 §3.2), the port left out.
struct Authority: Equatable {
  /// In lower case; an IPv6 address in its brackets.
  let host: String

  /// Nil when what stands behind the host is no port.
  init?(_ text: some StringProtocol) {
    let text = asciiLowercase(text)
    let end =
      text.hasPrefix("[") ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":")
    let port = end.map { text[$0...] } ?? ""
    let digits = port.utf8.dropFirst()
    guard port.isEmpty || (port.first == ":" && digits.allSatisfy { (0x30...0x39).contains($0) }) else {
      return nil
    }
    host = String(text[..<(end ?? text.endIndex)])
  }

  /// The authority of an origin; nil for `null`, and for what is no `scheme://host[:port]`.
  init?(origin: String) {
    guard let scheme = origin.utf8.firstRange(of: "://".utf8) else { return nil }
    self.init(origin[scheme.upperBound...])
  }

  /// Whether this machine alone can be meant: `localhost`, 127.0.0.0/8 or `[::1]`.
  var isLoopback: Bool {
    if host.utf8.elementsEqual("localhost".utf8) { return true }
    if host.hasPrefix("["), host.hasSuffix("]") {
      return addressBytes(String(host.dropFirst().dropLast())) == [UInt8](repeating: 0, count: 15) + [1]
    }
    return addressBytes(host)?.first == 127
  }
}

/// With A–Z folded to a–z, and no other letter: a Kelvin sign is no "k".
func asciiLowercase(_ text: some StringProtocol) -> String {
  String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
}
