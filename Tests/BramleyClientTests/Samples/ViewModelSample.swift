// In the form of SwiftUI tutorials for Firebase: a view model that views watch.

import BramleyClient
import Foundation

#if canImport(SwiftUI) && canImport(AuthenticationServices)
  import AuthenticationServices
  import SwiftUI

  extension AuthenticationViewModel: ObservableObject {}

  struct LoginView: View {
    @StateObject var viewModel = AuthenticationViewModel()

    var body: some View {
      SignInWithAppleButton(.signIn) { request in
        request.requestedScopes = [.fullName, .email]
        request.nonce = viewModel.handleSignInWithAppleRequest()
      } onCompletion: { result in
        guard case .success(let authorization) = result,
          let apple = authorization.credential as? ASAuthorizationAppleIDCredential,
          let token = apple.identityToken.map({ String(decoding: $0, as: UTF8.self) })
        else { return }
        Task { await viewModel.handleSignInWithAppleCompletion(token, apple.fullName) }
      }
    }
  }
#endif

enum AuthenticationState {
  case unauthenticated, authenticating, authenticated
}

@MainActor final class AuthenticationViewModel {
  private(set) var authenticationState: AuthenticationState = .unauthenticated
  private(set) var errorMessage = ""
  private(set) var user: User?
  private var currentNonce: String?
  private var authStateHandle: AuthStateDidChangeListenerHandle?

  init() { registerAuthStateHandler() }

  func registerAuthStateHandler() {
    guard authStateHandle == nil else { return }
    authStateHandle = Auth.auth().addStateDidChangeListener { [weak self] _, user in
      self?.user = user
      self?.authenticationState = user == nil ? .unauthenticated : .authenticated
    }
  }

  func stop() {
    if let authStateHandle { Auth.auth().removeStateDidChangeListener(authStateHandle) }
  }

  /// What the request's `nonce` is to be.
  func handleSignInWithAppleRequest() -> String {
    let nonce = AppleNonce()
    currentNonce = nonce.raw
    return nonce.sha256
  }

  func handleSignInWithAppleCompletion(_ idTokenString: String, _ fullName: PersonNameComponents?) async {
    guard let nonce = currentNonce else { return }
    let credential = OAuthProvider.appleCredential(
      withIDToken: idTokenString, rawNonce: nonce, fullName: fullName)
    authenticationState = .authenticating
    do {
      let result = try await Auth.auth().signIn(with: credential)
      await updateDisplayName(for: result.user, with: fullName)
    } catch {
      authenticationState = .unauthenticated
      errorMessage = error.localizedDescription
    }
  }

  private func updateDisplayName(for user: User, with name: PersonNameComponents?) async {
    guard let displayName = user.displayName, displayName.isEmpty, let given = name?.givenName else { return }
    let changeRequest = user.createProfileChangeRequest()
    changeRequest.displayName = given
    try? await changeRequest.commitChanges()
  }

  func signOut() {
    do {
      try Auth.auth().signOut()
    } catch {
      errorMessage = error.localizedDescription
    }
  }

  /// What a call to the app's own back end carries.
  func authorization() async throws -> String {
    guard let user = Auth.auth().currentUser else { throw AuthErrorCode.nullUser }
    return "Bearer \(try await user.getIDToken())"
  }
}
