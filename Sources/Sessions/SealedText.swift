internal import Crypto
internal import Domain
internal import Wire

/// A JSON object that travels through strangers' hands as one text: behind a prefix stand the master-key id (8 bytes) and
/// the sealed object, base64url. Stateless: whatever makes it single is recorded elsewhere.
struct SealedText: Sendable {
  let prefix: String
  /// What it is, bound into the seal: a text of one kind opens as none of another.
  let context: [UInt8]
  /// Which subkey of a master key seals it.
  let key: @Sendable (MasterKey) -> SealingKey

  /// Nil only when the cryptography fails.
  func close(_ json: [UInt8], with ring: MasterKeyRing, entropy: Entropy) -> String? {
    let master = ring.current
    guard let sealed = try? key(master).seal(json, context: context, entropy: entropy) else { return nil }
    return prefix + base64URLText(master.id.bytes + sealed)
  }

  /// Nil for anything that no key of the list has closed.
  func open(_ text: String, with ring: MasterKeyRing) -> JSONObject? {
    guard text.utf8.count <= Limits.tokenBytes, text.utf8.starts(with: prefix.utf8),
      let bytes = try? decodeBase64URL(text.utf8.dropFirst(prefix.utf8.count)),
      let id = MasterKeyID(bytes.prefix(MasterKeyID.byteCount)), let master = ring[id],
      let json = key(master).open(Array(bytes.dropFirst(MasterKeyID.byteCount)), context: context)
    else { return nil }
    return try? JSONObject(parsing: json)
  }
}
