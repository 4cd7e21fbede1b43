internal import Crypto
internal import Domain
internal import Wire

/// Signs what the app's back end is told, as Standard Webhooks 1.0 does, so that its libraries verify it.
package struct WebhookKey: Sendable {
  private let key: MACKey

  /// Reads a secret; see ``Wire/webhookSecretBytes(fromText:)``. Nil also for one of fewer than
  /// ``Limits/webhookSecretBytes`` bytes.
  package init?(text: String) {
    guard let bytes = webhookSecretBytes(fromText: text), bytes.count >= Limits.webhookSecretBytes else {
      return nil
    }
    key = MACKey(bytes)
  }

  /// `webhook-signature`: the base64 of an HMAC-SHA-256.
  ///
  /// - Parameter timestamp: `webhook-timestamp`, seconds since 1970.
  package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let signed = webhookSignedBytes(id: id, timestamp: String(timestamp), body: body)
    return webhookSignaturePrefix + base64Text(key.code(for: signed))
  }
}
