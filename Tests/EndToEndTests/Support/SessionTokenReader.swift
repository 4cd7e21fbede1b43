import Crypto
import Domain
import Foundation
import Testing
import Wire

/// A verifier as a back end would write it: the published key set and nothing else.
struct SessionTokenReader {
  private let keys: [String: PublicKey]

  init(keySet answer: HTTPAnswer) throws {
    var keys: [String: PublicKey] = [:]
    for entry in try answer.json.objects("keys") {
      let number = { (name: String) throws -> [UInt8] in try decodeBase64URL((entry.text(name) ?? "").utf8) }
      let key =
        entry.text("kty") == "RSA"
        ? try PublicKey(rsaModulus: number("n"), exponent: number("e"))
        : try PublicKey(p256X: number("x"), y: number("y"))
      #expect(entry.text("use") == "sig")
      #expect(entry.text("alg") == key.algorithm.rawValue)
      keys[try #require(entry.text("kid"))] = key
    }
    self.keys = keys
  }

  /// Header and claims, once the signature was found right.
  func read(_ token: String) throws -> (header: JSONObject, claims: JSONObject) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    let header = try JSONObject(parsing: decodeBase64URL(parts[0].utf8))
    let key = try #require(keys[header.text("kid") ?? ""])
    #expect(header.text("alg") == key.algorithm.rawValue)
    let isRight = key.isSignature(
      try decodeBase64URL(parts[2].utf8), for: Array((parts[0] + "." + parts[1]).utf8))
    #expect(isRight, "the signature is not that of the published key")
    return (header, try JSONObject(parsing: decodeBase64URL(parts[1].utf8)))
  }
}

extension Service {
  /// Verifies a session token with the key set that this service publishes.
  func read(_ token: String) async throws -> (header: JSONObject, claims: JSONObject) {
    try SessionTokenReader(keySet: await get("/.well-known/jwks.json")).read(token)
  }
}
