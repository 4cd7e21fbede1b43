import Crypto
import Foundation
import Testing
import Wire

/// The parts of a compact token.
struct TokenParts {
  var header: String
  var payload: String
  var signature: String

  init(_ token: String) throws {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    (header, payload, signature) = (parts[0], parts[1], parts[2])
  }

  var text: String { header + "." + payload + "." + signature }

  /// The same payload under another header, with a MAC in place of a signature.
  func withMAC(keyedBy key: [UInt8], header json: String) -> String {
    let signed = base64URLText(Array(json.utf8)) + "." + payload
    // An HMAC key is filled up with zeros, so that a zero is the empty key.
    let code = MACKey(key.isEmpty ? [0] : key).code(for: Array(signed.utf8))
    return signed + "." + base64URLText(code)
  }
}

/// The public key of the stand-in that signs unless another is asked for, in every form that a confused verifier
/// might take for a secret.
struct ApplePublicKey {
  let modulus: [UInt8]
  let der: [UInt8]
  let pem: String

  init() async throws {
    let keys = try await exchange(HTTPRequest(path: "/auth/keys"), port: MockAppleProgram.shared.port).json
    let first = try #require(keys.objects("keys").first { $0.text("kid") == "MCKa7Qw2Zp" })
    modulus = try decodeBase64URL((first.text("n") ?? "").utf8)
    try #require(modulus.count == 256)
    // SubjectPublicKeyInfo of a 2048-bit key with the exponent 65537 (RFC 5280 §4.1, RFC 3279 §2.3.1).
    let head: [UInt8] = [
      0x30, 0x82, 0x01, 0x22, 0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01,
      0x05,
      0x00, 0x03, 0x82, 0x01, 0x0F, 0x00, 0x30, 0x82, 0x01, 0x0A, 0x02, 0x82, 0x01, 0x01, 0x00,
    ]
    der = head + modulus + [0x02, 0x03, 0x01, 0x00, 0x01]
    let text = Array(base64Text(der))
    let rows = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
    pem = "-----BEGIN PUBLIC KEY-----\n" + rows.joined(separator: "\n") + "\n-----END PUBLIC KEY-----\n"
  }
}

extension HTTPAnswer {
  /// Whether it is a 400 with one of these reasons.
  func isRefused(_ reasons: String...) -> Bool { status == 400 && reasons.contains(reason ?? "") }
}
