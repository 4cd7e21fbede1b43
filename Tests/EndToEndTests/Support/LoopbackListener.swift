import Foundation
import Glibc
import TestProcesses

/// A port of this machine, and a thread for each connection that comes to it.
final class LoopbackListener: Sendable {
  let port: UInt16
  private let listener: Int32

  /// - Parameter serve: Is given each connection, which is closed when it returns.
  init(_ serve: @escaping @Sendable (Int32) -> Void) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 128) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { throw SystemFault(call: "bind", code: errno) }
    port = UInt16(bigEndian: address.sin_port)
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
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}

/// One request as it came.
struct Delivery: Sendable {
  let method: String
  let target: String
  /// By their names in lower case.
  let headers: [String: String]
  let body: [UInt8]
}

/// The requests of one connection, one after the other.
struct Deliveries {
  private let connection: Int32
  private var received: [UInt8] = []

  init(_ connection: Int32) { self.connection = connection }

  /// Waits for the next request; nil at the end of the connection.
  mutating func next() -> Delivery? { nextWithBytes()?.delivery }

  /// The same, and the bytes that it came in.
  mutating func nextWithBytes() -> (delivery: Delivery, bytes: [UInt8])? {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      if let (delivery, end) = delivery(in: received) {
        defer { received.removeSubrange(..<end) }
        return (delivery, Array(received[..<end]))
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      received += buffer[..<count]
    }
  }

  func send(_ answer: [UInt8]) {
    _ = answer.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  private func delivery(in bytes: [UInt8]) -> (Delivery, end: Int)? {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let first = lines[0].split(separator: " ").map(String.init)
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
        in: .whitespaces)
    }
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    guard bytes.count >= end.upperBound + length else { return nil }
    return (
      Delivery(
        method: first[0], target: first[1], headers: headers,
        body: Array(bytes[end.upperBound..<(end.upperBound + length)])), end.upperBound + length
    )
  }
}
