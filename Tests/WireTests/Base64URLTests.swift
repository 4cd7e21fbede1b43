import TestSupport
import Testing
import Wire

@Suite struct Base64URLTests {
  @Test(arguments: [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
    ("foobar", "Zm9vYmFy"),
  ])
  func `the vectors of RFC 4648 go both ways without padding`(_ plain: String, _ encoded: String) throws {
    #expect(base64URLText(plain.utf8) == encoded)
    #expect(try decodeBase64URL(encoded.utf8) == Array(plain.utf8))
  }

  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `the vectors of RFC 4648 go both ways with padding`(_ plain: String, _ encoded: String) throws {
    #expect(base64Text(plain.utf8) == encoded)
    #expect(try decodeBase64(encoded.utf8) == Array(plain.utf8))
  }

  @Test func `the two alphabets differ in the last two letters`() throws {
    let bytes: [UInt8] = [0xFB, 0xFF, 0xFE]
    #expect(base64URLText(bytes) == "-__-")
    #expect(base64Text(bytes) == "+//+")
  }

  @Test(arguments: [
    ("A", Base64Error.badLength), ("AAAAA", .badLength), ("AA==", .badByte), ("AA=", .badByte),
    ("AAA=", .badByte),
    ("+A", .badByte), ("A/", .badByte), ("AA AA", .badLength), ("A AA", .badByte), ("AA\nA", .badByte),
    ("AA\u{0}A", .badByte), ("éAA", .badByte), ("AB", .nonCanonical), ("AAB", .nonCanonical),
    ("Zh", .nonCanonical),
    ("Zm9", .nonCanonical),
  ])
  func `any other spelling of base64url is refused`(_ text: String, _ reason: Base64Error) {
    #expect(throws: reason) { try decodeBase64URL(text.utf8) }
  }

  @Test(arguments: [
    ("A", Base64Error.badLength), ("AA", .badLength), ("AAA", .badLength), ("A===", .badByte),
    ("====", .badByte),
    ("AA=A", .badByte), ("=AAA", .badByte), ("AA==AA==", .badByte), ("-AAA", .badByte), ("AA A", .badByte),
    ("AAA\n", .badByte), ("AB==", .nonCanonical), ("AAB=", .nonCanonical),
  ])
  func `any other spelling of base64 is refused`(_ text: String, _ reason: Base64Error) {
    #expect(throws: reason) { try decodeBase64(text.utf8) }
  }

  @Test func `random bytes come back, and no other text of that length decodes to them`() throws {
    var generator = SeededGenerator(1)
    for length in 0..<70 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let text = Array(base64URLText(bytes).utf8)
      #expect(try decodeBase64URL(text) == bytes)
      guard let last = text.indices.last else { continue }
      for letter in UInt8.min...UInt8.max where letter != text[last] {
        var changed = text
        changed[last] = letter
        #expect((try? decodeBase64URL(changed)) != bytes)
      }
    }
  }

  @Test func `text is appended to what is there`() {
    var out = Array("x.".utf8)
    appendBase64URL([1, 2, 3], to: &out)
    #expect(out == Array("x.AQID".utf8))
  }
}
