import Crypto
import Domain
import Testing

@Suite struct MACTests {
  // RFC 4231 §4.
  @Test(
    arguments: [
      (
        filled(0x0b, 20), Array("Hi There".utf8),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        filled(0xaa, 20), filled(0xdd, 50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
      ),
      (
        Array(1...25), filled(0xcd, 50), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
      ),
      (
        filled(0xaa, 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
      (
        filled(0xaa, 131),
        Array(
          ("This is a test using a larger than block-size key and a larger than block-size data. "
            + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
      ),
    ] as [([UInt8], [UInt8], String)])
  func `HMAC gives the examples of RFC 4231`(_ key: [UInt8], _ message: [UInt8], _ code: String) {
    let mac = MACKey(key)
    #expect(hexText(mac.code(for: message)) == code)
    #expect(hexText(mac.code(for: message)) == code, "and again with the same context")
    #expect(mac.isCode(hexBytes(code), for: message))
  }

  @Test func `a code is right as a whole or not at all`() {
    let mac = MACKey(filled(1, 32))
    let code = mac.code(for: [1, 2, 3])
    for bit in 0..<256 {
      var wrong = code
      wrong[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!mac.isCode(wrong, for: [1, 2, 3]))
    }
    #expect(!mac.isCode(Array(code.dropLast()), for: [1, 2, 3]))
    #expect(!mac.isCode(code + [0], for: [1, 2, 3]))
    #expect(!mac.isCode([], for: [1, 2, 3]))
    #expect(!mac.isCode(code, for: [1, 2]))
    #expect(mac.isCode(Array(code.prefix(16)), for: [1, 2, 3], length: 16))
    #expect(!mac.isCode(code, for: [1, 2, 3], length: 16))
  }

  @Test func `two keys make two codes`() {
    #expect(MACKey(filled(1, 32)).code(for: []) != MACKey(filled(2, 32)).code(for: []))
  }

  @Test func `an empty message has a code`() {
    #expect(
      hexText(MACKey(filled(0, 32)).code(for: []))
        == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  // RFC 5869 A.3 (empty salt, empty info), the first 32 of its 42 bytes; and one with a purpose, from another
  // implementation.
  @Test func `HKDF gives the example of RFC 5869 without salt`() throws {
    #expect(
      hexText(try deriveKey(from: filled(0x0b, 22), purpose: ""))
        == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d")
    #expect(
      hexText(try deriveKey(from: Array(0..<32), purpose: "bramley refresh token v1"))
        == "8d4f1db02d5827845070c18ce3fcbb479333a849c1378c2bccb7cf8fbccdb04e")
  }

  @Test func `purposes and keys keep subkeys apart`() throws {
    let keys = try [
      deriveKey(from: filled(1, 32), purpose: "a"), deriveKey(from: filled(1, 32), purpose: "b"),
      deriveKey(from: filled(2, 32), purpose: "a"),
    ]
    #expect(Set(keys).count == 3)
  }
}
