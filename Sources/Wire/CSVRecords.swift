/// Cuts comma-separated values (RFC 4180) into records, as the bytes come. It keeps one record.
///
/// Two things that RFC 4180 leaves open are read so that nothing is guessed: a quote inside a quoted field that is neither
/// doubled nor in front of a comma or the end of the line stands for itself behind a backslash; and anywhere else it tells
/// that the field only begins with a quote, which is then taken as it stands, up to the next comma.
package struct CSVRecords: Sendable {
  /// One line, or several where a quoted field holds line feeds.
  package struct Record: Sendable, Equatable {
    /// Bytes in front of it.
    package let offset: Int64
    /// Nil for one that is too long or no UTF-8.
    package let fields: [String]?
  }

  private enum Place {
    case fieldStart, bare, quoted
    /// Behind a quote that may close the field.
    case behindQuote
  }

  private let limit: Int
  private var place = Place.fieldStart
  private var offset: Int64 = 0
  private var start: Int64 = 0
  private var fields: [[UInt8]] = []
  /// The present field as it stands, quotes and all.
  private var field: [UInt8] = []
  private var size = 0

  /// - Parameter limit: Bytes that a record may have.
  package init(recordLimit limit: Int) { self.limit = limit }

  /// Takes the next bytes.
  ///
  /// - Returns: The records that end in them; empty lines are none.
  package mutating func take(_ bytes: some Sequence<UInt8>) -> [Record] {
    var found: [Record] = []
    for byte in bytes {
      if let record = take(byte) { found.append(record) }
      offset += 1
    }
    return found
  }

  /// Nothing comes any more.
  ///
  /// - Returns: The last record, if no line feed ended it.
  package mutating func end() throws(StreamFault) -> Record? {
    if place == .quoted { throw StreamFault(.truncated, at: offset) }
    return finishRecord()
  }

  private mutating func take(_ byte: UInt8) -> Record? {
    switch (place, byte) {
    case (.quoted, UInt8(ascii: "\"")): place = .behindQuote
    case (.quoted, _): break
    case (_, UInt8(ascii: "\n")): return finishRecord()
    case (_, UInt8(ascii: ",")):
      finishField()
      size += 1
      return nil
    case (.fieldStart, UInt8(ascii: "\"")): place = .quoted
    case (.fieldStart, _): place = .bare
    case (.bare, _): break
    case (.behindQuote, UInt8(ascii: "\"")): place = .quoted
    // Of a line that ends as Windows has it.
    case (.behindQuote, UInt8(ascii: "\r")): break
    case (.behindQuote, _): place = field.dropLast().last == UInt8(ascii: "\\") ? .quoted : .bare
    }
    size += 1
    if size <= limit { field.append(byte) }
    return nil
  }

  private mutating func finishField() {
    fields.append(place == .behindQuote ? unquoted(field) : field)
    field = []
    place = .fieldStart
  }

  private mutating func finishRecord() -> Record? {
    if field.last == UInt8(ascii: "\r") { field.removeLast() }
    finishField()
    defer { (fields, size, start) = ([], 0, offset + 1) }
    guard fields != [[]] else { return nil }
    var texts: [String]? = []
    for field in fields {
      if let text = String(validating: field, as: UTF8.self) { texts?.append(text) } else { texts = nil }
    }
    return Record(offset: start, fields: size <= limit ? texts : nil)
  }
}

/// What stands between the quotes of a field.
private func unquoted(_ field: [UInt8]) -> [UInt8] {
  var text: [UInt8] = []
  var isBehindQuote = false
  for byte in field.dropFirst().dropLast() {
    let isSecond = isBehindQuote && byte == UInt8(ascii: "\"")
    isBehindQuote = !isSecond && byte == UInt8(ascii: "\"")
    if !isSecond { text.append(byte) }
  }
  return text
}

/// Appends a field, in quotes where it needs them.
package func appendCSVField(_ text: String, to out: inout [UInt8]) {
  guard text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else {
    out.append(contentsOf: text.utf8)
    return
  }
  out.append(UInt8(ascii: "\""))
  for byte in text.utf8 {
    if byte == UInt8(ascii: "\"") { out.append(byte) }
    out.append(byte)
  }
  out.append(UInt8(ascii: "\""))
}
