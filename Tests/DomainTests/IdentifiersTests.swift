import Domain
import TestSupport
import Testing

@Suite struct IdentifiersTests {
  @Test(arguments: ["", " ", "a b", "a\n", "a\u{0}", "é", "e\u{301}", "\u{212A}", "a\u{7f}", "日本"])
  func `U10 text that could be equal without being the same bytes is no identifier`(_ text: String) {
    #expect(Subject(text) == nil)
    #expect(ClientID(text) == nil)
    #expect(KeyID(text) == nil)
    #expect(AccountID(text) == nil)
  }

  @Test func `identifiers keep their case and their bytes`() throws {
    let text = "000123.0123456789abcdef0123456789abcdef.0456~!\"\\"
    #expect(try #require(Subject(text)).description == text)
    #expect(Subject("abc") != Subject("ABC"))
  }

  @Test func `length is limited at both ends`() {
    #expect(Subject(String(repeating: "a", count: 255)) != nil)
    #expect(Subject(String(repeating: "a", count: 256)) == nil)
    #expect(AccountID(String(repeating: "a", count: 128)) != nil)
    #expect(AccountID(String(repeating: "a", count: 129)) == nil)
    #expect(KeyID(String(repeating: "a", count: 129)) == nil)
    #expect(ClientID(String(repeating: "a", count: 256)) == nil)
  }

  @Test func `no account has an id that paths cannot name`() {
    #expect(AccountID(".") == nil && AccountID("..") == nil)
    #expect(AccountID("...") != nil && AccountID("%2e") != nil && Subject(".") != nil)
  }

  @Test func `a new account id is twenty-eight letters and digits, each of them likely`() {
    let entropy = Entropy.seeded(3)
    var seen: Set<Character> = []
    for _ in 0..<200 {
      let text = AccountID(from: entropy).text
      #expect(text.utf8.count == 28)
      #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
      seen.formUnion(text)
    }
    #expect(seen.count == 62)
  }

  @Test func `bytes that would favour some letters are passed over`() {
    let id = AccountID(from: Entropy { count in (0..<count).map { $0 % 2 == 0 ? 255 : 61 } })
    #expect(id.text == String(repeating: "9", count: 28))
  }

  @Test func `a session id is its time and twelve random bytes, and comes back from hex`() throws {
    let id = SessionID(at: UnixTime(0x0102_0304), from: .seeded(5))
    #expect(Array(id.bytes.prefix(4)) == [1, 2, 3, 4])
    #expect(id.bytes.count == 16)
    #expect(id.description.utf8.count == 32)
    #expect(SessionID(hex: id.description) == id)
    #expect(SessionID(at: UnixTime(-1), from: .seeded(5)).bytes.prefix(4) == [0, 0, 0, 0])
    #expect(SessionID(at: UnixTime(.max), from: .seeded(5)).bytes.prefix(4) == [255, 255, 255, 255])
  }

  @Test(arguments: [
    "", "0", "00112233445566778899aabbccddeef", "00112233445566778899aabbccddeeff0",
    "00112233445566778899aabbccddeeff00", "00112233445566778899AABBCCDDEEFF",
    "0011223344556677-899aabbccddeef",
    " 0112233445566778899aabbccddeeff", "g0112233445566778899aabbccddeeff",
  ])
  func `any other text is no session id`(_ text: String) {
    #expect(SessionID(hex: text) == nil)
  }

  @Test func `ids of fixed length take that length only`() {
    #expect(SessionID([UInt8](repeating: 1, count: 15)) == nil)
    #expect(SessionID([UInt8](repeating: 1, count: 17)) == nil)
    #expect(MasterKeyID([UInt8](repeating: 1, count: 7)) == nil)
    #expect(MasterKeyID([UInt8](repeating: 1, count: 9)) == nil)
    #expect(MasterKeyID([0, 1, 2, 3, 4, 5, 254, 255])?.description == "000102030405feff")
    #expect(MasterKeyID(prefixOf: Array(0..<32)) == MasterKeyID(Array(0..<8)))
  }
}
