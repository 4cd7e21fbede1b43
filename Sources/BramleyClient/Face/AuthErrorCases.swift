// The errors with Firebase's numbers and names, so that a `switch` which was written for it compiles.

// What this kit throws.
extension AuthErrorCode {
  /// The custom token is not good.
  public static let invalidCustomToken = AuthErrorCode(17000, "ERROR_INVALID_CUSTOM_TOKEN")
  /// The custom token is for another project.
  public static let customTokenMismatch = AuthErrorCode(17002, "ERROR_CUSTOM_TOKEN_MISMATCH")
  /// Apple's token or the one-time code is not good. Ask Apple for a new one.
  public static let invalidCredential = AuthErrorCode(17004, "ERROR_INVALID_CREDENTIAL")
  /// The account is disabled.
  public static let userDisabled = AuthErrorCode(17005, "ERROR_USER_DISABLED")
  /// The service does not do that.
  public static let operationNotAllowed = AuthErrorCode(17006, "ERROR_OPERATION_NOT_ALLOWED")
  /// Another account has the address.
  public static let emailAlreadyInUse = AuthErrorCode(17007, "ERROR_EMAIL_ALREADY_IN_USE")
  /// The address is none.
  public static let invalidEmail = AuthErrorCode(17008, "ERROR_INVALID_EMAIL")
  /// Too many requests: wait as long as ``AuthErrorUserInfoRetryAfterKey`` says.
  public static let tooManyRequests = AuthErrorCode(17010, "ERROR_TOO_MANY_REQUESTS")
  /// There is no such account.
  public static let userNotFound = AuthErrorCode(17011, "ERROR_USER_NOT_FOUND")
  /// For this the person has to have signed in within the last minutes: reauthenticate, then repeat.
  public static let requiresRecentLogin = AuthErrorCode(17014, "ERROR_REQUIRES_RECENT_LOGIN")
  /// The account has an identity of that provider.
  public static let providerAlreadyLinked = AuthErrorCode(17015, "ERROR_PROVIDER_ALREADY_LINKED")
  /// The account has no identity of that provider.
  public static let noSuchProvider = AuthErrorCode(17016, "ERROR_NO_SUCH_PROVIDER")
  /// The session token is not good.
  public static let invalidUserToken = AuthErrorCode(17017, "ERROR_INVALID_USER_TOKEN")
  /// There was no answer, or the service is out of order. Nobody is signed out by that; the same call may succeed later.
  public static let networkError = AuthErrorCode(17020, "ERROR_NETWORK_REQUEST_FAILED")
  /// The session is over, and the person was signed out here.
  public static let userTokenExpired = AuthErrorCode(17021, "ERROR_USER_TOKEN_EXPIRED")
  /// The API key is missing or not one of the service's.
  public static let invalidAPIKey = AuthErrorCode(17023, "ERROR_INVALID_API_KEY")
  /// Another person signed in than the one who is signed in.
  public static let userMismatch = AuthErrorCode(17024, "ERROR_USER_MISMATCH")
  /// The Apple identity belongs to another account; ``AuthErrorUserInfoUpdatedCredentialKey`` signs in to that one.
  public static let credentialAlreadyInUse = AuthErrorCode(17025, "ERROR_CREDENTIAL_ALREADY_IN_USE")
  /// The URL to go on to is none that is allowed.
  public static let invalidContinueURI = AuthErrorCode(17039, "ERROR_INVALID_CONTINUE_URI")
  /// There is no URL to go on to.
  public static let missingContinueURI = AuthErrorCode(17040, "ERROR_MISSING_CONTINUE_URI")
  /// The person closed the browser, or Apple's page.
  public static let webContextCancelled = AuthErrorCode(17058, "ERROR_WEB_CONTEXT_CANCELLED")
  /// The browser did not bring back what was begun.
  public static let webSignInUserInteractionFailure = AuthErrorCode(
    17063, "ERROR_WEB_USER_INTERACTION_FAILURE")
  /// The person has signed out, or another one has signed in since.
  public static let nullUser = AuthErrorCode(17067, "ERROR_NULL_USER")
  /// There is nothing but `apple.com`.
  public static let invalidProviderID = AuthErrorCode(17071, "ERROR_INVALID_PROVIDER_ID")
  /// There are no tenants.
  public static let unsupportedTenantOperation = AuthErrorCode(17073, "ERROR_UNSUPPORTED_TENANT_OPERATION")
  /// Only an operator may do that, or it is switched off.
  public static let adminRestrictedOperation = AuthErrorCode(17085, "ERROR_ADMIN_RESTRICTED_OPERATION")
  /// The nonce is missing or not the one that Apple was given; ``AuthErrorUserInfoReasonKey`` says which mistake it was.
  public static let missingOrInvalidNonce = AuthErrorCode(17094, "ERROR_MISSING_OR_INVALID_NONCE")
  /// The Keychain or the file refused. Who was signed in still is.
  public static let keychainError = AuthErrorCode(17995, "ERROR_KEYCHAIN_ERROR")
  /// The service has a fault.
  public static let internalError = AuthErrorCode(17999, "ERROR_INTERNAL_ERROR")

  // Bramley's own, beyond Firebase's numbers.

  /// The service did not understand the request: its version and the kit's do not fit.
  public static let requestNotUnderstood = AuthErrorCode(19001, "ERROR_REQUEST_NOT_UNDERSTOOD")
  /// A later sign-in, or a sign-out, took the place of this one before its answer came.
  public static let signInSuperseded = AuthErrorCode(19002, "ERROR_SIGN_IN_SUPERSEDED")
}

// What only Firebase throws: for passwords, telephone numbers, links and second factors.
extension AuthErrorCode {
  /// Of passwords.
  public static let wrongPassword = AuthErrorCode(17009, "ERROR_WRONG_PASSWORD")
  /// Of credentials.
  public static let accountExistsWithDifferentCredential = AuthErrorCode(
    17012, "ERROR_ACCOUNT_EXISTS_WITH_DIFFERENT_CREDENTIAL")
  /// Of passwords.
  public static let weakPassword = AuthErrorCode(17026, "ERROR_WEAK_PASSWORD")
  /// Of how the app is set up.
  public static let appNotAuthorized = AuthErrorCode(17028, "ERROR_APP_NOT_AUTHORIZED")
  /// Of links by e-mail.
  public static let expiredActionCode = AuthErrorCode(17029, "ERROR_EXPIRED_ACTION_CODE")
  /// Of links by e-mail.
  public static let invalidActionCode = AuthErrorCode(17030, "ERROR_INVALID_ACTION_CODE")
  /// Of links by e-mail.
  public static let invalidMessagePayload = AuthErrorCode(17031, "ERROR_INVALID_MESSAGE_PAYLOAD")
  /// Of links by e-mail.
  public static let invalidSender = AuthErrorCode(17032, "ERROR_INVALID_SENDER")
  /// Of links by e-mail.
  public static let invalidRecipientEmail = AuthErrorCode(17033, "ERROR_INVALID_RECIPIENT_EMAIL")
  /// Of links by e-mail.
  public static let missingEmail = AuthErrorCode(17034, "ERROR_MISSING_EMAIL")
  /// Of links by e-mail.
  public static let missingIosBundleID = AuthErrorCode(17036, "ERROR_MISSING_IOS_BUNDLE_ID")
  /// Of links by e-mail.
  public static let missingAndroidPackageName = AuthErrorCode(17037, "ERROR_MISSING_ANDROID_PKG_NAME")
  /// Of links by e-mail.
  public static let unauthorizedDomain = AuthErrorCode(17038, "ERROR_UNAUTHORIZED_DOMAIN")
  /// Of telephone numbers.
  public static let missingPhoneNumber = AuthErrorCode(17041, "ERROR_MISSING_PHONE_NUMBER")
  /// Of telephone numbers.
  public static let invalidPhoneNumber = AuthErrorCode(17042, "ERROR_INVALID_PHONE_NUMBER")
  /// Of telephone numbers.
  public static let missingVerificationCode = AuthErrorCode(17043, "ERROR_MISSING_VERIFICATION_CODE")
  /// Of telephone numbers.
  public static let invalidVerificationCode = AuthErrorCode(17044, "ERROR_INVALID_VERIFICATION_CODE")
  /// Of telephone numbers.
  public static let missingVerificationID = AuthErrorCode(17045, "ERROR_MISSING_VERIFICATION_ID")
  /// Of telephone numbers.
  public static let invalidVerificationID = AuthErrorCode(17046, "ERROR_INVALID_VERIFICATION_ID")
  /// Of telephone numbers.
  public static let missingAppCredential = AuthErrorCode(17047, "MISSING_APP_CREDENTIAL")
  /// Of telephone numbers.
  public static let invalidAppCredential = AuthErrorCode(17048, "INVALID_APP_CREDENTIAL")
  /// Of telephone numbers.
  public static let sessionExpired = AuthErrorCode(17051, "ERROR_SESSION_EXPIRED")
  /// Of telephone numbers.
  public static let quotaExceeded = AuthErrorCode(17052, "ERROR_QUOTA_EXCEEDED")
  /// Of telephone numbers.
  public static let missingAppToken = AuthErrorCode(17053, "ERROR_MISSING_APP_TOKEN")
  /// Of telephone numbers.
  public static let notificationNotForwarded = AuthErrorCode(17054, "ERROR_NOTIFICATION_NOT_FORWARDED")
  /// Of telephone numbers.
  public static let appNotVerified = AuthErrorCode(17055, "ERROR_APP_NOT_VERIFIED")
  /// Of reCAPTCHA.
  public static let captchaCheckFailed = AuthErrorCode(17056, "ERROR_CAPTCHA_CHECK_FAILED")
  /// Of a web view.
  public static let webContextAlreadyPresented = AuthErrorCode(17057, "ERROR_WEB_CONTEXT_ALREADY_PRESENTED")
  /// Of telephone numbers.
  public static let appVerificationUserInteractionFailure = AuthErrorCode(
    17059, "ERROR_APP_VERIFICATION_FAILED")
  /// Of how the app is set up.
  public static let invalidClientID = AuthErrorCode(17060, "ERROR_INVALID_CLIENT_ID")
  /// Of a web view.
  public static let webNetworkRequestFailed = AuthErrorCode(17061, "ERROR_WEB_NETWORK_REQUEST_FAILED")
  /// Of a web view.
  public static let webInternalError = AuthErrorCode(17062, "ERROR_WEB_INTERNAL_ERROR")
  /// Of Game Center.
  public static let localPlayerNotAuthenticated = AuthErrorCode(
    17066, "ERROR_LOCAL_PLAYER_NOT_AUTHENTICATED")
  /// Of links by e-mail.
  public static let dynamicLinkNotActivated = AuthErrorCode(17068, "ERROR_DYNAMIC_LINK_NOT_ACTIVATED")
  /// Of tenants.
  public static let tenantIDMismatch = AuthErrorCode(17072, "ERROR_TENANT_ID_MISMATCH")
  /// Of links by e-mail.
  public static let invalidDynamicLinkDomain = AuthErrorCode(17074, "ERROR_INVALID_DYNAMIC_LINK_DOMAIN")
  /// Of credentials.
  public static let rejectedCredential = AuthErrorCode(17075, "ERROR_REJECTED_CREDENTIAL")
  /// Of Game Center.
  public static let gameKitNotLinked = AuthErrorCode(17076, "ERROR_GAME_KIT_NOT_LINKED")
  /// Of second factors.
  public static let secondFactorRequired = AuthErrorCode(17078, "ERROR_SECOND_FACTOR_REQUIRED")
  /// Of second factors.
  public static let missingMultiFactorSession = AuthErrorCode(17081, "ERROR_MISSING_MULTI_FACTOR_SESSION")
  /// Of second factors.
  public static let missingMultiFactorInfo = AuthErrorCode(17082, "ERROR_MISSING_MULTI_FACTOR_INFO")
  /// Of second factors.
  public static let invalidMultiFactorSession = AuthErrorCode(17083, "ERROR_INVALID_MULTI_FACTOR_SESSION")
  /// Of second factors.
  public static let multiFactorInfoNotFound = AuthErrorCode(17084, "ERROR_MULTI_FACTOR_INFO_NOT_FOUND")
  /// Of second factors.
  public static let unverifiedEmail = AuthErrorCode(17086, "ERROR_UNVERIFIED_EMAIL")
  /// Of second factors.
  public static let secondFactorAlreadyEnrolled = AuthErrorCode(
    17087, "ERROR_SECOND_FACTOR_ALREADY_ENROLLED")
  /// Of second factors.
  public static let maximumSecondFactorCountExceeded = AuthErrorCode(
    17088, "ERROR_MAXIMUM_SECOND_FACTOR_COUNT_EXCEEDED")
  /// Of second factors.
  public static let unsupportedFirstFactor = AuthErrorCode(17089, "ERROR_UNSUPPORTED_FIRST_FACTOR")
  /// Of links by e-mail.
  public static let emailChangeNeedsVerification = AuthErrorCode(
    17090, "ERROR_EMAIL_CHANGE_NEEDS_VERIFICATION")
  /// Of how the app is set up.
  public static let missingClientIdentifier = AuthErrorCode(17093, "ERROR_MISSING_CLIENT_IDENTIFIER")
  /// Of Cloud Functions.
  public static let blockingCloudFunctionError = AuthErrorCode(
    17105, "ERROR_BLOCKING_CLOUD_FUNCTION_RETURNED_ERROR")
  /// Of reCAPTCHA.
  public static let recaptchaNotEnabled = AuthErrorCode(17200, "ERROR_RECAPTCHA_NOT_ENABLED")
  /// Of reCAPTCHA.
  public static let missingRecaptchaToken = AuthErrorCode(17201, "ERROR_MISSING_RECAPTCHA_TOKEN")
  /// Of reCAPTCHA.
  public static let invalidRecaptchaToken = AuthErrorCode(17202, "ERROR_INVALID_RECAPTCHA_TOKEN")
  /// Of reCAPTCHA.
  public static let invalidRecaptchaAction = AuthErrorCode(17203, "ERROR_INVALID_RECAPTCHA_ACTION")
  /// Of reCAPTCHA.
  public static let missingClientType = AuthErrorCode(17204, "ERROR_MISSING_CLIENT_TYPE")
  /// Of reCAPTCHA.
  public static let missingRecaptchaVersion = AuthErrorCode(17205, "ERROR_MISSING_RECAPTCHA_VERSION")
  /// Of reCAPTCHA.
  public static let invalidRecaptchaVersion = AuthErrorCode(17206, "ERROR_INVALID_RECAPTCHA_VERSION")
  /// Of reCAPTCHA.
  public static let invalidReqType = AuthErrorCode(17207, "ERROR_INVALID_REQ_TYPE")
  /// Of reCAPTCHA.
  public static let recaptchaSDKNotLinked = AuthErrorCode(17208, "ERROR_RECAPTCHA_SDK_NOT_LINKED")
  /// Of reCAPTCHA.
  public static let recaptchaSiteKeyMissing = AuthErrorCode(17209, "ERROR_RECAPTCHA_SITE_KEY_MISSING")
  /// Of reCAPTCHA.
  public static let recaptchaActionCreationFailed = AuthErrorCode(
    17210, "ERROR_RECAPTCHA_ACTION_CREATION_FAILED")
  /// Of credentials.
  public static let malformedJWT = AuthErrorCode(18000, "ERROR_MALFORMED_JWT")
}

extension AuthErrorCode: CaseIterable {
  /// Every one, by number.
  public static let allCases: [AuthErrorCode] = [
    .invalidCustomToken, .customTokenMismatch, .invalidCredential, .userDisabled, .operationNotAllowed,
    .emailAlreadyInUse, .invalidEmail, .wrongPassword, .tooManyRequests, .userNotFound,
    .accountExistsWithDifferentCredential, .requiresRecentLogin, .providerAlreadyLinked, .noSuchProvider,
    .invalidUserToken, .networkError, .userTokenExpired, .invalidAPIKey, .userMismatch,
    .credentialAlreadyInUse, .weakPassword, .appNotAuthorized, .expiredActionCode, .invalidActionCode,
    .invalidMessagePayload, .invalidSender, .invalidRecipientEmail, .missingEmail, .missingIosBundleID,
    .missingAndroidPackageName, .unauthorizedDomain, .invalidContinueURI, .missingContinueURI,
    .missingPhoneNumber, .invalidPhoneNumber, .missingVerificationCode, .invalidVerificationCode,
    .missingVerificationID, .invalidVerificationID, .missingAppCredential, .invalidAppCredential,
    .sessionExpired, .quotaExceeded, .missingAppToken, .notificationNotForwarded, .appNotVerified,
    .captchaCheckFailed, .webContextAlreadyPresented, .webContextCancelled,
    .appVerificationUserInteractionFailure, .invalidClientID, .webNetworkRequestFailed, .webInternalError,
    .webSignInUserInteractionFailure, .localPlayerNotAuthenticated, .nullUser, .dynamicLinkNotActivated,
    .invalidProviderID, .tenantIDMismatch, .unsupportedTenantOperation, .invalidDynamicLinkDomain,
    .rejectedCredential, .gameKitNotLinked, .secondFactorRequired, .missingMultiFactorSession,
    .missingMultiFactorInfo, .invalidMultiFactorSession, .multiFactorInfoNotFound,
    .adminRestrictedOperation, .unverifiedEmail, .secondFactorAlreadyEnrolled,
    .maximumSecondFactorCountExceeded, .unsupportedFirstFactor, .emailChangeNeedsVerification,
    .missingClientIdentifier, .missingOrInvalidNonce, .blockingCloudFunctionError, .recaptchaNotEnabled,
    .missingRecaptchaToken, .invalidRecaptchaToken, .invalidRecaptchaAction, .missingClientType,
    .missingRecaptchaVersion, .invalidRecaptchaVersion, .invalidReqType, .recaptchaSDKNotLinked,
    .recaptchaSiteKeyMissing, .recaptchaActionCreationFailed, .keychainError, .internalError, .malformedJWT,
    .requestNotUnderstood, .signInSuperseded,
  ]
}
