/// One whole answer, where it lies in the buffer it was read into; it is gone when the workload has looked at it.
package struct Answer: Sendable {
  package let status: Int
  let buffer: [UInt8]
  let body: Range<Int>

  /// Bytes of the body.
  package var bodyCount: Int { body.count }

  /// The bytes of a string member of the body's JSON, found by its name without parsing: tokens and reasons hold
  /// nothing that is escaped.
  func member(_ name: StaticString) -> ArraySlice<UInt8>? {
    guard let start = place(after: name) else { return nil }
    var end = start
    while end < body.upperBound, buffer[end] != UInt8(ascii: "\"") { end += 1 }
    return end < body.upperBound ? buffer[start..<end] : nil
  }

  /// The word for programs in an error: of several reasons the last, which stands in `details`.
  var detailReason: ArraySlice<UInt8>? {
    var found: ArraySlice<UInt8>?
    var rest = self
    while let reason = rest.member("reason") {
      found = reason
      rest = Answer(status: status, buffer: buffer, body: reason.endIndex..<body.upperBound)
    }
    return found
  }

  /// Whether that word is this one.
  func hasReason(_ word: StaticString) -> Bool {
    guard let reason = detailReason else { return false }
    return unsafe reason.elementsEqual(
      UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  /// Whether the body begins with this.
  func bodyStarts(with text: StaticString) -> Bool {
    unsafe buffer[body].starts(
      with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private func place(after name: StaticString) -> Int? {
    let length = name.utf8CodeUnitCount
    let name = unsafe UnsafeBufferPointer(start: name.utf8Start, count: length)
    var index = body.lowerBound + 1
    // A name stands between quotes, and before a colon and a quote.
    while index + length + 3 <= body.upperBound {
      if unsafe buffer[index] == name[0], buffer[index - 1] == UInt8(ascii: "\""),
        buffer[index + length] == UInt8(ascii: "\""), buffer[index + length + 1] == UInt8(ascii: ":"),
        buffer[index + length + 2] == UInt8(ascii: "\""),
        (1..<length).allSatisfy({ unsafe buffer[index + $0] == name[$0] })
      {
        return index + length + 3
      }
      index += 1
    }
    return nil
  }
}

/// What the head of an answer says, as far as it matters here.
struct AnswerHead: Equatable {
  var status = 0
  var bodyStart = 0
  var bodyLength = 0
  var closes = false
}

/// What bytes that came are.
enum AnswerProgress: Equatable {
  /// More must come.
  case partial
  case head(AnswerHead)
  /// No HTTP/1.1 answer with a length.
  case broken
}

/// The longest answer that is read; the service's are a few kilobytes.
let largestAnswer = 256 * 1024

/// Reads the head of an answer (RFC 9112 §4, §6.3): its status, the length of its body and whether the connection
/// ends. Only answers with a `Content-Length` are understood, which is what this service sends.
func readHead(_ bytes: [UInt8], count: Int) -> AnswerProgress {
  guard count >= 12 else { return .partial }
  guard bytes[0] == UInt8(ascii: "H"), bytes[5] == UInt8(ascii: "1"), bytes[6] == UInt8(ascii: ".") else {
    return .broken
  }
  var head = AnswerHead()
  for index in 9..<12 {
    guard (0x30...0x39).contains(bytes[index]) else { return .broken }
    head.status = head.status * 10 + Int(bytes[index] - 0x30)
  }
  var hasLength = head.status == 204 || head.status == 304
  guard var line = lineEnd(bytes, 12, count) else { return .partial }
  // Line by line, each of them whole.
  while let end = lineEnd(bytes, line, count) {
    if end == line + 2, bytes[line] == 13 {
      head.bodyStart = end
      return hasLength && head.bodyLength <= largestAnswer ? .head(head) : .broken
    }
    if isField("content-length:", bytes, line, end) {
      guard let length = number(bytes, line + 15, end) else { return .broken }
      if head.status != 304 { head.bodyLength = length }
      hasLength = true
    } else if isField("connection: close", bytes, line, end) {
      head.closes = true
    }
    line = end
  }
  return .partial
}

/// Where the next line begins; nil when this one is not whole.
private func lineEnd(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
  var index = start
  while index < count {
    if bytes[index] == 10 { return index + 1 }
    index += 1
  }
  return nil
}

private func isField(_ name: StaticString, _ bytes: [UInt8], _ start: Int, _ count: Int) -> Bool {
  let length = name.utf8CodeUnitCount
  guard start + length <= count else { return false }
  for index in 0..<length {
    let expected = unsafe name.utf8Start[index]
    let byte = bytes[start + index]
    let folded = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    if folded != expected { return false }
  }
  return true
}

private func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
  var index = start
  while index < count, bytes[index] == 0x20 { index += 1 }
  var value = 0
  var digits = 0
  while index < count, (0x30...0x39).contains(bytes[index]), digits < 9 {
    value = value * 10 + Int(bytes[index] - 0x30)
    digits += 1
    index += 1
  }
  return digits > 0 ? value : nil
}
