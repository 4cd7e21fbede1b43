internal import Glibc
internal import Synchronization

/// Where log lines end up.
package struct LogSink: Sendable {
  /// Takes one or more whole lines, each with its line feed; called by the log's thread only.
  package let write: @Sendable ([UInt8]) -> Void

  /// A sink of the caller's own.
  package init(write: @escaping @Sendable ([UInt8]) -> Void) {
    self.write = write
  }

  /// The process's standard output.
  package static func standardOutput() -> LogSink { descriptor(STDOUT_FILENO) }

  /// An open file descriptor, which stays the caller's to close.
  ///
  /// When its reader has gone away or writing fails for good, everything further is discarded.
  package static func descriptor(_ number: Int32) -> LogSink {
    let output = DescriptorOutput(number)
    return LogSink { output.write($0) }
  }
}

/// Writes to a file descriptor until that fails for good.
private final class DescriptorOutput: Sendable {
  private let number: Int32
  private let isGone = Atomic(false)

  init(_ number: Int32) {
    self.number = number
  }

  func write(_ bytes: [UInt8]) {
    guard !isGone.load(ordering: .relaxed) else { return }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
      // errno is read on the very next line.
      let code = errno
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if code == EAGAIN {
        // Somebody who shares the pipe has made it non-blocking; this thread may wait.
        var descriptor = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        unsafe poll(&descriptor, 1, -1)
      } else if code != EINTR {
        // EPIPE among others: SIGPIPE is blocked in this thread, and without a reader there is no one to tell.
        isGone.store(true, ordering: .relaxed)
        return
      }
    }
  }
}
