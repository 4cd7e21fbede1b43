package import Domain
internal import Glibc
internal import Synchronization
internal import Threads
internal import Wire

/// The key endpoint on a port of its own, over bare sockets: what it has to get wrong, no HTTP library would send.
///
/// A thread accepts, a thread each serves at most ``connectionLimit`` connections, one answer each.
package final class KeyEndpoint: Sendable {
  private static let connectionLimit = 64

  /// The port of 127.0.0.1 that it listens on.
  package let port: UInt16
  private let state: KeyEndpointState

  /// Starts it, well-behaved.
  package init(_ keys: MockKeys, clock: WallClock) throws(KeyEndpointError) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    guard listener >= 0, let port = bindToLoopback(listener), listen(listener, 64) == 0 else {
      throw .addressUnavailable(code: errno)
    }
    let state = KeyEndpointState(keys, clock: clock)
    self.state = state
    self.port = port
    do throws(ThreadError) {
      _ = try DedicatedThread(name: "mock-keys") {
        state.acceptForEver(listener, limit: Self.connectionLimit)
      }
    } catch {
      throw .threadsUnavailable
    }
  }

  /// Behaves in this way from now on.
  ///
  /// - Parameter milliseconds: How slow ``KeyBehaviour/slow`` is.
  package func behave(_ behaviour: KeyBehaviour, milliseconds: Int64) {
    state.behave(behaviour, milliseconds: milliseconds)
  }

  /// The behaviour in force, and how many requests came since the start.
  package var json: [UInt8] { state.json }
}

/// Why the key endpoint could not start.
package enum KeyEndpointError: Error, Equatable, Sendable {
  /// `code` is the `errno`.
  case addressUnavailable(code: Int32)
  case threadsUnavailable
}

/// What the threads share.
private final class KeyEndpointState: Sendable {
  private struct Values {
    var behaviour = KeyBehaviour.good
    var milliseconds: Int64 = 0
    var requests: Int64 = 0
    var open = 0
  }

  private let keys: MockKeys
  private let clock: WallClock
  private let values = Mutex(Values())

  init(_ keys: MockKeys, clock: WallClock) {
    self.keys = keys
    self.clock = clock
  }

  func behave(_ behaviour: KeyBehaviour, milliseconds: Int64) {
    values.withLock {
      $0.behaviour = behaviour
      $0.milliseconds = milliseconds
    }
  }

  var json: [UInt8] {
    let values = values.withLock { $0 }
    var out = JSONWriter()
    out.member("keys", values.behaviour.rawValue)
    out.member("milliseconds", values.milliseconds)
    out.member("requests", values.requests)
    return out.finish()
  }

  func acceptForEver(_ listener: Int32, limit: Int) {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        return
      }
      let hasRoom = values.withLock { values in
        guard values.open < limit else { return false }
        values.open += 1
        return true
      }
      let thread = hasRoom ? try? DedicatedThread(name: "mock-key", body: { self.serve(connection) }) : nil
      if thread == nil { close(connection) }
    }
  }

  private func serve(_ connection: Int32) {
    defer {
      close(connection)
      values.withLock { $0.open -= 1 }
    }
    guard readHead(connection) else { return }
    let (behaviour, milliseconds) = values.withLock { values in
      values.requests += 1
      return (values.behaviour, values.milliseconds)
    }
    answer(connection, behaviour, milliseconds)
  }

  private func answer(_ connection: Int32, _ behaviour: KeyBehaviour, _ milliseconds: Int64) {
    let date = "Date: \(httpDate(ofSeconds: clock.now().seconds))\r\n"
    switch behaviour {
    case .closed: return
    case .redirect:
      let head =
        "HTTP/1.1 302 Found\r\n\(date)Location: http://127.0.0.1:1/keys\r\nContent-Length: 0\r\n\r\n"
      _ = send(Array(head.utf8), to: connection)
    case .endless: sendForEver(connection, date)
    default:
      guard let (status, type, body) = behaviour.answer(keys) else { return }
      if behaviour == .slow { usleep(UInt32(clamping: milliseconds * 1000)) }
      let head =
        "HTTP/1.1 \(status)\r\n\(date)Content-Type: \(type)\r\nContent-Length: \(body.count)\r\n"
        + "Connection: close\r\n\r\n"
      guard send(Array(head.utf8), to: connection) else { return }
      switch behaviour {
      case .truncated: _ = send(Array(body.prefix(body.count / 2)), to: connection)
      case .stalled: waitForEnd(connection)
      default: _ = send(body, to: connection)
      }
    }
  }
}

private func bindToLoopback(_ socket: Int32) -> UInt16? {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
      unsafe bind(socket, generic, length) == 0 && getsockname(socket, generic, &length) == 0
    }
  }
  return bound ? UInt16(bigEndian: address.sin_port) : nil
}

/// Reads up to the empty line; false when none comes within five seconds or 8 KiB.
private func readHead(_ connection: Int32) -> Bool {
  var patience = timeval(tv_sec: 5, tv_usec: 0)
  _ = unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  var head: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1024)
  while head.count < 8192 {
    let count = unsafe recv(connection, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    head.append(contentsOf: buffer[..<count])
    if head.suffix(4) == [13, 10, 13, 10] { return true }
  }
  return false
}

private func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
  var sent = 0
  while sent < bytes.count {
    let count = unsafe bytes[sent...].withUnsafeBytes {
      unsafe Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    guard count > 0 else { return false }
    sent += count
  }
  return true
}

/// Chunk after chunk until the other side has had enough, at most 256 MiB.
private func sendForEver(_ connection: Int32, _ date: String) {
  let head =
    "HTTP/1.1 200 OK\r\n\(date)Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
  guard send(Array(head.utf8), to: connection) else { return }
  let chunk = Array("4000\r\n".utf8) + [UInt8](repeating: 0x20, count: 0x4000) + Array("\r\n".utf8)
  for _ in 0..<16_384 where !send(chunk, to: connection) { return }
}

/// Until the other side hangs up, at most half a minute.
private func waitForEnd(_ connection: Int32) {
  var patience = timeval(tv_sec: 30, tv_usec: 0)
  _ = unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  var byte: UInt8 = 0
  _ = unsafe recv(connection, &byte, 1, 0)
}
