//===-- HTTPServer --------------------------------------------------------===//
// A listener over libmicrohttpd that turns connections into requests and responses. It knows nothing of tokens.
//
// It owns sockets, limits, deadlines and the refusal of every request that two HTTP parsers could read in two
// ways. It refuses to know routes, JSON and error codes: what its own refusals say is handed in.
//
// One kind of responder: an async closure, started on the listener's own thread. One that never suspends is
// answered inside the library's callback; only one that really waits suspends its connection.
//
// The library bounds only the silence between two bytes; OpenConnections bounds heads and requests as a whole.
//===------------------------------------------------------------------------===//

/// What the listener refuses by itself, before or instead of the responder.
package enum ListenerRefusal: Sendable, Hashable, CaseIterable {
  /// The head breaks RFC 9112 or could be read in two ways. The connection closes.
  case requestMalformed
  /// More header fields than the listener reads. The connection closes.
  case headerTooLarge
  /// The body is, or claims to be, over the limit. The connection closes.
  case bodyTooLarge
  /// The body did not arrive within the request's deadline. The connection closes.
  case requestTimeout
  /// The responder did not answer within the request's deadline.
  case deadlineExceeded
  /// As many requests as allowed are being answered already.
  case overloaded
  /// The listener stopped before the responder answered. The connection closes.
  case shuttingDown
}

/// Why a listener could not start.
package enum HTTPListenerError: Error, Sendable, Equatable {
  /// The host is no address of this machine and no name that resolves to one.
  case hostUnknown(String)
  /// The port is taken or needs a privilege; `code` is the `errno`.
  case addressUnavailable(code: Int32)
  /// A limit is zero or negative, named by the member of the configuration.
  case limitInvalid(String)
  /// Certificate and key are no PEM, or do not belong together.
  case tlsIdentityUnusable
  /// The library did not start its threads.
  case startFailed
}
