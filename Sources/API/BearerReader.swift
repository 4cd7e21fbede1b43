internal import HTTPServer
internal import Sessions

/// Reads the session token that says who asks. Whether the session still lives is storage's to say.
struct BearerReader: Sendable {
  let issuer: SessionIssuer

  /// The bearer in the `Authorization` header; nil when there is no such header. A bad one is refused, never left out.
  func bearer(of request: Request) throws(Failure) -> SessionTokenClaims? {
    switch request.authorization {
    case .absent: return nil
    case .other: throw Failure(.sessionTokenInvalid, challenge: .invalidToken)
    case .bearer(let token):
      do {
        return try issuer.verify(token)
      } catch {
        throw Failure(FailureReason(error), challenge: .invalidToken)
      }
    }
  }

  /// The bearer of a request that has to have one.
  func required(of request: Request) throws(Failure) -> SessionTokenClaims {
    guard let claims = try bearer(of: request) else {
      throw Failure(.sessionTokenInvalid, challenge: .bearerMissing)
    }
    return claims
  }

  /// What the `idToken` of a body in Firebase's form says; nil when there is none.
  func claims(of idToken: String?) throws(Failure) -> SessionTokenClaims? {
    guard let idToken else { return nil }
    do {
      return try issuer.verify(idToken)
    } catch {
      throw Failure(FailureReason(error))
    }
  }
}

/// Runs what a session token in a body asks for: its refusals are 400, since nothing in a header was wrong
/// (RFC 9110 §15.5.2).
func outOfBody<R>(_ work: () async throws(Failure) -> R) async throws(Failure) -> R {
  do {
    return try await work()
  } catch {
    throw error.withoutChallenge
  }
}

extension FailureReason {
  fileprivate init(_ error: SessionTokenError) {
    self =
      switch error {
      case .invalid: .sessionTokenInvalid
      case .expired: .sessionTokenExpired
      case .keyUnavailable: .signingKeyUnavailable
      }
  }
}
