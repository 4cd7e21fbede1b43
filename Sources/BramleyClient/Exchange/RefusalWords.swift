/// The words in front of the service's messages, the `Code` of `openapi.yaml`, and what they are to an app.
package enum RefusalWords {
  /// The case that an app sees, by the service's word. Calls of administrators are none of an app's, and what this kit
  /// never sends can only be refused when it does not fit the service.
  package static let authCodes: [String: AuthErrorCode] = Dictionary(
    uniqueKeysWithValues: table.flatMap { code, words in
      words.split(separator: " ").map { (String($0), code) }
    })

  /// What the token endpoint says when the session is over, so that the person has to be signed out here. Everything else
  /// may pass.
  package static let endingSessions: Set = [
    "TOKEN_EXPIRED", "INVALID_REFRESH_TOKEN", "USER_DISABLED", "USER_NOT_FOUND",
  ]

  /// What a sign-out is answered with when there is nothing to end. Sessions of a disabled account are not over.
  package static let endedSessions = endingSessions.subtracting(["USER_DISABLED"])

  private static let table: [(AuthErrorCode, String)] = [
    (.missingOrInvalidNonce, "MISSING_OR_INVALID_NONCE"),
    (.invalidCredential, "INVALID_IDP_RESPONSE INVALID_PENDING_TOKEN INVALID_CODE"),
    (.invalidUserToken, "INVALID_ID_TOKEN MISSING_ID_TOKEN"),
    (.userTokenExpired, "TOKEN_EXPIRED INVALID_REFRESH_TOKEN"),
    (.userDisabled, "USER_DISABLED"),
    (.userNotFound, "USER_NOT_FOUND EMAIL_NOT_FOUND"),
    (.credentialAlreadyInUse, "FEDERATED_USER_ID_ALREADY_LINKED"),
    (.emailAlreadyInUse, "EMAIL_EXISTS"),
    (.requiresRecentLogin, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"),
    (.operationNotAllowed, "OPERATION_NOT_ALLOWED"),
    (.invalidProviderID, "INVALID_PROVIDER_ID"),
    (.invalidEmail, "INVALID_EMAIL MISSING_IDENTIFIER INVALID_IDENTIFIER"),
    (.missingContinueURI, "MISSING_CONTINUE_URI"),
    (.invalidContinueURI, "INVALID_CONTINUE_URI"),
    (.invalidCustomToken, "INVALID_CUSTOM_TOKEN MISSING_CUSTOM_TOKEN"),
    (.customTokenMismatch, "CREDENTIAL_MISMATCH"),
    (.unsupportedTenantOperation, "UNSUPPORTED_TENANT_OPERATION TENANT_NOT_FOUND"),
    (
      .adminRestrictedOperation,
      "ADMIN_ONLY_OPERATION INSUFFICIENT_PERMISSION UNAUTHENTICATED MISSING_LOCAL_ID DUPLICATE_LOCAL_ID "
        + "DUPLICATE_RAW_ID CLAIMS_TOO_LARGE INVALID_CLAIMS FORBIDDEN_CLAIM INVALID_DURATION "
        + "INVALID_PAGE_SELECTION LOCAL_ID_LIST_EXCEEDS_LIMIT MISSING_USER_ACCOUNT"
    ),
    (.invalidAPIKey, "PERMISSION_DENIED"),
    (.tooManyRequests, "TOO_MANY_ATTEMPTS_TRY_LATER"),
    (.networkError, "UNAVAILABLE"),
    (
      .requestNotUnderstood,
      "INVALID_ARGUMENT INVALID_GRANT_TYPE MISSING_REFRESH_TOKEN MISSING_REQUEST_URI INVALID_REQUEST_URI INVALID_REQ_TYPE "
        + "CONFIGURATION_NOT_FOUND"
    ),
    (.internalError, "INTERNAL"),
  ]
}
