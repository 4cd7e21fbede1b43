import Domain
import Testing

@Suite struct NetworkTests {
  @Test(
    arguments: [
      ("10.0.0.0/8", [10, 1, 2, 3], [11, 0, 0, 0]), ("192.0.2.7", [192, 0, 2, 7], [192, 0, 2, 6]),
      ("0.0.0.0/0", [255, 1, 2, 3], [UInt8](repeating: 0, count: 16)),
      ("192.0.2.128/25", [192, 0, 2, 255], [192, 0, 2, 127]),
      (
        "fd00::/8", [0xFD] + [UInt8](repeating: 9, count: 15), [0xFC] + [UInt8](repeating: 0, count: 15)
      ),
      (
        "2001:db8::1", [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1],
        [UInt8](repeating: 0, count: 16)
      ),
    ] as [(String, [UInt8], [UInt8])])
  func `a network holds the addresses behind its prefix`(
    _ text: String, _ inside: [UInt8], _ outside: [UInt8]
  ) throws {
    let network = try #require(Network(text))
    #expect(network.contains(inside))
    #expect(!network.contains(outside))
    #expect(!network.contains([]))
  }

  @Test(arguments: [
    "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.1/8",
    "10.0.0/8", "10.0.0.256",
    "fd00::/129", "fd00::1/8", "fd00:::/8", ":::", "1:2:3:4:5:6:7:8:9", "localhost", "10.0.0.0 /8",
    "010.0.0.0/8", "g::",
    "1:2:3:4:5:6:7", "::1::", "12345::", "1.2.3.4.5",
  ])
  func `anything else is no network`(_ text: String) {
    #expect(Network(text) == nil)
  }
}
