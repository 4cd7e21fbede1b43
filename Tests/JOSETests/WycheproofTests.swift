import Crypto
import Domain
import Foundation
import JOSE
import TestSupport
import Testing
import Wire

/// The folder with the JSON files of the Wycheproof project, `testvectors_v1`; without it these tests are skipped.
private let folder = ProcessInfo.processInfo.environment["WYCHEPROOF_DIR"]

/// Vectors that agree with the verifier, and the ids of those that do not.
private struct Tally {
  var accepted = 0
  var refused = 0
  var wrong: [Int64] = []

  mutating func add(_ vector: JSONObject, isAccepted: Bool, isGood: Bool) throws {
    if isAccepted != isGood { wrong.append(try #require(try vector.optionalInteger("tcId"))) }
    if isAccepted { accepted += 1 } else { refused += 1 }
  }
}

private func groups(of file: String) throws -> [JSONObject] {
  let bytes = try #require(readWholeFile((folder ?? "") + "/" + file))
  return objects(try JSONObject(parsing: bytes)["testGroups"])
}

private func objects(_ value: JSONValue?) -> [JSONObject] {
  guard case .array(let items) = value else { return [] }
  return items.compactMap { if case .object(let object) = $0 { object } else { nil } }
}

/// The keys of a group: a set, or one key.
private func keySet(of group: JSONObject) throws -> KeySet? {
  let keys = try #require(try group.optionalObject("public") ?? group.optionalObject("private"))
  let text = keys["keys"] == nil ? Array(#"{"keys":["#.utf8) + keys.bytes + Array("]}".utf8) : keys.bytes
  return try? KeySet(parsing: text)
}

private func isVerified(_ text: String, by keys: KeySet?) -> Bool {
  guard let token = try? CompactToken(parsing: text.utf8), let id = token.header.keyID, let key = keys?[id]
  else {
    return false
  }
  return (try? token.verify(with: key)) != nil
}

/// Whether a token that the vectors call valid is also one for us: signed with one of our two algorithms.
private func isForUs(_ token: String) -> Bool {
  guard let header = TokenPreview(of: token.utf8).header, let object = try? JSONObject(parsing: header) else {
    return false
  }
  return object.text("alg").flatMap(SignatureAlgorithm.init) != nil
}

@Suite(.enabled(if: folder != nil, "WYCHEPROOF_DIR is not set"))
struct WycheproofTests {
  @Test(arguments: [("json_web_signature_test.json", 401), ("json_web_key_test.json", 26)])
  func `JSON Web Signature and Key vectors are accepted when they are valid RS256 or ES256`(
    _ file: String, _ total: Int
  ) throws {
    var tally = Tally()
    for group in try groups(of: file) {
      let keys = try keySet(of: group)
      for vector in objects(group["tests"]) {
        let token = vector.text("jws") ?? ""
        let isGood = vector.text("result") == "valid" && isForUs(token)
        try tally.add(vector, isAccepted: isVerified(token, by: keys), isGood: isGood)
      }
    }
    #expect(tally.wrong == [])
    #expect(tally.accepted > 0)
    #expect(tally.refused > 0)
    #expect(tally.accepted + tally.refused >= total)
  }

  @Test func `RSA signatures are accepted when they are valid, not when they are acceptable`() throws {
    var tally = Tally()
    for group in try groups(of: "rsa_signature_2048_sha256_test.json") {
      let numbers = try #require(try group.optionalObject("publicKey"))
      let exponent = withoutLeadingZeros(hexBytes(try #require(numbers.text("publicExponent"))))
      let modulus = withoutLeadingZeros(hexBytes(try #require(numbers.text("modulus"))))
      // Two vectors are valid for keys with the exponent 3, which are no keys here.
      let key = try? PublicKey(rsaModulus: modulus, exponent: exponent)
      #expect((key == nil) == (exponent == [3]))
      try tally.add(group, by: key)
    }
    #expect(tally.wrong == [])
    #expect(tally.accepted > 0)
    #expect(tally.accepted + tally.refused >= 259)
  }

  @Test func `raw ECDSA signatures are accepted when they are valid`() throws {
    var tally = Tally()
    for group in try groups(of: "ecdsa_secp256r1_sha256_p1363_test.json") {
      let numbers = try #require(try group.optionalObject("publicKey"))
      let point = hexBytes(try #require(numbers.text("uncompressed")))
      try tally.add(group, by: try PublicKey(p256X: Array(point[1..<33]), y: Array(point[33...])))
    }
    #expect(tally.wrong == [])
    #expect(tally.accepted > 0)
    #expect(tally.accepted + tally.refused >= 262)
  }
}

extension Tally {
  /// Adds the raw signatures of a group; `acceptable` is not `valid`.
  fileprivate mutating func add(_ group: JSONObject, by key: PublicKey?) throws {
    for vector in objects(group["tests"]) {
      let message = hexBytes(vector.text("msg") ?? "")
      let signature = hexBytes(vector.text("sig") ?? "")
      try add(
        vector, isAccepted: key?.isSignature(signature, for: message) ?? false,
        isGood: key != nil && vector.text("result") == "valid")
    }
  }
}

private func withoutLeadingZeros(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.drop { $0 == 0 }) }

private func hexBytes(_ text: String) -> [UInt8] {
  var digits = text.utf8[...]
  var bytes: [UInt8] = []
  while let byte = UInt8(String(decoding: digits.prefix(2), as: UTF8.self), radix: 16) {
    bytes.append(byte)
    digits = digits.dropFirst(2)
  }
  return bytes
}
