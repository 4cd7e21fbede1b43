package import Crypto
package import Domain
package import JOSE
package import Storage
internal import Wire

/// The keys that sign session tokens, opened and ready: one signs, all are published.
///
/// A class: every request takes a reference to the keys of its moment, and nothing of them is copied.
package final class SigningKeys: Sendable {
  /// A key as verifiers see it.
  package struct Published: Sendable {
    package let webKey: JSONWebKey
    /// A self-signed certificate, PEM.
    package let certificate: String
    package let role: SigningKeyRole
    package let createdAt: UnixTime
  }

  package let version: Int64
  package let published: [Published]
  /// Until when the active key has to be published for the session cookies that it signed.
  let cookiesUntil: UnixTime?
  /// The key that signs.
  package let activeID: KeyID
  private let active: PrivateKey
  /// All keys, so that a change opens only what is new.
  private let opened: [KeyID: PrivateKey]

  /// The algorithms of the published keys, without repetition.
  package var algorithms: [String] {
    published.map(\.webKey.key.algorithm.rawValue).reduce(into: []) { names, name in
      if !names.contains(name) { names.append(name) }
    }
  }

  /// The published key of this id; there is no default.
  package func publicKey(_ id: KeyID) -> PublicKey? {
    published.first { $0.webKey.keyID == id }?.webKey.key
  }

  /// The key set as JSON (RFC 7517 §5).
  package var keySetJSON: [UInt8] { KeySet.json(of: published.map(\.webKey)) }

  /// Certificates by key id, as JSON.
  package var certificatesJSON: [UInt8] {
    var out = JSONWriter(reserving: 4096)
    for key in published { out.member(key.webKey.keyID.text, key.certificate) }
    return out.finish()
  }

  /// Signs a payload with the active key.
  func sign(_ payload: [UInt8]) throws(CryptoError) -> String {
    try signCompact(payload: payload, key: active, keyID: activeID, type: "JWT")
  }

  /// Opens the keys of a book.
  ///
  /// - Parameter known: Keys that are open already and need not be opened again.
  package init(
    opening book: SigningKeyBook, with ring: MasterKeyRing, known: SigningKeys?
  ) throws(SigningKeyError) {
    let opened = try openKeys(of: book.keys, with: ring, known: known)
    guard let record = book.keys.first(where: { $0.role == .active }), let active = opened[record.id] else {
      throw .noActiveKey
    }
    version = book.version
    published = book.keys.compactMap { record in
      opened[record.id].map {
        Published(
          webKey: JSONWebKey(keyID: record.id, key: $0.publicKey), certificate: record.certificate,
          role: record.role, createdAt: record.createdAt)
      }
    }
    cookiesUntil = record.cookiesUntil
    activeID = record.id
    self.active = active
    self.opened = opened
  }

  fileprivate subscript(id: KeyID) -> PrivateKey? { opened[id] }
}

/// Opens keys; a key keeps its id for life, since that is its thumbprint (RFC 7638).
func openKeys(
  of records: [SigningKeyRecord], with ring: MasterKeyRing, known: SigningKeys?
) throws(SigningKeyError) -> [KeyID: PrivateKey] {
  var opened: [KeyID: PrivateKey] = [:]
  for record in records {
    if let key = known?[record.id] {
      opened[record.id] = key
    } else {
      opened[record.id] = try open(record, with: ring)
    }
  }
  return opened
}

/// Why there are no keys to sign with.
package enum SigningKeyError: Error, Equatable, Sendable {
  /// No master key of ours opens a stored key: the database belongs to another one.
  case sealedByAnotherKey(KeyID)
  case noActiveKey
  case crypto(CryptoError)
  case storage(StorageError)
}

private func open(_ record: SigningKeyRecord, with ring: MasterKeyRing) throws(SigningKeyError) -> PrivateKey
{
  let bytes = try unseal(record, with: ring)
  do throws(CryptoError) {
    return try PrivateKey(pkcs8: Secret(bytes))
  } catch {
    throw .crypto(error)
  }
}

/// The private key of a record, as PKCS #8.
func unseal(_ record: SigningKeyRecord, with ring: MasterKeyRing) throws(SigningKeyError) -> [UInt8] {
  guard let bytes = ring[record.masterKey]?.seal.open(record.sealed, context: context(of: record.id)) else {
    throw .sealedByAnotherKey(record.id)
  }
  return bytes
}

/// What a seal is bound to: the row of one key is no other's.
func context(of id: KeyID) -> [UInt8] { Array(id.text.utf8) }
