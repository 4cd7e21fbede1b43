package import Crypto
package import Domain
package import Wire

/// A public key with its name, as RFC 7517 writes it.
package struct JSONWebKey: Sendable {
  package let keyID: KeyID
  package let key: PublicKey

  package init(keyID: KeyID, key: PublicKey) {
    self.keyID = keyID
    self.key = key
  }

  /// Reads one entry of a key set; nil for anything that is not a usable signature key of ours: unknown `kty`
  /// or curve, another `use` or `alg`, no `kid`, a number that is not canonical, a key that is too weak.
  package init?(_ object: JSONObject) {
    guard let keyID = object.text("kid").flatMap(KeyID.init), let kind = object.text("kty"),
      isForVerifying(object)
    else { return nil }
    let key: PublicKey?
    switch kind {
    case "RSA":
      guard let n = object.number("n"), let e = object.number("e") else { return nil }
      key = try? PublicKey(rsaModulus: n, exponent: e)
    case "EC":
      guard object.text("crv") == "P-256", let x = object.number("x"), let y = object.number("y") else {
        return nil
      }
      key = try? PublicKey(p256X: x, y: y)
    default: return nil
    }
    guard let key, object["alg"] == nil || object.text("alg") == key.algorithm.rawValue else { return nil }
    self.init(keyID: keyID, key: key)
  }

  /// The entry of a published key set. Holds public numbers only, whatever the key was made from.
  package var json: [UInt8] {
    var out = JSONWriter()
    writeNumbers(of: key, to: &out)
    out.member("kid", keyID.text)
    out.member("use", "sig")
    out.member("alg", key.algorithm.rawValue)
    return out.finish()
  }
}

/// `use` and `key_ops` say, where they are there, that the key verifies signatures (RFC 7517 §4.2, §4.3).
private func isForVerifying(_ object: JSONObject) -> Bool {
  if object["use"] != nil, object.text("use") != "sig" { return false }
  guard let operations = object["key_ops"] else { return true }
  guard case .array(let names) = operations else { return false }
  return names.contains { if case .text("verify") = $0 { true } else { false } }
}

/// Members in lexicographic order, as RFC 7638 §3.3 wants them for a thumbprint.
private func writeNumbers(of key: PublicKey, to out: inout JSONWriter) {
  switch key.numbers {
  case .rsa(let n, let e):
    out.member("e", base64URLText(e))
    out.member("kty", "RSA")
    out.member("n", base64URLText(n))
  case .p256(let x, let y):
    out.member("crv", "P-256")
    out.member("kty", "EC")
    out.member("x", base64URLText(x))
    out.member("y", base64URLText(y))
  case nil: break
  }
}

/// The name that a key's own numbers give it: RFC 7638, SHA-256, base64url.
package func thumbprint(of key: PublicKey) -> KeyID {
  var out = JSONWriter()
  writeNumbers(of: key, to: &out)
  return KeyID(unchecked: base64URLText(sha256(out.finish())))
}

extension JSONObject {
  /// A member that is a big-endian number in canonical base64url (RFC 7518 §6.3.1).
  func number(_ name: String) -> [UInt8]? {
    text(name).flatMap { try? decodeBase64URL($0.utf8) }
  }
}
