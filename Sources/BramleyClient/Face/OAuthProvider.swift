public import Foundation

#if canImport(AuthenticationServices)
  public import AuthenticationServices
#endif

/// What a sign-in is made with: there is one kind.
public typealias AuthCredential = OAuthCredential

/// What Apple gave to the app.
public final class OAuthCredential: Sendable {
  /// `apple.com`.
  public let provider: String
  /// Apple's identity token.
  public let idToken: String?
  /// An access token, which Apple gives to no app.
  public let accessToken: String?
  let rawNonce: String?
  let name: PersonNameComponents?
  let authorizationCode: String?

  init(
    provider: String, idToken: String, accessToken: String?, rawNonce: String?, name: PersonNameComponents?,
    authorizationCode: String?
  ) {
    self.provider = provider
    self.idToken = idToken
    self.accessToken = accessToken
    self.rawNonce = rawNonce
    self.name = name
    self.authorizationCode = authorizationCode
  }
}

/// The identity provider.
public struct AuthProviderID: RawRepresentable, Hashable, Sendable {
  /// Its id.
  public let rawValue: String

  /// A provider by its id.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Sign in with Apple.
  public static let apple = AuthProviderID(rawValue: "apple.com")
}

/// Makes credentials of what Apple gave to the app.
public final class OAuthProvider: Sendable {
  /// A credential of Apple's sheet.
  ///
  /// - Parameters:
  ///   - idToken: `identityToken` of the `ASAuthorizationAppleIDCredential`, as text.
  ///   - rawNonce: The value before hashing: ``AppleNonce/raw`` of the nonce whose ``AppleNonce/sha256`` was the request's.
  ///   - fullName: `fullName` of the same credential. Apple hands it out once, at the first sign-in.
  ///   - authorizationCode: `authorizationCode` of the same credential, as text: with it the service can look at the consent
  ///     and revoke it when the account is deleted.
  public static func appleCredential(
    withIDToken idToken: String, rawNonce: String?, fullName: PersonNameComponents?,
    authorizationCode: String? = nil
  ) -> OAuthCredential {
    OAuthCredential(
      provider: "apple.com", idToken: idToken, accessToken: nil, rawNonce: rawNonce, name: fullName,
      authorizationCode: authorizationCode)
  }

  /// A credential of a provider. There is nothing but Apple: any other is refused with ``AuthErrorCode/invalidProviderID``.
  public static func credential(
    providerID: AuthProviderID, idToken: String, rawNonce: String, accessToken: String? = nil
  ) -> OAuthCredential {
    credential(
      withProviderID: providerID.rawValue, idToken: idToken, rawNonce: rawNonce, accessToken: accessToken)
  }

  /// The same, as older code spells it.
  public static func credential(
    withProviderID providerID: String, idToken: String, rawNonce: String?, accessToken: String? = nil
  ) -> OAuthCredential {
    OAuthCredential(
      provider: providerID, idToken: idToken, accessToken: accessToken, rawNonce: rawNonce, name: nil,
      authorizationCode: nil)
  }

  #if canImport(AuthenticationServices)
    /// A credential with everything that Apple's sheet brought; nil when it brought no token.
    public static func appleCredential(
      _ credential: ASAuthorizationAppleIDCredential, rawNonce: String
    ) -> OAuthCredential? {
      guard let token = credential.identityToken else { return nil }
      return appleCredential(
        withIDToken: String(decoding: token, as: UTF8.self), rawNonce: rawNonce,
        fullName: credential.fullName,
        authorizationCode: credential.authorizationCode.map { String(decoding: $0, as: UTF8.self) })
    }
  #endif
}

extension OAuthCredential {
  /// The body of a sign-in: the same credential is the same bytes.
  func body(device: DeviceDescription, createsAccount: Bool) throws -> Data {
    guard provider == "apple.com" else {
      throw AuthErrorCode.invalidProviderID.error("There is nothing but Sign in with Apple here.")
    }
    guard let rawNonce, !rawNonce.isEmpty else {
      throw AuthErrorCode.missingOrInvalidNonce.error(
        "Give the raw nonce: the value whose SHA-256 was set on the request to Apple.",
        [AuthErrorUserInfoReasonKey: "nonce_missing"])
    }
    var body: [String: Any] = ["providerId": provider, "idToken": idToken ?? "", "rawNonce": rawNonce]
    let name = [
      "givenName": name?.givenName, "familyName": name?.familyName, "middleName": name?.middleName,
      "namePrefix": name?.namePrefix, "nameSuffix": name?.nameSuffix, "nickname": name?.nickname,
    ].compactMapValues { $0 }
    if !name.isEmpty { body["fullName"] = name }
    if let authorizationCode { body["authorizationCode"] = authorizationCode }
    if !device.members.isEmpty { body["device"] = device.members }
    if !createsAccount { body["autoCreate"] = false }
    return Call.json(body)
  }
}

/// The device for the person's own list of sessions.
public struct DeviceDescription: Sendable, Hashable {
  /// What it is called, such as `Ada’s phone`.
  public var name: String?
  /// What it is, such as `iPhone17,1`.
  public var model: String?
  /// Its system, such as `iOS 26.1`.
  public var os: String?
  /// The app's version.
  public var appVersion: String?

  /// A description with what is known.
  public init(name: String? = nil, model: String? = nil, os: String? = nil, appVersion: String? = nil) {
    self.name = name
    self.model = model
    self.os = os
    self.appVersion = appVersion
  }

  /// Of this device what can be known without asking anybody.
  public static var current: DeviceDescription {
    #if os(iOS)
      let system = "iOS \(version)"
    #elseif os(macOS)
      let system = "macOS \(version)"
    #elseif os(tvOS)
      let system = "tvOS \(version)"
    #elseif os(watchOS)
      let system = "watchOS \(version)"
    #elseif os(visionOS)
      let system = "visionOS \(version)"
    #else
      let system = ProcessInfo.processInfo.operatingSystemVersionString
    #endif
    return DeviceDescription(
      os: system,
      appVersion: Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String)
  }

  /// `26.1`, and `26.1.2` where there is a third number.
  private static var version: String {
    let version = ProcessInfo.processInfo.operatingSystemVersion
    let patch = version.patchVersion > 0 ? ".\(version.patchVersion)" : ""
    return "\(version.majorVersion).\(version.minorVersion)\(patch)"
  }

  var members: [String: String] {
    ["name": name, "model": model, "os": os, "appVersion": appVersion].compactMapValues { $0 }
  }
}
