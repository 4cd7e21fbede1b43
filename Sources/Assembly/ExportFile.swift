internal import Glibc

/// The bytes of a file or of standard input, piece by piece.
final class ExportFile {
  private let descriptor: Int32
  private let isOwn: Bool
  private var buffer = [UInt8](repeating: 0, count: 256 * 1024)

  /// - Parameter path: `-` for standard input.
  init(_ path: String) throws(ReadFault) {
    isOwn = path != "-"
    descriptor = unsafe isOwn ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
    guard descriptor >= 0 else { throw ReadFault(code: errno) }
  }

  deinit { if isOwn { close(descriptor) } }

  /// The next bytes; nil at the end.
  func next() throws(ReadFault) -> ArraySlice<UInt8>? {
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count > 0 { return buffer[..<count] }
      if count == 0 { return nil }
      guard errno == EINTR else { throw ReadFault(code: errno) }
    }
  }
}

/// Why a file cannot be read: the system's error.
struct ReadFault: Error, Equatable {
  let code: Int32
}
