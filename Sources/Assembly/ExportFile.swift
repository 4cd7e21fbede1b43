internal import Glibc

/// The bytes of a file or of standard input, piece by piece. A byte order mark before them, as editors put one there, is
/// none of them (RFC 8259 §8.1).
final class ExportFile {
  private let descriptor: Int32
  private let isOwn: Bool
  private var buffer = [UInt8](repeating: 0, count: 256 * 1024)
  private var isAtStart = true

  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// - Parameter path: `-` for standard input.
  init(_ path: String) throws(ReadFault) {
    isOwn = path != "-"
    descriptor = unsafe isOwn ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
    guard descriptor >= 0 else { throw ReadFault(code: errno) }
  }

  deinit { if isOwn { close(descriptor) } }

  /// The next bytes; nil at the end.
  func next() throws(ReadFault) -> ArraySlice<UInt8>? {
    var count = try take(behind: 0)
    guard isAtStart else { return count > 0 ? buffer[..<count] : nil }
    isAtStart = false
    while count > 0, count < Self.mark.count {
      let more = try take(behind: count)
      if more == 0 { break }
      count += more
    }
    let start = buffer[..<count].starts(with: Self.mark) ? Self.mark.count : 0
    return count > 0 ? buffer[start..<count] : nil
  }

  /// Reads into the buffer.
  ///
  /// - Returns: How many bytes came; none at the end.
  private func take(behind start: Int) throws(ReadFault) -> Int {
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe read(descriptor, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
      }
      if count >= 0 { return count }
      guard errno == EINTR else { throw ReadFault(code: errno) }
    }
  }
}

/// Why a file cannot be read: the system's error.
struct ReadFault: Error, Equatable {
  let code: Int32
}
