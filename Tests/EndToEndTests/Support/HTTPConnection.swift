import Foundation
import TestProcesses
import Glibc

/// One request as it goes out.
struct HTTPRequest: Sendable {
  var method = "GET"
  var path: String
  var host = "127.0.0.1"
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []

  /// A POST of a JSON body.
  static func post(
    _ path: String, json: String, headers: [(name: String, value: String)] = []
  ) -> HTTPRequest {
    post(path, Array(json.utf8), type: "application/json", headers: headers)
  }

  /// A POST of a form.
  static func post(
    _ path: String, form: String, headers: [(name: String, value: String)] = []
  ) -> HTTPRequest {
    post(path, Array(form.utf8), type: "application/x-www-form-urlencoded", headers: headers)
  }

  static func post(
    _ path: String, _ body: [UInt8], type: String?, headers: [(name: String, value: String)] = []
  ) -> HTTPRequest {
    HTTPRequest(
      method: "POST", path: path, headers: (type.map { [("Content-Type", $0)] } ?? []) + headers, body: body)
  }

  var bytes: [UInt8] {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if method != "GET" || !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
    return Array((head + "\r\n").utf8) + body
  }
}

/// One answer, whole.
struct HTTPAnswer: Sendable {
  let status: Int
  let headers: [(name: String, value: String)]
  let body: [UInt8]

  /// The value of a field that is there exactly once.
  subscript(name: String) -> String? {
    let values = headers.filter { $0.name.lowercased() == name.lowercased() }
    return values.count == 1 ? values[0].value : nil
  }

  /// Whether the server ends the connection after it.
  var isLast: Bool { self["Connection"]?.lowercased() == "close" }
}

enum HTTPFault: Error, Equatable {
  case connectFailed(code: Int32)
  /// The connection ended before the first byte of an answer.
  case closedBeforeAnswer
  /// It ended in the middle of one.
  case brokenAnswer
  case timedOut
}

/// A keep-alive HTTP/1.1 connection that blocks: to be used on a thread of one's own.
final class HTTPConnection {
  private let descriptor: Int32
  private let port: UInt16
  private var received: [UInt8] = []
  /// Method and target of what was sent and has no answer yet.
  private var unanswered: [RequestLine] = []

  init(port: UInt16, timeoutSeconds: Int = 60) throws(HTTPFault) {
    self.port = port
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let code = errno
    guard connected == 0 else { throw .connectFailed(code: code) }
  }

  deinit { close(descriptor) }

  /// Sends a request and reads its answer.
  func exchange(_ request: HTTPRequest) throws(HTTPFault) -> HTTPAnswer {
    send(request.bytes)
    return try receive(withoutBody: request.method == "HEAD")
  }

  /// Sends bytes as they are. A fault shows when the answer is read, which may be there all the same.
  func send(_ bytes: [UInt8]) {
    if let line = RequestLine(bytes) { unanswered.append(line) }
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// Reads one answer.
  func receive(withoutBody: Bool = false) throws(HTTPFault) -> HTTPAnswer {
    let separator = Array("\r\n\r\n".utf8)
    var end = received.firstRange(of: separator)
    while end == nil {
      try fill()
      end = received.firstRange(of: separator)
    }
    guard let end else { throw .brokenAnswer }
    let head = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    received.removeSubrange(..<end.upperBound)
    guard let status = head.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw .brokenAnswer
    }
    let headers = head.dropFirst().map { line -> (name: String, value: String) in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
    }
    let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
    let expected = withoutBody || status == 304 || status == 204 ? 0 : length
    while received.count < expected {
      do { try fill() } catch { throw error == .timedOut ? .timedOut : .brokenAnswer }
    }
    let body = Array(received[..<expected])
    received.removeSubrange(..<expected)
    let answer = HTTPAnswer(status: status, headers: headers, body: body)
    // 100 is on the way to the answer.
    if status != 100 {
      SeenAnswers.add(answer, to: unanswered.isEmpty ? nil : unanswered.removeFirst(), port: port)
    }
    return answer
  }

  private func fill() throws(HTTPFault) {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count > 0 {
      received.append(contentsOf: buffer[..<count])
      return
    }
    if count < 0, errno == EINTR { return }
    if count < 0, errno == EAGAIN { throw .timedOut }
    throw received.isEmpty ? .closedBeforeAnswer : .brokenAnswer
  }
}

/// Sends one request over a connection of its own.
func exchange(_ request: HTTPRequest, port: UInt16) async throws -> HTTPAnswer {
  try await onThread { try HTTPConnection(port: port).exchange(request) }
}
