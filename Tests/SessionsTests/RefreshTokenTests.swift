import Crypto
import Domain
import Sessions
import TestSupport
import Testing
import Wire

private let session = SessionID(at: UnixTime(1_750_000_000), from: .seeded(4))

private func refusal(_ ring: MasterKeyRing, _ text: String) -> RefreshTokenError? {
  do throws(RefreshTokenError) {
    _ = try ring.refreshToken(from: text)
    return nil
  } catch {
    return error
  }
}

@Suite struct RefreshTokenTests {
  @Test(arguments: [0, 1, 255, 256, 65_536, UInt32.max])
  func `a token says its session and counter, the same each time`(_ counter: UInt32) throws {
    let ring = try ring(1)
    let token = RefreshToken(session: session, counter: counter)
    let text = try #require(ring.text(of: token, madeWith: ring.current.id))
    #expect(text.utf8.count == 82)
    #expect(ring.text(of: token, madeWith: ring.current.id) == text)
    #expect(try ring.refreshToken(from: text) == token)
  }

  @Test func `the layout is version, master key, session, counter and MAC`() throws {
    let ring = try ring(1)
    let text = try #require(
      ring.text(of: RefreshToken(session: session, counter: 0x0102_0304), madeWith: ring.current.id))
    let bytes = try decodeBase64URL(text.utf8)
    let signed = [1] + ring.current.id.bytes + session.bytes + [1, 2, 3, 4]
    let mac = MACKey(try deriveKey(from: masterBytes(1), purpose: "bramley refresh token v1"))
    #expect(bytes == signed + mac.code(for: signed))
  }

  @Test func `every flipped bit is refused`() throws {
    let ring = try ring(1)
    let text = try #require(
      ring.text(of: RefreshToken(session: session, counter: 7), madeWith: ring.current.id))
    let bytes = try decodeBase64URL(text.utf8)
    for bit in 0..<(bytes.count * 8) {
      var wrong = bytes
      wrong[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(refusal(ring, base64URLText(wrong)) == (bit < 8 ? .malformed : .unknown))
    }
  }

  @Test func `every changed character is refused`() throws {
    let ring = try ring(1)
    let text = Array(
      try #require(ring.text(of: RefreshToken(session: session, counter: 7), madeWith: ring.current.id)).utf8)
    for index in text.indices {
      for letter in [UInt8(ascii: "A"), UInt8(ascii: "b"), UInt8(ascii: "_"), UInt8(ascii: "="), 0x20]
      where letter != text[index] {
        var wrong = text
        wrong[index] = letter
        #expect(refusal(ring, String(decoding: wrong, as: UTF8.self)) != nil)
      }
    }
  }

  @Test func `other lengths and other texts are malformed`() throws {
    let ring = try ring(1)
    let text = try #require(
      ring.text(of: RefreshToken(session: session, counter: 7), madeWith: ring.current.id))
    for count in 0..<text.utf8.count { #expect(refusal(ring, String(text.prefix(count))) == .malformed) }
    for wrong in [
      text + "A", text + "=", text + "\n", " " + text, text + text, String(repeating: "é", count: 41), "null",
    ] {
      #expect(refusal(ring, wrong) == .malformed)
    }
    #expect(refusal(ring, String(repeating: "A", count: 1_000_000)) == .malformed)
  }

  @Test func `a token of another master key is unknown`() throws {
    let other = try ring(2)
    let text = try #require(
      other.text(of: RefreshToken(session: session, counter: 7), madeWith: other.current.id))
    #expect(try refusal(ring(1), text) == .unknown)
    #expect(try refusal(ring(1, 2), text) == nil)
    #expect(try refusal(ring(2, 1), text) == nil)
    #expect(
      try ring(1).text(of: RefreshToken(session: session, counter: 7), madeWith: other.current.id) == nil)
  }

  @Test func `the first key of a ring makes new things and all are found`() throws {
    let ring = try ring(3, 1, 2)
    #expect(try masterKey(3).id == ring.current.id)
    for byte in [1, 2, 3] as [UInt8] { #expect(try ring[masterKey(byte).id] != nil) }
    #expect(try ring[masterKey(4).id] == nil)
  }

  @Test func `a master key has a text form, and no other text is one`() throws {
    let text = masterKeyText(Secret(masterBytes(7))).reveal()
    #expect(masterKeyBytes(fromText: text)?.reveal() == masterBytes(7))
    let wrongs = [
      "", "AAAA", base64Text(masterBytes(7).dropLast()), base64Text(masterBytes(7) + [7]),
      base64URLText(masterBytes(7)),
      text + "\n", String(repeating: "0", count: 64),
    ]
    for wrong in wrongs { #expect(masterKeyBytes(fromText: wrong) == nil) }
  }

  @Test func `a master key's id gives nothing of the key away`() throws {
    let id = try masterKey(7).id
    #expect(id.bytes != Array(masterBytes(7).prefix(8)))
    #expect(try masterKey(7).id == id)
  }
}
