/// Header fields in the order they came, looked up without regard to ASCII case (RFC 9110 §5.1).
package struct Headers: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// One field line. Of a request, the value has no white space at its ends; bytes that are no UTF-8
  /// stand there as the characters of those numbers.
  package struct Field: Sendable, Equatable {
    /// As sent, upper and lower case kept.
    package let name: String
    /// What stands after the colon.
    package let value: String

    /// Checks nothing; ``isWellFormed`` does.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// Whether the field can be sent: the name is a token, the value printable bytes, spaces and tabs
    /// (RFC 9110 §5.5). Anything else could end the field early and begin another.
    package var isWellFormed: Bool {
      let (name, value) = (name.utf8.span, value.utf8.span)
      return isToken(name) && value.indices.allSatisfy { isFieldByte(value[$0]) }
    }
  }

  /// All fields, in order.
  package private(set) var fields: [Field]

  /// Keeps the fields in the order given.
  package init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// Keeps the order of the literal, and a name that stands in it twice.
  package init(dictionaryLiteral elements: (String, String)...) {
    fields = []
    // What every answer gets is added to it later.
    fields.reserveCapacity(elements.count + 4)
    for (name, value) in elements { fields.append(Field(name: name, value: value)) }
  }

  /// Adds a field after the others, also when one of that name is there.
  package mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// The first value of a name, or nil when there is none.
  package func first(_ name: String) -> String? {
    for field in fields where equalsIgnoringASCIICase(field.name, name) { return field.value }
    return nil
  }

  /// Every value of a name, in order.
  package func all(_ name: String) -> [String] {
    fields.filter { equalsIgnoringASCIICase($0.name, name) }.map(\.value)
  }

  /// How many field lines have the name.
  package func count(of name: String) -> Int {
    fields.count { equalsIgnoringASCIICase($0.name, name) }
  }

  /// With no space or tab at the ends of values, where they mean nothing (RFC 9110 §5.5).
  var trimmed: Headers {
    guard fields.contains(where: \.hasBlankEnd) else { return self }
    return Headers(
      fields.map { field in
        let bytes = field.value.utf8
        guard field.hasBlankEnd else { return field }
        let inner = bytes.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        // A whole piece of valid UTF-8, cut at ASCII: nothing to repair.
        return Field(name: field.name, value: String(decoding: inner, as: UTF8.self))
      })
  }
}

extension Headers.Field {
  fileprivate var hasBlankEnd: Bool {
    let bytes = value.utf8.span
    return !bytes.isEmpty && (isBlank(bytes[0]) || isBlank(bytes[bytes.count - 1]))
  }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

/// Compares bytes after folding A–Z to a–z; never Unicode case, which would make a Kelvin sign a "k".
func equalsIgnoringASCIICase(_ one: String, _ other: String) -> Bool {
  let (one, other) = (one.utf8.span, other.utf8.span)
  return one.count == other.count && one.indices.allSatisfy { folded(one[$0]) == folded(other[$0]) }
}

private func folded(_ byte: UInt8) -> UInt8 {
  (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
}

/// Whether bytes are a token: one or more `tchar` (RFC 9110 §5.6.2).
func isToken(_ bytes: Span<UInt8>) -> Bool {
  !bytes.isEmpty && bytes.indices.allSatisfy { isTokenByte(bytes[$0]) }
}

private func isTokenByte(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
  case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
  default: false
  }
}

/// Whether a byte may stand in a field's value: everything but control bytes, with the tab allowed.
func isFieldByte(_ byte: UInt8) -> Bool {
  byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
}
