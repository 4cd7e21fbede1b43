import Foundation
import Testing

/// One file of the repository.
struct SourceFile: Sendable, CustomTestStringConvertible {
  /// From the top of the repository.
  let path: String
  let text: String
  /// The text with comments and the insides of strings blanked out, line by line in place.
  let code: String

  init(path: String, text: String) {
    self.path = path
    self.text = text
    code = blanked(text)
  }

  var testDescription: String { path }
  /// The module, for a file below Sources or Tests.
  var module: String { path.split(separator: "/").count > 1 ? String(path.split(separator: "/")[1]) : "" }
  var name: String { String(path.split(separator: "/").last ?? "") }
  var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
}

enum SourceTree {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static let sources = files(under: "Sources", ending: ".swift")
  static let tests = files(under: "Tests", ending: ".swift")

  static func files(under folder: String, ending: String) -> [SourceFile] {
    let names = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
    return (names?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(ending) }.sorted().compactMap {
      name in
      let path = folder + "/" + name
      return (try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8))
        .map { SourceFile(path: path, text: $0) }
    }
  }

  static func entries(of folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)) ?? [])
      .sorted()
  }
}

/// Replaces comments and the insides of string literals by spaces; line breaks stay. Interpolations go too.
func blanked(_ text: String) -> String {
  let bytes = Array(text.utf8)
  var out = bytes
  var index = 0
  func starts(_ word: String, at place: Int) -> Bool {
    bytes[place...].prefix(word.utf8.count).elementsEqual(word.utf8)
  }
  func blank(upTo end: Int) {
    for place in index..<min(end, bytes.count) where bytes[place] != 10 { out[place] = 0x20 }
    index = min(end, bytes.count)
  }
  func end(after word: String, from start: Int) -> Int {
    var place = start
    while place < bytes.count {
      if bytes[place] == UInt8(ascii: "\\"), !word.hasSuffix("#") {
        place += 2
        continue
      }
      if starts(word, at: place) { return place + word.utf8.count }
      place += 1
    }
    return bytes.count
  }
  // Looked at first, since this runs over every byte of the repository.
  func isOpening(_ byte: UInt8) -> Bool { byte == 0x2F || byte == 0x23 || byte == 0x22 }
  while index < bytes.count {
    if !isOpening(bytes[index]) {
      index += 1
    } else if starts("//", at: index) {
      blank(upTo: bytes[index...].firstIndex(of: 10) ?? bytes.count)
    } else if starts("#\"\"\"", at: index) {
      blank(upTo: end(after: "\"\"\"#", from: index + 4))
    } else if starts("#\"", at: index) {
      blank(upTo: end(after: "\"#", from: index + 2))
    } else if starts("\"\"\"", at: index) {
      blank(upTo: end(after: "\"\"\"", from: index + 3))
    } else if bytes[index] == UInt8(ascii: "\"") {
      blank(upTo: end(after: "\"", from: index + 1))
    } else {
      index += 1
    }
  }
  return String(decoding: out, as: UTF8.self)
}

/// A function or initialiser with a body.
struct FunctionSpan: Equatable {
  let firstLine: Int
  let lineCount: Int
}

/// Finds functions by matching braces in blanked code.
func functions(in code: String) -> [FunctionSpan] {
  let bytes = Array(code.utf8)
  var spans: [FunctionSpan] = []
  var line = 1
  for index in bytes.indices {
    if bytes[index] == 10 { line += 1 }
    let isStart =
      (bytes[index] == UInt8(ascii: "f") || bytes[index] == UInt8(ascii: "i"))
      && ["func ", "init(", "init?(", "init<"].contains { bytes[index...].starts(with: $0.utf8) }
    let isWhole = index == 0 || !isNameByte(bytes[index - 1]) && bytes[index - 1] != UInt8(ascii: ".")
    if isStart, isWhole, let count = bodyLines(from: index, in: bytes) {
      spans.append(FunctionSpan(firstLine: line, lineCount: count))
    }
  }
  return spans
}

private func isNameByte(_ byte: UInt8) -> Bool {
  (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    || byte > 0x7F
}

/// Lines from `start` to the brace that closes the body; nil where there is no body.
private func bodyLines(from start: Int, in bytes: [UInt8]) -> Int? {
  var parentheses = 0
  var braces = 0
  var lines = 1
  for index in start..<bytes.count {
    switch bytes[index] {
    case 10: lines += 1
    case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
    case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
    case UInt8(ascii: "{") where braces > 0 || parentheses == 0: braces += 1
    case UInt8(ascii: "}"):
      if braces == 0, parentheses == 0 { return nil }
      if braces > 0 { braces -= 1 }
      if braces == 0, parentheses == 0 { return lines }
    case UInt8(ascii: "f")
    where braces == 0 && index > start && bytes[index...].starts(with: Array("func ".utf8)):
      return nil
    default: break
    }
    if parentheses < 0 { return nil }
  }
  return nil
}
