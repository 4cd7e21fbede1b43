import API
import Domain
import Foundation
import Testing

/// The forms of a `postBody`, as each SDK builds it.
private enum Written {
  private static func percentEncoded(_ text: String) -> String {
    text.addingPercentEncoding(
      withAllowedCharacters: .alphanumerics.intersection(.init(charactersIn: "!"..."~")))
      ?? text
  }

  /// The SDK of iOS sets query items and reads the decoded query back, so nothing is encoded in the end.
  static func byIOS(_ items: [(String, String)], given: String? = nil, family: String? = nil) throws -> String
  {
    var components = URLComponents()
    components.queryItems = items.map { URLQueryItem(name: $0.0, value: $0.1) }
    if given != nil || family != nil {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let user = try encoder.encode([
        "name": ["firstName": given, "lastName": family].compactMapValues { $0 }
      ])
      components.queryItems?.append(URLQueryItem(name: "user", value: String(decoding: user, as: UTF8.self)))
    }
    return try #require(components.query)
  }

  /// The SDK of JavaScript encodes each value and begins with `&`.
  static func byJavaScript(_ items: [(String, String)]) -> String {
    items.map { "&\($0.0)=\(percentEncoded($0.1))" }.joined()
  }

  /// The SDK of Android joins what it has, with `providerId` at the end.
  static func byAndroid(_ items: [(String, String)]) -> String {
    items.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
  }
}

private let token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhLWJfYyJ9.c2ln-_bmF0dXJl"

/// Nonces in which each form of encoding leaves its traces.
private let nonces = [
  "plain-nonce._~0123456789", "ab+cd", "a+b/c==%41&x", "n+o/n=ce&x", "100%", "%", "%zz", "%252B", "a b", "ü😀",
  "&",
  "=", "x&y=z&", "{\"a\":1}", "a&user", "a&nonceless=1",
]

/// Given and family names with what breaks forms, queries and JSON.
private let names: [(given: String?, family: String?)] = [
  ("Anna", "Smith"), ("Anna Lena", "van der Berg"), ("Jürgen", "Müßig"), ("A & B", "100%"), ("A+B", "C=D"),
  ("Tom & Jerry", "R&nonce=x&id_token=y"), ("%41", "%C3%BC"), ("\"Ann\"", "O'Neil \\ Sons"), ("👩‍👩‍👧", "😀"),
  ("太郎", "山田"), ("a/b", "{}"), ("Ann", nil), (nil, "Lee"),
]

@Suite struct PostBodyTests {
  @Test(arguments: nonces)
  func `F01 F02 a nonce from the SDK of iOS is among the readings as it was`(_ nonce: String) throws {
    let text = try Written.byIOS([("providerId", "apple.com"), ("id_token", token), ("nonce", nonce)])
    #expect(text == "providerId=apple.com&id_token=\(token)&nonce=\(nonce)")
    let body = try PostBody(parsing: text)
    #expect(body.providerID == "apple.com")
    #expect(body.idToken == token)
    #expect(body.nonces.first == nonce)
    #expect(body.name == nil)
    #expect(body.code == nil)
  }

  @Test(arguments: names)
  func `F01 a name from the SDK of iOS is read whatever is in it`(_ given: String?, _ family: String?) throws
  {
    let text = try Written.byIOS(
      [("providerId", "apple.com"), ("id_token", token), ("nonce", "a+b/c==%41&x")], given: given,
      family: family)
    let body = try PostBody(parsing: text)
    #expect(body.providerID == "apple.com")
    #expect(body.idToken == token)
    #expect(body.nonces == ["a+b/c==%41&x", "a+b/c==A&x", "a b/c==A&x"])
    #expect(body.name == PersonName(givenName: given, familyName: family))
    #expect(body.name?.givenName?.utf8.elementsEqual((given ?? "").utf8) ?? (given == nil))
  }

  @Test(arguments: nonces)
  func `F02 F04 a nonce from the SDK of JavaScript is decoded once`(_ nonce: String) throws {
    let text = Written.byJavaScript([("id_token", token), ("providerId", "apple.com"), ("nonce", nonce)])
    #expect(text.hasPrefix("&id_token="))
    let body = try PostBody(parsing: text)
    #expect(body.providerID == "apple.com")
    #expect(body.idToken == token)
    #expect(body.nonces.contains(nonce))
    #expect(body.nonces.count <= 2)
  }

  @Test(arguments: nonces)
  func `F02 a nonce from the SDK of Android is among the readings as it was`(_ nonce: String) throws {
    let text = Written.byAndroid([
      ("id_token", token), ("code", "c1.0.mq-_"), ("nonce", nonce), ("providerId", "apple.com"),
    ])
    let body = try PostBody(parsing: text)
    #expect(body.providerID == "apple.com")
    #expect(body.idToken == token)
    #expect(body.code == "c1.0.mq-_")
    #expect(body.nonces.first == nonce)
  }

  @Test func `the bytes that the SDK of JavaScript sends are read`() throws {
    let body = try PostBody(parsing: "&id_token=AAA.BBB.CCC&providerId=apple.com&nonce=n%2Bo%2Fn%3Dce%26x")
    #expect(body.idToken == "AAA.BBB.CCC")
    #expect(body.providerID == "apple.com")
    #expect(body.nonces == ["n%2Bo%2Fn%3Dce%26x", "n+o/n=ce&x"])
  }

  @Test(arguments: [
    ("abc", ["abc"]), ("ab+cd", ["ab+cd", "ab cd"]), ("%252B", ["%252B", "%2B"]),
    ("a%2Bb", ["a%2Bb", "a+b"]),
    ("a%2Bb+c", ["a%2Bb+c", "a+b+c", "a+b c"]), ("100%", ["100%"]), ("%ED%A0%80", ["%ED%A0%80"]),
    ("%FF+", ["%FF+"]), ("%00", ["%00"]), ("%0a", ["%0a"]), ("e%CC%81", ["e%CC%81", "e\u{301}"]),
  ])
  func `F02 F04 F11 each reading of a nonce is offered once, and only when it is text`(
    _ written: String, _ readings: [String]
  ) throws {
    let nonces = try PostBody(parsing: "nonce=\(written)&id_token=x").nonces
    #expect(nonces.map { Array($0.utf8) } == readings.map { Array($0.utf8) })
  }

  @Test(arguments: ["a\u{1}b", "\u{7F}", "line\nbreak", "\t", "\r"])
  func `F11 a nonce with control characters has no reading`(_ nonce: String) {
    #expect(throws: PostBodyError.nonceMalformed) { try PostBody(parsing: "id_token=x&nonce=\(nonce)") }
  }

  @Test func `the length of a nonce is that of what it stands for`() throws {
    let longest = String(repeating: "é", count: Limits.nonceBytes / 2)
    let encoded = String(repeating: "%C3%A9", count: Limits.nonceBytes / 2)
    #expect(try PostBody(parsing: "nonce=\(longest)").nonces == [longest])
    #expect(try PostBody(parsing: "nonce=\(encoded)").nonces == [longest])
    #expect(throws: PostBodyError.nonceTooLong) { try PostBody(parsing: "nonce=\(longest)x") }
    #expect(throws: PostBodyError.nonceTooLong) { try PostBody(parsing: "nonce=\(encoded)x") }
  }

  @Test func `a code is as long as codes are allowed to be`() throws {
    let longest = String(repeating: "c", count: Limits.codeBytes)
    #expect(try PostBody(parsing: "code=\(longest)&id_token=x").code == longest)
    #expect(throws: PostBodyError.codeTooLong) { try PostBody(parsing: "code=\(longest)c&id_token=x") }
  }

  @Test(arguments: [
    "id_token=A&id_token=B", "id_token=A&id_token=A", "&nonce=a&id_token=A&nonce=b",
    "providerId=a&providerId=b",
    "access_token=&access_token=", "user=a&user=b", "code=1&nonce=x&code=2",
  ])
  func `F10 a key that comes twice is refused`(_ text: String) {
    #expect(throws: PostBodyError.duplicateMember) { try PostBody(parsing: text) }
  }

  @Test(arguments: [
    "id_token=\(token)&access_token=&nonce=r&providerId=apple.com&code=&user=&oauth_token_secret=&identifier=",
    "access_token=&providerId=apple.com&id_token=\(token)&nonce=r",
    "&&providerId=apple.com&&id_token=\(token)&nonce=r",
    "providerId=Apple.COM&id_token=\(token)&nonce=r",
    "state=s&providerId=apple.com&scope=name&id_token=\(token)&x=&nonce=r",
    "providerId=apple%2Ecom&id_token=\(token.replacing(".", with: "%2E"))&nonce=r",
    "nonce=r&providerId=apple.com&id_token=\(token)&user",
  ])
  func `F08 empty values are absent, and what is not known is passed over`(_ text: String) throws {
    let plain = try PostBody(parsing: "providerId=apple.com&id_token=\(token)&nonce=r")
    #expect(try PostBody(parsing: text) == plain)
  }

  @Test func `what may be a code in the place of an access token is kept apart from a code`() throws {
    let body = try PostBody(parsing: "id_token=\(token)&nonce=r&access_token=c0ffee.0.code")
    #expect(body.accessToken == "c0ffee.0.code")
    #expect(body.code == nil)
    let long = String(repeating: "a", count: 2049)
    #expect(try PostBody(parsing: "id_token=\(token)&access_token=\(long)").accessToken == nil)
    #expect(try PostBody(parsing: "id_token=\(token)&access_token=a%ED%A0%80").accessToken == nil)
  }

  @Test(arguments: ["", "&", "garbage", "=", "nonce", "nonce=", "&user=", "ID_TOKEN=x", "xid_token=x"])
  func `a text without any value has none`(_ text: String) throws {
    let body = try PostBody(parsing: text)
    #expect(body.providerID == nil)
    #expect(body.idToken == nil)
    #expect(body.nonces == [])
    #expect(body.name == nil)
    #expect(body.code == nil)
  }

  @Test(arguments: [
    "id_token=%FF", "id_token=a%", "providerId=%zz", "code=%ED%A0%80", "id_token=a%00b", "code=\n",
  ])
  func `F11 a value that is no text after decoding is refused`(_ text: String) {
    #expect(throws: PostBodyError.malformed) { try PostBody(parsing: text) }
  }

  @Test func `a name in a form that is encoded is read too, also before other keys`() throws {
    let user = #"{"name":{"firstName":"A & B","lastName":"Ü+ 100%"},"email":"a@example.com"}"#
    let expected = PersonName(givenName: "A & B", familyName: "Ü+ 100%")
    let encoded = Written.byJavaScript([("user", user), ("id_token", token), ("nonce", "r")])
    #expect(try PostBody(parsing: encoded).name == expected)
    #expect(try PostBody(parsing: encoded).idToken == token)
    #expect(try PostBody(parsing: encoded.replacing("%20", with: "+")).name == expected)
    #expect(try PostBody(parsing: encoded.replacing("&id_token", with: "&x=1&id_token")).name == expected)
    #expect(try PostBody(parsing: "id_token=\(token)&user=\(user)").name == expected)
  }

  @Test(arguments: [
    "abc", "[]", "null", "%FF%FE", "{", "{}", #"{"name":null}"#, #"{"name":"Ann"}"#, #"{"name":[]}"#,
    #"{"name":{"firstName":5,"lastName":"Lee"}}"#, #"{"name":{"firstName":"Ann","firstName":"Eve"}}"#,
    #"{"name":{"firstName":"","lastName":null}}"#, #"{"name":{"firstName":"\u200b"}}"#,
    #"{"email":"victim@example.com"}"#, #"{"name":{"firstName":"Ann"}}trailing"#,
    "%22%7B%5C%22name%5C%22%3A%7B%7D%7D%22", String(repeating: "{\"name\":", count: 1000),
  ])
  func `F11 U05 L02 a user that cannot be read is no name, and the rest is read`(_ user: String) throws {
    let body = try PostBody(parsing: "providerId=apple.com&id_token=\(token)&nonce=r&user=\(user)")
    #expect(try body == PostBody(parsing: "providerId=apple.com&id_token=\(token)&nonce=r"))
  }

  @Test func `work grows with the length of the text only`() throws {
    let length = Limits.bodyBytes
    let bodies = ["&", "nonce=&", "a=&", "&nonce", "&user=", "{", "%", "%41", "nonce=&x&"].map {
      String(repeating: $0, count: length / $0.utf8.count)
    }
    let took = ContinuousClock().measure {
      for body in bodies {
        _ = try? PostBody(parsing: body)
        _ = try? PostBody(parsing: "id_token=a&nonce=" + body)
        _ = try? PostBody(parsing: "id_token=a&user=" + body)
      }
    }
    #expect(took < .seconds(20))
  }
}
