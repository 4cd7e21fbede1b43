import Glibc
import Threads

/// A server of raw sockets on a free port of 127.0.0.1; each connection has a thread that plays a script.
final class LoopbackServer: Sendable {
  let port: UInt16
  let connections = Tally()
  private let listener: Int32
  private let thread: DedicatedThread

  var url: String { "http://127.0.0.1:\(port)" }

  init(script: @escaping @Sendable (Peer) -> Void) throws {
    let (listener, port) = try boundSocket()
    listen(listener, 1024)
    self.listener = listener
    self.port = port
    let connections = connections
    thread = try DedicatedThread(name: "loopback") {
      while true {
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else { return }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        connections.add()
        let thread = try? DedicatedThread(name: "peer") {
          script(Peer(socket))
          close(socket)
        }
        if thread == nil { close(socket) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    thread.join()
    close(listener)
  }
}

/// One connection, from the server's side.
struct Peer: Sendable {
  private let socket: Int32

  init(_ socket: Int32) { self.socket = socket }

  /// The next request as it came, body and all; nil when the client has closed.
  func request() -> String? {
    var bytes: [UInt8] = []
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(ofText: "\r\n\r\n") {
        let length = text.headerValue("content-length").flatMap { Int($0) } ?? 0
        if text.utf8.distance(from: end, to: text.endIndex) >= length { return text }
      }
      guard let more = read() else { return nil }
      bytes += more
    }
  }

  /// Writes all of it; false when the client has closed.
  @discardableResult
  func send(_ text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      bytes = bytes.dropFirst(count)
    }
    return true
  }

  /// Stays silent until the client closes.
  func waitForClose() {
    while read() != nil {}
  }

  private func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(socket, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer.prefix(count)) : nil
  }
}

/// Counts what happens on other threads, and lets a test wait for it.
final class Tally: Sendable {
  private struct State {
    var count = 0
    var waiting: [(goal: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let state = Monitor(State())

  var count: Int { state.read { $0.count } }

  func add() {
    let due = state.update { state in
      state.count += 1
      let due = state.waiting.filter { $0.goal <= state.count }
      state.waiting.removeAll { $0.goal <= state.count }
      return due
    }
    for waiter in due { waiter.continuation.resume() }
  }

  func reaches(_ goal: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.update { state in
        if state.count < goal { state.waiting.append((goal, continuation)) }
        return state.count >= goal
      }
      if isThere { continuation.resume() }
    }
  }
}

struct SocketFailed: Error {
  let code: Int32
}

/// A socket bound to a free port of 127.0.0.1; while nobody listens on it, the port refuses connections.
func boundSocket() throws -> (socket: Int32, port: UInt16) {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let code = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
      bind(listener, address, length) == 0 ? getsockname(listener, address, &length) : -1
    }
  }
  guard listener >= 0, code == 0 else { throw SocketFailed(code: errno) }
  return (listener, UInt16(bigEndian: address.sin_port))
}

extension String {
  /// Where the text after the first occurrence begins.
  func range(ofText part: String) -> Index? {
    let bytes = utf8
    var start = bytes.startIndex
    while start != bytes.endIndex {
      if bytes[start...].starts(with: part.utf8) { return bytes.index(start, offsetBy: part.utf8.count) }
      start = bytes.index(after: start)
    }
    return nil
  }

  /// The value of the first header line of that name.
  func headerValue(_ name: String) -> String? {
    let head = range(ofText: "\r\n\r\n").map { self[..<$0] } ?? self[...]
    for line in head.split(separator: "\r\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0].lowercased() == name { return String(parts[1].drop { $0 == " " }) }
    }
    return nil
  }
}
