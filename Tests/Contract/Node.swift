import CYAML
import Wire

/// A value of the document, or of a body that is held against it.
package enum Node: Sendable, Equatable {
  case null
  case flag(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case list([Node])
  case map([String: Node])

  package subscript(name: String) -> Node? {
    if case .map(let members) = self { members[name] } else { nil }
  }

  package var text: String? { if case .text(let text) = self { text } else { nil } }
  package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  package var items: [Node] { if case .list(let items) = self { items } else { [] } }
  package var members: [String: Node] { if case .map(let members) = self { members } else { [:] } }

  package init(_ value: JSONValue) {
    self =
      switch value {
      case .null: .null
      case .flag(let flag): .flag(flag)
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .text(text)
      case .array(let values): .list(values.map { Node($0) })
      case .object(let object): Node(object)
      }
  }

  package init(_ object: JSONObject) {
    self = .map(
      Dictionary(
        uniqueKeysWithValues: object.names.compactMap { name in object[name].map { (name, Node($0)) } }))
  }

  /// The value as JSON.
  package var json: String {
    switch self {
    case .null: "null"
    case .flag(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .text(let text):
      {
        var out: [UInt8] = []
        appendJSONString(text, to: &out)
        return String(decoding: out, as: UTF8.self)
      }()
    case .list(let items): "[" + items.map(\.json).joined(separator: ",") + "]"
    case .map(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { Node.text($0.key).json + ":" + $0.value.json }
        .joined(separator: ",") + "}"
    }
  }
}

/// Why a document is none.
package struct DocumentFault: Error, CustomStringConvertible {
  package let description: String
}

extension Node {
  /// Reads one YAML document without anchors; plain words are what the JSON schema of YAML 1.2 makes of them.
  package init(yaml bytes: [UInt8]) throws {
    var reader = YAMLReader()
    self = try bytes.withUnsafeBytes { bytes in
      try reader.document(bytes.bindMemory(to: UInt8.self))
    }
  }
}

private struct YAMLReader {
  private var parser = yaml_parser_t()

  mutating func document(_ bytes: UnsafeBufferPointer<UInt8>) throws -> Node {
    yaml_parser_initialize(&parser)
    defer { yaml_parser_delete(&parser) }
    yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
    while let event = try next() {
      if let node = try node(event) { return node }
    }
    throw DocumentFault(description: "the document is empty")
  }

  private enum Event {
    case scalar(String, isPlain: Bool)
    case listStart, listEnd, mapStart, mapEnd, other
  }

  /// The next event; nil at the end of the stream.
  private mutating func next() throws -> Event? {
    var event = yaml_event_t()
    guard yaml_parser_parse(&parser, &event) == 1 else {
      let problem = parser.problem.map { String(cString: $0) } ?? "no YAML"
      throw DocumentFault(description: "line \(parser.problem_mark.line + 1): \(problem)")
    }
    defer { yaml_event_delete(&event) }
    guard cyaml_has_anchor(&event) == 0 else { throw DocumentFault(description: "an anchor or alias") }
    switch event.type {
    case YAML_STREAM_END_EVENT: return nil
    case YAML_SEQUENCE_START_EVENT: return .listStart
    case YAML_SEQUENCE_END_EVENT: return .listEnd
    case YAML_MAPPING_START_EVENT: return .mapStart
    case YAML_MAPPING_END_EVENT: return .mapEnd
    case YAML_SCALAR_EVENT:
      var length = 0
      let start = cyaml_scalar(&event, &length)
      let text = String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
      return .scalar(text, isPlain: event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
    default: return .other
    }
  }

  private mutating func node(_ event: Event) throws -> Node? {
    switch event {
    case .scalar(let text, let isPlain): return isPlain ? plain(text) : .text(text)
    case .listStart:
      var items: [Node] = []
      while let event = try next() {
        guard let item = try node(event) else { return .list(items) }
        items.append(item)
      }
    case .mapStart:
      var members: [String: Node] = [:]
      while let event = try next() {
        guard case .scalar(let name, _) = event else { return .map(members) }
        guard let following = try next(), let value = try node(following) else { break }
        guard members.updateValue(value, forKey: name) == nil else {
          throw DocumentFault(description: "`\(name)` stands twice")
        }
      }
    case .listEnd, .mapEnd, .other: return nil
    }
    throw DocumentFault(description: "the document ends in the middle")
  }

  private func plain(_ text: String) -> Node {
    switch text {
    case "", "null", "~": .null
    case "true": .flag(true)
    case "false": .flag(false)
    default: Int64(text).map { .integer($0) } ?? .text(text)
    }
  }
}
