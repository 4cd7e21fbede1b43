internal import CMicroHTTPD

// Pointers handed out here belong to the connection and are good for the length of the callback that got them.

/// The field lines of a request's head as the library found them, values untrimmed, and whether they lay where they should.
///
/// The library accepts a bare LF or CR as a line's end, joins folded lines, and cuts a line at a NUL byte without
/// a word. None of that can be seen in the strings it hands out, but all of it moves them: in a head that is
/// plain `name: value CRLF` lines, each string begins a known distance after the one before. Only addresses
/// are compared; no memory outside the strings is read.
@safe struct HeadLayout {
  private(set) var headers = Headers()
  /// Whether every line so far was plain.
  private(set) var isPlain = true
  private let checksPlaces: Bool
  private let start: UInt
  private var next: UInt

  /// Versions before 1.0 parse in place and leniently; 1.0 and later refuse by themselves what is looked for.
  private static let parsesInPlace = UInt32(MHD_VERSION) < 0x0100_0000

  /// Begins with the request line, whose parts the library gives as C strings.
  init(
    method: UnsafePointer<CChar>, target: UnsafePointer<CChar>, targetLength: Int,
    version: UnsafePointer<CChar>
  ) {
    checksPlaces = Self.parsesInPlace
    start = UInt(bitPattern: method)
    next = unsafe UInt(bitPattern: version) + UInt(strlen(version)) + 2
    // One space between method and target.
    let nameGap = UInt(bitPattern: target) &- UInt(bitPattern: method)
    if checksPlaces, nameGap != UInt(unsafe strlen(method)) + 1 { isPlain = false }
    // One space between target and version; a NUL inside the target would make the distance longer.
    let gap = UInt(bitPattern: version) &- UInt(bitPattern: target)
    if checksPlaces, gap != UInt(targetLength) + 1 { isPlain = false }
  }

  /// Adds the next line.
  mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    let nameStart = UInt(bitPattern: name.baseAddress)
    let valueStart = UInt(bitPattern: value.baseAddress)
    let colon = nameStart &+ UInt(name.count)
    // Between the colon and the value lie spaces and tabs only, or the value is elsewhere.
    if checksPlaces, nameStart != next || valueStart <= colon || valueStart - colon > 256 { isPlain = false }
    next = valueStart &+ UInt(value.count) + 2
    guard let name = unsafe text(name) else {
      isPlain = false
      return
    }
    headers.append(name, unsafe text(value) ?? opaqueText(value))
  }

  /// Compares the place after the last line with the head's size, when the library knows it.
  mutating func end(headSize: Int) {
    if checksPlaces, headSize > 0, next &- start &+ 2 != UInt(headSize) { isPlain = false }
  }
}

private func text(_ bytes: UnsafeRawBufferPointer) -> String? {
  // Almost every text is ASCII, and there is nothing to validate in that.
  guard unsafe bytes.allSatisfy({ $0 < 0x80 }) else { return unsafe String(validating: bytes, as: UTF8.self) }
  return unsafe String(decoding: bytes, as: UTF8.self)
}

/// A value in whatever old encoding: each byte one character, so that nothing is lost and nothing but what is ASCII
/// reads as ASCII. Such bytes are opaque, not wrong (RFC 9110 §5.5): browsers and proxies pass them on in cookies.
private func opaqueText(_ bytes: UnsafeRawBufferPointer) -> String {
  var text = ""
  for byte in unsafe Array(bytes) { text.unicodeScalars.append(Unicode.Scalar(byte)) }
  return text
}
