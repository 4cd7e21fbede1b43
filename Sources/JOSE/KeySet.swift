package import Crypto
package import Domain
internal import Wire

/// Why bytes are no key set that could replace another.
package enum KeySetError: Error, Equatable, Sendable {
  case malformed
  /// An object with `keys`, but none of them usable.
  case noUsableKey
}

/// How an issuer publishes its keys.
package enum KeySetForm: Sendable {
  /// A key set (RFC 7517 §5).
  case keySet
  /// A key set, or certificates by the name of their key, as Google publishes both: `{"kid":"PEM",…}`.
  case keySetOrCertificates
}

/// A set of public keys by name (RFC 7517 §5). One id names exactly one key; there is no default key.
package struct KeySet: Sendable {
  private let keys: [KeyID: PublicKey]

  /// Reads a set of one of the forms.
  package init(parsing bytes: some Collection<UInt8>, as form: KeySetForm) throws(KeySetError) {
    guard form == .keySetOrCertificates, let object = try? JSONObject(parsing: bytes), object["keys"] == nil
    else {
      try self.init(parsing: bytes)
      return
    }
    try self.init(certifiedKeys(of: object))
  }

  private init(_ keys: [KeyID: PublicKey]) throws(KeySetError) {
    guard !keys.isEmpty else { throw .noUsableKey }
    self.keys = keys
  }

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
    try self.init(keys)
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

/// The keys of certificates by their names; an entry that is strange costs only itself.
private func certifiedKeys(of object: JSONObject) -> [KeyID: PublicKey] {
  var keys: [KeyID: PublicKey] = [:]
  for name in object.names {
    guard let keyID = KeyID(name), let pem = object.text(name),
      let found = try? PublicKey.keys(inPEM: Array(pem.utf8)), found.count == 1
    else { continue }
    keys[keyID] = found.first
  }
  return keys
}
