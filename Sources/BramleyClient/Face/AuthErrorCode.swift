public import Foundation

/// What went wrong, in the names and numbers that code for Firebase reads. Errors are `NSError`s of ``AuthErrorDomain``
/// with one of these as `code`:
///
/// ```swift
/// switch AuthErrorCode(rawValue: (error as NSError).code) {
/// case .missingOrInvalidNonce: startAgain()
/// case .networkError: offerRetry()                  // the person stays signed in
/// default: show(error.localizedDescription)
/// }
/// ```
public enum AuthErrorCode: Int, Error, Sendable, CaseIterable {
  /// Older code spells the type so.
  public typealias Code = AuthErrorCode

  case invalidCustomToken = 17000
  case customTokenMismatch = 17002
  /// Apple's token or the one-time code is not good. Ask Apple for a new one.
  case invalidCredential = 17004
  case userDisabled = 17005
  case operationNotAllowed = 17006
  case emailAlreadyInUse = 17007
  case invalidEmail = 17008
  /// Too many requests: wait as long as ``AuthErrorUserInfoRetryAfterKey`` says.
  case tooManyRequests = 17010
  case userNotFound = 17011
  case accountExistsWithDifferentCredential = 17012
  /// For this the person has to have signed in within the last minutes: reauthenticate, then repeat.
  case requiresRecentLogin = 17014
  case providerAlreadyLinked = 17015
  case noSuchProvider = 17016
  case invalidUserToken = 17017
  /// There was no answer, or the service is out of order. Nobody is signed out by that; the same call may succeed later.
  case networkError = 17020
  /// The session is over, and the person was signed out here.
  case userTokenExpired = 17021
  case invalidAPIKey = 17023
  /// Another person signed in than the one who is signed in.
  case userMismatch = 17024
  /// The Apple identity belongs to another account; ``AuthErrorUserInfoUpdatedCredentialKey`` signs in to that one.
  case credentialAlreadyInUse = 17025
  case invalidContinueURI = 17031
  case missingContinueURI = 17032
  case webContextCancelled = 17058
  case webSignInUserInteractionFailure = 17061
  /// The person has signed out, or another one has signed in since.
  case nullUser = 17067
  case invalidProviderID = 17071
  case unsupportedTenantOperation = 17073
  case adminRestrictedOperation = 17085
  /// The nonce is missing or not the one that Apple was given; ``AuthErrorUserInfoReasonKey`` says which mistake it was.
  case missingOrInvalidNonce = 17094
  /// The Keychain or the file refused. Who was signed in still is.
  case keychainError = 17995
  /// The service has a fault.
  case internalError = 17999

  // Bramley's own, beyond Firebase's numbers.

  /// The service did not understand the request: its version and the kit's do not fit.
  case requestNotUnderstood = 19001
  /// A later sign-in, or a sign-out, took the place of this one before its answer came.
  case signInSuperseded = 19002
}

/// The domain of all errors, which is the one that code for Firebase compares with.
public let AuthErrorDomain = "FIRAuthErrorDomain"

/// The error's name in `userInfo`, such as `ERROR_MISSING_OR_INVALID_NONCE`.
public let AuthErrorUserInfoNameKey = "FIRAuthErrorUserInfoNameKey"

/// The address that another account has, in `userInfo`.
public let AuthErrorUserInfoEmailKey = "FIRAuthErrorUserInfoEmailKey"

/// The ``AuthCredential`` in `userInfo` that signs in to the account which has the identity already.
public let AuthErrorUserInfoUpdatedCredentialKey = "FIRAuthErrorUserInfoUpdatedCredentialKey"

/// The service's stable word for programs in `userInfo`, such as `nonce_is_already_hashed`.
public let AuthErrorUserInfoReasonKey = "BramleyReasonKey"

/// The service's word in front of its message in `userInfo`, such as `MISSING_OR_INVALID_NONCE`.
public let AuthErrorUserInfoServiceCodeKey = "BramleyServiceCodeKey"

/// The id in `userInfo` by which the request is found in the service's log.
public let AuthErrorUserInfoRequestIDKey = "BramleyRequestIDKey"

/// Seconds to wait before the next try in `userInfo`, as a `Double`.
public let AuthErrorUserInfoRetryAfterKey = "BramleyRetryAfterKey"

/// The keys of `userInfo` under the names of newer code.
public enum AuthErrors {
  /// ``AuthErrorDomain``.
  public static let domain = AuthErrorDomain
  /// ``AuthErrorUserInfoNameKey``.
  public static let userInfoNameKey = AuthErrorUserInfoNameKey
  /// ``AuthErrorUserInfoEmailKey``.
  public static let userInfoEmailKey = AuthErrorUserInfoEmailKey
  /// ``AuthErrorUserInfoUpdatedCredentialKey``.
  public static let userInfoUpdatedCredentialKey = AuthErrorUserInfoUpdatedCredentialKey
}

// So that a case which an app throws by itself reads as an error of the kit's.
extension AuthErrorCode: CustomNSError {
  /// ``AuthErrorDomain``.
  public static var errorDomain: String { AuthErrorDomain }
  /// The number.
  public var errorCode: Int { rawValue }
  /// With the name.
  public var errorUserInfo: [String: Any] { [AuthErrorUserInfoNameKey: name] }

  /// As Firebase has it in `userInfo`: `ERROR_` and the case in upper-case words.
  public var name: String {
    // Each capital that begins a word: one behind a small letter, or before one behind capitals (`APIKey`).
    let letters = Array("\(self)")
    var text = "ERROR_"
    for (index, letter) in letters.enumerated() {
      let isBehindSmall = index > 0 && letters[index - 1].isLowercase
      let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
      if index > 0, letter.isUppercase, isBehindSmall || isBeforeSmall { text += "_" }
      text += letter.uppercased()
    }
    return text
  }

  /// An error as apps get it.
  ///
  /// - Parameters:
  ///   - sentence: For `localizedDescription`.
  ///   - further: More for `userInfo`.
  func error(_ sentence: String, _ further: [String: Any] = [:]) -> NSError {
    let own: [String: Any] = [NSLocalizedDescriptionKey: sentence, AuthErrorUserInfoNameKey: name]
    return NSError(domain: AuthErrorDomain, code: rawValue, userInfo: own.merging(further) { $1 })
  }
}
