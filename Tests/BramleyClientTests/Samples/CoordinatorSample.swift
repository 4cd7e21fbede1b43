// In the form of UIKit tutorials for Firebase: after the import and one line when the app starts nothing is different.

import BramleyClient
import Foundation

#if canImport(AuthenticationServices) && canImport(UIKit)
  import AuthenticationServices
  import UIKit

  final class SignInViewController: UIViewController, ASAuthorizationControllerDelegate,
    ASAuthorizationControllerPresentationContextProviding
  {
    // Unhashed nonce.
    fileprivate var currentNonce: String?
    private let outcome = UILabel()

    @objc func startSignInWithAppleFlow() {
      let nonce = AppleNonce()
      currentNonce = nonce.raw
      let request = ASAuthorizationAppleIDProvider().createRequest()
      request.requestedScopes = [.fullName, .email]
      request.nonce = nonce.sha256
      let controller = ASAuthorizationController(authorizationRequests: [request])
      controller.delegate = self
      controller.presentationContextProvider = self
      controller.performRequests()
    }

    func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor {
      view.window ?? ASPresentationAnchor()
    }

    func authorizationController(
      controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization
    ) {
      guard let appleIDCredential = authorization.credential as? ASAuthorizationAppleIDCredential,
        let appleIDToken = appleIDCredential.identityToken,
        let idTokenString = String(data: appleIDToken, encoding: .utf8)
      else { return }
      finishSignIn(
        idTokenString: idTokenString, nonce: currentNonce, fullName: appleIDCredential.fullName
      ) { [outcome] in outcome.text = $0 }
    }
  }
#endif

/// What the delegate's method does with what Apple gave it.
@MainActor func finishSignIn(
  idTokenString: String, nonce: String?, fullName: PersonNameComponents?,
  show: @escaping @MainActor (String) -> Void
) {
  let credential = OAuthProvider.appleCredential(
    withIDToken: idTokenString, rawNonce: nonce, fullName: fullName)
  Auth.auth().signIn(with: credential) { (authResult, error) in
    if let error = error as NSError? {
      switch AuthErrorCode.Code(rawValue: error.code) {
      case .missingOrInvalidNonce: show("begin again: \(error.userInfo[AuthErrorUserInfoNameKey] ?? "")")
      case .networkError: show("try later")
      default: show(error.localizedDescription)
      }
      return
    }
    show("hello \(authResult?.user.displayName ?? "you")")
  }
}

/// And of who signed out, or wants the account deleted.
@MainActor func finishDeletion(authCodeString: String, show: @escaping @MainActor (String) -> Void) {
  guard let user = Auth.auth().currentUser else { return }
  Task {
    do {
      try await Auth.auth().revokeToken(withAuthorizationCode: authCodeString)
      try await user.delete()
      show("gone")
    } catch let error as NSError where error.code == AuthErrorCode.requiresRecentLogin.rawValue {
      show("sign in again first")
    }
  }
}
