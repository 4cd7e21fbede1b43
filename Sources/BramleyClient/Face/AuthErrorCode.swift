public import Foundation

/// What went wrong, in the names and numbers that code for Firebase reads. It is what the kit throws, and can be read in
/// every way that such code does:
///
/// ```swift
/// } catch AuthErrorCode.userDisabled {
/// } catch let error as AuthErrorCode where error.code == .networkError {   // the person stays signed in
/// } catch {
///   switch AuthErrorCode(rawValue: (error as NSError).code) {
///   case .missingOrInvalidNonce: startAgain()
///   default: show(error.localizedDescription)
///   }
/// }
/// ```
///
/// Two are equal when their numbers are. As an `NSError` it is of ``AuthErrorDomain``; on Linux `as NSError` and `as NSError?`
/// make one, and `as? NSError` does not.
public struct AuthErrorCode: Error, Sendable, RawRepresentable {
  /// Older code spells the type so.
  public typealias Code = AuthErrorCode

  /// The number.
  public let rawValue: Int
  /// As Firebase has it in `userInfo`, such as `ERROR_MISSING_OR_INVALID_NONCE`.
  public let name: String
  /// What came along; nil for the bare case.
  private let details: NSError?

  init(_ number: Int, _ name: String) {
    (rawValue, self.name, details) = (number, name, nil)
  }

  private init(_ bare: AuthErrorCode, details: NSError) {
    (rawValue, name, self.details) = (bare.rawValue, bare.name, details)
  }

  private static let known = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

  /// The case with a number; nil when there is none.
  public init?(rawValue: Int) {
    guard let bare = Self.known[rawValue] else { return nil }
    self = bare
  }

  /// An error with its case and all that came along. One that is none of ours is ``internalError``.
  public init(_nsError error: NSError) {
    let bare = error.domain == AuthErrorDomain ? Self(rawValue: error.code) : nil
    self.init(bare ?? .internalError, details: error)
  }

  /// An error of a case, as an app makes one in its own code and tests.
  public init(_ code: AuthErrorCode, userInfo: [String: Any] = [:]) {
    self = code.code.error(code.name, userInfo)
  }

  /// The case alone.
  public var code: AuthErrorCode { Self(rawValue, name) }

  /// An error as apps get it.
  ///
  /// - Parameters:
  ///   - sentence: For `localizedDescription`.
  ///   - further: More for `userInfo`.
  func error(_ sentence: String, _ further: [String: Any] = [:]) -> AuthErrorCode {
    let own: [String: Any] = [NSLocalizedDescriptionKey: sentence]
    return Self(
      self, details: NSError(domain: AuthErrorDomain, code: rawValue, userInfo: own.merging(further) { $1 }))
  }
}

extension AuthErrorCode: Hashable {
  /// Whether the numbers are the same.
  public static func == (one: AuthErrorCode, other: AuthErrorCode) -> Bool { one.rawValue == other.rawValue }

  /// By the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  /// What `catch AuthErrorCode.userDisabled` asks, of an `NSError` from elsewhere too.
  public static func ~= (pattern: AuthErrorCode, error: any Error) -> Bool {
    let error = error as NSError
    return error.domain == AuthErrorDomain && error.code == pattern.rawValue
  }
}

extension AuthErrorCode: CustomNSError, LocalizedError {
  /// ``AuthErrorDomain``.
  public static var errorDomain: String { AuthErrorDomain }
  /// The number.
  public var errorCode: Int { rawValue }
  /// With the name, and all that came along.
  public var errorUserInfo: [String: Any] {
    [AuthErrorUserInfoNameKey: name].merging(details?.userInfo ?? [:]) { $1 }
  }
  /// What came along, under the name that code for Firebase knows.
  public var userInfo: [String: Any] { errorUserInfo }
  /// A sentence for a person.
  public var errorDescription: String? { details?.localizedDescription ?? name }
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
