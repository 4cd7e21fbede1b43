internal import Glibc

/// Reads a file line by line, however long it is.
struct LineReader: ~Copyable {
  private let descriptor: Int32
  private let closes: Bool
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// The longest line that is read.
  static let lineLimit = 1 << 20

  enum Fault: Error, Equatable {
    case unreadable(code: Int32)
    case lineTooLong
  }

  /// - Parameter path: `-` is standard input.
  init(_ path: String) throws(Fault) {
    closes = path != "-"
    descriptor = closes ? unsafe open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
    if descriptor < 0 { throw .unreadable(code: errno) }
  }

  deinit { if closes, descriptor >= 0 { close(descriptor) } }

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
        return start < buffer.endIndex ? buffer[start...] : nil
      }
      guard buffer.count - start <= Self.lineLimit else { throw .lineTooLong }
      buffer.removeSubrange(..<start)
      start = 0
      searched = buffer.count
      try fill()
    }
  }

  private mutating func fill() throws(Fault) {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = unsafe read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(code: errno) }
      isAtEnd = count == 0
      buffer += chunk[..<count]
      return
    }
  }
}
