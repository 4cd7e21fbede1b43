import Crypto
import Domain
import JOSE
import Wire

/// Makes identity tokens, right ones and every wrong one: any header and any claims, signed with a fixed key.
package struct TokenForge: Sendable {
  /// The key that the forged key set holds under ``keyID``.
  package static let apple = TokenForge(pem: ForgeKeys.apple)
  /// A key that no key set holds.
  package static let stranger = TokenForge(pem: ForgeKeys.stranger)
  package static let keyIDText = "FORGEKEY01"

  package let key: PrivateKey
  package let keyID: KeyID

  private init(pem: String) {
    guard let key = try? PrivateKey(pem: Secret(Array(pem.utf8))), let id = KeyID(Self.keyIDText) else {
      preconditionFailure("the forge's own key is good")
    }
    self.key = key
    keyID = id
  }

  /// A token with exactly this header and these claims, both JSON text.
  package func token(
    header: String = #"{"alg":"RS256","kid":"FORGEKEY01"}"#, claims: String
  ) -> String {
    let signed = base64URLText(header.utf8) + "." + base64URLText(claims.utf8)
    guard let signature = try? key.sign(Array(signed.utf8)) else { preconditionFailure("cannot sign") }
    return signed + "." + base64URLText(signature)
  }

  package func token(_ claims: AppleClaims) -> String { token(claims: claims.json) }

  /// The key set that Apple would publish with this key.
  package var keySet: [UInt8] { KeySet.json(of: [JSONWebKey(keyID: keyID, key: key.publicKey)]) }
}

/// Claims as Apple writes them, each a name and JSON text.
package struct AppleClaims: Sendable {
  package static let audience = "com.example.app"
  package static let subject = "000123.0123456789abcdef0123456789abcdef.0456"
  package static let rawNonce = "6G_0cA0JElSPGVT1.vZJr9dSfenY1AZB"
  package static let hashedNonce = "1e1a3ef4004127c7e591551020612e0ab2b02d9a954fbe62a5930affd45e377a"

  private var members: [(name: String, json: String)]

  /// A token that was issued at `time`, as a native sign-in of today gets it.
  package init(issuedAt time: UnixTime) {
    members = [
      ("iss", jsonText("https://appleid.apple.com")), ("aud", jsonText(Self.audience)),
      ("exp", String(time.seconds + 86_400)), ("iat", String(time.seconds)), ("sub", jsonText(Self.subject)),
      ("nonce", jsonText(Self.hashedNonce)), ("c_hash", jsonText("wYbF0mMBrEIYpGnkRGg7mw")),
      ("email", jsonText("abc123xyz@privaterelay.appleid.com")), ("email_verified", "true"),
      ("is_private_email", "true"), ("auth_time", String(time.seconds)), ("nonce_supported", "true"),
      ("real_user_status", "2"),
    ]
  }

  /// The same claims but for one, whose value is JSON text; nil leaves it out.
  package func setting(_ name: String, _ json: String?) -> AppleClaims {
    var copy = self
    let index = copy.members.firstIndex { $0.name == name }
    if let index { copy.members.remove(at: index) }
    if let json { copy.members.insert((name, json), at: index ?? copy.members.count) }
    return copy
  }

  package func setting(_ name: String, text: String) -> AppleClaims { setting(name, jsonText(text)) }

  package var json: String {
    "{" + members.map { jsonText($0.name) + ":" + $0.json }.joined(separator: ",") + "}"
  }
}

/// A JSON string.
package func jsonText(_ text: String) -> String {
  var out: [UInt8] = []
  appendJSONString(text, to: &out)
  return String(decoding: out, as: UTF8.self)
}

/// Reads a file of `Tests/Fixtures`.
package func fixture(_ name: String, from file: String = #filePath) -> [UInt8] {
  let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
  guard let bytes = readWholeFile(folder + "/Fixtures/" + name) else {
    preconditionFailure("no fixture \(name)")
  }
  return bytes
}
