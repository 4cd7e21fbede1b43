import Crypto
import Domain
import JOSE
import TestSupport
import Testing
import Wire

private func set(_ entries: String...) throws(KeySetError) -> KeySet {
  try KeySet(parsing: ("{\"keys\":[" + entries.joined(separator: ",") + "]}").utf8)
}

private func entry(of forge: TokenForge, kid: String = "good", change: (String) -> String = { $0 }) -> String
{
  let key = JSONWebKey(keyID: KeyID(unchecked: kid), key: forge.key.publicKey)
  return change(String(decoding: key.json, as: UTF8.self))
}

private let good = entry(of: .apple)

@Suite struct KeySetTests {
  @Test func `a set that we publish is one that we read`() throws {
    let ec = try PrivateKey.generate(.es256)
    let keys = [
      JSONWebKey(keyID: TokenForge.apple.keyID, key: TokenForge.apple.key.publicKey),
      JSONWebKey(keyID: thumbprint(of: ec.publicKey), key: ec.publicKey),
    ]
    let set = try KeySet(parsing: KeySet.json(of: keys))
    #expect(set.count == 2)
    for key in keys { #expect(set[key.keyID]?.numbers == key.key.numbers) }
  }

  @Test func `S08 an entry holds public members only, in a fixed order`() throws {
    let rsa = try JSONObject(parsing: entry(of: .apple).utf8)
    #expect(rsa.names == ["e", "kty", "n", "kid", "use", "alg"])
    let key = try PrivateKey.generate(.es256)
    let ec = try JSONObject(parsing: JSONWebKey(keyID: KeyID(unchecked: "k"), key: key.publicKey).json)
    #expect(ec.names == ["crv", "kty", "x", "y", "kid", "use", "alg"])
    #expect(ec.text("alg") == "ES256")
  }

  @Test func `K07 strange entries cost only themselves`() throws {
    let set = try set(
      "null", "5", "\"x\"", "[]", "{}", #"{"kty":"AKP","kid":"pq","alg":"ML-DSA-44","pub":"AA"}"#,
      #"{"kty":"oct","kid":"oct","k":"AAAA"}"#,
      entry(of: .stranger) { $0.replacing(#","kid":"good""#, with: "") },
      entry(of: .stranger, kid: "padded") { $0.replacing(#"","kid""#, with: #"=","kid""#) }, good,
      #"{"kty":"EC","crv":"P-384","kid":"p384","x":"AA","y":"AA"}"#)
    #expect(set.count == 1)
    #expect(set[KeyID(unchecked: "good")]?.numbers == TokenForge.apple.key.publicKey.numbers)
  }

  @Test(arguments: [
    (#""use":"sig""#, #""use":"enc""#), (#""use":"sig""#, #""use":null"#),
    (#""use":"sig""#, #""use":["sig"]"#),
    (#""use":"sig""#, #""key_ops":["sign"]"#), (#""use":"sig""#, #""key_ops":[]"#),
    (#""use":"sig""#, #""key_ops":"verify""#),
    (#""use":"sig""#, #""key_ops":[1]"#), (#""alg":"RS256""#, #""alg":"RS384""#),
    (#""alg":"RS256""#, #""alg":"RSA-OAEP""#),
    (#""alg":"RS256""#, #""alg":null"#), (#""alg":"RS256""#, #""alg":"ES256""#),
    (#""kid":"good""#, #""kid":"""#),
    (#""kid":"good""#, #""kid":5"#), (#""kty":"RSA""#, #""kty":"rsa""#), (#""kty":"RSA""#, #""kty":"EC""#),
    (#""e":"AQAB""#, #""e":"AQ""#), (#""e":"AQAB""#, #""e":"Aw""#), (#""e":"AQAB""#, #""e":"AAEAAQ""#),
    (#""e":"AQAB""#, #""e":65537"#), (#""e":"AQAB""#, #""e":"AQAB=""#), (#""n":""#, #""n":"AA"#),
    (#""n":""#, #""n":" "#),
  ])
  func `an entry that is not for us is no key`(_ part: String, _ replacement: String) throws {
    #expect(good.contains(part))
    let changed = good.replacing(part, with: replacement)
    #expect(throws: KeySetError.noUsableKey) { try set(changed) }
  }

  @Test(arguments: [
    (#","use":"sig""#, ""), (#","alg":"RS256""#, ""), (#""use":"sig""#, #""key_ops":["verify"]"#),
    (#""use":"sig""#, #""x5c":["AAAA"],"x":null"#),
  ])
  func `an entry may leave use and algorithm out and hold members that we do not know`(
    _ part: String, _ replacement: String
  ) throws {
    #expect(good.contains(part))
    #expect(try set(good.replacing(part, with: replacement)).count == 1)
  }

  @Test(arguments: [
    "{}", "[]", "", "null", #"{"keys":{}}"#, #"{"keys":null}"#, #"{"keys":[],"keys":[]}"#, "<html>",
    #"{"Keys":[]}"#,
  ])
  func `what is no set is malformed`(_ text: String) {
    #expect(throws: KeySetError.malformed) { try KeySet(parsing: text.utf8) }
  }

  @Test(arguments: [#"{"keys":[]}"#, #"{"keys":[null]}"#, #"{"keys":[{}]}"#])
  func `K11 a set without a usable key is none`(_ text: String) {
    #expect(throws: KeySetError.noUsableKey) { try KeySet(parsing: text.utf8) }
  }

  @Test func `attack 13 an id that stands for two keys stands for none`() throws {
    let other = entry(of: .stranger)
    let third = entry(of: .stranger, kid: "third")
    #expect(try set(good, other, third).count == 1)
    #expect(try set(good, other, good, third)[KeyID(unchecked: "good")] == nil)
    #expect(try set(good, good, third)[KeyID(unchecked: "good")] != nil)
    #expect(throws: KeySetError.noUsableKey) { try set(good, other) }
  }

  // RFC 7638 §3.1.
  @Test func `the thumbprint is that of the example of RFC 7638`() throws {
    let object = try JSONObject(
      parsing: ("{\"kty\":\"RSA\",\"n\":\"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L"
        + "6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY36"
        + "8QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPk"
        + "sINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw\",\"e\":\"AQAB\",\"alg\":\"RS256\",\"kid\":\"2011-04-29\"}")
        .utf8)
    let key = try #require(JSONWebKey(object))
    #expect(thumbprint(of: key.key).text == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
  }

  @Test func `coordinates keep their leading zeros`() throws {
    // One key in 256 has one; this looks for the first.
    for _ in 0..<5000 {
      let key = try PrivateKey.generate(.es256)
      guard case .p256(let x, let y) = key.publicKey.numbers, x[0] == 0 else { continue }
      let object = try JSONObject(parsing: JSONWebKey(keyID: KeyID(unchecked: "k"), key: key.publicKey).json)
      #expect(object.text("x") == base64URLText(x))
      #expect(x.count == 32)
      #expect(JSONWebKey(object)?.key.numbers == .p256(x: x, y: y))
      return
    }
  }

  @Test func `certificates by name are keys, where they are expected`() throws {
    let pem = try TokenForge.apple.key.selfSignedCertificate(
      name: "securetoken", serial: [1], notBefore: UnixTime(1_700_000_000), notAfter: UnixTime(1_800_000_000))
    let map = #"{"k1":\#(jsonText(pem)),"k2":"nonsense","k3":3,"k4":\#(jsonText(pem + pem))}"#
    let set = try KeySet(parsing: map.utf8, as: .keySetOrCertificates)
    #expect(set.count == 1)
    #expect(set[KeyID(unchecked: "k1")]?.numbers == TokenForge.apple.key.publicKey.numbers)
    #expect(throws: KeySetError.malformed) { try KeySet(parsing: map.utf8, as: .keySet) }
    #expect(throws: KeySetError.noUsableKey) {
      try KeySet(parsing: #"{"k2":"nonsense"}"#.utf8, as: .keySetOrCertificates)
    }
    let keys = try KeySet(parsing: TokenForge.apple.keySet, as: .keySetOrCertificates)
    #expect(keys[TokenForge.apple.keyID] != nil)
  }
}
