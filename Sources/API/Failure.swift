/// The word in front of an error's message; Firebase's SDKs map it to their own errors.
package enum FailureCode: String, Sendable, CaseIterable {
  case missingOrInvalidNonce = "MISSING_OR_INVALID_NONCE"
  case invalidIdpResponse = "INVALID_IDP_RESPONSE"
  case invalidIDToken = "INVALID_ID_TOKEN"
  case tokenExpired = "TOKEN_EXPIRED"
  case invalidRefreshToken = "INVALID_REFRESH_TOKEN"
  case missingRefreshToken = "MISSING_REFRESH_TOKEN"
  case invalidGrantType = "INVALID_GRANT_TYPE"
  case userDisabled = "USER_DISABLED"
  case userNotFound = "USER_NOT_FOUND"
  case emailNotFound = "EMAIL_NOT_FOUND"
  case federatedUserIDAlreadyLinked = "FEDERATED_USER_ID_ALREADY_LINKED"
  case credentialTooOldLoginAgain = "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"
  case operationNotAllowed = "OPERATION_NOT_ALLOWED"
  case invalidProviderID = "INVALID_PROVIDER_ID"
  case invalidArgument = "INVALID_ARGUMENT"
  case permissionDenied = "PERMISSION_DENIED"
  case tooManyAttempts = "TOO_MANY_ATTEMPTS_TRY_LATER"
  case unavailable = "UNAVAILABLE"
  case `internal` = "INTERNAL"
}

/// Every failure that a client can see: one stable word each. With the code and the sentence beside it in
/// ``row``, this file is the whole table.
package enum FailureReason: String, Sendable, CaseIterable {
  case nonceMissing = "nonce_missing"
  case nonceMismatch = "nonce_mismatch"
  case nonceClaimMissing = "nonce_claim_missing"
  case nonceIsAlreadyHashed = "nonce_is_already_hashed"
  case nonceClaimNotHashed = "nonce_claim_not_hashed"
  case nonceClaimIsHashed = "nonce_claim_is_hashed"
  case nonceDoubleHashed = "nonce_double_hashed"
  case nonceWrongEncoding = "nonce_wrong_encoding"
  case credentialAlreadyUsed = "credential_already_used"
  case challengeRequired = "challenge_required"
  case challengeExpired = "challenge_expired"

  case tokenMalformed = "token_malformed"
  case tokenTooLarge = "token_too_large"
  case headerNotAllowed = "header_not_allowed"
  case algorithmNotAllowed = "algorithm_not_allowed"
  case keyUnknown = "key_unknown"
  case signatureInvalid = "signature_invalid"
  case issuerNotAllowed = "issuer_not_allowed"
  case audienceNotAllowed = "audience_not_allowed"
  case tokenExpired = "token_expired"
  case tokenTooOld = "token_too_old"
  case tokenFromTheFuture = "token_from_the_future"
  case claimInvalid = "claim_invalid"

  case sessionTokenInvalid = "session_token_invalid"
  case sessionTokenExpired = "session_token_expired"
  case sessionEnded = "session_ended"
  case sessionRevoked = "session_revoked"
  case refreshTokenReused = "refresh_token_reused"
  case refreshTokenUnknown = "refresh_token_unknown"
  case sessionIdle = "session_idle"
  case sessionOverAge = "session_over_age"
  case invalidRefreshToken = "invalid_refresh_token"
  case missingRefreshToken = "missing_refresh_token"
  case invalidGrantType = "invalid_grant_type"

  case userDisabled = "user_disabled"
  case userNotFound = "user_not_found"
  case emailNotFound = "email_not_found"
  case federatedUserIDAlreadyLinked = "federated_user_id_already_linked"
  case credentialTooOldLoginAgain = "credential_too_old_login_again"
  case operationNotAllowed = "operation_not_allowed"
  case invalidProviderID = "invalid_provider_id"

  case bodyMalformed = "body_malformed"
  case requestMalformed = "request_malformed"
  case requestTimeout = "request_timeout"
  case headerTooLarge = "header_too_large"
  case duplicateMember = "duplicate_member"
  case fieldMissing = "field_missing"
  case fieldType = "field_type"
  case fieldTooLong = "field_too_long"
  case bodyTooLarge = "body_too_large"
  case mediaTypeNotSupported = "media_type_not_supported"
  case notFound = "not_found"
  case methodNotAllowed = "method_not_allowed"
  case apiKeyMissing = "api_key_missing"
  case apiKeyInvalid = "api_key_invalid"

  case tooManyAttempts = "too_many_attempts_try_later"

  case appleKeysUnavailable = "apple_keys_unavailable"
  case storageUnavailable = "storage_unavailable"
  case signingKeyUnavailable = "signing_key_unavailable"
  case deadlineExceeded = "deadline_exceeded"
  case overloaded = "overloaded"
  case shuttingDown = "shutting_down"
  case `internal` = "internal"
}

extension FailureReason {
  /// Code, HTTP status and a sentence that says what to do.
  package var row: (code: FailureCode, status: Int, sentence: StaticString) {
    switch self {
    case .nonceMissing:
      (
        .missingOrInvalidNonce, 400,
        "Send rawNonce: the value before hashing, as it was made for this sign-in."
      )
    case .nonceMismatch:
      (
        .missingOrInvalidNonce, 400,
        "The token was made for another nonce. Start again with a fresh one, and send the raw value of that."
      )
    case .nonceClaimMissing:
      (
        .missingOrInvalidNonce, 400,
        "The token has no nonce. Set the hashed nonce on the request to Apple before it is performed."
      )
    case .nonceIsAlreadyHashed:
      (.missingOrInvalidNonce, 400, "rawNonce is the hash already. Send the value from before hashing.")
    case .nonceClaimNotHashed:
      (
        .missingOrInvalidNonce, 400,
        "Apple was given the raw nonce. Give Apple the lower-case hex SHA-256 of it, and send the raw one here."
      )
    case .nonceClaimIsHashed:
      (
        .missingOrInvalidNonce, 400,
        "Apple was given the hash, but this client is set to nonce=raw. Give Apple the raw nonce."
      )
    case .nonceDoubleHashed:
      (
        .missingOrInvalidNonce, 400,
        "The nonce was hashed twice. A library hashes already: do not hash before it."
      )
    case .nonceWrongEncoding:
      (
        .missingOrInvalidNonce, 400,
        "The digest has the wrong spelling. Give Apple the SHA-256 in lower-case hex."
      )
    case .credentialAlreadyUsed:
      (
        .missingOrInvalidNonce, 400,
        "This credential was used before. Ask Apple for a new one with a fresh nonce."
      )
    case .challengeRequired:
      (.missingOrInvalidNonce, 400, "This client needs a nonce from POST /v1/nonces.")
    case .challengeExpired:
      (.missingOrInvalidNonce, 400, "The nonce from /v1/nonces is too old. Fetch a new one and start again.")

    case .tokenMalformed: (.invalidIdpResponse, 400, "idToken is no compact JWT of three base64url parts.")
    case .tokenTooLarge: (.invalidIdpResponse, 400, "idToken is far longer than any token of Apple's.")
    case .headerNotAllowed: (.invalidIdpResponse, 400, "The token's header is not one that Apple writes.")
    case .algorithmNotAllowed: (.invalidIdpResponse, 400, "The token is not signed with RS256.")
    case .keyUnknown: (.invalidIdpResponse, 400, "Apple has no key of the name that the token gives.")
    case .signatureInvalid: (.invalidIdpResponse, 400, "The token's signature is not Apple's.")
    case .issuerNotAllowed: (.invalidIdpResponse, 400, "The token was not issued by Apple.")
    case .audienceNotAllowed:
      (
        .invalidIdpResponse, 400,
        "The token is for another client. Add its bundle id or Services ID to the server's Apple client ids."
      )
    case .tokenExpired: (.invalidIdpResponse, 400, "The token has expired. Ask Apple for a new one.")
    case .tokenTooOld:
      (.invalidIdpResponse, 400, "The token was issued too long ago. Ask Apple for a new one.")
    case .tokenFromTheFuture: (.invalidIdpResponse, 400, "The token's time lies ahead of the server's clock.")
    case .claimInvalid: (.invalidIdpResponse, 400, "A claim of the token is missing or has the wrong type.")

    case .sessionTokenInvalid: (.invalidIDToken, 400, "The session token is not one of this server's.")
    case .sessionTokenExpired: (.tokenExpired, 400, "The session token has expired. Refresh it and repeat.")
    case .sessionEnded: (.tokenExpired, 400, "The session is over. Sign in again.")
    case .sessionRevoked: (.tokenExpired, 400, "The session was revoked. Sign in again.")
    case .refreshTokenReused:
      (.tokenExpired, 400, "An old refresh token came back, so the session ends. Sign in again.")
    case .refreshTokenUnknown:
      (.tokenExpired, 400, "No key of this server made the refresh token. Sign in again.")
    case .sessionIdle: (.tokenExpired, 400, "The session was not used for too long. Sign in again.")
    case .sessionOverAge: (.tokenExpired, 400, "The session has reached its greatest age. Sign in again.")
    case .invalidRefreshToken: (.invalidRefreshToken, 400, "This is no refresh token.")
    case .missingRefreshToken: (.missingRefreshToken, 400, "Send refresh_token.")
    case .invalidGrantType: (.invalidGrantType, 400, "Send grant_type=refresh_token.")

    case .userDisabled: (.userDisabled, 400, "The account was disabled by an administrator.")
    case .userNotFound: (.userNotFound, 400, "The account does not exist any more.")
    case .emailNotFound:
      (.emailNotFound, 400, "Nobody has signed in with this identity, and autoCreate is false.")
    case .federatedUserIDAlreadyLinked:
      (.federatedUserIDAlreadyLinked, 400, "The Apple identity belongs to an account already.")
    case .credentialTooOldLoginAgain:
      (
        .credentialTooOldLoginAgain, 400,
        "The last sign-in is too long ago for this. Sign in again, then repeat."
      )
    case .operationNotAllowed: (.operationNotAllowed, 400, "The account has another Apple identity already.")
    case .invalidProviderID: (.invalidProviderID, 400, "providerId must be apple.com.")

    case .bodyMalformed: (.invalidArgument, 400, "The body is not what its media type says.")
    case .requestMalformed: (.invalidArgument, 400, "The request could be read in more than one way.")
    case .requestTimeout: (.invalidArgument, 408, "The request did not arrive in time.")
    case .headerTooLarge: (.invalidArgument, 431, "The request's header is too large.")
    case .duplicateMember: (.invalidArgument, 400, "A member is named twice.")
    case .fieldMissing: (.invalidArgument, 400, "A field that is needed is missing or empty.")
    case .fieldType: (.invalidArgument, 400, "A field has the wrong type.")
    case .fieldTooLong: (.invalidArgument, 400, "A field is too long.")
    case .bodyTooLarge: (.invalidArgument, 413, "The body is too large.")
    case .mediaTypeNotSupported:
      (
        .invalidArgument, 415,
        "Send the body in a media type that this route takes, in UTF-8 and without a content coding."
      )
    case .notFound: (.invalidArgument, 404, "There is no such route.")
    case .methodNotAllowed: (.invalidArgument, 405, "The route does not take this method.")
    case .apiKeyMissing: (.permissionDenied, 403, "Send an API key as ?key= or X-API-Key.")
    case .apiKeyInvalid: (.permissionDenied, 403, "The API key is not one of this server's.")

    case .tooManyAttempts:
      (.tooManyAttempts, 429, "Too many requests of one address or account. Wait as Retry-After says.")

    case .appleKeysUnavailable:
      (.unavailable, 503, "Apple's keys cannot be fetched now. Send the same request again.")
    case .storageUnavailable:
      (.unavailable, 503, "The database does not answer now. Send the same request again.")
    case .signingKeyUnavailable: (.unavailable, 503, "No signing key is ready. Send the same request again.")
    case .deadlineExceeded: (.unavailable, 503, "The answer took too long. Send the same request again.")
    case .overloaded:
      (.unavailable, 503, "More requests wait than can be served. Send the same request again.")
    case .shuttingDown: (.unavailable, 503, "The server is stopping. Send the same request again.")
    case .internal: (.internal, 500, "Something is broken in the server; the request id finds it in the log.")
    }
  }
}

/// A request that is refused, with everything its answer says.
package struct Failure: Error, Equatable, Sendable {
  package let reason: FailureReason
  /// The field that is wrong, as the request spells it.
  package let field: String?
  /// Whether it is the bearer of the request that is refused: then 401, with a challenge (RFC 6750 §3).
  package let isBearer: Bool
  /// Seconds to wait, where that is known.
  package let retryAfter: Int64?

  package init(_ reason: FailureReason, field: String? = nil, isBearer: Bool = false) {
    self.reason = reason
    self.field = field
    self.isBearer = isBearer
    retryAfter = nil
  }

  /// A rate is exceeded.
  package init(tooManyAttempts seconds: Int64) {
    reason = .tooManyAttempts
    field = nil
    isBearer = false
    retryAfter = seconds
  }

  package var status: Int { isBearer && reason.row.status == 400 ? 401 : reason.row.status }
}
