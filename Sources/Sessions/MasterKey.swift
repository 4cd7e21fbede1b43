package import Crypto
package import Domain
internal import Wire

/// The secret that everything else hangs on: 32 bytes, of which each use has a subkey of its own (HKDF).
package struct MasterKey: Sendable {
  package static let byteCount = 32

  package let id: MasterKeyID
  /// Makes refresh tokens.
  let refresh: MACKey
  /// Makes challenges.
  let challenge: MACKey
  /// Seals signing keys.
  let seal: SealingKey
  /// Makes the codes at the ends of the audit's chain.
  let audit: MACKey
  /// Seals credentials that wait for another try.
  let pending: SealingKey
  /// Seals what Apple gave out.
  let apple: SealingKey
  /// Seals what a browser carries to Apple, and what it brings the app.
  let web: SealingKey

  /// - Parameter bytes: Exactly 32 bytes.
  package init(_ bytes: Secret<[UInt8]>) throws(CryptoError) {
    let bytes = bytes.reveal()
    precondition(bytes.count == Self.byteCount, "a master key has 32 bytes; its reader checks that")
    let name = try deriveKey(from: bytes, purpose: "bramley master key id v1")
    id = MasterKeyID(prefixOf: name)
    refresh = MACKey(try deriveKey(from: bytes, purpose: "bramley refresh token v1"))
    challenge = MACKey(try deriveKey(from: bytes, purpose: "bramley nonce challenge v1"))
    seal = SealingKey(try deriveKey(from: bytes, purpose: "bramley signing key seal v1"))
    audit = MACKey(try deriveKey(from: bytes, purpose: "bramley audit seal v1"))
    apple = SealingKey(try deriveKey(from: bytes, purpose: "bramley apple secret v1"))
    web = SealingKey(try deriveKey(from: bytes, purpose: "bramley web flow v1"))
    pending = SealingKey(try deriveKey(from: bytes, purpose: "bramley pending credential v1"))
  }
}

/// The master keys in force: the first makes new things, all are accepted.
package struct MasterKeyRing: Sendable {
  package let current: MasterKey
  private let all: [MasterKey]

  package init(current: MasterKey, others: [MasterKey]) {
    self.current = current
    all = [current] + others
  }

  /// The ids of all keys, the current one first.
  package var ids: [MasterKeyID] { all.map(\.id) }

  /// The first key of which something holds, the current one before the others.
  func first(where holds: (MasterKey) -> Bool) -> MasterKey? { all.first(where: holds) }

  /// The key of this id, current or not.
  package subscript(id: MasterKeyID) -> MasterKey? {
    all.first { $0.id == id }
  }
}

/// Reads a master key from its text form, base64 of exactly 32 bytes; nil for anything else.
package func masterKeyBytes(fromText text: String) -> Secret<[UInt8]>? {
  guard let bytes = try? decodeBase64(text.utf8), bytes.count == MasterKey.byteCount else { return nil }
  return Secret(bytes)
}

/// The text form of a master key.
package func masterKeyText(_ bytes: Secret<[UInt8]>) -> Secret<String> {
  Secret(base64Text(bytes.reveal()))
}
