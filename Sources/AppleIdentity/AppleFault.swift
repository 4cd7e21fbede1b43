internal import Domain

/// Why a call to Apple's token or revocation endpoint came to nothing, by what is to be done about it.
package enum AppleFault: Error, Hashable, Sendable {
  /// What we or the operator got wrong (RFC 6749 §5.2); nobody's sign-in is at fault.
  package enum Misconfiguration: String, Sendable, CaseIterable {
    case invalidClient = "invalid_client"
    case unauthorizedClient = "unauthorized_client"
    case invalidScope = "invalid_scope"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidRequest = "invalid_request"
    /// No client secret could be signed.
    case cannotSign = "cannot_sign"
  }

  /// What may be otherwise the next time.
  package enum Trouble: String, Sendable, CaseIterable {
    case addressNotAllowed = "address_not_allowed"
    case couldNotConnect = "could_not_connect"
    case tlsFailed = "tls_failed"
    case timedOut = "timed_out"
    case bodyTooLarge = "body_too_large"
    case broken
    case shuttingDown = "shutting_down"
    /// 5xx.
    case serverError = "server_error"
    /// A page.
    case notJSON = "not_json"
    /// JSON that says nothing that is known.
    case unexpected
  }

  /// `invalid_grant`: the code or the token is used up, over, taken back, or another client's.
  case grantRefused
  case misconfigured(Misconfiguration)
  /// 429: too many calls.
  ///
  /// - after: Seconds after which Apple wants to be asked again, where it says so.
  case throttled(after: Int64? = nil)
  case transient(Trouble)

  /// All of them.
  package static let allCases: [AppleFault] =
    [.grantRefused, .throttled()] + Misconfiguration.allCases.map { .misconfigured($0) }
    + Trouble.allCases.map { .transient($0) }

  /// A word for logs, metrics and the queue, out of a bounded set.
  package var label: String {
    switch self {
    case .grantRefused: "invalid_grant"
    case .misconfigured(let cause): cause.rawValue
    case .throttled: "throttled"
    case .transient(let trouble): trouble.rawValue
    }
  }

  /// Whether Apple looked at the call and said no.
  package var isRefusal: Bool {
    switch self {
    case .grantRefused: true
    case .misconfigured(let cause): cause != .cannotSign
    case .throttled, .transient: false
    }
  }

  /// Whether Apple may have acted on the call, though nobody can say so: then a later `invalid_grant` is no proof that
  /// the code was bad.
  package var mayHaveActed: Bool {
    switch self {
    case .grantRefused, .misconfigured, .throttled: false
    case .transient(.addressNotAllowed), .transient(.couldNotConnect), .transient(.tlsFailed): false
    case .transient: true
    }
  }
}

extension AppleFault.Trouble {
  init(_ error: FetchError) {
    self =
      switch error {
      case .addressNotAllowed: .addressNotAllowed
      case .couldNotConnect: .couldNotConnect
      case .tlsFailed: .tlsFailed
      case .timedOut: .timedOut
      case .bodyTooLarge: .bodyTooLarge
      case .broken: .broken
      case .shuttingDown: .shuttingDown
      }
  }
}
