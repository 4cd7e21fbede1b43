/// What is sent back. `Content-Length`, `Date` and `Connection` are the listener's to write.
package struct Response: Sendable, Equatable {
  /// 200 to 599.
  package var status: Int
  /// Fields of the framing in here are passed over, and so are empty values.
  package var headers: Headers
  /// Not sent to a HEAD request, nor with 204 and 304. Of a 304 it is what a 200 would have carried, whose
  /// length is told; without it none is told, and the connection ends.
  package var body: [UInt8]
  /// Whether the connection ends after this answer.
  package var closesConnection: Bool

  /// Checks nothing; what cannot be sent becomes an empty 500 when it is.
  package init(
    status: Int, headers: Headers = Headers(), body: [UInt8] = [], closesConnection: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.closesConnection = closesConnection
  }

  /// The response as it may be sent: an impossible status or a field that could split the answer (RFC 9112
  /// §11.1) makes it an empty 500, since a mended answer would hide the mistake.
  var sendable: Response {
    guard (200...599).contains(status), headers.fields.allSatisfy(\.isWellFormed) else {
      return Response(status: 500, closesConnection: true)
    }
    guard status == 204, !body.isEmpty else { return self }
    var bodiless = self
    bodiless.body = []
    return bodiless
  }
}
