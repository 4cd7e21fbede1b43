package import Domain
internal import Crypto
internal import Wire

/// What a refresh token says, once its MAC was found right.
package struct RefreshToken: Sendable, Equatable {
  package let session: SessionID
  package let counter: UInt32

  package init(session: SessionID, counter: UInt32) {
    self.session = session
    self.counter = counter
  }
}

/// Why text is no refresh token of ours.
package enum RefreshTokenError: Error, Equatable, Sendable {
  /// Not the form of a refresh token at all.
  case malformed
  /// The form is right, but no key of ours made it.
  case unknown
}

// Layout: version (1 byte), master-key id (8), session id (16), counter (4, big-endian), HMAC-SHA-256 over all of
// that (32); base64url. Nothing of it is stored, and a forged one is found out without asking a database.
private let version: UInt8 = 1
private let signedCount = 1 + MasterKeyID.byteCount + SessionID.byteCount + 4
private let byteCount = signedCount + 32

extension MasterKeyRing {
  /// The refresh token of a session with a counter; the same for the same arguments, at any time, on any node.
  ///
  /// - Returns: Nil when the key that the session names is no longer in the ring.
  package func text(of token: RefreshToken, madeWith id: MasterKeyID) -> String? {
    guard let key = self[id] else { return nil }
    var bytes = [version] + id.bytes + token.session.bytes
    for shift in stride(from: 24, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: token.counter >> UInt32(shift)))
    }
    return base64URLText(bytes + key.refresh.code(for: bytes))
  }

  /// Reads a refresh token; the MAC is compared in constant time.
  package func refreshToken(from text: String) throws(RefreshTokenError) -> RefreshToken {
    guard text.utf8.count == (byteCount * 4 + 2) / 3, let bytes = try? decodeBase64URL(text.utf8),
      bytes.count == byteCount, bytes[0] == version
    else { throw .malformed }
    let sessionStart = 1 + MasterKeyID.byteCount
    let counterStart = sessionStart + SessionID.byteCount
    guard let id = MasterKeyID(bytes[1..<sessionStart]),
      let session = SessionID(bytes[sessionStart..<counterStart])
    else { throw .malformed }
    guard let key = self[id],
      key.refresh.isCode(Array(bytes[signedCount...]), for: Array(bytes[..<signedCount]))
    else { throw .unknown }
    let counter = bytes[counterStart..<signedCount].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return RefreshToken(session: session, counter: counter)
  }
}
