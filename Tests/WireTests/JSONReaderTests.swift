import Testing
import Wire

private func parse(_ text: String) throws(JSONError) -> JSONObject { try JSONObject(parsing: text.utf8) }

@Suite struct JSONReaderTests {
  @Test(arguments: [
    #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"sub":1,"s\u0075b":2}"#, #"{"o":{"a":1,"a":1}}"#,
    #"{"o":[[{"x":{"a":1,"\u0061":1}}]]}"#, #"{"":1,"":2}"#, #"{"é":1,"\u00e9":2}"#,
    #"{"😀":1,"\ud83d\ude00":2}"#,
  ])
  func `a member named twice is refused at any depth and in any spelling`(_ text: String) {
    #expect(throws: JSONError.duplicateMember) { try parse(text) }
  }

  @Test func `names that differ in their bytes are different names`() throws {
    let object = try parse("{\"\u{e9}\":1,\"e\u{301}\":2,\"A\":3,\"a\":4}")
    #expect(object.names.count == 4)
  }

  @Test(arguments: [
    "", " ", "{", "}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":[1,]}"#, #"{a:1}"#,
    #"{'a':1}"#,
    #"{"a":1}x"#, #"{"a":1}{}"#, #"{"a":1} null"#, #"{"a":01}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1.}"#,
    #"{"a":NaN}"#, #"{"a":Infinity}"#, #"{"a":-}"#, #"{"a":True}"#, #"{"a":"\x"}"#, #"{"a":"\u00"}"#,
    "{\"a\":\"\n\"}", "{\"a\":\"\t\"}", #"{"a":1}/* */"#, #"{"a":1}//"#, #"{"a":"b}"#, #"{"a":0x10}"#,
    "\u{FEFF}{}", "{}\u{0}", "\u{0}", "{\"a\u{0}\":1}",
  ])
  func `what is not JSON is refused`(_ text: String) {
    #expect(throws: JSONError.malformed) { try parse(text) }
  }

  @Test(arguments: [
    #"{"a":"x\u0000y"}"#, #"{"\u0000":1}"#, #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#, #"{"a":"\ud800\ud800"}"#,
    #"{"a":"\udc00\ud800"}"#, #"{"a":"\ud800x"}"#, #"{"\udfff":1}"#, #"{"a":{"b":["\u0000"]}}"#,
  ])
  func `U+0000 and lone surrogates are refused wherever they stand`(_ text: String) {
    #expect(throws: JSONError.malformed) { try parse(text) }
  }

  @Test(
    arguments: [
      [0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xFF, 0x22, 0x7D],
      [0x7B, 0x22, 0xC0, 0xAF, 0x22, 0x3A, 0x31, 0x7D],
      [0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x7D],
      [0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xF4, 0x90, 0x80, 0x80, 0x22, 0x7D],
      [0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xE2, 0x82, 0x22, 0x7D],
    ] as [[UInt8]])
  func `bad UTF-8 is refused, not repaired`(_ bytes: [UInt8]) {
    #expect(throws: JSONError.malformed) { try JSONObject(parsing: bytes) }
  }

  @Test func `UTF-16 is refused with and without a byte order mark`() {
    let units = Array(#"{"a":1}"#.utf16)
    let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    let little = units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    for bytes in [big, little, [0xFE, 0xFF] + big, [0xFF, 0xFE] + little] {
      #expect(throws: JSONError.malformed) { try JSONObject(parsing: bytes) }
    }
  }

  @Test(arguments: ["[]", "[{}]", "[[1]]"])
  func `an array at the top is no object`(_ text: String) {
    #expect(throws: JSONError.notAnObject) { try parse(text) }
  }

  @Test(arguments: ["null", "1", "\"a\"", "true"])
  func `a scalar at the top is refused`(_ text: String) {
    #expect(throws: JSONError.self) { try parse(text) }
  }

  @Test func `thirty-two levels are read and thirty-three are not`() throws {
    func nested(_ levels: Int, _ open: String, _ close: String) -> String {
      #"{"a":"# + String(repeating: open, count: levels - 1) + "1"
        + String(repeating: close, count: levels - 1) + "}"
    }
    _ = try parse(nested(32, "[", "]"))
    _ = try parse(nested(32, #"{"a":"#, "}"))
    #expect(throws: JSONError.tooDeep) { try parse(nested(33, "[", "]")) }
    #expect(throws: JSONError.tooDeep) { try parse(nested(33, #"{"a":"#, "}")) }
    #expect(throws: JSONError.tooDeep) { try parse(String(repeating: "[", count: 100_000)) }
  }

  @Test func `brackets inside strings are no depth`() throws {
    let text = String(repeating: #"[{\"\\"#, count: 100)
    #expect(try parse(#"{"a":""# + text + #""}"#).text("a") == String(repeating: #"[{"\"#, count: 100))
  }

  @Test(arguments: [
    #"{"a":1e400}"#, #"{"a":-1e400}"#, #"{"a":9223372036854775808}"#, #"{"a":-9223372036854775809}"#,
    #"{"a":99999999999999999999}"#,
  ])
  func `numbers that nothing here can hold are refused`(_ text: String) {
    #expect(throws: JSONError.malformed) { try parse(text) }
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("1734359564.0", 1_734_359_564), ("1e2", 100), ("1.5e1", 15), ("-2.0", -2),
    ] as [(String, Int64)])
  func `whole numbers are read however they are written`(_ text: String, _ number: Int64) throws {
    #expect(try parse("{\"a\":\(text)}").optionalInteger("a") == number)
  }

  @Test(arguments: ["1.5", "1e300", "-1e300", "9.3e18", "0.1", "\"5\"", "true", "[]", "{}"])
  func `anything else is no whole number`(_ text: String) throws {
    let object = try parse("{\"a\":\(text)}")
    #expect(throws: JSONTypeError.self) { try object.optionalInteger("a") }
  }

  @Test func `absent, null and empty are missing text`() throws {
    let object = try parse(#"{"n":null,"e":"","t":"x"}"#)
    #expect(try object.optionalText("absent") == nil)
    #expect(try object.optionalText("n") == nil)
    #expect(try object.optionalText("e") == nil)
    #expect(try object.optionalText("t") == "x")
    #expect(object.text("e") == "")
    #expect(object.text("n") == nil)
  }

  @Test(arguments: ["1", "1.0", "true", "[]", "[\"x\"]", "{}"])
  func `text of another type is a type error`(_ value: String) throws {
    let object = try parse("{\"a\":\(value)}")
    #expect(throws: JSONTypeError.self) { try object.optionalText("a") }
    #expect(object.text("a") == nil)
  }

  @Test(arguments: ["1", "0", "\"true\"", "[]", "{}"])
  func `only true and false are flags`(_ value: String) throws {
    let object = try parse("{\"a\":\(value),\"t\":true,\"f\":false,\"n\":null}")
    #expect(throws: JSONTypeError.self) { try object.optionalFlag("a") }
    #expect(try object.optionalFlag("t") == true)
    #expect(try object.optionalFlag("f") == false)
    #expect(try object.optionalFlag("n") == nil)
    #expect(try object.optionalFlag("absent") == nil)
  }

  @Test(arguments: ["1", "\"{}\"", "[]", "true"])
  func `only an object is an object`(_ value: String) throws {
    let object = try parse("{\"a\":\(value),\"o\":{\"b\":{\"c\":\"d\"}},\"n\":null}")
    #expect(throws: JSONTypeError.self) { try object.optionalObject("a") }
    #expect(try object.optionalObject("o")?.optionalObject("b")?.text("c") == "d")
    #expect(try object.optionalObject("n") == nil)
    #expect(try object.optionalObject("absent") == nil)
  }

  @Test func `an inner object outlives the outer one`() throws {
    func inner() throws -> JSONObject? {
      try parse(#"{"o":{"a":["x",1,null,true,{"b":2.5}]}}"#).optionalObject("o")
    }
    let object = try #require(try inner())
    #expect(object.bytes == Array(#"{"a":["x",1,null,true,{"b":2.5}]}"#.utf8))
  }

  @Test func `names and bytes keep the order of the text`() throws {
    let object = try parse(#" { "z" : 1 , "a" : { "y" : "é\/" } , "m" : [ ] } "#)
    #expect(object.names == ["z", "a", "m"])
    #expect(object.bytes == Array(#"{"z":1,"a":{"y":"é/"},"m":[]}"#.utf8))
  }

  @Test(.timeLimit(.minutes(3))) func `one object is read from many tasks at once`() async throws {
    let object = try parse(#"{"a":{"b":["x","y"]},"t":"text"}"#)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<200 {
        group.addTask { object.text("t") == "text" && (try? object.optionalObject("a")?.names) == ["b"] }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
