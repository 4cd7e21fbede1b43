import Crypto
import Domain
import TestSupport
import Testing

@Suite struct SealingKeyTests {
  private let key = SealingKey(filled(7, 32))
  private let context = Array("row 1".utf8)

  @Test(arguments: [0, 1, 15, 16, 17, 138, 1000])
  func `what was sealed is opened with the same key and context`(_ count: Int) throws {
    let plain = Entropy.seeded(1).bytes(count)
    let sealed = try key.seal(plain, context: context, entropy: .seeded(2))
    #expect(sealed.count == count + 28)
    #expect(key.open(sealed, context: context) == plain)
    let bare = try key.seal(plain, context: [], entropy: .seeded(2))
    #expect(key.open(bare, context: []) == plain)
  }

  @Test func `another key or another context opens nothing`() throws {
    let sealed = try key.seal([1, 2, 3], context: context, entropy: .seeded(2))
    #expect(SealingKey(filled(8, 32)).open(sealed, context: context) == nil)
    #expect(key.open(sealed, context: Array("row 2".utf8)) == nil)
    #expect(key.open(sealed, context: []) == nil)
  }

  @Test func `every flipped bit is noticed`() throws {
    let sealed = try key.seal([1, 2, 3], context: context, entropy: .seeded(2))
    for bit in 0..<(sealed.count * 8) {
      var wrong = sealed
      wrong[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(key.open(wrong, context: context) == nil)
    }
  }

  @Test func `what is too short or too long opens nothing`() throws {
    let sealed = try key.seal([1, 2, 3], context: context, entropy: .seeded(2))
    for count in 0..<sealed.count { #expect(key.open(Array(sealed.prefix(count)), context: context) == nil) }
    #expect(key.open(sealed + [0], context: context) == nil)
  }

  @Test func `no two sealings are alike`() throws {
    let entropy = Entropy.seeded(3)
    let first = try key.seal([1, 2, 3], context: context, entropy: entropy)
    #expect(try key.seal([1, 2, 3], context: context, entropy: entropy) != first)
  }

  // NIST GCM test case 16 without its last cipher block: AES-256, 96-bit nonce, associated data.
  @Test func `sealing is AES-256-GCM`() throws {
    let key = SealingKey(hexBytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
    let nonce = hexBytes("cafebabefacedbaddecaf888")
    let sealed = try key.seal(
      hexBytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
          + "b16aedf5aa0de657ba637b39"),
      context: hexBytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"), entropy: Entropy { _ in nonce })
    #expect(
      hexText(sealed)
        == "cafebabefacedbaddecaf888"
        + "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
        + "c5f61e6393ba7a0abcc9f662" + "76fc6ece0f4e1768cddf8853bb2d551b")
  }
}
