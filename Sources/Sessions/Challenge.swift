package import Domain
internal import Crypto
internal import Wire

/// A nonce that this server made, and so one that nobody can have prepared before.
package struct Challenge: Sendable, Equatable {
  package let text: String
  package let expiresAt: UnixTime

  /// Lower-case hex SHA-256 of the text: what an app hands to Apple.
  package var hashed: String { hexText(sha256(Array(text.utf8))) }

  /// What is recorded when it is used.
  package var digest: [UInt8] { sha256(Array(text.utf8)) }
}

// Layout behind the prefix: master-key id (8 bytes), expiry (4, big-endian seconds), random (16), the first 16
// bytes of an HMAC-SHA-256 over all of that; base64url. Stateless until it is used.
private let prefix = "bch1."
private let signedCount = MasterKeyID.byteCount + 4 + 16
private let macCount = 16

extension MasterKeyRing {
  /// A new challenge, good for ``Limits/challengeSeconds``.
  package func makeChallenge(at now: UnixTime, entropy: Entropy) -> Challenge {
    let expiresAt = now + Limits.challengeSeconds
    let seconds = UInt32(clamping: expiresAt.seconds)
    var bytes = current.id.bytes
    for shift in stride(from: 24, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: seconds >> UInt32(shift)))
    }
    bytes += entropy.bytes(16)
    bytes += current.challenge.code(for: bytes).prefix(macCount)
    return Challenge(text: prefix + base64URLText(bytes), expiresAt: expiresAt)
  }

  /// The challenge that a nonce is; nil when it is an ordinary nonce, as one with our prefix but not our MAC is.
  package func challenge(from nonce: String) -> Challenge? {
    guard nonce.utf8.starts(with: prefix.utf8),
      let bytes = try? decodeBase64URL(nonce.utf8.dropFirst(prefix.utf8.count)),
      bytes.count == signedCount + macCount, let id = MasterKeyID(bytes.prefix(MasterKeyID.byteCount)),
      let key = self[id],
      key.challenge.isCode(
        Array(bytes[signedCount...]), for: Array(bytes[..<signedCount]), length: macCount)
    else { return nil }
    let seconds = bytes[MasterKeyID.byteCount..<(MasterKeyID.byteCount + 4)].reduce(Int64(0)) {
      $0 << 8 | Int64($1)
    }
    return Challenge(text: nonce, expiresAt: UnixTime(seconds))
  }
}
