import TestSupport
import Testing
import Wire

/// Cuts a text that comes in pieces of a size.
private func cut(
  _ text: String, piece: Int = .max, limit: Int = 100
) throws(StreamFault) -> [JSONElements.Element] {
  var elements = JSONElements(of: "users", elementLimit: limit)
  var found: [JSONElements.Element] = []
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    found += try elements.take(rest.prefix(piece))
    rest = rest.dropFirst(piece)
  }
  try elements.end()
  return found
}

private func texts(_ elements: [JSONElements.Element]) -> [String?] {
  elements.map { $0.bytes.map { String(decoding: $0, as: UTF8.self) } }
}

@Suite struct JSONElementsTests {
  private let export = """
    {"kind":"x","skip":[{"users":[1]},"]}"],"users": [
    {"a":"}]\\"{", "b":{"c":[1,{}]}},
    {},
    {"d":"\\\\"} ] , "next":{"users":["}"]},"last":"}"}
    """

  @Test(arguments: [1, 2, 3, 7, 64, .max])
  func `elements are cut wherever the pieces end, whatever stands in strings and beside them`(_ piece: Int)
    throws
  {
    let found = try cut(export, piece: piece)
    #expect(texts(found) == [#"{"a":"}]\"{", "b":{"c":[1,{}]}}"#, "{}", #"{"d":"\\"}"#])
    let bytes = Array(export.utf8)
    for element in found {
      #expect(bytes[Int(element.offset)...].starts(with: try #require(element.bytes)))
    }
  }

  @Test(arguments: [
    (#"{"users":[]}"#, 0), (#" { "users" : [ ] } "#, 0), (#"{"users":[{"a":1},{"a":2}]}"#, 2),
    (#"{"user":[{}],"usersx":[{}],"users":[{}]}"#, 1), (#"{"a\"users":1,"users":[{}]}"#, 1),
    (#"{"n":-1.5e3,"t":true,"users":[{}]}"#, 1),
  ])
  func `other members are passed over`(_ text: String, _ count: Int) throws {
    #expect(try cut(text, piece: 1).count == count)
  }

  @Test func `an element that is too long is left out, and those beside it are not`() throws {
    let long = #"{"a":""# + String(repeating: "x", count: 200) + #""}"#
    let found = try cut(#"{"users":[{},\#(long),{"b":1}]}"#)
    #expect(texts(found) == ["{}", nil, #"{"b":1}"#])
    #expect(try texts(cut(#"{"users":[{"a":1}]}"#, limit: 7)) == [#"{"a":1}"#])
    #expect(try texts(cut(#"{"users":[{"a":1}]}"#, limit: 6)) == [nil])
  }

  @Test(arguments: [1, .max])
  func `an element that is no object has its place, and those beside it theirs`(_ piece: Int) throws {
    let found = try cut(#"{"users":[{},null,"]},\"{" , [{},1],1.5, true,{"b":1} ,nul]}"#, piece: piece)
    #expect(texts(found) == ["{}", nil, nil, nil, nil, nil, #"{"b":1}"#, nil])
    #expect(found.map(\.offset).prefix(3) == [10, 13, 18])
    #expect(try texts(cut(#"{"users":[null]}"#, piece: piece)) == [nil])
  }

  @Test func `nesting without end takes no memory`() throws {
    let deep = String(repeating: #"{"a":["#, count: 10_000) + String(repeating: "]}", count: 10_000)
    #expect(try texts(cut(#"{"users":[\#(deep),{}]}"#)) == [nil, "{}"])
  }

  @Test(arguments: [
    (#"{"users":[{}]}x"#, 14), (#"{"users":[{}]}{}"#, 14), (#"[{"users":[]}]"#, 0), ("x", 0),
    (#"{"users":[1}}"#, 11), (#"{"users":[{},]}"#, 13), (#"{"users":[{}{}]}"#, 12), (#"{"users":[,{}]}"#, 10),
    (#"{"users":{}}"#, 9), (#"{"users":"[]"}"#, 9), (#"{"users" []}"#, 9), (#"{users:[]}"#, 1),
    (#"{"users":[]"a":1}"#, 11), (#"{"a":1,}"#, 7), ("\u{FEFF}{}", 0), (#"{"a":,"users":[]}"#, 5),
  ])
  func `what cannot stand there is named by its byte`(_ text: String, _ offset: Int64) {
    #expect(throws: StreamFault(.unexpectedByte, at: offset)) { try cut(text, piece: 1) }
  }

  @Test func `every beginning of an export is broken off at its end`() throws {
    for count in 0..<export.utf8.count {
      let head = String(decoding: export.utf8.prefix(count), as: UTF8.self)
      #expect(throws: StreamFault(.truncated, at: Int64(count)), "\(count)") { try cut(head) }
    }
  }

  @Test func `the member is there once`() {
    #expect(throws: StreamFault(.memberMissing, at: 7)) { try cut(#"{"a":1}"#) }
    #expect(throws: StreamFault(.duplicateMember, at: 20)) { try cut(#"{"users":[],"users":[]}"#) }
  }
}
