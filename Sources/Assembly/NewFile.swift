internal import Glibc

/// A file that is written from front to end, which only its owner may read; what was there before is not overwritten.
package struct NewFile: ~Copyable, Sendable {
  private let path: String
  private let descriptor: Int32
  private let isOwn: Bool

  /// - Parameter path: `-` for standard output.
  package init(_ path: String) throws(FileFault) {
    self.path = path
    isOwn = path != "-"
    descriptor =
      unsafe isOwn ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) : STDOUT_FILENO
    guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
  }

  deinit { if isOwn { close(descriptor) } }

  /// Appends bytes.
  package func write(_ bytes: [UInt8]) throws(FileFault) {
    guard writeAll(bytes, to: descriptor) else { throw FileFault(path: path, code: errno) }
  }

  /// Returns when everything is on the disk.
  package func finish() throws(FileFault) {
    guard !isOwn || fsync(descriptor) == 0 else { throw FileFault(path: path, code: errno) }
  }

  /// Takes away what was written.
  package func discard() {
    if isOwn { unsafe unlink(path) }
  }
}

/// Why a file cannot be written.
package struct FileFault: Error, Equatable, Sendable {
  let path: String
  let code: Int32

  /// Whether there is a file of that name already.
  package var isInTheWay: Bool { code == EEXIST }

  /// A sentence for an operator.
  package var sentence: String {
    code == EEXIST
      ? "\(path) is there already and is not overwritten"
      : "\(path) cannot be written: \(words(forSystemError: code))"
  }
}
