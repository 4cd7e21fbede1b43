// In the form of a settings screen of UIKit: calls from synchronous code, some of which nobody waits for.

import BramleyClient
import Foundation

@MainActor final class SettingsViewController {
  private var handle: (any NSObjectProtocol)?
  private(set) var people: Set<User> = []
  private(set) var shown: [String] = []

  func viewWillAppear() {
    handle = Auth.auth().addStateDidChangeListener { [weak self] _, user in
      if let user { self?.people.insert(user) }
    }
  }

  func viewWillDisappear() {
    if let handle { Auth.auth().removeStateDidChangeListener(handle) }
  }

  func continueAsGuest() {
    Auth.auth().signInAnonymously { result, error in
      self.shown.append(result.map { "guest \($0.user.isAnonymous)" } ?? Self.sentence(for: error))
    }
  }

  func refresh() {
    Auth.auth().currentUser?.reload()
    Auth.auth().currentUser?.getIDToken()
  }

  func deleteAccount() { Auth.auth().currentUser?.delete() }

  func signIn(with credential: AuthCredential) { Auth.auth().signIn(with: credential) }

  /// As apps that also have passwords at Firebase read errors.
  static func sentence(for error: (any Error)?) -> String {
    guard let error = error as NSError? else { return "" }
    switch AuthErrorCode(_nsError: error).code {
    case .wrongPassword, .invalidEmail, .userNotFound: return "Check what you typed."
    case .weakPassword: return "Choose a longer password."
    case .emailAlreadyInUse, .accountExistsWithDifferentCredential: return "You have an account."
    case .networkError, .tooManyRequests: return "Try again later."
    case .webContextCancelled, .appNotAuthorized, .invalidAPIKey: return "It did not work."
    default: return error.localizedDescription
    }
  }

  /// As apps decide whether anybody has to sign in again.
  static func staysSignedIn(after error: any Error) -> Bool {
    if let error = error as? AuthErrorCode, error.code == .networkError { return true }
    return false
  }
}
