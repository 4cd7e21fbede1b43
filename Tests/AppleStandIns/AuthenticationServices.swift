// What the kit, its samples and the README use of Apple's AuthenticationServices, declared as Apple's documentation does
// (developer.apple.com/documentation/authenticationservices). Nothing here does anything: it is compiled against.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public protocol ASAuthorizationCredential: NSObjectProtocol {}

public final class ASAuthorizationAppleIDCredential: NSObject, ASAuthorizationCredential {
  public var user: String { "" }
  public var identityToken: Data? { nil }
  public var authorizationCode: Data? { nil }
  public var fullName: PersonNameComponents? { nil }
  public var email: String? { nil }
}

public final class ASAuthorization: NSObject {
  public struct Scope: Hashable, Sendable {
    public static let fullName = Scope()
    public static let email = Scope()
  }

  public var credential: any ASAuthorizationCredential { ASAuthorizationAppleIDCredential() }
}

open class ASAuthorizationRequest: NSObject {}

public final class ASAuthorizationAppleIDRequest: ASAuthorizationRequest {
  public var requestedScopes: [ASAuthorization.Scope]?
  public var nonce: String?
  public var state: String?
}

public final class ASAuthorizationAppleIDProvider: NSObject {
  public enum CredentialState: Int, Sendable {
    case revoked, authorized, notFound, transferred
  }

  public class var credentialRevokedNotification: NSNotification.Name { NSNotification.Name("") }

  public func createRequest() -> ASAuthorizationAppleIDRequest { ASAuthorizationAppleIDRequest() }
  public func credentialState(forUserID userID: String) async throws -> CredentialState { .authorized }
}

public typealias ASPresentationAnchor = NSObject

// In Objective-C the methods are optional.
@MainActor public protocol ASAuthorizationControllerDelegate: NSObjectProtocol {
  func authorizationController(
    controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization)
  func authorizationController(
    controller: ASAuthorizationController, didCompleteWithError error: any Error)
}

extension ASAuthorizationControllerDelegate {
  public func authorizationController(
    controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization
  ) {}
  public func authorizationController(
    controller: ASAuthorizationController, didCompleteWithError error: any Error
  ) {}
}

@MainActor public protocol ASAuthorizationControllerPresentationContextProviding: NSObjectProtocol {
  func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor
}

@MainActor public final class ASAuthorizationController: NSObject {
  public weak var delegate: (any ASAuthorizationControllerDelegate)?
  public weak var presentationContextProvider: (any ASAuthorizationControllerPresentationContextProviding)?

  public init(authorizationRequests: [ASAuthorizationRequest]) {}

  public func performRequests() {}
}

public struct ASAuthorizationError: Error {
  public enum Code: Int, Sendable {
    case unknown = 1000, canceled, invalidResponse, notHandled, failed, notInteractive
  }

  public var code: Code { .unknown }
}

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
  func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

open class ASWebAuthenticationSession: NSObject {
  public typealias CompletionHandler = (URL?, (any Error)?) -> Void

  public final class Callback: NSObject {
    public class func customScheme(_ scheme: String) -> Callback { Callback() }
    public class func https(host: String, path: String) -> Callback { Callback() }
  }

  public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?

  public init(url: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {}
  public init(url: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {}

  @discardableResult open func start() -> Bool { false }
  open func cancel() {}
}

public struct ASWebAuthenticationSessionError: Error {
  public enum Code: Int, Sendable {
    case canceledLogin = 1, presentationContextNotProvided, presentationContextInvalid
  }

  public var code: Code { .canceledLogin }
}
