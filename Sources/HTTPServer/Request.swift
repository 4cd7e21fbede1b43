/// One request, whole: the head passed every check and the body is within its limit.
package struct Request: Sendable {
  /// As sent, upper and lower case kept.
  package let method: String
  /// The target before `?`, as sent and never percent-decoded, so that one route has one spelling.
  package let path: String
  /// The target after the first `?`, as sent; nil when there is no `?`.
  package let query: String?
  package let headers: Headers
  package let body: [UInt8]
  package let peer: PeerAddress
  /// When the head was complete; the deadline counts from here.
  package let arrived: ContinuousClock.Instant

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
