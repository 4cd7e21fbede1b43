import Domain
import TestSupport
import Testing

@Suite struct PersonNameTests {
  @Test(arguments: [
    ("A\u{0}B", "AB"), ("A\u{1}\u{1f}\u{7f}\u{85}B", "AB"), ("\u{202e}evil\u{202c}", "evil"),
    ("\u{2066}a\u{2069}", "a"), ("a\u{2028}b\u{2029}c", "abc"), ("\u{FEFF}a", "a"), ("  a  b \n", "a  b"),
    ("\u{a0}a\u{3000}", "a"), ("a\n{\"level\":\"error\"", "a{\"level\":\"error\""),
  ])
  func `U01 U13 controls, overrides and separators are taken out`(_ text: String, _ cleaned: String) {
    #expect(cleanedText(text) == cleaned)
  }

  @Test(arguments: [
    "", " ", "\u{200b}\u{200b}", "\u{3164}", "  ", "\u{0}", "\u{200d}", "\u{a0}\u{2003}", "\u{202e}",
    "\u{ad}",
    "\u{2060}\u{feff}", "\u{e0020}",
  ])
  func `U04 a name with nothing to be seen is no name`(_ text: String) {
    #expect(cleanedText(text) == nil)
  }

  @Test(arguments: ["undefined", "null", " null ", "\u{0}undefined", "nu\u{202e}ll\u{0}"])
  func `words that templates leave are no name`(_ text: String) {
    #expect(cleanedText(text) == nil)
  }

  @Test(arguments: ["Null", "Undefined", "null null", "Nullam"])
  func `other words are names`(_ text: String) {
    #expect(cleanedText(text) == text)
  }

  @Test(arguments: [
    "می‌خواهم", "क्‍ष", "👩‍👩‍👧‍👦", "O'Brien-Müller", "<script>alert(1)</script>", "{{7*7}}", "=HYPERLINK(1)",
    "e\u{335}",
  ])
  func `U14 joiners, markup and marks stay as they are`(_ text: String) {
    #expect(cleanedText(text).map { Array($0.utf8) } == Array(text.utf8))
  }

  @Test func `U10 a decomposed name becomes the composed one, byte for byte`() {
    #expect(cleanedText("e\u{301}").map { Array($0.utf8) } == Array("é".utf8))
    #expect(cleanedText("e\u{0}\u{301}").map { Array($0.utf8) } == Array("é".utf8))
  }

  @Test func `U11 a long name is cut at a grapheme within both limits`() throws {
    let family = "👨‍👩‍👧‍👦"
    let cut = try #require(cleanedText(String(repeating: family, count: 300)))
    #expect(cut == String(repeating: family, count: 16))
    #expect(cut.utf8.count == 400)
    #expect(cleanedText(String(repeating: "a", count: 101)) == String(repeating: "a", count: 100))
    #expect(cleanedText(String(repeating: "日", count: 101)) == String(repeating: "日", count: 100))
    #expect(cleanedText(String(repeating: "a", count: 100)) == String(repeating: "a", count: 100))
  }

  @Test func `U11 one grapheme that is too long by itself is no name`() {
    #expect(cleanedText("a" + String(repeating: "\u{301}", count: 250)) == nil)
  }

  @Test func `a cut leaves no space behind and nothing invisible alone`() {
    #expect(cleanedText(String(repeating: "a", count: 99) + " b") == String(repeating: "a", count: 99))
    #expect(cleanedText(String(repeating: "\u{3164}", count: 120) + "b") == nil)
  }

  @Test func `cleaning what is clean changes nothing`() throws {
    var generator = SeededGenerator(11)
    let pool: [Unicode.Scalar] =
      [
        0, 0x20, 0x61, 0x65, 0x301, 0x308, 0x323, 0x200B, 0x200D, 0x202E, 0x3164, 0x1F468, 0x1F3FD, 0x1100,
        0x1161,
        0x11A8, 0xAC00, 0xE9, 0x85, 0xA0, 0xFEFF, 0x5C71, 0x212B, 0x1E9B, 0x6E, 0x75, 0x6C, 0x9B2, 0x9BE,
        0x1F1E6,
      ].compactMap(Unicode.Scalar.init)
    let long = (0..<3000).map { _ in Int.random(in: 0..<170, using: &generator) }
    for length in long {
      let text = String(
        String.UnicodeScalarView((0..<length).compactMap { _ in pool.randomElement(using: &generator) }))
      guard let once = cleanedText(text) else { continue }
      let twice = try #require(cleanedText(once), "gone the second time: \(once.unicodeScalars.map(\.value))")
      #expect(Array(twice.utf8) == Array(once.utf8))
    }
  }

  @Test func `U07 parts are kept and shown in the order of their script`() {
    #expect(PersonName(givenName: "太郎", familyName: "山田").displayName == "山田太郎")
    #expect(PersonName(givenName: "길동", familyName: "홍").fullName == "홍길동")
    #expect(PersonName(givenName: "Taro", familyName: "山田").displayName == "Taro 山田")
    #expect(PersonName(givenName: "Ada", familyName: "Lovelace").displayName == "Ada Lovelace")
    #expect(
      PersonName(
        givenName: "Ada", familyName: "King", middleName: "B.", namePrefix: "Dr", nameSuffix: "II",
        nickname: "Countess"
      ).fullName == "Dr Ada B. King II")
    #expect(PersonName(familyName: "Sukarno").displayName == "Sukarno")
    #expect(PersonName(nickname: "Zed").displayName == "Zed")
    #expect(PersonName(namePrefix: "Dr").displayName == nil)
    #expect(PersonName().fullName == nil)
  }

  @Test func `a name of invisible parts is empty`() {
    #expect(PersonName(givenName: " ", familyName: "\u{200b}", nickname: "").isEmpty)
    #expect(!PersonName(nickname: "a").isEmpty)
    #expect(PersonName(givenName: "null", familyName: "undefined").displayName == nil)
  }

  @Test func `a session has no empty device`() throws {
    let session = Session(
      id: SessionID(at: UnixTime(1), from: .seeded(1)), account: try #require(AccountID("a")),
      provider: "apple.com",
      createdAt: UnixTime(1), device: Device(name: " ", model: nil, os: nil, appVersion: nil),
      masterKey: MasterKeyID(prefixOf: Array(0..<8)), rotatedAt: UnixTime(1))
    #expect(session.device == nil)
  }

  @Test func `device facts are cleaned and cut`() {
    let device = Device(name: " a\u{0} ", model: "", os: String(repeating: "x", count: 200), appVersion: nil)
    #expect(device.name == "a")
    #expect(device.model == nil)
    #expect(device.os == String(repeating: "x", count: 128))
    #expect(Device(name: " ", model: nil, os: nil, appVersion: nil).isEmpty)
  }
}
