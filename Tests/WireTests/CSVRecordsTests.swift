import TestSupport
import Testing
import Wire

private func records(
  _ text: String, piece: Int = .max, limit: Int = 1000
) throws(StreamFault) -> [CSVRecords.Record] {
  var reader = CSVRecords(recordLimit: limit)
  var found: [CSVRecords.Record] = []
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    found += reader.take(rest.prefix(piece))
    rest = rest.dropFirst(piece)
  }
  if let last = try reader.end() { found.append(last) }
  return found
}

private func fields(_ text: String, piece: Int = .max) throws(StreamFault) -> [[String]?] {
  try records(text, piece: piece).map(\.fields)
}

@Suite struct CSVRecordsTests {
  @Test(arguments: [
    ("a,b,c\n", [["a", "b", "c"]]), ("a,b", [["a", "b"]]), (",\n", [["", ""]]), ("", []), ("\n\n", []),
    ("a\r\nb\r\n", [["a"], ["b"]]), (#""a,b","c""d","""#, [["a,b", "c\"d", ""]]),
    ("\"a\nb\",c\n", [["a\nb", "c"]]), (#""","x""#, [["", "x"]]),
    (#""a""b","""""#, [["a\"b", "\""]]), ("\"a\"\r\n\"b\"", [["a"], ["b"]]), ("a,\"\"\n", [["a", ""]]),
    ("é,\u{1F34E}\n", [["é", "\u{1F34E}"]]),
  ])
  func `fields with and without quotes`(_ text: String, _ expected: [[String]]) throws {
    for piece in [1, 2, .max] { #expect(try fields(text, piece: piece) == expected) }
  }

  @Test(arguments: [
    (#""Bob" Smith,x"#, ["\"Bob\" Smith", "x"]), (#"Bob "B" Smith,x"#, ["Bob \"B\" Smith", "x"]),
    (#""{""a"":""x\"y""}",z"#, [#"{"a":"x\"y"}"#, "z"]),
    (#""Foo "Bar", Jr",x"#, [#""Foo "Bar""#, #" Jr""#, "x"]),
  ])
  func `quotes that nobody doubled are read so that nothing is guessed`(_ text: String, _ expected: [String])
    throws
  {
    #expect(try fields(text, piece: 1) == [expected])
  }

  @Test(arguments: [#"a,""#, #""a,b"#, "\"a\nb\n", #""a"",b"#])
  func `a quote that nobody closes breaks the text off`(_ text: String) {
    #expect(throws: StreamFault(.truncated, at: Int64(text.utf8.count))) { try fields(text) }
  }

  @Test func `what is too long or no UTF-8 costs only itself`() throws {
    let long = String(repeating: "x", count: 60)
    let found = try records("a,b\n\(long)\nc\n", limit: 50)
    #expect(found.map(\.fields) == [["a", "b"], nil, ["c"]])
    #expect(found.map(\.offset) == [0, 4, 65])
    var reader = CSVRecords(recordLimit: 50)
    #expect(reader.take([0x61, 0xFF, 0x0A, 0x62, 0x0A]).map(\.fields) == [nil, ["b"]])
  }

  @Test func `what we write we read`() throws {
    var generator = SeededGenerator(7)
    let alphabet = ["a", ",", "\"", "\n", "\r", "\\", "é", " "]
    for _ in 0..<500 {
      let row = (0..<4).map { _ in
        (0..<Int.random(in: 0..<6, using: &generator))
          .map { _ in alphabet.randomElement(using: &generator) ?? "" }.joined()
      }
      var text: [UInt8] = []
      for field in row {
        appendCSVField(field, to: &text)
        text.append(UInt8(ascii: ","))
      }
      text.append(UInt8(ascii: "\n"))
      #expect(try fields(String(decoding: text, as: UTF8.self)) == [row + [""]])
    }
  }
}
