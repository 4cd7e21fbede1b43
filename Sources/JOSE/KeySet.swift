package import Crypto
package import Domain
internal import Wire

/// Why bytes are no key set that could replace another.
package enum KeySetError: Error, Equatable, Sendable {
  case malformed
  /// An object with `keys`, but none of them usable.
  case noUsableKey
}

/// A set of public keys by name (RFC 7517 §5). One id names exactly one key; there is no default key.
package struct KeySet: Sendable {
  private let keys: [KeyID: PublicKey]

  /// Reads a set key by key: an entry that is strange costs only itself. An id that stands for two different
  /// keys stands for none.
  package init(parsing bytes: some Collection<UInt8>) throws(KeySetError) {
    guard let object = try? JSONObject(parsing: bytes), case .array(let entries) = object["keys"] else {
      throw .malformed
    }
    var keys: [KeyID: PublicKey] = [:]
    var ambiguous: Set<KeyID> = []
    for case .object(let entry) in entries {
      guard let parsed = JSONWebKey(entry) else { continue }
      if let known = keys[parsed.keyID], known.numbers != parsed.key.numbers {
        ambiguous.insert(parsed.keyID)
      }
      keys[parsed.keyID] = parsed.key
    }
    for keyID in ambiguous { keys[keyID] = nil }
    guard !keys.isEmpty else { throw .noUsableKey }
    self.keys = keys
  }

  /// The key of this name.
  package subscript(keyID: KeyID) -> PublicKey? { keys[keyID] }

  package var count: Int { keys.count }

  /// A published set: `{"keys":[…]}`, entries in the order given.
  package static func json(of keys: [JSONWebKey]) -> [UInt8] {
    var out = JSONWriter(reserving: 512)
    out.member("keys", jsonArray: keys.map(\.json))
    return out.finish()
  }
}
