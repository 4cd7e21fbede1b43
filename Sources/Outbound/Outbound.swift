//===-- Outbound ----------------------------------------------------------===//
// HTTPS requests to addresses that the operator configured, over libcurl: limits, deadlines, no redirects.
//
// One loop thread owns libcurl's multi handle and every transfer; callers only leave requests in its inbox.
// The module knows nothing of what is fetched or why.
//===------------------------------------------------------------------------===//

/// Why outgoing HTTP could not be set up at all.
package enum OutboundError: Error, Equatable, Sendable {
  /// libcurl did not initialise.
  case libraryUnusable
  /// The system refused the loop's thread, with this `errno` value.
  case threadNotStarted(code: Int32)
}
