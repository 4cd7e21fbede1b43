import Testing
import Wire

private func form(_ text: String) throws(FormError) -> FormBody { try FormBody(parsing: text.utf8) }

@Suite struct FormBodyTests {
  @Test(arguments: [
    ("a=b", "b"), ("a=b+c", "b c"), ("a=%2B", "+"), ("a=%252B", "%2B"), ("a=%c3%A9", "é"),
    ("a=b=c==", "b=c=="),
    ("x=1&a=b&y", "b"), ("&&a=b&&", "b"), ("%61=b", "b"), ("a=%26%3D", "&="), ("a=é", "é"), ("a=%25", "%"),
  ])
  func `F04 values are decoded exactly once`(_ text: String, _ value: String) throws {
    #expect(try form(text)["a"] == value)
  }

  @Test(arguments: ["", "a", "a=", "b=a", "A=b", "&", "="])
  func `F08 an empty value counts as absent`(_ text: String) throws {
    #expect(try form(text)["a"] == nil)
  }

  @Test(arguments: [
    "a=%", "a=%2", "a=%zz", "a=%2g", "a=%-1", "a=% 1", "%=1", "a=1&b=%", "a=%FF", "a=%C3", "a=%ED%A0%80",
    "a=%C0%AF",
    "a=%00", "a=%0A", "a=%0d", "a=b\nc", "a=%7F", "a=\u{0}",
  ])
  func `F11 broken escapes, bad UTF-8 and control bytes are refused`(_ text: String) {
    #expect(throws: FormError.malformed) { try form(text) }
  }

  @Test(arguments: ["a=1&a=1", "a=1&a=2", "a=1&%61=2", "a=&a=", "a&a", "a=1&b=2&a=3", "a+b=1&a%20b=2"])
  func `F10 a name given twice is refused`(_ text: String) {
    #expect(throws: FormError.duplicateMember) { try form(text) }
  }

  @Test func `F05 everything but the unreserved set is percent-encoded`() {
    let unreserved = "ABCXYZabcxyz0189-._~"
    #expect(percentEncoded(unreserved) == unreserved)
    #expect(percentEncoded("a b+c/d=e&%é\n") == "a%20b%2Bc%2Fd%3De%26%25%C3%A9%0A")
    #expect(percentEncoded("") == "")
  }

  @Test func `what was encoded is decoded to the same text`() throws {
    let text = String(String.UnicodeScalarView((0x20...0x7E).compactMap(Unicode.Scalar.init))) + "日本😀"
    #expect(try form("a=" + percentEncoded(text))["a"] == text)
  }
}
