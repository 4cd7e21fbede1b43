import Foundation
import Glibc
import TestProcesses

/// A listening socket of this machine whose connections a test serves, each on a thread of its own.
final class LoopbackListener: Sendable {
  let port: UInt16
  private let descriptor: Int32

  /// - Parameter serve: Serves one connection, which is closed when it returns.
  init(_ serve: @escaping @Sendable (Int32) -> Void) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 128) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { throw SystemFault(call: "bind", code: errno) }
    port = UInt16(bigEndian: address.sin_port)
    self.descriptor = descriptor
    Thread.detachNewThread {
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        Thread.detachNewThread {
          serve(connection)
          close(connection)
        }
      }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }
}
