package import HTTPServer
internal import Crypto
internal import Domain

/// One request on its way to a handler, with the id that finds it in the log.
package struct Call: Sendable {
  package let request: Request
  package let requestID: String
  /// The settings in force when it came.
  package let policy: RequestPolicy
  /// What rates count it under: an IPv4 address, or the first half of an IPv6 one.
  let address: [UInt8]
  /// What stands in the path for the names of the route's template, as it was sent.
  package internal(set) var parameters: [String: String] = [:]
  /// Of the route that it went to.
  package internal(set) var face = Face.bramley
  /// The administrator whose bearer came with it; nil for everybody else, and where nobody asked.
  package internal(set) var administrator: String?

  /// For the audit: who asks, from where, and by which request.
  func origin(_ actor: Actor) -> Origin {
    Origin(actor: actor, address: address, requestID: auditedRequestID)
  }

  /// What the audit knows the request by. An id that the caller chose may hold anything, a secret or an address too, so
  /// of that one it gets a digest only.
  private var auditedRequestID: String {
    guard request.headers.first("X-Request-Id") == requestID else { return requestID }
    return "sha256:" + hexText(sha256(Array(requestID.utf8)).prefix(8))
  }

  /// For the audit, where an administrator may stand in for the person.
  var origin: Origin { origin(administrator.map { .administrator($0) } ?? .person) }
}

/// The one kind of handler. It runs on the listener's thread until it first waits for something.
package typealias Handler = @Sendable (Call) async throws(Failure) -> Response

/// Who may call a route.
package enum Access: Sendable {
  /// Everybody.
  case open
  /// Apps, which name themselves with an API key when any are set. On Firebase's routes an administrator's bearer does
  /// instead: the Admin SDKs send no key.
  case app
  /// Back ends, by a service key, and administrators. Where there can be neither, the route is not there.
  case service
  /// Administrators. Where there can be none, the route is not there.
  case administrator
  /// Everybody who comes this far, as with ``open``; but where there can be no administrators, the route is not there.
  case administratorPage
}

/// Whose refusals a caller expects where they differ: Firebase's over API keys, and a page where a person looks at it.
package enum Face: Sendable {
  case bramley, firebase, browser
}

/// One line of the route table.
package final class Route: Sendable {
  /// `*` for every method that has no route of its own.
  package let method: String
  /// A path, or a ``PathTemplate``; without Google's host.
  package let path: String
  /// A label for logs and metrics; never the request's own path.
  package let name: String
  /// Which of Google's services has the route; nil for our own.
  package let host: GoogleHost?
  package let face: Face
  package let access: Access
  /// Bytes of a body.
  package let bodyLimit: Int
  package let handler: Handler

  package init(
    _ method: String, _ path: String, name: String, host: GoogleHost? = nil, face: Face = .bramley,
    access: Access, bodyLimit: Int? = nil, handler: @escaping Handler
  ) {
    self.method = method
    self.path = path
    self.name = name
    self.host = host
    self.face = face
    self.access = access
    self.bodyLimit = bodyLimit ?? Limits.bodyBytes
    self.handler = handler
  }
}
