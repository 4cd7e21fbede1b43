internal import Crypto
package import Domain
internal import Wire

/// For back ends that Bramley tells of accounts: verifies that an event came from there (Standard Webhooks 1.0).
///
/// What was verified may come again: remember `webhook-id`, and drop what you have seen.
public struct WebhookVerifier: Sendable {
  /// Seconds by which the time of an event may differ from the clock's.
  public static let tolerance: Int64 = 300

  private let key: MACKey
  private let clock: WallClock

  /// Nil when the secret is `whsec_` with bad base64 behind it, or not printable ASCII.
  ///
  /// - Parameter secret: As it is set at Bramley: `BRAMLEY_WEBHOOK_SECRET`.
  public init?(secret: String) { self.init(secret: secret, clock: VerifierClock.system.wall) }

  /// With another clock.
  package init?(secret: String, clock: WallClock) {
    guard let bytes = webhookSecretBytes(fromText: secret) else { return nil }
    key = MACKey(bytes)
    self.clock = clock
  }

  /// Whether a request is Bramley's, and of now.
  ///
  /// - Parameters:
  ///   - body: The bytes as they came, before anybody parsed them.
  ///   - id: The header `webhook-id`.
  ///   - timestamp: The header `webhook-timestamp`.
  ///   - signature: The header `webhook-signature`: one signature, or several with spaces between.
  public func isAuthentic(
    body: some Sequence<UInt8>, id: String, timestamp: String, signature: String
  ) -> Bool {
    let now = clock.now()
    guard timestamp.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(timestamp),
      (now - Self.tolerance...now + Self.tolerance).contains(UnixTime(seconds))
    else { return false }
    let signed = webhookSignedBytes(id: id, timestamp: timestamp, body: Array(body))
    return signature.split(separator: " ").contains { given in
      guard given.hasPrefix(webhookSignaturePrefix),
        let code = try? decodeBase64(given.utf8.dropFirst(webhookSignaturePrefix.utf8.count))
      else { return false }
      return key.isCode(code, for: signed)
    }
  }
}
