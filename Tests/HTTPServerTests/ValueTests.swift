import HTTPServer
import Testing

/// Headers and addresses, without a socket.
@Suite struct ValueTests {
  @Test func `fields are found without regard to ASCII case, in order`() {
    var headers: Headers = ["Set-Cookie": "a"]
    headers.append("set-cookie", "b")
    #expect(headers.first("SET-COOKIE") == "a")
    #expect(headers.all("Set-Cookie") == ["a", "b"])
    #expect(headers.count(of: "Set-Cookie") == 2)
    #expect(headers.first("Cookie") == nil)
  }

  @Test func `a Kelvin sign is not a k`() {
    #expect(Headers([.init(name: "\u{212A}", value: "a")]).first("k") == nil)
  }

  @Test func `an IPv4 address in IPv6 is the IPv4 address`() throws {
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1]
    let peer = try #require(PeerAddress(bytes: mapped, port: 443))
    #expect(peer == PeerAddress(bytes: [192, 0, 2, 1], port: 443))
    #expect(peer.bytes == [192, 0, 2, 1])
    #expect("\(peer)" == "192.0.2.1:443")
  }

  @Test func `an IPv6 address keeps its bytes`() throws {
    let bytes: [UInt8] = [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1F]
    let peer = try #require(PeerAddress(bytes: bytes, port: 80))
    #expect(peer.bytes == bytes)
    #expect("\(peer)" == "[2001:db8:0:0:0:0:0:1f]:80")
  }

  @Test(arguments: [
    (wanted: 20_000, descriptors: UInt.max, affordable: 20_000), (20_000, 1 << 20, 20_000),
    (20_000, 1024, 896), (500, 1024, 500), (500, 130, 16), (500, 0, 16), (4, 0, 4),
  ])
  func `connections leave descriptors to the rest of the program`(
    _ wanted: Int, _ descriptors: UInt, _ affordable: Int
  ) {
    #expect(affordableConnections(wanted, descriptors: descriptors) == affordable)
  }

  @Test(arguments: [0, 3, 5, 15, 17])
  func `an address has 4 bytes or 16`(_ count: Int) {
    #expect(PeerAddress(bytes: [UInt8](repeating: 1, count: count), port: 1) == nil)
  }
}
