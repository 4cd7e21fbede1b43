internal import Crypto
internal import Domain
internal import Wire

/// What is wrong with a nonce; one word for each mistake that apps make, so that the answer says which it was.
/// The words are the `reason` values of the error answers.
package enum NonceRefusal: String, Error, Equatable, Sendable, CaseIterable {
  /// The request brings none.
  case missing = "nonce_missing"
  /// The token carries none: the app never gave one to Apple.
  case claimMissing = "nonce_claim_missing"
  case mismatch = "nonce_mismatch"
  /// The request brings the hash that went to Apple in place of the raw value.
  case isAlreadyHashed = "nonce_is_already_hashed"
  /// The raw value went to Apple.
  case claimNotHashed = "nonce_claim_not_hashed"
  /// The hash went to Apple, though this client's rule wants the raw value.
  case claimIsHashed = "nonce_claim_is_hashed"
  /// A library hashes silently and the app hashes too.
  case doubleHashed = "nonce_double_hashed"
  /// The right digest in base64, base64url or upper-case hex.
  case wrongEncoding = "nonce_wrong_encoding"
}

extension NonceRule {
  /// What is handed to Apple for a raw nonce, and what Apple's token has to hold.
  package func claim(for raw: String) -> String {
    switch form {
    case .sha256: hexText(sha256(Array(raw.utf8)))
    case .raw: raw
    }
  }

  /// The text that is the nonce which `claim` was made from, among several that a request may have meant.
  ///
  /// What is told of a refusal is the first mistake that has a name.
  package func match(_ readings: [String], claim: String?) throws(NonceRefusal) -> String {
    var refusals: [NonceRefusal] = []
    for raw in readings {
      do {
        try check(raw: raw, claim: claim)
        return raw
      } catch {
        refusals.append(error)
      }
    }
    throw refusals.first { $0 != .mismatch } ?? refusals.first ?? .missing
  }

  /// Returns when `raw` is the nonce that `claim` was made from by this rule.
  ///
  /// The comparison that lets in is one, in constant time; what follows it only names the mistake.
  package func check(raw: String, claim: String?) throws(NonceRefusal) {
    guard !raw.isEmpty else { throw .missing }
    guard let claim, !claim.isEmpty else { throw .claimMissing }
    let rawBytes = Array(raw.utf8)
    let claimBytes = Array(claim.utf8)
    let digest = sha256(rawBytes)
    let hex = Array(hexText(digest).utf8)
    switch form {
    case .sha256:
      if constantTimeEqual(hex, claimBytes) { return }
      if constantTimeEqual(rawBytes, claimBytes) {
        throw isDigestText(claimBytes) ? .isAlreadyHashed : .claimNotHashed
      }
      if constantTimeEqual(Array(hexText(sha256(hex)).utf8), claimBytes) { throw .doubleHashed }
    case .raw:
      if constantTimeEqual(rawBytes, claimBytes) { return }
      if constantTimeEqual(hex, claimBytes) { throw .claimIsHashed }
    }
    if isOtherSpelling(of: digest, hex: hex, claimBytes) { throw .wrongEncoding }
    throw .mismatch
  }
}

/// 64 lower-case hexadecimal digits.
private func isDigestText(_ bytes: [UInt8]) -> Bool {
  bytes.count == 64 && bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
}

private func isOtherSpelling(of digest: [UInt8], hex: [UInt8], _ claim: [UInt8]) -> Bool {
  let base64 = Array(base64Text(digest).utf8)
  let base64URL = Array(base64URLText(digest).utf8)
  let padding = [UInt8(ascii: "=")]
  let upperHex = hex.map { (0x61...0x66).contains($0) ? $0 - 0x20 : $0 }
  return [base64, Array(base64.dropLast()), base64URL, base64URL + padding, upperHex]
    .contains { constantTimeEqual($0, claim) }
}
