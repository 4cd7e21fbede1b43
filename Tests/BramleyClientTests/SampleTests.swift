import BramleyClient
import Foundation
import TestProcesses
import Testing

/// Code in the forms that tutorials for Firebase use: it compiles, and it works. One after the other, since all of it
/// speaks to `Auth.auth()`.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct SampleTests {
  private let device = Device()

  private func configure() -> Auth {
    let auth = device.app()
    BramleyApp.use(auth)
    return auth
  }

  @Test func `a coordinator of UIKit signs in, and says what is wrong`() async throws {
    let auth = configure()
    let shown = Watched<[String]>([])
    func show(_ text: String) { shown.update { $0.append(text) } }
    var name = PersonNameComponents()
    name.givenName = "Ada"
    finishSignIn(idTokenString: "apple1", nonce: "raw1", fullName: name) { text in show(text) }
    _ = try await shown.first { $0.count == 1 ? true : nil }
    device.service.play(.answer(400, "MISSING_OR_INVALID_NONCE", reason: "nonce_mismatch"))
    finishSignIn(idTokenString: "apple2", nonce: "raw2", fullName: nil) { text in show(text) }
    _ = try await shown.first { $0.count == 2 ? true : nil }
    device.service.play(.fail(.notConnectedToInternet))
    finishSignIn(idTokenString: "apple3", nonce: "raw3", fullName: nil) { text in show(text) }
    _ = try await shown.first { $0.count == 3 ? true : nil }
    device.service.play(.answer(400, "USER_DISABLED"))
    finishSignIn(idTokenString: "apple4", nonce: "raw4", fullName: nil) { text in show(text) }
    _ = try await shown.first { $0.count == 4 ? true : nil }
    finishDeletion(authCodeString: "c0de") { text in show(text) }
    #expect(
      try await shown.first { $0.count == 5 ? $0 : nil } == [
        "hello Ada", "begin again: ERROR_MISSING_OR_INVALID_NONCE", "try later", "A sentence.", "gone",
      ])
    #expect(auth.currentUser == nil)
  }

  @Test func `a view model of SwiftUI follows who is signed in`() async throws {
    let auth = configure()
    let model = AuthenticationViewModel()
    #expect(model.handleSignInWithAppleRequest().count == 64)
    await model.handleSignInWithAppleCompletion("apple1", nil)
    while model.authenticationState != .authenticated { await Task.yield() }
    #expect(model.user == auth.currentUser)
    let token = try await model.user?.getIDToken()
    #expect(try await model.authorization() == "Bearer \(token ?? "")")
    model.signOut()
    while model.authenticationState != .unauthenticated { await Task.yield() }
    try await device.service.isTold()
    device.service.play(.answer(400, "INVALID_IDP_RESPONSE"))
    await model.handleSignInWithAppleCompletion("apple2", nil)
    #expect(model.errorMessage == "A sentence.")
    model.stop()
  }

  @Test func `a bridge of Flutter passes values and errors on`() async throws {
    _ = configure()
    let bridge = BramleyBridge()
    func call(_ method: String, _ arguments: [String: String] = [:]) async -> (
      [String: String]?, BridgeError?
    ) {
      await withCheckedContinuation { continuation in
        bridge.handle(method, arguments) { continuation.resume(returning: ($0, $1)) }
      }
    }
    let nonce = try #require(await call("Auth#nonce").0)
    #expect(nonce["sha256"] == AppleNonce(raw: nonce["raw"] ?? "").sha256)
    #expect(await call("User#getIdToken").1?.code == "null-user")
    let apple = ["providerId": "apple.com", "idToken": "apple1", "rawNonce": nonce["raw"] ?? ""]
    #expect(await call("Auth#signInWithCredential", apple).0 == ["uid": "person1", "isNewUser": "true"])
    #expect(await call("User#getIdToken", ["forceRefresh": "true"]).0?["token"]?.isEmpty == false)
    #expect(await call("Auth#signOut").0 == [:])
    try await device.service.isTold()
    device.service.play(.answer(400, "MISSING_OR_INVALID_NONCE", reason: "nonce_double_hashed"))
    let error = await call("Auth#signInWithCredential", apple.merging(["idToken": "apple2"]) { $1 }).1
    #expect(error?.code == "missing-or-invalid-nonce")
    #expect(error?.details == ["reason": "nonce_double_hashed"])
    #expect(
      await call("Auth#signInWithCredential", ["providerId": "google.com"]).1?.code == "invalid-provider-id")
  }

  @Test func `a settings screen calls without waiting, and reads errors as a cast gives them`() async throws {
    let auth = configure()
    let screen = SettingsViewController()
    screen.viewWillAppear()
    device.service.play(.fail(.notConnectedToInternet))
    screen.continueAsGuest()
    while screen.shown.isEmpty { await Task.yield() }
    device.service.play(.fail(.notConnectedToInternet))
    do {
      _ = try await auth.signInAnonymously()
      Issue.record("there was no error")
    } catch {
      #expect(SettingsViewController.staysSignedIn(after: error))
    }
    screen.continueAsGuest()
    while screen.shown.count < 2 { await Task.yield() }
    #expect(screen.shown == ["Try again later.", "guest true"])
    screen.refresh()
    screen.signIn(with: credential())
    while auth.currentUser?.isAnonymous != false { await Task.yield() }
    while screen.people.isEmpty { await Task.yield() }
    screen.deleteAccount()
    while auth.currentUser != nil { await Task.yield() }
    screen.viewWillDisappear()
  }
}
