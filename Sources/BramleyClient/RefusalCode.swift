/// The word in front of the service's message: the `Code` of `openapi.yaml`, and what it is to an app.
package enum RefusalCode: String, Sendable, CaseIterable {
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
  case invalidPendingToken = "INVALID_PENDING_TOKEN"
  case invalidCode = "INVALID_CODE"
  case emailExists = "EMAIL_EXISTS"
  case missingRequestURI = "MISSING_REQUEST_URI"
  case invalidRequestURI = "INVALID_REQUEST_URI"
  case missingIDToken = "MISSING_ID_TOKEN"
  case adminOnlyOperation = "ADMIN_ONLY_OPERATION"
  case invalidReqType = "INVALID_REQ_TYPE"
  case insufficientPermission = "INSUFFICIENT_PERMISSION"
  case missingLocalID = "MISSING_LOCAL_ID"
  case duplicateLocalID = "DUPLICATE_LOCAL_ID"
  case duplicateRawID = "DUPLICATE_RAW_ID"
  case claimsTooLarge = "CLAIMS_TOO_LARGE"
  case invalidClaims = "INVALID_CLAIMS"
  case forbiddenClaim = "FORBIDDEN_CLAIM"
  case invalidDuration = "INVALID_DURATION"
  case invalidPageSelection = "INVALID_PAGE_SELECTION"
  case localIDListExceedsLimit = "LOCAL_ID_LIST_EXCEEDS_LIMIT"
  case missingUserAccount = "MISSING_USER_ACCOUNT"
  case invalidCustomToken = "INVALID_CUSTOM_TOKEN"
  case missingCustomToken = "MISSING_CUSTOM_TOKEN"
  case credentialMismatch = "CREDENTIAL_MISMATCH"
  case unsupportedTenantOperation = "UNSUPPORTED_TENANT_OPERATION"
  case tenantNotFound = "TENANT_NOT_FOUND"
  case configurationNotFound = "CONFIGURATION_NOT_FOUND"
  case invalidEmail = "INVALID_EMAIL"
  case missingIdentifier = "MISSING_IDENTIFIER"
  case invalidIdentifier = "INVALID_IDENTIFIER"
  case missingContinueURI = "MISSING_CONTINUE_URI"
  case invalidContinueURI = "INVALID_CONTINUE_URI"
  case invalidArgument = "INVALID_ARGUMENT"
  case unauthenticated = "UNAUTHENTICATED"
  case permissionDenied = "PERMISSION_DENIED"
  case tooManyAttempts = "TOO_MANY_ATTEMPTS_TRY_LATER"
  case unavailable = "UNAVAILABLE"
  case `internal` = "INTERNAL"

  /// The case that an app sees. The calls of administrators are none of an app's, and what this kit never sends can only
  /// be refused when it does not fit the service.
  package var authCode: AuthErrorCode {
    switch self {
    case .missingOrInvalidNonce: .missingOrInvalidNonce
    case .invalidIdpResponse, .invalidPendingToken, .invalidCode: .invalidCredential
    case .invalidIDToken, .missingIDToken: .invalidUserToken
    case .tokenExpired, .invalidRefreshToken, .missingRefreshToken: .userTokenExpired
    case .userDisabled: .userDisabled
    case .userNotFound, .emailNotFound: .userNotFound
    case .federatedUserIDAlreadyLinked: .credentialAlreadyInUse
    case .credentialTooOldLoginAgain: .requiresRecentLogin
    case .operationNotAllowed: .operationNotAllowed
    case .invalidProviderID: .invalidProviderID
    case .emailExists: .emailAlreadyInUse
    case .invalidEmail, .missingIdentifier, .invalidIdentifier: .invalidEmail
    case .missingContinueURI: .missingContinueURI
    case .invalidContinueURI: .invalidContinueURI
    case .invalidCustomToken, .missingCustomToken: .invalidCustomToken
    case .credentialMismatch: .customTokenMismatch
    case .unsupportedTenantOperation, .tenantNotFound: .unsupportedTenantOperation
    case .adminOnlyOperation, .insufficientPermission, .unauthenticated, .missingLocalID, .duplicateLocalID,
      .duplicateRawID, .claimsTooLarge, .invalidClaims, .forbiddenClaim, .invalidDuration, .invalidPageSelection,
      .localIDListExceedsLimit, .missingUserAccount:
      .adminRestrictedOperation
    case .permissionDenied: .invalidAPIKey
    case .tooManyAttempts: .tooManyRequests
    case .unavailable: .networkError
    case .internal: .internalError
    case .invalidGrantType, .missingRequestURI, .invalidRequestURI, .invalidReqType, .configurationNotFound,
      .invalidArgument:
      .requestNotUnderstood
    }
  }

  /// Whether the token endpoint means by it that the session is over, so that the person
  /// has to be signed out here. Everything else may pass.
  var endsSession: Bool {
    switch self {
    case .tokenExpired, .invalidRefreshToken, .missingRefreshToken, .userDisabled, .userNotFound: true
    default: false
    }
  }
}
