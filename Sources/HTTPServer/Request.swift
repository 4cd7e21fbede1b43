/// One request, whole: the head passed every check and the body is within its limit.
package final class Request: Sendable {
  /// As sent, upper and lower case kept.
  package let method: String
  /// The target before `?`, as sent and never percent-decoded, so that one route has one spelling.
  package let path: String
  /// The target after the first `?`, as sent; nil when there is no `?`.
  package let query: String?
  /// Well-formed, with exactly one `Host` unless the request is HTTP/1.0.
  package let headers: Headers
  /// Decoded from its chunks; empty when there is none.
  package let body: [UInt8]
  /// The other end of the connection: a proxy, when there is one.
  package let peer: PeerAddress
  /// When the head was complete; the deadline counts from here.
  package let arrived: ContinuousClock.Instant

  /// Checks nothing: for tests of responders, and for the listener, which has checked.
  package init(
    method: String, path: String, query: String? = nil, headers: Headers = Headers(), body: [UInt8] = [],
    peer: PeerAddress, arrived: ContinuousClock.Instant
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.peer = peer
    self.arrived = arrived
  }
}
