internal import CYAML

/// Why a settings file cannot be read.
struct YAMLFault: Error, Equatable, Sendable {
  let line: Int
  let problem: String
}

/// The settings of a YAML file as flat names: nested keys joined by `_`, lists joined by commas.
///
/// Anchors, aliases and a key named twice are refused: a settings file says each thing once, where one looks.
func readYAML(_ bytes: [UInt8]) throws(YAMLFault) -> [String: String] {
  var events = YAMLEvents(bytes)
  var settings: [String: String] = [:]
  while true {
    switch try events.next() {
    // A document with nothing but comments is an empty scalar.
    case .nothing, .scalar(""): continue
    case .mappingStart: try readMapping(under: [], from: &events, into: &settings)
    case .end: return settings
    default: throw events.fault("the file is not a list of `name: value`")
    }
  }
}

/// More levels than any setting has words; each is a call of ``readMapping(under:from:into:)``.
private let maximumDepth = 16

private func readMapping(
  under path: [String], from events: inout YAMLEvents, into settings: inout [String: String]
) throws(YAMLFault) {
  guard path.count < maximumDepth else { throw events.fault("names are nested too deeply") }
  while true {
    guard case .scalar(let key) = try events.next() else {
      if events.last == .mappingEnd { return }
      throw events.fault("a key must be plain text")
    }
    let name = (path + [key]).joined(separator: "_")
    let value: String
    switch try events.next() {
    case .scalar(let text): value = text
    case .sequenceStart: value = try readSequence(from: &events).joined(separator: ",")
    case .mappingStart:
      try readMapping(under: path + [key], from: &events, into: &settings)
      continue
    default: throw events.fault("`\(name)` has no value")
    }
    guard settings.updateValue(value, forKey: name) == nil else {
      throw events.fault("`\(name)` is set twice")
    }
  }
}

private func readSequence(from events: inout YAMLEvents) throws(YAMLFault) -> [String] {
  var items: [String] = []
  while true {
    switch try events.next() {
    case .scalar(let text): items.append(text)
    case .sequenceEnd: return items
    default: throw events.fault("a list may hold plain values only")
    }
  }
}

private enum YAMLEvent: Equatable {
  case scalar(String), mappingStart, mappingEnd, sequenceStart, sequenceEnd, end
  /// The starts and ends of stream and document.
  case nothing
}

/// A stream of events over bytes; owns libyaml's parser and what that points into.
// Pointers stay inside; the input outlives the parser because both are this value's.
@safe private struct YAMLEvents: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>
  private(set) var last: YAMLEvent = .nothing
  private var line = 1

  init(_ bytes: [UInt8]) {
    unsafe parser = .allocate(capacity: 1)
    unsafe input = .allocate(capacity: bytes.count)
    _ = unsafe input.initialize(from: bytes)
    // Fails only without memory; the parser then reports an error at the first event.
    unsafe yaml_parser_initialize(parser)
    unsafe yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe input.deallocate()
  }

  func fault(_ problem: String) -> YAMLFault { YAMLFault(line: line, problem: problem) }

  mutating func next() throws(YAMLFault) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else {
      line = unsafe parser.pointee.problem_mark.line + 1
      throw fault(unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "not YAML")
    }
    defer { unsafe yaml_event_delete(&event) }
    line = unsafe event.start_mark.line + 1
    guard unsafe cyaml_has_anchor(&event) == 0 else { throw fault("anchors and aliases are not used here") }
    switch unsafe event.type {
    case YAML_SCALAR_EVENT:
      var length = 0
      let start = unsafe cyaml_scalar(&event, &length)
      let bytes = unsafe UnsafeRawBufferPointer(start: start, count: length)
      guard let text = unsafe String(validating: bytes, as: UTF8.self) else { throw fault("not UTF-8") }
      last = .scalar(text)
    case YAML_MAPPING_START_EVENT: last = .mappingStart
    case YAML_MAPPING_END_EVENT: last = .mappingEnd
    case YAML_SEQUENCE_START_EVENT: last = .sequenceStart
    case YAML_SEQUENCE_END_EVENT: last = .sequenceEnd
    case YAML_STREAM_END_EVENT: last = .end
    default: last = .nothing
    }
    return last
  }
}
