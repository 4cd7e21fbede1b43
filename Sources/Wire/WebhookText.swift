// How Standard Webhooks 1.0 writes secrets, and what it signs
// (github.com/standard-webhooks/standard-webhooks, "Signature scheme").

/// The bytes of a secret: `whsec_` and base64 stand for what is behind it, any other text for its own bytes. Nil for bad
/// base64, and for what is not printable ASCII.
package func webhookSecretBytes(fromText text: String) -> [UInt8]? {
  let prefix = "whsec_"
  guard text.hasPrefix(prefix) else {
    return text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? Array(text.utf8) : nil
  }
  let encoded = Array(text.utf8.dropFirst(prefix.utf8.count))
  // Some tools leave the padding out.
  let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - encoded.count % 4) % 4)
  return try? decodeBase64(encoded + padding)
}

/// What is signed: id, timestamp and body, with dots between.
package func webhookSignedBytes(id: String, timestamp: String, body: [UInt8]) -> [UInt8] {
  Array("\(id).\(timestamp).".utf8) + body
}

/// What stands before the base64 of a signature.
package let webhookSignaturePrefix = "v1,"
