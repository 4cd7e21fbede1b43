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

  case tokenMissing = "token_missing"
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

  case codeMismatch = "code_mismatch"
  case invalidPendingToken = "invalid_pending_token"
  case returnURLNotAllowed = "return_url_not_allowed"
  case codeChallengeMissing = "code_challenge_missing"
  case stateInvalid = "state_invalid"
  case stateExpired = "state_expired"
  case stateOfAnotherBrowser = "state_of_another_browser"
  case signInCancelled = "user_cancelled_authorize"
  case appleRefused = "apple_refused"
  case codeInvalid = "code_invalid"
  case codeExpired = "code_expired"
  case codeAlreadyUsed = "code_already_used"
  case codeVerifierMismatch = "code_verifier_mismatch"
  case emailExists = "email_exists"
  case missingRequestURI = "missing_request_uri"
  case invalidRequestURI = "invalid_request_uri"
  case missingIDToken = "missing_id_token"
  case adminOnlyOperation = "admin_only_operation"
  case invalidReqType = "invalid_req_type"
  case insufficientPermission = "insufficient_permission"
  case missingLocalID = "missing_local_id"
  case duplicateLocalID = "duplicate_local_id"
  case duplicateRawID = "duplicate_raw_id"
  case claimsTooLarge = "claims_too_large"
  case invalidClaims = "invalid_claims"
  case forbiddenClaim = "forbidden_claim"
  case invalidDuration = "invalid_duration"
  case invalidPageSelection = "invalid_page_selection"
  case localIDListExceedsLimit = "local_id_list_exceeds_limit"
  case missingUserAccount = "missing_user_account"
  case invalidCustomToken = "invalid_custom_token"
  case missingCustomToken = "missing_custom_token"
  case credentialMismatch = "credential_mismatch"
  case unsupportedTenantOperation = "unsupported_tenant_operation"
  case tenantNotFound = "tenant_not_found"
  case configurationNotFound = "configuration_not_found"
  case invalidEmail = "invalid_email"
  case missingIdentifier = "missing_identifier"
  case invalidIdentifier = "invalid_identifier"
  case missingContinueURI = "missing_continue_uri"
  case invalidContinueURI = "invalid_continue_uri"
  case providerNotEnabled = "provider_not_enabled"
  case disableNotAllowed = "disable_not_allowed"
  case appleKeyMissing = "apple_key_missing"
  case noAppleIdentity = "no_apple_identity"
  case customTokensNotEnabled = "custom_tokens_not_enabled"
  case handOverNotEnabled = "hand_over_not_enabled"

  case bodyMalformed = "body_malformed"
  case requestMalformed = "request_malformed"
  case requestTimeout = "request_timeout"
  case headerTooLarge = "header_too_large"
  case duplicateMember = "duplicate_member"
  case fieldMissing = "field_missing"
  case fieldType = "field_type"
  case fieldUnknown = "field_unknown"
  case fieldTooLong = "field_too_long"
  case fieldInvalid = "field_invalid"
  case bodyTooLarge = "body_too_large"
  case mediaTypeNotSupported = "media_type_not_supported"
  case notFound = "not_found"
  case methodNotAllowed = "method_not_allowed"
  case apiKeyMissing = "api_key_missing"
  case apiKeyInvalid = "api_key_invalid"
  case serviceKeyInvalid = "service_key_invalid"
  case adminTokenMissing = "admin_token_missing"
  case adminTokenInvalid = "admin_token_invalid"

  case tooManyAttempts = "too_many_attempts_try_later"

  case appleKeysUnavailable = "apple_keys_unavailable"
  case firebaseKeysUnavailable = "firebase_keys_unavailable"
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
        "This credential was used before. Get a new one, of Apple with a fresh nonce."
      )
    case .challengeRequired:
      (.missingOrInvalidNonce, 400, "This client needs a nonce from POST /v1/nonces.")
    case .challengeExpired:
      (.missingOrInvalidNonce, 400, "The nonce from /v1/nonces is too old. Fetch a new one and start again.")

    case .tokenMissing: (.invalidIdpResponse, 400, "postBody holds no id_token. Send Apple's ID token in it.")
    case .tokenMalformed: (.invalidIdpResponse, 400, "The token is no compact JWT of three base64url parts.")
    case .tokenTooLarge: (.invalidIdpResponse, 400, "The token is far longer than any token of a provider's.")
    case .headerNotAllowed:
      (.invalidIdpResponse, 400, "The token's header is not one that its issuer writes.")
    case .algorithmNotAllowed: (.invalidIdpResponse, 400, "The token is not signed with RS256.")
    case .keyUnknown: (.invalidIdpResponse, 400, "The issuer has no key of the name that the token gives.")
    case .signatureInvalid: (.invalidIdpResponse, 400, "The token's signature is not its issuer's.")
    case .issuerNotAllowed:
      (.invalidIdpResponse, 400, "The token was issued by another than this route takes tokens of.")
    case .audienceNotAllowed:
      (
        .invalidIdpResponse, 400,
        "The token is for another client. Add its bundle id or Services ID to BRAMLEY_APPLE_CLIENT_IDS; a Firebase project is BRAMLEY_FIREBASE_PROJECT_ID."
      )
    case .tokenExpired: (.invalidIdpResponse, 400, "The token has expired. Get a new one of its issuer.")
    case .tokenTooOld:
      (.invalidIdpResponse, 400, "The token was issued too long ago. Get a new one of its issuer.")
    case .tokenFromTheFuture: (.invalidIdpResponse, 400, "The token's time lies ahead of the server's clock.")
    case .claimInvalid:
      (.invalidIdpResponse, 400, "A claim of the token is missing or has the wrong type.")

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
    case .userNotFound:
      (.userNotFound, 400, "There is no such account any more, or no import has brought it.")
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

    case .codeMismatch:
      (
        .invalidIdpResponse, 400,
        "The authorization code belongs to another sign-in than the token. Send the two that Apple gave out together."
      )
    case .returnURLNotAllowed:
      (
        .invalidContinueURI, 400,
        "redirect_uri is not, byte for byte, one of BRAMLEY_RETURN_URLS. Add it there, or send one that is."
      )
    case .codeChallengeMissing:
      (
        .invalidArgument, 400,
        "code_challenge has to be the base64url SHA-256 of the app's code_verifier, and its method S256 (RFC 7636)."
      )
    case .stateInvalid:
      (.invalidIdpResponse, 400, "The state is none that this service made. Begin at /v1/apple/authorize.")
    case .stateExpired:
      (.invalidIdpResponse, 400, "The sign-in took too long. Begin again at /v1/apple/authorize.")
    case .stateOfAnotherBrowser:
      (
        .invalidIdpResponse, 400,
        "Another browser began this sign-in, or this one sends no cookies. Begin again where you want to end."
      )
    case .signInCancelled: (.invalidIdpResponse, 400, "The person closed Apple's page.")
    case .appleRefused:
      (.invalidIdpResponse, 400, "Apple's page ended with an error of its own. Try again.")
    case .codeInvalid:
      (.invalidCode, 400, "The code is none that this service made. Begin again at /v1/apple/authorize.")
    case .codeExpired:
      (.invalidCode, 400, "The code is older than 60 seconds. Begin again at /v1/apple/authorize.")
    case .codeAlreadyUsed:
      (.invalidCode, 400, "The code was traded for a session already. Begin again at /v1/apple/authorize.")
    case .codeVerifierMismatch:
      (
        .invalidCode, 400,
        "code_verifier is not what the code_challenge was made from: only the app that began may trade the code."
      )
    case .invalidPendingToken:
      (.invalidPendingToken, 400, "The pending token is unknown, used or too old. Sign in with Apple again.")
    case .emailExists:
      (.emailExists, 400, "Another account has this e-mail address. Sign in to that one, then link.")
    case .missingRequestURI: (.missingRequestURI, 400, "Send requestUri, such as http://localhost.")
    case .invalidRequestURI: (.invalidRequestURI, 400, "requestUri must be an absolute URL.")
    case .missingIDToken: (.missingIDToken, 400, "Send idToken: the session token of the account.")
    case .adminOnlyOperation:
      (
        .adminOnlyOperation, 400,
        "Only administrators make accounts without an identity, unless BRAMLEY_ANONYMOUS is true."
      )
    case .invalidReqType:
      (.invalidReqType, 400, "Nothing in the request says whose account is meant. Send idToken.")
    case .insufficientPermission:
      (
        .insufficientPermission, 400,
        "Only an administrator may ask for this. Leave the field out, or send an administrator's bearer."
      )
    case .missingLocalID: (.missingLocalID, 400, "Send localId: the account that is meant.")
    case .duplicateLocalID:
      (.duplicateLocalID, 400, "An account with this localId is there already. Choose another.")
    case .duplicateRawID: (.duplicateRawID, 400, "The rawId belongs to another account already.")
    case .claimsTooLarge:
      (.claimsTooLarge, 400, "customAttributes must have at most 1000 characters. Keep less in the token.")
    case .invalidClaims: (.invalidClaims, 400, "customAttributes must be the text of one JSON object.")
    case .forbiddenClaim:
      (.forbiddenClaim, 400, "A custom claim has a name that belongs to the server. Rename it.")
    case .invalidDuration:
      (.invalidDuration, 400, "validDuration must be a number of seconds from 300 to 1209600.")
    case .invalidPageSelection:
      (.invalidPageSelection, 400, "nextPageToken is none of this server's. Begin without one.")
    case .localIDListExceedsLimit:
      (.localIDListExceedsLimit, 400, "The list names too many accounts. Send it in smaller parts.")
    case .missingUserAccount: (.missingUserAccount, 400, "Send at least one account in users.")
    case .invalidCustomToken:
      (
        .invalidCustomToken, 400,
        "The custom token is malformed, expired, or signed by no key of BRAMLEY_CUSTOM_TOKEN_KEYS. Make a new one."
      )
    case .missingCustomToken: (.missingCustomToken, 400, "Send token: the custom token.")
    case .credentialMismatch:
      (.credentialMismatch, 400, "The custom token was made for another project. Make one for this server's.")
    case .unsupportedTenantOperation:
      (.unsupportedTenantOperation, 400, "This server has no tenants. Leave tenantId out.")
    case .tenantNotFound: (.tenantNotFound, 400, "This server has no tenants. Use the path without one.")
    case .configurationNotFound:
      (
        .configurationNotFound, 400,
        "The project in the path is not this server's. Use the one of BRAMLEY_PROJECT_ID."
      )
    case .invalidEmail: (.invalidEmail, 400, "email must be one e-mail address.")
    case .missingIdentifier: (.missingIdentifier, 400, "Send identifier: an e-mail address.")
    case .invalidIdentifier: (.invalidIdentifier, 400, "identifier must be an e-mail address.")
    case .missingContinueURI: (.missingContinueURI, 400, "Send continueUri, such as http://localhost.")
    case .invalidContinueURI: (.invalidContinueURI, 400, "continueUri must be an absolute URL.")
    case .providerNotEnabled:
      (
        .operationNotAllowed, 400,
        "This server signs people in with Apple. It has no passwords, phone numbers or mail links."
      )
    case .disableNotAllowed:
      (.operationNotAllowed, 400, "An app cannot disable an account. Ask an administrator, or delete it.")
    case .appleKeyMissing:
      (
        .operationNotAllowed, 400,
        "The server has no private key of Apple's. Set BRAMLEY_APPLE_TEAM_ID, BRAMLEY_APPLE_KEY_ID and BRAMLEY_APPLE_PRIVATE_KEY."
      )
    case .noAppleIdentity:
      (.operationNotAllowed, 400, "The account has no identity at Apple. There is nothing to be revoked.")
    case .customTokensNotEnabled:
      (.operationNotAllowed, 400, "The server takes no custom tokens. Set BRAMLEY_CUSTOM_TOKEN_KEYS.")
    case .handOverNotEnabled:
      (
        .operationNotAllowed, 400,
        "The server takes no sessions over from Firebase. Set BRAMLEY_FIREBASE_PROJECT_ID."
      )

    case .bodyMalformed: (.invalidArgument, 400, "The body is not what its media type says.")
    case .requestMalformed: (.invalidArgument, 400, "The request could be read in more than one way.")
    case .requestTimeout: (.invalidArgument, 408, "The request did not arrive in time.")
    case .headerTooLarge: (.invalidArgument, 431, "The request's header is too large.")
    case .duplicateMember: (.invalidArgument, 400, "A member is named twice.")
    case .fieldMissing: (.invalidArgument, 400, "A field that is needed is missing or empty.")
    case .fieldUnknown: (.invalidArgument, 400, "There is no such field.")
    case .fieldType: (.invalidArgument, 400, "A field has the wrong type.")
    case .fieldTooLong: (.invalidArgument, 400, "A field is too long.")
    case .fieldInvalid: (.invalidArgument, 400, "A field has a value that it cannot have.")
    case .bodyTooLarge: (.invalidArgument, 413, "The body is too large.")
    case .mediaTypeNotSupported:
      (
        .invalidArgument, 415,
        "Send the body in a media type that this route takes, in UTF-8 and without a content coding."
      )
    case .notFound: (.invalidArgument, 404, "There is no such route, or nothing of that name under it.")
    case .methodNotAllowed: (.invalidArgument, 405, "The route does not take this method.")
    case .apiKeyMissing: (.permissionDenied, 403, "Send an API key as ?key= or X-API-Key.")
    case .apiKeyInvalid: (.permissionDenied, 403, "The API key is not one of this server's.")
    case .serviceKeyInvalid:
      (.unauthenticated, 401, "Send a service key as X-API-Key or as a bearer, or an administrator's bearer.")
    case .adminTokenMissing:
      (.unauthenticated, 401, "Send an administrator's token as a bearer in the Authorization header.")
    case .adminTokenInvalid: (.unauthenticated, 401, "The bearer is no administrator's token of this server.")

    case .tooManyAttempts:
      (.tooManyAttempts, 429, "Too many requests of one address or account. Wait as Retry-After says.")

    case .appleKeysUnavailable:
      (.unavailable, 503, "Apple's keys cannot be fetched now. Send the same request again.")
    case .firebaseKeysUnavailable:
      (.unavailable, 503, "Google's keys cannot be fetched now. Send the same request again.")
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
  /// A member beside `error`; Firebase's SDKs look there for what a conflict is about.
  package struct Member: Equatable, Sendable {
    let name: String
    /// The value, as JSON.
    let json: [UInt8]

    /// - Parameter json: One JSON value.
    package init(_ name: String, json: [UInt8]) {
      self.name = name
      self.json = json
    }
  }

  /// What a refused bearer is told in `WWW-Authenticate`.
  package enum Challenge: Equatable, Sendable {
    /// There was none: the scheme and no error.
    case bearerMissing
    case invalidToken
  }

  package let reason: FailureReason
  /// The field that is wrong, as the request spells it.
  package let field: String?
  /// What a bearer in the header has to do with it; nil when nothing. With one it is 401 (RFC 6750 §3).
  package private(set) var challenge: Challenge?
  /// What stands in the sentence's place, where a program reads it: the name of a claim. Nothing that a person wrote
  /// about himself.
  package let detail: String?
  package private(set) var beside: [Member]
  /// Seconds to wait, where that is known.
  package let retryAfter: Int64?

  package init(
    _ reason: FailureReason, field: String? = nil, challenge: Challenge? = nil, detail: String? = nil,
    beside: [Member] = []
  ) {
    self.reason = reason
    self.field = field
    self.challenge = challenge
    self.detail = detail
    self.beside = beside
    retryAfter = nil
  }

  /// A rate is exceeded.
  package init(tooManyAttempts seconds: Int64) {
    reason = .tooManyAttempts
    field = nil
    challenge = nil
    detail = nil
    beside = []
    retryAfter = seconds
  }

  /// The same failure with further members beside `error`.
  func with(_ members: [Member]) -> Failure {
    var failure = self
    failure.beside += members
    return failure
  }

  /// The same failure of a request that a bearer was to let in.
  var withChallenge: Failure {
    var failure = self
    failure.challenge = .invalidToken
    return failure
  }

  /// The same failure of a request whose bearer stood in its body.
  var withoutChallenge: Failure {
    var failure = self
    failure.challenge = nil
    return failure
  }

  package var status: Int { challenge != nil && reason.row.status == 400 ? 401 : reason.row.status }
}
