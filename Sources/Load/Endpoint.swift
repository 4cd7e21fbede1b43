internal import Glibc

/// Where the load goes.
package struct Endpoint: Sendable, Equatable {
  /// As it is written in the `Host` field.
  package let authority: String
  private let address: SocketAddress

  /// Takes `http://HOST:PORT` apart and looks the host up.
  ///
  /// - Parameter allowsRemote: Whether another machine may be meant: load that goes there by mistake is an attack.
  package init(url: String, allowsRemote: Bool) throws(LoadError) {
    guard url.hasPrefix("http://") else { throw .usage("--url takes http://HOST:PORT") }
    var rest = url.dropFirst("http://".count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    let colon = rest.lastIndex(of: ":")
    guard let colon, let port = UInt16(rest[rest.index(after: colon)...]), port > 0, !rest.contains("/"),
      !rest.contains("@")
    else { throw .usage("--url takes http://HOST:PORT") }
    var host = String(rest[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    guard let address = SocketAddress(host: host, port: port) else {
      throw .unavailable("there is no host `\(host)`")
    }
    guard allowsRemote || address.isLoopback else {
      throw .usage("`\(host)` is not this machine: load goes to other machines only with --allow-remote")
    }
    authority = String(rest)
    self.address = address
  }

  /// A connected socket that does not block; nil when nobody listens there, or not within two seconds.
  func connect() -> Int32? {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(address.family, type, 0)
    guard descriptor >= 0 else { return nil }
    // Of a connection attempt this is the limit too (socket(7)).
    var patience = timeval(tv_sec: 2, tv_usec: 0)
    var yes: Int32 = 1
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard address.connect(descriptor),
      fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
    else {
      close(descriptor)
      return nil
    }
    return descriptor
  }
}

/// Where a socket connects to: the bytes of a `sockaddr_in` or a `sockaddr_in6`.
private struct SocketAddress: Sendable, Equatable {
  private let bytes: [UInt8]
  let family: Int32

  /// The first address of a host; nil when it has none.
  init?(host: String, port: UInt16) {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, String(port), &hints, &found) == 0, let first = unsafe found else {
      return nil
    }
    defer { unsafe freeaddrinfo(first) }
    family = unsafe first.pointee.ai_family
    guard family == AF_INET || family == AF_INET6, let address = unsafe first.pointee.ai_addr else {
      return nil
    }
    bytes = unsafe Array(UnsafeRawBufferPointer(start: address, count: Int(first.pointee.ai_addrlen)))
  }

  /// 127.0.0.0/8 (RFC 1122 §3.2.1.3) and ::1 (RFC 4291 §2.5.3).
  var isLoopback: Bool {
    // Behind family and port; of IPv6 behind the flow too.
    family == AF_INET ? bytes[4] == 127 : Array(bytes[8..<24]) == [UInt8](repeating: 0, count: 15) + [1]
  }

  func connect(_ descriptor: Int32) -> Bool {
    unsafe bytes.withUnsafeBytes { raw in
      unsafe raw.withMemoryRebound(to: sockaddr.self) { address in
        unsafe Glibc.connect(descriptor, address.baseAddress, socklen_t(bytes.count)) == 0
      }
    }
  }
}

extension Endpoint {
  /// Whether somebody listens there now.
  package var accepts: Bool {
    guard let descriptor = connect() else { return false }
    close(descriptor)
    return true
  }

  /// One request and its answer's body, over a connection of its own; nil when the answer is not 200 within five
  /// seconds.
  package func body(of path: String) -> [UInt8]? {
    guard let descriptor = connect() else { return nil }
    defer { close(descriptor) }
    let request = Array("GET \(path) HTTP/1.1\r\nHost: \(authority)\r\n\r\n".utf8)
    guard unsafe Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: largestAnswer)
    var count = 0
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while count < bytes.count, unsafe poll(&ready, 1, 5000) > 0 {
      let got = unsafe bytes[count...].withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      guard got > 0 else { return nil }
      count += got
      guard case .head(let head) = readHead(bytes, count: count), count >= head.bodyStart + head.bodyLength
      else {
        continue
      }
      return head.status == 200 ? Array(bytes[head.bodyStart..<(head.bodyStart + head.bodyLength)]) : nil
    }
    return nil
  }
}
