internal import Foundation

/// The two values of a sign-in's nonce: Apple is given one, Bramley the other.
///
/// ```swift
/// let nonce = AppleNonce()
/// request.nonce = nonce.sha256                                    // to Apple: the hash
/// OAuthProvider.appleCredential(…, rawNonce: nonce.raw, …)        // to Bramley: what was hashed
/// ```
///
/// One for each attempt: Apple copies the hash into the token, and a token that somebody stole is worth nothing to whoever
/// does not know what was hashed.
public struct AppleNonce: Sendable, Hashable {
  /// What goes to Bramley, as `rawNonce`. It never goes to Apple.
  public let raw: String

  /// A fresh one of 32 random characters, which are 192 bits from the system's generator.
  public init() {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var generator = SystemRandomNumberGenerator()
    raw = String((0..<32).map { _ in alphabet[Int(generator.next(upperBound: UInt(alphabet.count)))] })
  }

  /// One whose raw value comes from elsewhere, such as from ``Auth/fetchNonce()``.
  public init(raw: String) { self.raw = raw }

  /// What goes to Apple, as `request.nonce`: the SHA-256 of the raw value in lower-case hex.
  public var sha256: String { hexText(SHA256Digest.of(Array(raw.utf8))) }
}

// Whoever prints it, by itself or within something else, prints what Apple gets.
extension AppleNonce: CustomStringConvertible, CustomReflectable {
  /// With the hash alone.
  public var description: String { "AppleNonce(sha256: \(sha256))" }
  /// Without the raw value.
  public var customMirror: Mirror { Mirror(self, children: ["sha256": sha256]) }
}

/// Lower-case hex.
func hexText(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef")
  return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

/// base64url without padding (RFC 4648 §5).
func base64URLText(_ bytes: [UInt8]) -> String {
  Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
    .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
}

/// The bytes of a base64url text without padding; nil for anything else.
func bytes(ofBase64URL text: Substring) -> Data? {
  guard
    text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") })
  else { return nil }
  let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
  return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
}
