package import Domain

/// What a signing key is doing.
package enum SigningKeyRole: String, Sendable {
  /// Signs.
  case active
  /// Published, so that verifiers have it before it signs.
  case standby
  /// Signs no more; published until its last token has expired.
  case retired
}

/// A signing key as it is stored: the private part only under seal.
package struct SigningKeyRecord: Sendable, Equatable {
  package let id: KeyID
  /// `ES256` or `RS256`.
  package let algorithm: String
  package let role: SigningKeyRole
  package let createdAt: UnixTime
  /// When it began to sign; nil for a key that never has.
  package let activeSince: UnixTime?
  package let retiredAt: UnixTime?
  /// The private key under the seal of `masterKey`.
  package let sealed: [UInt8]
  package let masterKey: MasterKeyID
  /// A self-signed certificate of the public key, PEM.
  package let certificate: String

  package init(
    id: KeyID, algorithm: String, role: SigningKeyRole, createdAt: UnixTime, activeSince: UnixTime?,
    retiredAt: UnixTime?, sealed: [UInt8], masterKey: MasterKeyID, certificate: String
  ) {
    self.id = id
    self.algorithm = algorithm
    self.role = role
    self.createdAt = createdAt
    self.activeSince = activeSince
    self.retiredAt = retiredAt
    self.sealed = sealed
    self.masterKey = masterKey
    self.certificate = certificate
  }
}

/// All signing keys, and the version of this state.
package struct SigningKeyBook: Sendable, Equatable {
  /// Zero before the first key.
  package let version: Int64
  package let keys: [SigningKeyRecord]

  package init(version: Int64, keys: [SigningKeyRecord]) {
    self.version = version
    self.keys = keys
  }
}

/// Whether a compare-and-swap of the signing keys went through.
package enum SigningKeyReplacement: Sendable, Equatable {
  case replaced(SigningKeyBook)
  /// Another node was faster; this is what it wrote.
  case conflict(SigningKeyBook)
}
