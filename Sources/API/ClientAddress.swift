internal import Domain
internal import HTTPServer

/// The address that a request is counted for: 4 bytes, or the first 8 of an IPv6 address, since a customer is given
/// 2^64 of those (RFC 6177).
///
/// `X-Forwarded-For` is believed from the right up to the first address that is no trusted proxy, and only when the
/// peer is one; everything left of that is whatever somebody wrote. No other forwarding header is read.
func countedAddress(of request: Request, trusting proxies: [Network]) -> [UInt8] {
  var address = request.peer.bytes
  if !proxies.isEmpty {
    let hops = request.headers.all("X-Forwarded-For").joined(separator: ",")
      .split(separator: ",", omittingEmptySubsequences: false)
    for hop in hops.reversed() where !hop.isEmpty {
      guard proxies.contains(where: { $0.contains(address) }), let next = hopAddress(trimmed(hop)) else {
        break
      }
      address = next
    }
  }
  return address.count == 16 ? Array(address.prefix(8)) : address
}

/// The address of one hop, which some proxies write with a port or in brackets.
private func hopAddress(_ text: String) -> [UInt8]? {
  if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
    return addressBytes(String(text[text.index(after: text.startIndex)..<end]))
  }
  let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
  return addressBytes(colons == 1 ? String(text.prefix { $0 != ":" }) : text)
}

private func trimmed(_ text: Substring) -> String {
  String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
}
