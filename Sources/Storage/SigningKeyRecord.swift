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

/// How much of a hurry it is in when somebody asks for the next key to sign.
package enum RotationUrgency: Sendable, Equatable {
  /// As soon as the next key may sign.
  case whenReady
  /// Now or not at all.
  case now
  /// Now, also with a key that verifiers may not have yet.
  case forced
}

/// A signing key as it is stored: the private part only under seal.
package struct SigningKeyRecord: Sendable, Equatable {
  package let id: KeyID
  /// `ES256` or `RS256`.
  package let algorithm: String
  package var role: SigningKeyRole
  /// When it was first published.
  package let createdAt: UnixTime
  /// When it began to sign; nil for a key that never has.
  package var activeSince: UnixTime?
  package var retiredAt: UnixTime?
  /// Whether somebody asked that the next key takes its place as soon as there is one that may sign.
  package var isToRetire: Bool
  /// Seconds that the longest session token lives that any node signs with it.
  package var longestLifetime: Int64
  /// When the last session cookie that it signed ends, or later; nil while it has signed none.
  package var cookiesUntil: UnixTime?
  /// The private key under the seal of `masterKey`.
  package var sealed: [UInt8]
  package var masterKey: MasterKeyID
  /// A self-signed certificate of the public key, PEM.
  package let certificate: String

  package init(
    id: KeyID, algorithm: String, role: SigningKeyRole, createdAt: UnixTime, activeSince: UnixTime?,
    retiredAt: UnixTime?, isToRetire: Bool, longestLifetime: Int64, cookiesUntil: UnixTime?, sealed: [UInt8],
    masterKey: MasterKeyID, certificate: String
  ) {
    self.id = id
    self.algorithm = algorithm
    self.role = role
    self.createdAt = createdAt
    self.activeSince = activeSince
    self.retiredAt = retiredAt
    self.isToRetire = isToRetire
    self.longestLifetime = longestLifetime
    self.cookiesUntil = cookiesUntil
    self.sealed = sealed
    self.masterKey = masterKey
    self.certificate = certificate
  }
}

extension SigningKeyRecord {
  /// When a standby may sign: by then every verifier has had it for the whole lead, also if the clock of
  /// whoever looks is ahead of the one that wrote `createdAt`.
  package func readyAt(leeway: Int64) -> UnixTime { createdAt + (Limits.signingKeyLead + leeway) }

  /// When a retired key may go: no verifier takes a token that it signed any more; nil while it is not
  /// retired.
  ///
  /// Other nodes sign with it until they notice, by clocks that may be ahead by the leeway; a verifier adds
  /// the leeway to `exp`, and its clock may be behind by as much.
  package func publishedUntil(leeway: Int64) -> UnixTime? {
    guard role == .retired, let retiredAt else { return nil }
    let tokens = retiredAt + (Limits.signingKeyNotice + leeway + longestLifetime)
    return max(tokens, cookiesUntil ?? tokens) + 2 * leeway
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
