import Glibc

/// A client that sends exactly the bytes it is told to. Blocking: use it inside `onThread`.
final class RawConnection {
  enum Fault: Error { case connectFailed(Int32), answerIncomplete(String) }

  private let descriptor: Int32
  private var received: [UInt8] = []

  init(_ port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    // Only so that a broken test ends; no test waits for it.
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Fault.connectFailed(errno) }
  }

  deinit { close(descriptor) }

  /// Sends everything, or as much as the other side takes before it hangs up.
  @discardableResult
  func send(_ bytes: some Sequence<UInt8>) -> Bool {
    let bytes = Array(bytes)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(text.utf8) }

  func get(_ target: String) {
    send("GET \(target) HTTP/1.1\r\nHost: test\r\n\r\n")
  }

  func post(_ target: String, _ body: String) {
    send("POST \(target) HTTP/1.1\r\nHost: test\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Everything until the other side closes or resets.
  func readToEnd() -> String {
    while readSome() {}
    defer { received = [] }
    return String(decoding: received, as: UTF8.self)
  }

  /// The next answer, by its Content-Length.
  func readAnswer(withoutBody: Bool = false) throws -> Answer {
    while true {
      if let (answer, length) = Answer.parse(received, withoutBody: withoutBody) {
        received.removeFirst(length)
        return answer
      }
      guard readSome() else { throw Fault.answerIncomplete(String(decoding: received, as: UTF8.self)) }
    }
  }

  private func readSome() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count > 0 { received += buffer[..<count] }
    return count > 0
  }
}

/// An answer as it came over the wire.
struct Answer: Equatable, Sendable {
  let status: Int
  /// Names in lower case.
  let headers: [String: String]
  let body: String

  /// The first whole answer in some bytes and how many bytes it takes, or nil when it is not there yet.
  static func parse(_ bytes: [UInt8], withoutBody: Bool) -> (Answer, Int)? {
    let end = Array("\r\n\r\n".utf8)
    guard let headEnd = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
    var lines = String(decoding: bytes[..<headEnd], as: UTF8.self).split(separator: "\r\n")
    let status = Int(lines.removeFirst().split(separator: " ")[1]) ?? 0
    var headers: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    let length = withoutBody ? 0 : Int(headers["content-length"] ?? "0") ?? 0
    let start = headEnd + 4
    guard bytes.count >= start + length else { return nil }
    let body = String(decoding: bytes[start..<(start + length)], as: UTF8.self)
    return (Answer(status: status, headers: headers, body: body), start + length)
  }
}

/// How many status lines a text holds.
func answerCount(_ text: String) -> Int {
  let bytes = Array(text.utf8)
  let mark = Array("HTTP/1.1 ".utf8)
  return bytes.indices.count { bytes[$0...].starts(with: mark) }
}
