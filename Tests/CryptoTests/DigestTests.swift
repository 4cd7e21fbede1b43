import Crypto
import Domain
import TestSupport
import Testing

func hexBytes(_ text: String) -> [UInt8] {
  var digits = Array(text)[...]
  var bytes: [UInt8] = []
  while let byte = UInt8(String(digits.prefix(2)), radix: 16) {
    bytes.append(byte)
    digits = digits.dropFirst(2)
  }
  return bytes
}

func filled(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

@Suite struct DigestTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `SHA-256 gives the examples of FIPS 180`(_ text: String, _ digest: String) {
    #expect(hexText(sha256(Array(text.utf8))) == digest)
  }

  @Test func `SHA-256 of a million letters`() {
    #expect(
      hexText(sha256(filled(0x61, 1_000_000)))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func `two lists of fields never have one digest`() {
    let lists: [[[UInt8]]] = [
      [], [[]], [[], []], [[1, 2]], [[1], [2]], [[1, 2], []], [[], [1, 2]], [[0, 0, 0, 1, 1]], [[1], [1]],
    ]
    #expect(Set(lists.map { sha256(fields: $0) }).count == lists.count)
  }

  @Test func `secrets are equal when all their bytes are`() {
    #expect(constantTimeEqual([], []))
    #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    #expect(!constantTimeEqual([], [0]))
  }

  @Test func `the system's random bytes do not repeat`() {
    #expect(Set((0..<100).map { _ in Entropy.system.bytes(16) }).count == 100)
    #expect(Entropy.system.bytes(0) == [])
  }

  @Test(.timeLimit(.minutes(3))) func `many tasks digest at once`() async {
    await withTaskGroup(of: Bool.self) { group in
      for seed in 0..<64 {
        group.addTask {
          let message = Entropy.seeded(UInt64(seed)).bytes(seed * 10)
          let digest = sha256(message)
          return (0..<200).allSatisfy { _ in sha256(message) == digest }
        }
      }
      for await isSame in group { #expect(isSame) }
    }
  }
}
