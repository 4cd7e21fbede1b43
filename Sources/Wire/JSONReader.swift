internal import CJansson

/// Why text is not the JSON that is accepted.
package enum JSONError: Error, Equatable, Sendable {
  case malformed
  /// A member named twice in one object, at any depth, also in different spellings of one name.
  case duplicateMember
  case tooDeep
  /// The text is JSON, but no object.
  case notAnObject
}

/// One JSON value as it was written. Numbers keep their kind: `1` is an integer, `1.0` is not.
package enum JSONValue: Sendable {
  case null
  case flag(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case array([JSONValue])
  case object(JSONObject)
}

/// A JSON object, read member by member from the parsed tree without copying the rest of it.
///
/// Accepted is strict UTF-8 JSON (RFC 8259) without a byte order mark, without a member named twice, without
/// U+0000 or lone surrogates in any string, nested at most ``maximumDepth`` deep.
package struct JSONObject: Sendable {
  package static let maximumDepth = 32

  private let tree: Tree
  private let node: Node

  /// Parses a whole text that is one object.
  package init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
    let bytes = ContiguousArray(bytes)
    guard !nestsDeeper(than: Self.maximumDepth, bytes) else { throw .tooDeep }
    tree = try Tree(parsing: bytes)
    node = tree.root
    guard node.isObject else { throw .notAnObject }
  }

  fileprivate init(tree: Tree, node: Node) {
    self.tree = tree
    self.node = node
  }

  /// The member of this name; nil when there is none, ``JSONValue/null`` when it is null.
  package subscript(name: String) -> JSONValue? {
    node.member(name).map { $0.value(in: tree) }
  }

  /// Names of all members, in the order of the text.
  package var names: [String] { node.names }

  /// This object as JSON again, on one line, members in the order of the text.
  package var bytes: [UInt8] { node.encoded() }
}

/// A member is there, but of another type than was asked for.
package struct JSONTypeError: Error, Equatable, Sendable {
  package let member: String

  package init(member: String) { self.member = member }
}

extension JSONObject {
  /// A member that is a string; nil when it is anything else or not there.
  package func text(_ name: String) -> String? {
    if case .text(let text) = self[name] { text } else { nil }
  }

  /// A member that is a string; nil when it is absent, null or empty.
  package func optionalText(_ name: String) throws(JSONTypeError) -> String? {
    switch self[name] {
    case nil, .null: nil
    case .text(let text): text.isEmpty ? nil : text
    default: throw JSONTypeError(member: name)
    }
  }

  /// A member that is a boolean; nil when it is absent or null.
  package func optionalFlag(_ name: String) throws(JSONTypeError) -> Bool? {
    switch self[name] {
    case nil, .null: nil
    case .flag(let flag): flag
    default: throw JSONTypeError(member: name)
    }
  }

  /// A member that is an object; nil when it is absent or null.
  package func optionalObject(_ name: String) throws(JSONTypeError) -> JSONObject? {
    switch self[name] {
    case nil, .null: nil
    case .object(let object): object
    default: throw JSONTypeError(member: name)
    }
  }

  /// A member that is a whole number, also when it is written with a fraction of zero (`1734359564.0`); nil when
  /// it is absent or null.
  package func optionalInteger(_ name: String) throws(JSONTypeError) -> Int64? {
    switch self[name] {
    case nil, .null: nil
    case .integer(let number): number
    case .real(let number):
      if let whole = Int64(exactly: number) { whole } else { throw JSONTypeError(member: name) }
    default: throw JSONTypeError(member: name)
    }
  }
}

/// Tells whether brackets nest deeper than `limit`, before a parser recurses into them. Strings are skipped,
/// so the count is exact for JSON and harmless for anything else.
private func nestsDeeper(than limit: Int, _ bytes: ContiguousArray<UInt8>) -> Bool {
  var depth = 0
  var inString = false
  var escaped = false
  for byte in bytes {
    if inString {
      if escaped {
        escaped = false
      } else if byte == UInt8(ascii: "\\") {
        escaped = true
      } else if byte == UInt8(ascii: "\"") {
        inString = false
      }
      continue
    }
    switch byte {
    case UInt8(ascii: "\""): inString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      depth += 1
      if depth > limit { return true }
    case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
    default: break
    }
  }
  return false
}

/// Owns a parsed tree; jansson counts one reference, given up in `deinit`.
// The tree is never changed after parsing, and reading jansson's values touches no count.
@safe private final class Tree: @unchecked Sendable {
  private let raw: UnsafeMutablePointer<json_t>

  init(parsing bytes: ContiguousArray<UInt8>) throws(JSONError) {
    var fault = json_error_t()
    let parsed = unsafe bytes.withUnsafeBytes { buffer in
      unsafe json_loadb(
        buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count,
        Int(JSON_REJECT_DUPLICATES), &fault)
    }
    guard let parsed = unsafe parsed else {
      let code = unsafe json_error_code(&fault)
      throw code == json_error_duplicate_key ? .duplicateMember : .malformed
    }
    unsafe raw = parsed
  }

  deinit { unsafe json_decref(raw) }

  var root: Node { unsafe Node(raw) }
}

/// A borrowed value of a tree, valid as long as its ``Tree``, beside which it is always kept.
// Reading an unchanging tree from several threads is safe; see Tree.
@safe private struct Node: @unchecked Sendable {
  private let raw: UnsafeMutablePointer<json_t>

  init(_ raw: UnsafeMutablePointer<json_t>) { unsafe self.raw = raw }

  var isObject: Bool { unsafe raw.pointee.type == JSON_OBJECT }

  func member(_ name: String) -> Node? {
    // With its length, a name needs no copy that ends in zero.
    let found = unsafe name.utf8.span.withUnsafeBytes { bytes in
      unsafe json_object_getn(raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    return unsafe found.map { unsafe Node($0) }
  }

  var names: [String] {
    var names: [String] = []
    var iterator = unsafe json_object_iter(raw)
    while let current = unsafe iterator {
      if let key = unsafe json_object_iter_key(current) { names.append(unsafe String(cString: key)) }
      unsafe iterator = json_object_iter_next(raw, current)
    }
    return names
  }

  func value(in tree: Tree) -> JSONValue {
    switch unsafe raw.pointee.type {
    case JSON_OBJECT: return .object(JSONObject(tree: tree, node: self))
    case JSON_ARRAY:
      return .array(
        (0..<(unsafe json_array_size(raw))).compactMap { index in
          guard let element = unsafe json_array_get(raw, index) else { return nil }
          return unsafe Node(element).value(in: tree)
        })
    case JSON_STRING:
      guard let start = unsafe json_string_value(raw) else { return .null }
      let length = unsafe json_string_length(raw)
      // jansson has checked the UTF-8, so this repairs nothing.
      return .text(
        unsafe String(
          decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self))
    case JSON_INTEGER: return .integer(unsafe Int64(json_integer_value(raw)))
    case JSON_REAL: return .real(unsafe json_real_value(raw))
    case JSON_TRUE: return .flag(true)
    case JSON_FALSE: return .flag(false)
    default: return .null
    }
  }

  func encoded() -> [UInt8] {
    let flags = Int(cjansson_compact())
    let length = unsafe json_dumpb(raw, nil, 0, flags)
    return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      count =
        unsafe UnsafeMutableRawPointer(buffer.baseAddress)
        .map { unsafe json_dumpb(raw, $0.assumingMemoryBound(to: CChar.self), length, flags) } ?? 0
    }
  }
}
