package import Crypto
package import Domain
package import JOSE
package import Storage
internal import Wire

/// The keys that sign session tokens, opened and ready: one signs, all are published.
package struct SigningKeys: Sendable {
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
  private let active: PrivateKey
  private let activeID: KeyID

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
  package init(opening book: SigningKeyBook, with ring: MasterKeyRing) throws(SigningKeyError) {
    var published: [Published] = []
    var active: (KeyID, PrivateKey)?
    for record in book.keys {
      let key = try open(record, with: ring)
      published.append(
        Published(
          webKey: JSONWebKey(keyID: record.id, key: key.publicKey), certificate: record.certificate,
          role: record.role, createdAt: record.createdAt))
      if record.role == .active { active = (record.id, key) }
    }
    guard let active else { throw .noActiveKey }
    version = book.version
    self.published = published
    (activeID, self.active) = active
  }
}

/// Why there are no keys to sign with.
package enum SigningKeyError: Error, Equatable, Sendable {
  /// No master key of ours opens a stored key: the database belongs to another one.
  case sealedByAnotherKey(KeyID)
  case noActiveKey
  case crypto(CryptoError)
  case storage(StorageError)
}

/// Reads the signing keys, and makes what is missing: the first key, which signs at once, and a standby of the
/// algorithm that is set, so that verifiers have the next key long before it signs.
///
/// With several nodes starting at once, compare-and-swap lets one write and the others take what it wrote.
package func loadSigningKeys(
  from storage: any Storage, ring: MasterKeyRing, algorithm: SignatureAlgorithm, now: UnixTime,
  entropy: Entropy
) async throws(SigningKeyError) -> SigningKeys {
  var book = try await fromStorage { () throws(StorageError) in try await storage.signingKeys() }
  while true {
    let present = try opened(book, with: ring)
    let missing = missingRoles(in: book, algorithm: algorithm)
    if missing.isEmpty, let present { return present }
    var keys = book.keys
    for role in missing {
      keys.append(try makeRecord(role, algorithm: algorithm, ring: ring, now: now, entropy: entropy))
    }
    let (version, wanted) = (book.version, keys)
    let outcome = try await fromStorage { () throws(StorageError) in
      try await storage.replaceSigningKeys(expecting: version, with: wanted)
    }
    switch outcome {
    case .replaced(let written), .conflict(let written): book = written
    }
  }
}

private func fromStorage<R>(
  _ ask: () async throws(StorageError) -> R
) async throws(SigningKeyError) -> R {
  do throws(StorageError) {
    return try await ask()
  } catch {
    throw .storage(error)
  }
}

private func opened(_ book: SigningKeyBook, with ring: MasterKeyRing) throws(SigningKeyError) -> SigningKeys?
{
  book.keys.isEmpty ? nil : try SigningKeys(opening: book, with: ring)
}

/// Which keys a book lacks.
func missingRoles(in book: SigningKeyBook, algorithm: SignatureAlgorithm) -> [SigningKeyRole] {
  var missing: [SigningKeyRole] = []
  if !book.keys.contains(where: { $0.role == .active }) { missing.append(.active) }
  if !book.keys.contains(where: { $0.role == .standby && $0.algorithm == algorithm.rawValue }) {
    missing.append(.standby)
  }
  return missing
}

private func makeRecord(
  _ role: SigningKeyRole, algorithm: SignatureAlgorithm, ring: MasterKeyRing, now: UnixTime, entropy: Entropy
) throws(SigningKeyError) -> SigningKeyRecord {
  do throws(CryptoError) {
    let key = try PrivateKey.generate(algorithm)
    let id = thumbprint(of: key.publicKey)
    return SigningKeyRecord(
      id: id, algorithm: algorithm.rawValue, role: role, createdAt: now,
      activeSince: role == .active ? now : nil, retiredAt: nil,
      sealed: try ring.current.seal.seal(
        key.pkcs8().reveal(), context: Array(id.text.utf8), entropy: entropy),
      masterKey: ring.current.id,
      certificate: try key.selfSignedCertificate(
        name: "Bramley session tokens", serial: entropy.bytes(16), notBefore: now - 86_400,
        notAfter: now + 3650 * 86_400))
  } catch {
    throw .crypto(error)
  }
}

private func open(_ record: SigningKeyRecord, with ring: MasterKeyRing) throws(SigningKeyError) -> PrivateKey
{
  guard let bytes = ring[record.masterKey]?.seal.open(record.sealed, context: Array(record.id.text.utf8))
  else {
    throw .sealedByAnotherKey(record.id)
  }
  do throws(CryptoError) {
    return try PrivateKey(pkcs8: Secret(bytes))
  } catch {
    throw .crypto(error)
  }
}
