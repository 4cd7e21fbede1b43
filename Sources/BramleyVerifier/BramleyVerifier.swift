//===-- BramleyVerifier ---------------------------------------------------===//
// For services that are handed Bramley's session JWTs: verifies them offline, with the issuer's published keys,
// and follows its revocations where it is asked to.
//
// A library for others: what is public here is a promise to programs that are not in this package.
//===------------------------------------------------------------------------===//

internal import Domain

/// Why a token was not accepted.
public enum VerificationError: Error, Equatable, Sendable {
  /// No session JWT at all: not three parts of canonical base64url with the claims that every session JWT has, or
  /// of another `typ` (RFC 8725 §3.11).
  case malformed
  /// `iss` is not the issuer, byte for byte.
  case wrongIssuer
  /// `aud` is not the audience, byte for byte.
  case wrongAudience
  /// `iat` or `nbf` is in the future.
  case notYetValid
  /// `exp` is past.
  case expired
  /// The issuer publishes no key of the name in `kid`.
  case unknownKey
  /// The signature is not that key's, or `alg` is another one than the key's.
  case signatureInvalid
  /// The feed has named the session, or the account for tokens of this age.
  case revoked
  /// Nothing is known about the key, because the issuer cannot be reached.
  case keysUnavailable
  /// The feed has been silent for longer than ``RevocationFeed/tolerance``, and silence means refusal.
  case revocationsUnavailable

  /// Whether it says nothing about the token: an answer of 503 is right then, and 401 in every other case.
  public var isOutage: Bool {
    switch self {
    case .keysUnavailable, .revocationsUnavailable: true
    case .malformed, .wrongIssuer, .wrongAudience, .notYetValid, .expired, .unknownKey, .signatureInvalid,
      .revoked:
      false
    }
  }
}

/// Why there is no verifier.
public enum VerifierSetupError: Error, Equatable, Sendable {
  /// An address is not https, and not http to a loopback address.
  case addressNotAllowed(String)
  /// The system gives no thread, or libcurl does not start.
  case networkUnavailable
}

/// When keys are fetched and how long they are believed.
public struct KeyPolicy: Sendable, Equatable {
  /// How long keys are believed while the issuer cannot be reached. A key that the issuer withdrew may be believed
  /// that long, but only if the issuer is out of reach.
  public var outageTolerance: Duration = .seconds(86_400)
  /// From one fetch that an unknown `kid` caused to the next. A made-up `kid` costs the issuer no more than that.
  public var coolDown: Duration = .seconds(30)

  /// A day, and half a minute.
  public init() {}
}

/// The issuer's feed of ended sessions (`GET /v1/revocations`), followed in the background.
public struct RevocationFeed: Sendable {
  /// What silence for longer than the tolerance means.
  public enum Silence: Sendable {
    /// Tokens are refused with ``VerificationError/revocationsUnavailable``.
    case refuses
    /// Tokens are accepted as if there were no feed.
    case accepts
  }

  let serviceKey: Secret<String>
  /// The feed's address; nil for the issuer's `/v1/revocations`.
  public var url: String?
  /// How long the feed may be silent before ``silence`` counts.
  public var tolerance: Duration = .seconds(60)
  /// What silence beyond the tolerance means.
  public var silence = Silence.refuses

  /// - Parameter serviceKey: One of the issuer's `BRAMLEY_SERVICE_KEYS`.
  public init(serviceKey: String) { self.serviceKey = Secret(serviceKey) }
}
