/// Why a stream of bytes is not what it was to be, and at which byte of it.
package struct StreamFault: Error, Equatable, Sendable {
  /// What was met.
  package enum Kind: Equatable, Sendable {
    /// Something else than may stand here.
    case unexpectedByte
    /// The text is broken off.
    case truncated
    /// The member is there twice.
    case duplicateMember
    /// The member is not there.
    case memberMissing
  }

  package let kind: Kind
  /// Bytes in front of it.
  package let offset: Int64

  package init(_ kind: Kind, at offset: Int64) {
    self.kind = kind
    self.offset = offset
  }
}

/// Cuts a JSON object of any length, `{"users":[{…},{…}]}`, into the elements of an array in it, as the bytes come.
///
/// It keeps one element, of which it says nothing but where it ends: brackets are counted and strings respected, and
/// whether an element is JSON, ``JSONObject`` judges. Other members are passed over. A byte order mark is refused.
package struct JSONElements: Sendable {
  /// One element of the array.
  package struct Element: Sendable, Equatable {
    /// Bytes in front of it.
    package let offset: Int64
    /// Nil for one that is no object, or is too long.
    package let bytes: [UInt8]?
  }

  private enum Place {
    case start, nameOrEnd, name, colon, value, skipped, afterValue
    case elementOrEnd, element, otherElement, afterElement, nextElement, nextName, end
  }

  private let member: [UInt8]
  private let limit: Int
  private var place = Place.start
  private var offset: Int64 = 0
  /// Open brackets of the value or the element that is being passed.
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// A name as far as it may be the member's, or an element as far as it is not too long.
  private var kept: [UInt8] = []
  private var isTooLong = false
  private var elementStart: Int64 = 0
  private var hasMember = false

  /// - Parameters:
  ///   - member: The name of the array.
  ///   - limit: Bytes that an element may have.
  package init(of member: String, elementLimit limit: Int) {
    self.member = Array(member.utf8)
    self.limit = limit
  }

  /// Takes the next bytes.
  ///
  /// - Returns: The elements that end in them.
  package mutating func take(_ bytes: some Sequence<UInt8>) throws(StreamFault) -> [Element] {
    var found: [Element] = []
    for byte in bytes {
      switch place {
      case .element: if let element = takeInElement(byte) { found.append(element) }
      case .otherElement: if let element = try takeInOther(byte) { found.append(element) }
      default: try takeOutside(byte)
      }
      offset += 1
    }
    return found
  }

  /// Nothing comes any more.
  package func end() throws(StreamFault) {
    guard place == .end else { throw StreamFault(.truncated, at: offset) }
    guard hasMember else { throw StreamFault(.memberMissing, at: offset) }
  }

  private mutating func takeInElement(_ byte: UInt8) -> Element? {
    if kept.count < limit { kept.append(byte) } else { isTooLong = true }
    count(byte)
    guard depth == 0 else { return nil }
    place = .afterElement
    defer { kept.removeAll(keepingCapacity: true) }
    return Element(offset: elementStart, bytes: isTooLong ? nil : kept)
  }

  /// An element that is no object: it ends before a comma or bracket of the array itself.
  private mutating func takeInOther(_ byte: UInt8) throws(StreamFault) -> Element? {
    guard depth == 0, !isInString, let after = try placeAfterValue(byte) else {
      count(byte)
      return nil
    }
    place = after
    return Element(offset: elementStart, bytes: nil)
  }

  /// Where a byte of the array itself leads; nil for one of a value.
  private func placeAfterValue(_ byte: UInt8) throws(StreamFault) -> Place? {
    switch byte {
    case UInt8(ascii: ","): return .nextElement
    case UInt8(ascii: "]"): return .afterValue
    case UInt8(ascii: "}"): throw StreamFault(.unexpectedByte, at: offset)
    default: return nil
    }
  }

  /// Counts brackets outside of strings.
  private mutating func count(_ byte: UInt8) {
    if isInString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
      return
    }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
    default: break
    }
  }

  private mutating func takeOutside(_ byte: UInt8) throws(StreamFault) {
    switch place {
    case .name: takeInName(byte)
    case .skipped: takeSkipped(byte)
    default:
      // RFC 8259 §2.
      if [0x20, 0x09, 0x0A, 0x0D].contains(byte) { return }
      place = try next(byte)
    }
  }

  private mutating func takeInName(_ byte: UInt8) {
    if !isEscaped, byte == UInt8(ascii: "\"") {
      place = .colon
      return
    }
    isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
    // One byte more tells that it is another.
    if kept.count <= member.count { kept.append(byte) }
  }

  /// A value of another member: it ends before a comma or bracket of the object itself.
  private mutating func takeSkipped(_ byte: UInt8) {
    if depth == 0, !isInString, byte == UInt8(ascii: ",") {
      place = .nextName
    } else if depth == 0, !isInString, byte == UInt8(ascii: "}") {
      place = .end
    } else {
      count(byte)
    }
  }

  /// Where a byte that is no white space leads.
  private mutating func next(_ byte: UInt8) throws(StreamFault) -> Place {
    // What no value begins with ends one.
    let isStart = ![UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ","), UInt8(ascii: ":")].contains(byte)
    switch (place, byte) {
    case (.start, UInt8(ascii: "{")): return .nameOrEnd
    case (.nameOrEnd, UInt8(ascii: "}")), (.afterValue, UInt8(ascii: "}")): return .end
    case (.nameOrEnd, UInt8(ascii: "\"")), (.nextName, UInt8(ascii: "\"")):
      kept.removeAll(keepingCapacity: true)
      isEscaped = false
      return .name
    case (.colon, UInt8(ascii: ":")): return .value
    case (.value, UInt8(ascii: "[")) where kept == member:
      if hasMember { throw StreamFault(.duplicateMember, at: offset) }
      hasMember = true
      return .elementOrEnd
    case (.value, UInt8(ascii: "]")), (.value, UInt8(ascii: "}")), (.value, UInt8(ascii: ",")): break
    case (.value, _) where kept != member:
      depth = 0
      count(byte)
      return .skipped
    case (.afterValue, UInt8(ascii: ",")): return .nextName
    case (.elementOrEnd, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")): return .afterValue
    case (.elementOrEnd, UInt8(ascii: "{")), (.nextElement, UInt8(ascii: "{")):
      (kept, isTooLong, depth, elementStart) = ([byte], false, 1, offset)
      (isInString, isEscaped) = (false, false)
      return .element
    case (.elementOrEnd, _) where isStart, (.nextElement, _) where isStart:
      (depth, elementStart) = (0, offset)
      count(byte)
      return .otherElement
    case (.afterElement, UInt8(ascii: ",")): return .nextElement
    default: break
    }
    throw StreamFault(.unexpectedByte, at: offset)
  }
}
