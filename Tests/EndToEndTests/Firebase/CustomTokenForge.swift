import Crypto
import Domain
import Foundation
import Testing
import Wire

/// Somebody who signs custom tokens: an app's own back end, or whoever pretends to be it.
struct CustomTokenForge: Sendable {
  static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

  let key: PrivateKey

  init(_ algorithm: SignatureAlgorithm) throws { key = try PrivateKey.generate(algorithm) }

  /// The public key as the setting takes it.
  var pem: String { get throws { pemText("PUBLIC KEY", try der) } }

  /// The private key as a service account's file has it.
  var privatePEM: String { get throws { pemText("PRIVATE KEY", try key.pkcs8().reveal()) } }

  /// SubjectPublicKeyInfo (RFC 5280 §4.1; RFC 3279 §2.3.1, RFC 5480 §2).
  private var der: [UInt8] {
    get throws {
      switch try #require(key.publicKey.numbers) {
      case .rsa(let n, let e):
        try #require(n.count == 256 && e.count == 3)
        let algorithm: [UInt8] = [
          0x30, 0x82, 0x01, 0x22, 0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01,
          0x01, 0x05, 0x00, 0x03, 0x82, 0x01, 0x0F, 0x00, 0x30, 0x82, 0x01, 0x0A, 0x02, 0x82, 0x01, 0x01,
          0x00,
        ]
        return algorithm + n + [0x02, 0x03] + e
      case .p256(let x, let y):
        let algorithm: [UInt8] = [
          0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A,
          0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        return algorithm + x + y
      }
    }
  }

  /// A token for an account.
  ///
  /// - Parameters:
  ///   - claims: JSON of the `claims` member.
  ///   - changes: Members to set; a null takes one out.
  func token(
    _ uid: String, claims: String? = nil, setting changes: [String: JSONValue] = [:],
    header: String? = nil
  ) throws -> String {
    let now = Int64(time(nil))
    let back = "back-end@orchard.example"
    var members: [String: JSONValue] = [
      "iss": .text(back), "sub": .text(back), "aud": .text(Self.audience), "iat": .integer(now),
      "exp": .integer(now + 3600), "uid": .text(uid),
    ]
    if let claims { members["claims"] = .object(try JSONObject(parsing: Array(claims.utf8))) }
    members.merge(changes) { $1 }
    var payload = JSONWriter(reserving: 512)
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      if case .null = value { continue }
      payload.member(name, json: value.encoded)
    }
    let header = header ?? #"{"alg":"\#(key.algorithm.rawValue)","typ":"JWT"}"#
    let signed = base64URLText(Array(header.utf8)) + "." + base64URLText(payload.finish())
    return signed + "." + base64URLText(try key.sign(Array(signed.utf8)))
  }
}

/// One block of PEM (RFC 7468 §3).
private func pemText(_ label: String, _ der: [UInt8]) -> String {
  let text = Array(base64Text(der))
  let rows = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
  return "-----BEGIN \(label)-----\n" + rows.joined(separator: "\n") + "\n-----END \(label)-----\n"
}
