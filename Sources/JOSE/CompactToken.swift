package import Crypto
package import Domain
package import Wire

/// Why a compact token is not one that may be believed.
package enum JOSEError: Error, Equatable, Sendable {
  /// Longer than it may be.
  case tooLarge
  /// Not three parts of canonical base64url with JSON objects, or a member named twice.
  case malformed
  /// A `crit`, `b64` or `zip` header (RFC 7515 §4.1.11, RFC 7797): none is understood here. Or no usable `kid`.
  case headerNotAllowed
  /// `alg` is not the one that the caller pinned.
  case algorithmNotAllowed
  case signatureInvalid
}

/// What a token's header says. It is used to find a key and for nothing else.
package struct TokenHeader: Sendable {
  package let algorithm: String?
  package let keyID: KeyID?
  package let type: String?
  /// The whole header, to show to a person.
  package let object: JSONObject

  init(parsing bytes: [UInt8]) throws(JOSEError) {
    object = try parseObject(bytes)
    for name in ["crit", "b64", "zip"] where object[name] != nil { throw .headerNotAllowed }
    algorithm = object.text("alg")
    keyID = object.text("kid").flatMap(KeyID.init)
    type = object.text("typ")
  }
}

/// A compact JWS (RFC 7515 §7.1), taken apart but not yet believed.
package struct CompactToken: Sendable {
  package let header: TokenHeader
  /// The payload's bytes; what they claim means nothing before ``verify(with:)`` has returned.
  package let payload: [UInt8]
  private let signedBytes: [UInt8]
  private let signature: [UInt8]

  /// Takes a token apart. Length and shape are looked at before anything is decoded, so that a megabyte of
  /// dots costs one pass.
  ///
  /// - Parameter limit: Bytes that it may have.
  package init(
    parsing token: some Collection<UInt8>, atMost limit: Int = Limits.tokenBytes
  ) throws(JOSEError) {
    let token = Array(token)
    guard token.count <= limit else { throw .tooLarge }
    let dots = token.indices.filter { token[$0] == UInt8(ascii: ".") }
    guard dots.count == 2 else { throw .malformed }
    signedBytes = Array(token[..<dots[1]])
    let headerBytes = try decodePart(token[..<dots[0]])
    payload = try decodePart(token[(dots[0] + 1)..<dots[1]])
    signature = try decodePart(token[(dots[1] + 1)...])
    header = try TokenHeader(parsing: headerBytes)
  }

  /// The payload as an object.
  package func claims() throws(JOSEError) -> JSONObject {
    try parseObject(payload)
  }

  /// Returns when the signature is this key's; the algorithm is the key's, and the header must agree.
  package func verify(with key: PublicKey) throws(JOSEError) {
    guard header.algorithm == key.algorithm.rawValue else { throw .algorithmNotAllowed }
    guard key.isSignature(signature, for: signedBytes) else { throw .signatureInvalid }
  }
}

private func decodePart(_ text: some Collection<UInt8>) throws(JOSEError) -> [UInt8] {
  do {
    return try decodeBase64URL(text)
  } catch {
    throw .malformed
  }
}

private func parseObject(_ bytes: [UInt8]) throws(JOSEError) -> JSONObject {
  do {
    return try JSONObject(parsing: bytes)
  } catch {
    throw .malformed
  }
}

/// A compact JWS over `payload`: `alg`, `kid` and `typ` in the header, in this order.
package func signCompact(
  payload: [UInt8], key: PrivateKey, keyID: KeyID, type: String?
) throws(CryptoError) -> String {
  var header = JSONWriter(reserving: 96)
  header.member("alg", key.algorithm.rawValue)
  header.member("kid", keyID.text)
  header.member("typ", type)
  var token: [UInt8] = []
  token.reserveCapacity(payload.count * 4 / 3 + 512)
  appendBase64URL(header.finish(), to: &token)
  token.append(UInt8(ascii: "."))
  appendBase64URL(payload, to: &token)
  let signature = try key.sign(token)
  token.append(UInt8(ascii: "."))
  appendBase64URL(signature, to: &token)
  return String(decoding: token, as: UTF8.self)
}

/// What a token says, for a person to read: as far as header and payload can be decoded, whatever else is wrong
/// with it. For no decision.
package struct TokenPreview: Sendable {
  /// JSON objects; nil where there is none.
  package let header: [UInt8]?
  package let claims: [UInt8]?

  package init(of token: some Collection<UInt8>) {
    let parts =
      token.prefix(Limits.tokenBytes + 1).count > Limits.tokenBytes
      ? [] : token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    func object(_ index: Int) -> [UInt8]? {
      guard parts.count > index, let bytes = try? decodeBase64URL(parts[index]) else { return nil }
      return try? JSONObject(parsing: bytes).bytes
    }
    header = object(0)
    claims = object(1)
  }
}
