public import Foundation

/// A sign-in in a browser, for where there is no sheet of Apple's: the service does it all and sends the browser back with a
/// one-time code, which is worth something only to whoever began (RFC 7636).
///
/// ```swift
/// let web = Auth.auth().webSignIn(clientID: "com.example.web", returnURL: "com.example.app:/signed-in")
/// // open web.url; the browser ends at the return URL
/// let result = try await Auth.auth().signIn(with: web, returnedTo: url)
/// ```
public struct WebSignIn: Sendable {
  /// What the browser has to open.
  public let url: URL
  /// Where it ends: byte for byte one of the service's `BRAMLEY_RETURN_URLS`.
  public let returnURL: String
  let state: String
  let verifier: String
}

// Whoever prints it prints nothing that is worth anything.
extension WebSignIn: CustomStringConvertible, CustomReflectable {
  /// With the return URL alone.
  public var description: String { "WebSignIn(returnURL: \(returnURL))" }
  /// Without state and verifier.
  public var customMirror: Mirror { Mirror(self, children: ["returnURL": returnURL]) }
}

extension Auth {
  /// Begins a sign-in in a browser.
  ///
  /// - Parameters:
  ///   - clientID: The Services ID.
  ///   - returnURL: One of the service's `BRAMLEY_RETURN_URLS`.
  public func webSignIn(clientID: String, returnURL: String) -> WebSignIn {
    // RFC 7636 §4.1: 43 characters or more.
    let (verifier, state) = (AppleNonce().raw + AppleNonce().raw, AppleNonce().raw)
    var address = URLComponents(
      url: keeper.endpoint.address(of: "/v1/apple/authorize"), resolvingAgainstBaseURL: false)
    let challenge = base64URLText(SHA256Digest.of(Array(verifier.utf8)))
    address?.queryItems = [
      URLQueryItem(name: "client_id", value: clientID), URLQueryItem(name: "redirect_uri", value: returnURL),
      URLQueryItem(name: "state", value: state), URLQueryItem(name: "code_challenge", value: challenge),
      URLQueryItem(name: "code_challenge_method", value: "S256"),
    ]
    return WebSignIn(
      url: address?.url ?? keeper.endpoint.url, returnURL: returnURL, state: state, verifier: verifier)
  }

  /// Signs in with what the browser came back with, within a minute.
  ///
  /// - Parameters:
  ///   - web: The sign-in that was begun.
  ///   - url: Where the browser ended.
  /// - Throws: ``AuthErrorCode/webContextCancelled`` when the person closed Apple's page,
  ///   ``AuthErrorCode/webSignInUserInteractionFailure`` when the URL is none of this sign-in.
  @discardableResult
  public func signIn(with web: WebSignIn, returnedTo url: URL) async throws -> AuthDataResult {
    let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
    func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
    guard value("state") == web.state else {
      throw AuthErrorCode.webSignInUserInteractionFailure.error("The browser came back from another sign-in.")
    }
    guard let code = value("code") else {
      let reason = value("error") ?? "code_invalid"
      let isCancelled = reason == "user_cancelled_authorize"
      throw (isCancelled ? AuthErrorCode.webContextCancelled : .webSignInUserInteractionFailure)
        .error("The sign-in was not finished: \(reason).", [AuthErrorUserInfoReasonKey: reason])
    }
    let result = try await asApps { [keeper] in
      let signedIn = try await keeper.signInOnce(.trade(code: code, verifier: web.verifier)) { reply in
        let tokens: Tokens = try reply.decoded()
        let answer = SignInAnswer(idToken: tokens.id_token, refreshToken: tokens.refresh_token)
        return (answer, try answer.session(world: keeper.world, serverTime: reply.serverTime, before: nil))
      }
      return AuthDataResult(signedIn, keeper: keeper)
    }
    // The token endpoint says little of the person; who is signed in is, also when this fails.
    try? await result.user.reload()
    return result
  }
}
