internal import Foundation

#if canImport(AuthenticationServices)
  internal import AuthenticationServices
#endif

/// What has become of a person's consent to Sign in with Apple.
public enum CredentialState: String, Sendable, CaseIterable {
  /// All is well.
  case authorized
  /// The person took the consent back: sign out.
  case revoked
  /// Apple does not know the person, or not on this device, as after signing in on the web.
  case notFound
  /// The app goes to another developer team; the service moves the account.
  case transferred
}

extension CredentialState {
  /// The worse of what two know.
  static func joined(_ states: [CredentialState]) -> CredentialState? {
    [.revoked, .transferred, .notFound, .authorized].first { states.contains($0) }
  }

  #if canImport(AuthenticationServices)
    static let ofDevice: (@Sendable (String) async throws -> CredentialState)? = { subject in
      switch try await ASAuthorizationAppleIDProvider().credentialState(forUserID: subject) {
      case .authorized: .authorized
      case .revoked: .revoked
      case .transferred: .transferred
      default: .notFound
      }
    }
  #else
    static let ofDevice: (@Sendable (String) async throws -> CredentialState)? = nil
  #endif
}

extension SessionKeeper {
  /// What device and service know; what one of them does not answer the other decides.
  func credentialState(of held: HeldSession) async throws -> CredentialState {
    let known = try? await deviceState(of: held)
    do {
      let answer: AccountAnswer = try await answer(to: .account, of: held).decoded()
      let told = CredentialState(rawValue: answer.credentialState)
      return CredentialState.joined([known, told].compactMap { $0 }) ?? .authorized
    } catch let fault as CallFault where fault.isOutage {
      guard let known else { throw fault }
      return known
    }
  }

  private func deviceState(of held: HeldSession) async throws -> CredentialState? {
    guard
      let subject = held.session.profile.identities.first(where: { $0.providerID == "apple.com" })?.subject
    else {
      return nil
    }
    return try await world.deviceState?(subject)
  }

  /// Signs out if the consent is gone: by the word of the device or, where that gives none, of the service. Who has no Apple
  /// identity has given no consent.
  ///
  /// - Parameter asksService: Whether that is worth a request.
  func followConsent(asksService: Bool) async {
    guard let held = current,
      held.session.profile.identities.contains(where: { $0.providerID == "apple.com" })
    else { return }
    let session = held.session.sessionID
    var state = try? await deviceState(of: held)
    if state == nil, asksService { state = try? await credentialState(of: held) }
    // Whoever has consented and signed in again meanwhile stays.
    if state == .revoked, current?.session.sessionID == session { try? signOut(held.uid) }
  }
}
