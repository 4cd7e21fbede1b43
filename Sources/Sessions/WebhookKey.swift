internal import Crypto
internal import Domain
internal import Wire

/// Signs what the app's back end is told, as Standard Webhooks 1.0 does
/// (github.com/standard-webhooks/standard-webhooks, "Signature scheme"), so that its libraries verify it.
package struct WebhookKey: Sendable {
  private let key: MACKey

  /// Reads a secret: `whsec_` and base64 stand for the bytes behind it, anything else for its own bytes. Nil unless there
  /// are at least ``Limits/webhookSecretBytes`` of them, and for what is not printable ASCII.
  package init?(text: String) {
    let prefix = "whsec_"
    let bytes: [UInt8]
    if text.hasPrefix(prefix) {
      // Some tools leave the padding out.
      let encoded = Array(text.utf8.dropFirst(prefix.utf8.count))
      let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - encoded.count % 4) % 4)
      guard let decoded = try? decodeBase64(encoded + padding) else { return nil }
      bytes = decoded
    } else {
      guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
      bytes = Array(text.utf8)
    }
    guard bytes.count >= Limits.webhookSecretBytes else { return nil }
    key = MACKey(bytes)
  }

  /// `webhook-signature`: `v1,` and the base64 of an HMAC-SHA-256 over id, timestamp and body, with dots between.
  ///
  /// - Parameter timestamp: `webhook-timestamp`, seconds since 1970.
  package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    "v1," + base64Text(key.code(for: Array("\(id).\(timestamp).".utf8) + body))
  }
}
