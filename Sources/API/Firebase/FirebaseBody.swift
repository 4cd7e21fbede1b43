package import Wire

/// A JSON body as Firebase's clients write it, read as leniently as Google's transcoding of JSON to protocol buffers
/// is: names also in snake case, numbers and booleans also as text, enumerations as word or number, null is absent.
///
/// Fields are asked for by their name in camel case. What is of no accepted type is refused, never guessed at.
package struct FirebaseBody: Sendable {
  private let object: JSONObject
  /// Where the object stands in the body, for failures inside it: `users[2].`.
  private let path: String

  /// Reads the fields of a whole body.
  package init(_ object: JSONObject) {
    self.init(object, path: "")
  }

  private init(_ object: JSONObject, path: String) {
    self.object = object
    self.path = path
  }

  /// The whole object as JSON.
  var jsonText: String { String(decoding: object.bytes, as: UTF8.self) }

  /// Whether the field is there and not null, whatever it is.
  package func has(_ name: String) -> Bool {
    object.present(name) != nil || object.present(snakeCase(name)) != nil
  }

  /// Whether the field is there and null.
  func isNull(_ name: String) -> Bool {
    [name, snakeCase(name)].contains { if case .null = object[$0] { true } else { false } }
  }

  /// Text; nil when it is absent, null or empty.
  package func text(_ name: String, atMost bytes: Int = .max) throws(Failure) -> String? {
    guard let field = try field(name) else { return nil }
    guard case .text(let text) = field.value else { throw wrongType(field) }
    guard text.utf8.count <= bytes else { throw Failure(.fieldTooLong, field: path + field.name) }
    return text.isEmpty ? nil : text
  }

  /// True or false, also as text.
  package func flag(_ name: String) throws(Failure) -> Bool? {
    guard let field = try field(name) else { return nil }
    switch field.value {
    case .flag(let flag): return flag
    case .text("true"): return true
    case .text("false"): return false
    case .text(""): return nil
    default: throw wrongType(field)
    }
  }

  /// A whole number, also as digits in text.
  package func integer(_ name: String) throws(Failure) -> Int64? {
    guard let field = try field(name), !field.value.isEmptyText else { return nil }
    guard let number = field.value.wholeNumber else { throw wrongType(field) }
    return number
  }

  /// A case by its word, its number, or its number as text.
  package func enumeration<E: FirebaseEnumeration>(_ name: String, of type: E.Type) throws(Failure) -> E? {
    guard let field = try field(name), !field.value.isEmptyText else { return nil }
    guard let found = type.init(field.value) else { throw wrongType(field) }
    return found
  }

  /// An array of cases; empty when it is absent.
  package func enumerations<E: FirebaseEnumeration>(_ name: String, of type: E.Type) throws(Failure) -> [E] {
    try elements(name) { value, _ in type.init(value) }
  }

  /// An array of text; empty when it is absent.
  package func texts(_ name: String) throws(Failure) -> [String] {
    try elements(name) { value, _ in if case .text(let text) = value { text } else { nil } }
  }

  /// An object.
  package func object(_ name: String) throws(Failure) -> FirebaseBody? {
    guard let field = try field(name) else { return nil }
    guard case .object(let inner) = field.value else { throw wrongType(field) }
    return FirebaseBody(inner, path: "\(path)\(field.name).")
  }

  /// An array of objects; empty when it is absent.
  package func objects(_ name: String) throws(Failure) -> [FirebaseBody] {
    try elements(name) { value, place in
      if case .object(let inner) = value { FirebaseBody(inner, path: "\(place).") } else { nil }
    }
  }

  /// The elements of an array; the place of one that cannot be read is named.
  private func elements<R>(_ name: String, _ read: (JSONValue, _ place: String) -> R?) throws(Failure) -> [R]
  {
    guard let field = try field(name) else { return [] }
    guard case .array(let values) = field.value else { throw wrongType(field) }
    var results: [R] = []
    for (index, value) in values.enumerated() {
      let place = "\(path)\(field.name)[\(index)]"
      guard let result = read(value, place) else { throw Failure(.fieldType, field: place) }
      results.append(result)
    }
    return results
  }

  /// The field in the one of its two spellings that is there; in both it is one field named twice.
  private func field(_ name: String) throws(Failure) -> (name: String, value: JSONValue)? {
    let snake = snakeCase(name)
    let spellings = snake == name ? [name] : [name, snake]
    let present = spellings.compactMap { name in object.present(name).map { (name: name, value: $0) } }
    guard present.count < 2 else { throw Failure(.duplicateMember, field: path + snake) }
    return present.first
  }

  private func wrongType(_ field: (name: String, value: JSONValue)) -> Failure {
    Failure(.fieldType, field: path + field.name)
  }
}

extension JSONObject {
  /// The member of this name; nil when it is absent or null.
  fileprivate func present(_ name: String) -> JSONValue? {
    switch self[name] {
    case nil, .null: nil
    case let value?: value
    }
  }
}

extension JSONValue {
  fileprivate var isEmptyText: Bool {
    if case .text(let text) = self { text.isEmpty } else { false }
  }

  fileprivate func isText(of bytes: String.UTF8View) -> Bool {
    if case .text(let text) = self { text.utf8.elementsEqual(bytes) } else { false }
  }

  /// A whole number, however it is written.
  fileprivate var wholeNumber: Int64? {
    switch self {
    case .integer(let number): number
    case .real(let number): Int64(exactly: number)
    // Int64 takes a sign in front as well; nothing here counts below zero.
    case .text(let text): text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    default: nil
    }
  }
}

extension FirebaseEnumeration {
  fileprivate init?(_ value: JSONValue) {
    let number = value.wholeNumber
    let found = Self.allCases.first { $0.number == number || value.isText(of: $0.rawValue.utf8) }
    guard let found else { return nil }
    self = found
  }
}

/// `photoUrl` as `photo_url`.
private func snakeCase(_ name: String) -> String {
  var bytes: [UInt8] = []
  for byte in name.utf8 {
    if (0x41...0x5A).contains(byte) {
      bytes.append(contentsOf: [UInt8(ascii: "_"), byte + 0x20])
    } else {
      bytes.append(byte)
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}
