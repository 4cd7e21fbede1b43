package import Crypto
package import Domain
internal import JOSE
internal import Wire

/// The keys of the stand-in: fixed, and known to everybody who has this source. A server that believes them
/// believes anybody; they exist so that a token minted by one process is good at another, with nothing kept.
package struct MockKeys: Sendable {
  /// One key with the name under which it is published.
  package struct Entry: Sendable {
    package let id: KeyID
    package let key: PrivateKey
  }

  package let entries: [Entry]

  /// The three keys; several, because Apple signs with several at once.
  package init() throws(CryptoError) {
    entries = [
      Entry(
        id: KeyID(unchecked: "MCKa7Qw2Zp"), key: try PrivateKey(pem: Secret(PackageResources.MockKeyA_pem))),
      Entry(
        id: KeyID(unchecked: "MCKb5Xe8Rt"), key: try PrivateKey(pem: Secret(PackageResources.MockKeyB_pem))),
      Entry(
        id: KeyID(unchecked: "MCKc3Ly6Uv"), key: try PrivateKey(pem: Secret(PackageResources.MockKeyC_pem))),
    ]
  }

  /// The published set, as Apple's `/auth/keys` answers it.
  package var keySetJSON: [UInt8] { json(of: 0...(entries.count - 1)) }

  /// Some of the set.
  func json(of range: ClosedRange<Int>) -> [UInt8] {
    KeySet.json(of: entries[range].map { JSONWebKey(keyID: $0.id, key: $0.key.publicKey) })
  }

  /// The set with other entries in front of it.
  func json(among strange: [[UInt8]]) -> [UInt8] {
    var out = JSONWriter(reserving: 4096)
    out.member(
      "keys", jsonArray: strange + entries.map { JSONWebKey(keyID: $0.id, key: $0.key.publicKey).json })
    return out.finish()
  }

  /// The key of a name, or the first.
  package subscript(name: String?) -> Entry? {
    guard let name else { return entries.first }
    return entries.first { $0.id.text == name }
  }
}
