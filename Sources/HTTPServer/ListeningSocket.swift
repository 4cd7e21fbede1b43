// Some of the C library's socket types reach Swift through whichever module included them first: both are imported.
internal import CMicroHTTPD
internal import Glibc

/// A bound, listening TCP socket; closing is dropping it.
///
/// Opened here and not by the library, so that the port of "any port" is known and IPv6 can take IPv4 too.
package struct ListeningSocket: ~Copyable {
  let descriptor: Int32
  /// The real one, also where the system was left to pick it.
  package let port: UInt16
  /// `host:port` as wanted, with the real port.
  package let address: String

  /// Whoever connects from now on waits until a listener accepts.
  ///
  /// - Parameter port: 0 lets the system pick one.
  package init(host: String, port: UInt16) throws(HTTPListenerError) {
    let opened = try openListeningSocket(host: host, port: port)
    guard let bound = boundPort(opened) else {
      let code = errno
      close(opened)
      throw .addressUnavailable(code: code)
    }
    self.port = bound
    address = host.utf8.contains(0x3A) ? "[\(host)]:\(bound)" : "\(host):\(bound)"
    descriptor = opened
  }

  deinit { close(descriptor) }

  /// Turns newcomers away, and wakes the thread that waits for one; the descriptor stays valid for it.
  borrowing func refuseNewcomers() {
    shutdown(descriptor, Int32(SHUT_RDWR))
  }
}

/// Tries each address that the host stands for and returns the first socket that listens.
private func openListeningSocket(host: String, port: UInt16) throws(HTTPListenerError) -> Int32 {
  var hints = unsafe addrinfo()
  unsafe hints.ai_family = AF_UNSPEC
  unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
  var found: UnsafeMutablePointer<addrinfo>?
  guard unsafe getaddrinfo(host, String(port), &hints, &found) == 0 else { throw .hostUnknown(host) }
  defer { unsafe freeaddrinfo(found) }
  var code = EADDRNOTAVAIL
  var candidate = unsafe found
  while let address = unsafe candidate {
    let descriptor = unsafe listen(at: address.pointee)
    if descriptor >= 0 { return descriptor }
    code = errno
    unsafe candidate = address.pointee.ai_next
  }
  throw .addressUnavailable(code: code)
}

/// A listening socket at one address, or -1 with `errno` set.
private func listen(at address: addrinfo) -> Int32 {
  let type = unsafe address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue)
  let descriptor = unsafe socket(address.ai_family, type, address.ai_protocol)
  guard descriptor >= 0 else { return -1 }
  set(SO_REUSEADDR, of: SOL_SOCKET, to: 1, on: descriptor)
  // Connections inherit it: an answer leaves at once instead of waiting for the last one's acknowledgement.
  set(TCP_NODELAY, of: Int32(IPPROTO_TCP), to: 1, on: descriptor)
  if unsafe address.ai_family == AF_INET6 {
    set(IPV6_V6ONLY, of: Int32(IPPROTO_IPV6), to: 0, on: descriptor)
  }
  if unsafe bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, listen(descriptor, 1024) == 0 {
    return descriptor
  }
  let code = errno
  close(descriptor)
  errno = code
  return -1
}

private func set(_ option: Int32, of level: Int32, to value: Int32, on descriptor: Int32) {
  var value = value
  unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
}

/// The port that the system gave to a bound socket.
private func boundPort(_ descriptor: Int32) -> UInt16? {
  var storage = sockaddr_storage()
  var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
  let result = unsafe withUnsafeMutablePointer(to: &storage) { storage in
    unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
      unsafe getsockname(descriptor, address, &length)
    }
  }
  guard result == 0 else { return nil }
  return unsafe withUnsafePointer(to: &storage) { storage in
    unsafe peerAddress(UnsafeRawPointer(storage).assumingMemoryBound(to: sockaddr.self))?.port
  }
}

/// Reads an IPv4 or IPv6 socket address; nil for any other family.
func peerAddress(_ address: UnsafePointer<sockaddr>) -> PeerAddress? {
  let raw = unsafe UnsafeRawPointer(address)
  switch unsafe Int32(address.pointee.sa_family) {
  case AF_INET:
    let four = unsafe raw.loadUnaligned(as: sockaddr_in.self)
    let word = UInt32(bigEndian: four.sin_addr.s_addr)
    return PeerAddress(
      bytes: (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) },
      port: UInt16(bigEndian: four.sin_port))
  case AF_INET6:
    let six = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
    let bytes = unsafe withUnsafeBytes(of: six.sin6_addr) { unsafe Array($0) }
    return PeerAddress(bytes: bytes, port: UInt16(bigEndian: six.sin6_port))
  default:
    return nil
  }
}
