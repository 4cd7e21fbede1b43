internal import Domain
internal import Wire

/// Why text is not a set of custom claims.
package enum CustomClaimsError: Error, Equatable, Sendable {
  /// Not one JSON object, or a member named twice.
  case malformed
  /// More than ``Limits/customClaimsLength``, or so much when it is written that no token would hold it.
  case tooLarge
  /// This name belongs to us, or to the standards.
  case forbidden(String)
}

/// Names that custom claims may not have: those that Firebase reserves (RFC 7519 §4.1, OpenID Connect Core §2), and
/// every claim of ours.
private let reservedClaims: Set<String> = [
  "acr", "amr", "at_hash", "aud", "auth_time", "azp", "cnf", "c_hash", "exp", "firebase", "iat", "iss", "jti",
  "nbf", "nonce", "sub", "user_id", "sid", "email", "email_verified", "name", "picture", "phone_number",
  "provider_id",
]

/// Bytes of custom claims as a token writes them, escapes and digits of numbers included: with
/// ``Limits/sessionPayloadBytes``, header and RS256 signature, below ``Limits/tokenBytes`` in base64url. A
/// thousand scalars of four bytes are less.
private let writtenBytes = 4608

/// Checks the text of custom claims.
///
/// - Returns: The text as it is, to be read back as it was set; nil when the object is empty.
package func customClaims(from text: String) throws(CustomClaimsError) -> String? {
  guard text.unicodeScalars.count <= Limits.customClaimsLength else { throw .tooLarge }
  let object: JSONObject
  do {
    object = try JSONObject(parsing: text.utf8)
  } catch {
    throw .malformed
  }
  for name in object.names where reservedClaims.contains(name) { throw .forbidden(name) }
  var written = JSONWriter()
  written.customClaims(text)
  guard written.finish().count <= writtenBytes else { throw .tooLarge }
  return object.names.isEmpty ? nil : text
}

extension JSONWriter {
  /// Adds the members of texts that ``customClaims(from:)`` has passed. Of two of one name the later text's counts.
  mutating func customClaims(_ texts: String?...) {
    let objects = texts.compactMap { $0.flatMap { try? JSONObject(parsing: $0.utf8) } }
    for (index, object) in objects.enumerated() {
      let later = objects[(index + 1)...]
      // Asked of the objects, which compare bytes; a set of strings takes two spellings of a word for one.
      for name in object.names where !reservedClaims.contains(name) && later.allSatisfy({ $0[name] == nil }) {
        if let value = object[name] { member(name, json: value.encoded) }
      }
    }
  }
}
