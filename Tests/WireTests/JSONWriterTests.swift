import TestSupport
import Testing
import Wire

@Suite struct JSONWriterTests {
  @Test func `members stand in the order of the calls`() {
    var out = JSONWriter()
    out.member("text", "a")
    out.member("number", -5)
    out.member("flag", true)
    out.member("list", ["x", "y"])
    out.member("none", [])
    out.object("inner") { out in
      out.member("a", false)
      out.object("empty") { _ in }
    }
    out.member("json", json: Array("[1]".utf8))
    out.member("array", jsonArray: [Array("1".utf8), Array("{}".utf8)])
    #expect(
      String(decoding: out.finish(), as: UTF8.self)
        == #"{"text":"a","number":-5,"flag":true,"list":["x","y"],"none":[],"inner":{"a":false,"empty":{}},"#
        + #""json":[1],"array":[1,{}]}"#)
  }

  @Test func `unknown values are left out`() {
    var out = JSONWriter()
    out.member("text", nil as String?)
    out.member("flag", nil as Bool?)
    out.member("there", "" as String?)
    #expect(String(decoding: out.finish(), as: UTF8.self) == #"{"there":""}"#)
  }

  @Test func `an empty object is two braces`() {
    #expect(JSONWriter().finish() == Array("{}".utf8))
  }

  @Test(arguments: [
    (#"a"b"#, #""a\"b""#), (#"a\b"#, #""a\\b""#), ("\n\r\t", #""\n\r\t""#),
    ("\u{1}\u{1f}\u{7f}", #""\u0001\u001f\u007f""#),
    ("\u{8}\u{c}", #""\u0008\u000c""#), ("\u{2028}\u{2029}", #""\u2028\u2029""#),
    ("\u{2027}\u{202a}", "\"\u{2027}\u{202a}\""),
    ("é日😀", #""é日😀""#), ("/", #""/""#), ("\r\n", #""\r\n""#),
    ("\u{20a8}\u{e2}\u{80}\u{a8}", "\"\u{20a8}\u{e2}\u{80}\u{a8}\""),
  ])
  func `strings are escaped as RFC 8259 and JavaScript want`(_ text: String, _ written: String) {
    #expect(jsonText(text) == written)
  }

  @Test func `whatever is written is read back the same, byte for byte`() throws {
    var generator = SeededGenerator(7)
    for _ in 0..<500 {
      let scalars = (0..<Int.random(in: 0..<40, using: &generator)).compactMap { _ in
        Unicode.Scalar(
          UInt32.random(in: 1..<(Bool.random(using: &generator) ? 0x100 : 0x3000), using: &generator))
      }
      let text = String(String.UnicodeScalarView(scalars))
      var out = JSONWriter()
      out.member(text, text)
      let object = try JSONObject(parsing: out.finish())
      #expect(Array(try #require(object.text(text)).utf8) == Array(text.utf8))
      #expect(object.names.map { Array($0.utf8) } == [Array(text.utf8)])
    }
  }
}
