/// Text from outside that names something: printable ASCII without spaces, so that `==` compares bytes.
///
/// Swift compares strings by canonical equivalence (`"é" == "e\u{301}"`); two identifiers that a database
/// keeps apart must not become one here, hence the narrow alphabet.
package protocol Identifier: Hashable, Sendable, CustomStringConvertible {
  static var maximumBytes: Int { get }
  var text: String { get }
  init(unchecked text: String)
}

extension Identifier {
  /// Nil unless the text is 1 to `maximumBytes` bytes of printable ASCII without spaces.
  package init?(_ text: String) {
    guard Self.isPlain(text) else { return nil }
    self.init(unchecked: text)
  }

  fileprivate static func isPlain(_ text: String) -> Bool {
    (1...maximumBytes).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  package var description: String { text }
}

/// An account's own id: `sub`, `user_id` and `localId` of everything we say about it.
package struct AccountID: Identifier {
  package static let maximumBytes = 128
  package let text: String
  package init(unchecked text: String) { self.text = text }

  /// As every identifier, and none that no path can name: browsers and proxies take these two away (RFC 3986 §5.2.4).
  package init?(_ text: String) {
    guard Self.isPlain(text), text != ".", text != ".." else { return nil }
    self.init(unchecked: text)
  }

  /// A new id of 28 characters `[A-Za-z0-9]`, as Firebase makes them (166 bits).
  package init(from entropy: Entropy) {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    var letters: [UInt8] = []
    while letters.count < 28 {
      // A byte below 248 = 4 × 62 keeps every letter equally likely.
      for byte in entropy.bytes(32) where byte < 248 && letters.count < 28 {
        letters.append(alphabet[Int(byte) % 62])
      }
    }
    text = String(decoding: letters, as: UTF8.self)
  }
}

/// A person's id at an identity provider; for Apple, stable within one developer team.
package struct Subject: Identifier {
  package static let maximumBytes = 255
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// A bundle id or Services ID: the audience of an Apple token.
package struct ClientID: Identifier {
  package static let maximumBytes = 255
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// A developer team at Apple; real ones have ten upper-case letters and digits.
package struct TeamID: Identifier {
  package static let maximumBytes = 64
  package let text: String
  package init(unchecked text: String) { self.text = text }

  /// Whether it is written as Apple writes them.
  package var isUsual: Bool {
    text.utf8.count == 10 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
  }
}

/// The name of a key in a key set.
package struct KeyID: Identifier {
  package static let maximumBytes = 128
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// Who a person is to us: the provider and its subject, never an e-mail address.
package struct ProviderIdentity: Hashable, Sendable {
  package let provider: String
  package let subject: Subject

  package init(provider: String, subject: Subject) {
    self.provider = provider
    self.subject = subject
  }
}

/// A session's id: four bytes of time, so that a table in its order is appended to, and twelve random ones.
///
/// It is a name, not a secret; what lets one in is the MAC of a refresh token.
package struct SessionID: Hashable, Sendable, CustomStringConvertible {
  package static let byteCount = 16
  package let bytes: [UInt8]

  package init?(_ bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  package init(at time: UnixTime, from entropy: Entropy) {
    let seconds = UInt32(clamping: time.seconds)
    bytes = (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (24 - 8 * $0)) } + entropy.bytes(12)
  }

  /// 32 lower-case hex digits.
  package var description: String { hexText(bytes) }

  /// Reads the form that `description` writes, and no other.
  package init?(hex text: String) {
    guard let bytes = hexBytes(text) else { return nil }
    self.init(bytes)
  }
}

/// Names a secret of Apple's that is kept, wherever it goes: as a ``SessionID``, four bytes of time and twelve random ones.
package struct AppleSecretID: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  /// Nil unless there are as many bytes as a ``SessionID`` has.
  package init?(_ bytes: some Sequence<UInt8>) {
    guard let id = SessionID(bytes) else { return nil }
    self.bytes = id.bytes
  }

  package init(at time: UnixTime, from entropy: Entropy) {
    bytes = SessionID(at: time, from: entropy).bytes
  }

  /// 32 lower-case hex digits.
  package var description: String { hexText(bytes) }

  /// Reads the form that `description` writes, and no other.
  package init?(hex text: String) {
    guard let bytes = hexBytes(text) else { return nil }
    self.init(bytes)
  }
}

/// Lower-case hexadecimal text of bytes.
@inlinable
package func hexText(_ bytes: some Collection<UInt8>) -> String {
  unsafe String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
    var end = 0
    for byte in bytes {
      unsafe text[end] = hexDigit(byte >> 4)
      unsafe text[end + 1] = hexDigit(byte & 15)
      end += 2
    }
    return end
  }
}

/// Bytes of the text that ``hexText(_:)`` makes, and of no other.
package func hexBytes(_ text: some StringProtocol) -> [UInt8]? {
  var bytes: [UInt8] = []
  var high: UInt8?
  for unit in text.utf8 {
    let digit: UInt8
    switch unit {
    case 0x30...0x39: digit = unit - 0x30
    case 0x61...0x66: digit = unit - 0x61 + 10
    default: return nil
    }
    if let first = high {
      bytes.append(first << 4 | digit)
      high = nil
    } else {
      high = digit
    }
  }
  return high == nil ? bytes : nil
}

@usableFromInline
func hexDigit(_ value: UInt8) -> UInt8 {
  value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

/// Names one master key: the first eight bytes of a digest under that key.
package struct MasterKeyID: Hashable, Sendable, CustomStringConvertible {
  package static let byteCount = 8
  package let bytes: [UInt8]

  package init?(_ bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The first bytes of a digest, of which there are enough.
  package init(prefixOf digest: [UInt8]) {
    precondition(digest.count >= Self.byteCount, "a digest is longer than an id")
    bytes = Array(digest.prefix(Self.byteCount))
  }

  package var description: String { hexText(bytes) }
}
