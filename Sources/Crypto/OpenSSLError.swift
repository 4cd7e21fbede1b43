internal import COpenSSL

/// OpenSSL refused. What it said is for a log's debug text, never for a client.
package struct CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What was asked, as a constant.
  package let operation: StaticString
  /// OpenSSL's own words, oldest first; empty when it had none.
  package let detail: String

  package static func == (a: CryptoError, b: CryptoError) -> Bool {
    a.operation.description == b.operation.description && a.detail == b.detail
  }

  /// Whether a private key was read well and is none of the kinds that are taken here.
  package var isKeyOfOtherKind: Bool { operation.description == Self.keyOfOtherKind.description }
  static let keyOfOtherKind: StaticString = "take private key"

  package var description: String { "\(operation) failed" }

  /// Drains this thread's whole error queue, so that nothing stale is left for the next caller.
  init(_ operation: StaticString) {
    self.operation = operation
    var words: [String] = []
    while true {
      let code = ERR_get_error()
      if code == 0 { break }
      if let reason = unsafe ERR_reason_error_string(code) { words.append(unsafe String(cString: reason)) }
    }
    detail = words.joined(separator: "; ")
  }
}

/// Forgets what a call that may fail by design (a wrong signature) left on this thread's error queue.
func discardOpenSSLErrors() {
  ERR_clear_error()
}
