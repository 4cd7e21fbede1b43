import BramleyClient
import Testing

/// The kit's own SHA-256, through the nonce that it is there for.
@Suite struct SHA256DigestTests {
  /// FIPS 180-4's examples, of one block and two; then the lengths around the end of a block, in zeros.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
    (String(repeating: "\0", count: 55), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"),
    (String(repeating: "\0", count: 56), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"),
    (String(repeating: "\0", count: 57), "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"),
    (String(repeating: "\0", count: 64), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"),
    (
      String(repeating: "a", count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
  ])
  func `the digest is the standard's`(_ text: String, _ digest: String) {
    #expect(AppleNonce(raw: text).sha256 == digest)
  }

  @Test func `a nonce is 32 characters that need no escaping, and another one each time`() {
    let nonces = (0..<1000).map { _ in AppleNonce() }
    #expect(Set(nonces.map(\.raw)).count == 1000)
    let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    #expect(nonces.allSatisfy { $0.raw.count == 32 && Set($0.raw).isSubset(of: alphabet) })
    #expect(Set(nonces.flatMap { Array($0.raw) }) == alphabet)
    #expect(nonces.allSatisfy { $0.sha256.count == 64 && $0.sha256 != $0.raw })
  }
}
