package import Crypto
package import Domain
package import JOSE
package import Storage
internal import Wire

/// The keys that sign session tokens, opened and ready: one signs, all are published.
///
/// A node that lacks a master key has some of them sealed: it takes part in what became of the others, most of all in
/// their end, and of tokens under a sealed one it says neither that they are good nor that they are not.
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
  /// Keys that no master key of this node opens.
  package let sealed: [KeyID]
  /// Until when the active key has to be published for the session cookies that it signed.
  let cookiesUntil: UnixTime?
  /// The key that signs.
  package let activeID: KeyID
  /// Nil while it is sealed: no other may sign in its place, since another is published only until its own last
  /// token has expired.
  private let active: PrivateKey?
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

  /// Whether there is a key to sign with.
  package var canSign: Bool { active != nil }

  /// Signs a payload with the active key.
  func sign(_ payload: [UInt8]) throws(SessionRefusal) -> String {
    guard let active else { throw .signingKeyUnavailable }
    guard let text = try? signCompact(payload: payload, key: active, keyID: activeID, type: "JWT") else {
      throw .cannotSign
    }
    return text
  }

  /// Opens the keys of a book.
  ///
  /// - Parameter known: Keys that are open already and need not be opened again.
  package convenience init(
    opening book: SigningKeyBook, with ring: MasterKeyRing, known: SigningKeys?
  ) throws(SigningKeyError) {
    try self.init(book, opened: try openKeys(of: book.keys, with: ring, known: known))
  }

  /// Opens those keys of a book that can be opened.
  package convenience init(
    openingWhatCanBe book: SigningKeyBook, with ring: MasterKeyRing, known: SigningKeys?
  ) throws(SigningKeyError) {
    let opened = book.keys.compactMap { try? openKeys(of: [$0], with: ring, known: known) }
    try self.init(book, opened: opened.reduce(into: [:]) { $0.merge($1) { one, _ in one } })
  }

  private init(_ book: SigningKeyBook, opened: [KeyID: PrivateKey]) throws(SigningKeyError) {
    guard let record = book.keys.first(where: { $0.role == .active }) else { throw .noActiveKey }
    version = book.version
    sealed = book.keys.map(\.id).filter { opened[$0] == nil }
    published = book.keys.compactMap { record in
      opened[record.id].map {
        Published(
          webKey: JSONWebKey(keyID: record.id, key: $0.publicKey), certificate: record.certificate,
          role: record.role, createdAt: record.createdAt)
      }
    }
    cookiesUntil = record.cookiesUntil
    activeID = record.id
    active = opened[record.id]
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
