/// Where a connection came from: the IP address in network order, and the port.
///
/// An IPv4 address seen through an IPv6 socket (`::ffff:192.0.2.1`) is the IPv4 address, so that one client is
/// one address for limits and allow lists.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
  // Two words instead of an array: a request should not pay an allocation for its peer.
  private let high: UInt64
  private let low: UInt64
  /// Whether `bytes` has 4 members; else it has 16.
  package let isIPv4: Bool
  /// The client's own port, which changes with each connection.
  package let port: UInt16

  /// Nil unless there are 4 or 16 bytes.
  package init?(bytes: some Collection<UInt8>, port: UInt16) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for byte in bytes {
      high = high << 8 | low >> 56
      low = low << 8 | UInt64(byte)
    }
    let isMapped = bytes.count == 16 && high == 0 && low >> 32 == 0xFFFF
    isIPv4 = bytes.count == 4 || isMapped
    self.high = high
    self.low = isMapped ? low & 0xFFFF_FFFF : low
    self.port = port
  }

  /// The address in network order: 4 bytes or 16.
  package var bytes: [UInt8] {
    let count = isIPv4 ? 4 : 16
    return (0..<count).map { index in
      let shift = 8 * (count - 1 - index)
      return UInt8(truncatingIfNeeded: shift >= 64 ? high >> (shift - 64) : low >> shift)
    }
  }

  /// The address without the port: dotted, or eight groups of hex digits without the `::` abbreviation.
  package var host: String {
    let bytes = bytes
    if isIPv4 { return bytes.map { String($0) }.joined(separator: ".") }
    return stride(from: 0, to: 16, by: 2)
      .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
      .joined(separator: ":")
  }

  /// `192.0.2.1:443`, or with brackets for IPv6.
  package var description: String { isIPv4 ? "\(host):\(port)" : "[\(host)]:\(port)" }
}
