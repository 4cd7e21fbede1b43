import AppleIdentity
import Crypto
import Domain
import TestSupport
import Testing
import Wire

private func hash(_ text: String) -> String { hexText(sha256(Array(text.utf8))) }

private let sha = NonceRule.standard
private let plain = NonceRule(form: .raw, demandsChallenge: false)

/// The reason of a refusal, or nil.
private func refusal(_ rule: NonceRule, raw: String, claim: String?) -> NonceRefusal? {
  do throws(NonceRefusal) {
    try rule.check(raw: raw, claim: claim)
    return nil
  } catch {
    return error
  }
}

private struct Vector: Sendable {
  let raw: String
  let hex: String
  let base64: String
  let base64URL: String
}

private let vectors = [
  Vector(
    raw: "6G_0cA0JElSPGVT1.vZJr9dSfenY1AZB",
    hex: "1e1a3ef4004127c7e591551020612e0ab2b02d9a954fbe62a5930affd45e377a",
    base64: "Hho+9ABBJ8flkVUQIGEuCrKwLZqVT75ipZMK/9ReN3o=",
    base64URL: "Hho-9ABBJ8flkVUQIGEuCrKwLZqVT75ipZMK_9ReN3o"),
  Vector(
    raw: "test-nonce", hex: "ed04c4e9ea6c49cf9ceb39098787c5b9842524f96b07ef45305476a11caec9b4",
    base64: "7QTE6epsSc+c6zkJh4fFuYQlJPlrB+9FMFR2oRyuybQ=",
    base64URL: "7QTE6epsSc-c6zkJh4fFuYQlJPlrB-9FMFR2oRyuybQ"),
  Vector(
    raw: "nönce-日本-😀", hex: "a15ed2eda61c27c051a2aba0e148cdfa11aa65e9918123cf4000ddbc14370e17",
    base64: "oV7S7aYcJ8BRoqug4UjN+hGqZemRgSPPQADdvBQ3Dhc=",
    base64URL: "oV7S7aYcJ8BRoqug4UjN-hGqZemRgSPPQADdvBQ3Dhc"),
  Vector(
    raw: "a b+c%2B&d=e", hex: "7a86b750eb4f97dd312684ba5987cc0931a4ad0acbfbd28dcd8af03617e0d967",
    base64: "eoa3UOtPl90xJoS6WYfMCTGkrQrL+9KNzYrwNhfg2Wc=",
    base64URL: "eoa3UOtPl90xJoS6WYfMCTGkrQrL-9KNzYrwNhfg2Wc"),
]

@Suite struct NonceCheckTests {
  @Test(arguments: vectors)
  fileprivate func `the vectors of the protocol notes let in by their lower-case hex alone`(_ vector: Vector)
  {
    #expect(refusal(sha, raw: vector.raw, claim: vector.hex) == nil)
    #expect(refusal(sha, raw: vector.raw, claim: vector.base64) == .wrongEncoding)
    #expect(refusal(sha, raw: vector.raw, claim: vector.base64URL) == .wrongEncoding)
    #expect(refusal(plain, raw: vector.raw, claim: vector.raw) == nil)
    #expect(refusal(plain, raw: vector.raw, claim: vector.hex) == .claimIsHashed)
  }

  @Test func `N01 the hash sent as the raw nonce is told apart`() {
    #expect(refusal(sha, raw: hash("r"), claim: hash("r")) == .isAlreadyHashed)
  }

  @Test func `N02 a raw nonce that went to Apple is told apart`() {
    #expect(refusal(sha, raw: "r", claim: "r") == .claimNotHashed)
    #expect(refusal(sha, raw: hash("r").uppercased(), claim: hash("r").uppercased()) == .claimNotHashed)
    #expect(
      refusal(sha, raw: hash("r").dropLast() + "g", claim: hash("r").dropLast() + "g") == .claimNotHashed)
  }

  @Test(arguments: vectors)
  fileprivate func `N04 N05 the digest in another spelling is refused and named`(_ vector: Vector) {
    for claim in [
      vector.base64, vector.base64URL, vector.hex.uppercased(), String(vector.base64.dropLast()),
      vector.base64URL + "=",
    ] {
      #expect(refusal(sha, raw: vector.raw, claim: claim) == .wrongEncoding)
    }
  }

  @Test func `N07 a double hash is refused and named, deeper ones only refused`() {
    #expect(
      refusal(
        sha, raw: "6G_0cA0JElSPGVT1.vZJr9dSfenY1AZB",
        claim: "2429d0c1862e773e6ec4019cd3494fd8106e16784e1da9f2ee9f265e6bb828dc") == .doubleHashed)
    #expect(
      refusal(
        sha, raw: "test-nonce", claim: "27640644bc0280c3c043234351036c7dd1c09d270cc855c9085aec70fc16bd15")
        == .doubleHashed)
    #expect(refusal(sha, raw: "r", claim: hash(hash(hash("r")))) == .mismatch)
  }

  @Test func `N08 N10 a token without a nonce is refused, whatever the request brings`() {
    #expect(refusal(sha, raw: "anything", claim: nil) == .claimMissing)
    #expect(refusal(sha, raw: "anything", claim: "") == .claimMissing)
    #expect(refusal(plain, raw: "anything", claim: nil) == .claimMissing)
  }

  @Test func `N10 N16 a request without a nonce is refused, whatever the token brings`() {
    #expect(refusal(sha, raw: "", claim: hash("r")) == .missing)
    #expect(refusal(sha, raw: "", claim: hash("")) == .missing)
    #expect(refusal(sha, raw: "", claim: nil) == .missing)
    #expect(refusal(plain, raw: "", claim: "") == .missing)
  }

  @Test func `N11 nonce_supported changes nothing`() throws {
    let claims = AppleClaims(issuedAt: now).setting("nonce", nil).setting("nonce_supported", "false")
    let token = try verify(TokenForge.apple.token(claims))
    #expect(token.claims.nonce == nil)
    #expect(refusal(token.nonceRule, raw: "r", claim: token.claims.nonce) == .claimMissing)
  }

  @Test func `N14 the nonce of another attempt does not match`() {
    #expect(refusal(sha, raw: "second", claim: hash("first")) == .mismatch)
    #expect(refusal(plain, raw: "second", claim: "first") == .mismatch)
  }

  @Test func `N19 each client has one rule, and its token is judged by that`() throws {
    let both = rules(clients: ["com.example.app": sha, "com.example.web": plain])
    let native = try verify(
      TokenForge.apple.token(AppleClaims(issuedAt: now).setting("nonce", text: hash("r"))), both)
    let web = try verify(
      TokenForge.apple.token(
        AppleClaims(issuedAt: now).setting("aud", text: "com.example.web").setting("nonce", text: "r")), both)
    #expect(refusal(native.nonceRule, raw: "r", claim: native.claims.nonce) == nil)
    #expect(refusal(web.nonceRule, raw: "r", claim: web.claims.nonce) == nil)
    #expect(refusal(native.nonceRule, raw: "r", claim: web.claims.nonce) == .claimNotHashed)
    #expect(refusal(web.nonceRule, raw: "r", claim: native.claims.nonce) == .claimIsHashed)
  }

  @Test func `nonces are compared by their bytes`() {
    #expect(refusal(plain, raw: "e\u{301}", claim: "\u{e9}") == .mismatch)
    #expect(refusal(sha, raw: "e\u{301}", claim: hash("\u{e9}")) == .mismatch)
    #expect(refusal(sha, raw: "r", claim: hash("r") + "\n") == .mismatch)
    #expect(refusal(sha, raw: "r ", claim: hash("r")) == .mismatch)
  }

  @Test func `every digit of the digest counts, and so does every byte of a raw nonce`() {
    let (claim, raw) = (Array(hash("r").utf8), Array("raw nonce".utf8))
    for index in claim.indices {
      var other = claim
      other[index] = other[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
      #expect(refusal(sha, raw: "r", claim: String(decoding: other, as: UTF8.self)) == .mismatch)
      #expect(refusal(sha, raw: "r", claim: String(decoding: claim[..<index], as: UTF8.self)) != nil)
    }
    for index in raw.indices {
      var other = raw
      other[index] ^= 1
      #expect(refusal(plain, raw: "raw nonce", claim: String(decoding: other, as: UTF8.self)) == .mismatch)
      #expect(refusal(plain, raw: "raw nonce", claim: String(decoding: raw[..<index], as: UTF8.self)) != nil)
    }
  }

  @Test func `a raw nonce that looks like a digest is a nonce like any other`() {
    let raw = hash("seed")
    #expect(refusal(sha, raw: raw, claim: hash(raw)) == nil)
    #expect(refusal(plain, raw: raw, claim: raw) == nil)
  }
}
