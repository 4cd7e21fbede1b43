internal import Glibc

/// Where the load goes.
package struct Endpoint: Sendable, Equatable {
  /// As it is written in the `Host` field.
  package let authority: String
  private let isIPv6: Bool
  private let address: [UInt8]
  private let port: UInt16

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
    guard let (isIPv6, address) = lookUp(host) else { throw .unavailable("there is no host `\(host)`") }
    guard allowsRemote || isLoopback(address) else {
      throw .usage("`\(host)` is not this machine: load goes to other machines only with --allow-remote")
    }
    authority = String(rest)
    self.isIPv6 = isIPv6
    self.address = address
    self.port = port
  }

  /// A connected socket that does not block; nil when nobody listens there, or not within two seconds.
  func connect() -> Int32? {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, type, 0)
    guard descriptor >= 0 else { return nil }
    // Of a connection attempt this is the limit too (socket(7)).
    var patience = timeval(tv_sec: 2, tv_usec: 0)
    var yes: Int32 = 1
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard isIPv6 ? connectIPv6(descriptor) : connectIPv4(descriptor),
      fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
    else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  private func connectIPv4(_ descriptor: Int32) -> Bool {
    var socketAddress = sockaddr_in()
    socketAddress.sin_family = sa_family_t(AF_INET)
    socketAddress.sin_port = port.bigEndian
    unsafe withUnsafeMutableBytes(of: &socketAddress.sin_addr) { unsafe $0.copyBytes(from: address) }
    return unsafe withUnsafePointer(to: &socketAddress) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private func connectIPv6(_ descriptor: Int32) -> Bool {
    var socketAddress = sockaddr_in6()
    socketAddress.sin6_family = sa_family_t(AF_INET6)
    socketAddress.sin6_port = port.bigEndian
    unsafe withUnsafeMutableBytes(of: &socketAddress.sin6_addr) { unsafe $0.copyBytes(from: address) }
    return unsafe withUnsafePointer(to: &socketAddress) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
      }
    }
  }
}

/// The first address of a host, and whether it is one of IPv6.
private func lookUp(_ host: String) -> (isIPv6: Bool, bytes: [UInt8])? {
  var hints = unsafe addrinfo()
  unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  var found: UnsafeMutablePointer<addrinfo>?
  guard unsafe getaddrinfo(host, nil, &hints, &found) == 0, let first = unsafe found,
    let address = unsafe first.pointee.ai_addr
  else { return nil }
  defer { unsafe freeaddrinfo(first) }
  let raw = UnsafeRawPointer(address)
  switch Int32(unsafe address.pointee.sa_family) {
  case AF_INET:
    var inner = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr
    return (false, unsafe withUnsafeBytes(of: &inner) { unsafe Array($0) })
  case AF_INET6:
    var inner = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
    return (true, unsafe withUnsafeBytes(of: &inner) { unsafe Array($0) })
  default: return nil
  }
}

/// 127.0.0.0/8 (RFC 1122 §3.2.1.3) and ::1 (RFC 4291 §2.5.3).
private func isLoopback(_ address: [UInt8]) -> Bool {
  address.count == 4 ? address[0] == 127 : address == [UInt8](repeating: 0, count: 15) + [1]
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
