/// Reads a file line by line, however long it is.
struct LineReader: ~Copyable {
  private let file: ExportFile
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// Whether the line that was read last has no end.
  private(set) var isBrokenOff = false

  /// The longest line that is read.
  private static let lineLimit = 1 << 20

  /// Why there is no next line.
  enum Fault: Error, Equatable {
    case unreadable(code: Int32)
    case lineTooLong
  }

  /// - Parameter path: `-` is standard input.
  init(_ path: String) throws(Fault) {
    do {
      file = try ExportFile(path)
    } catch {
      throw .unreadable(code: error.code)
    }
  }

  /// The next line without its end; nil behind the last.
  mutating func next() throws(Fault) -> ArraySlice<UInt8>? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0A) {
        defer { start = end + 1 }
        return buffer[start..<end]
      }
      if isAtEnd {
        defer { start = buffer.endIndex }
        isBrokenOff = true
        return start < buffer.endIndex ? buffer[start...] : nil
      }
      guard buffer.count - start <= Self.lineLimit else { throw .lineTooLong }
      buffer.removeSubrange(..<start)
      start = 0
      searched = buffer.count
      do {
        if let bytes = try file.next() { buffer += bytes } else { isAtEnd = true }
      } catch {
        throw .unreadable(code: error.code)
      }
    }
  }
}
