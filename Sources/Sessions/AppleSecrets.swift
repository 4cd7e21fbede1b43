package import Crypto
package import Domain
package import Storage

// Apple's codes and tokens as they are kept: sealed with a subkey of the master key of their own. The id and the kind
// of a secret are bound into its seal, so that none can be put in the place of another.

extension MasterKeyRing {
  /// Seals a secret with the first key.
  package func seal(
    _ secret: Secret<String>, as kind: AppleSecretKind, id: AppleSecretID, entropy: Entropy
  ) throws(CryptoError) -> AppleSecret {
    AppleSecret(
      id: id, kind: kind,
      sealed: try current.apple.seal(
        Array(secret.reveal().utf8), context: context(of: id, kind), entropy: entropy),
      masterKey: current.id)
  }

  /// The secret itself; nil when no key of the list opens it.
  package func open(_ secret: AppleSecret) -> Secret<String>? {
    guard let key = self[secret.masterKey],
      let bytes = key.apple.open(secret.sealed, context: context(of: secret.id, secret.kind)),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    return Secret(text)
  }
}

private func context(of id: AppleSecretID, _ kind: AppleSecretKind) -> [UInt8] {
  Array("apple \(kind.rawValue) ".utf8) + id.bytes
}

/// Puts every secret of Apple's under the seal of the first master key, in small transactions.
///
/// - Returns: How many were under another, and how many no key of the list opens.
package func rewrapAppleSecrets(
  in storage: any Storage, ring: MasterKeyRing, entropy: Entropy
) async throws(StorageError) -> (rewrapped: Int, unreadable: Int) {
  var rewrapped = 0
  while true {
    let others = try await storage.appleSecrets(
      notSealedBy: ring.current.id, limit: Limits.appleWorkPage)
    let changes = others.compactMap { old in
      ring.open(old).flatMap { try? ring.seal($0, as: old.kind, id: old.id, entropy: entropy) }.map {
        AppleResealing(old: old, new: $0)
      }
    }
    guard !changes.isEmpty else { return (rewrapped, others.count) }
    try await storage.resealAppleSecrets(changes)
    rewrapped += changes.count
  }
}
