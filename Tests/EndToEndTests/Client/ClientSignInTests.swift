import BramleyClient
import Foundation
import MockApple
import TestProcesses
import Testing
import Wire

/// The app's kit and the running service: signing in, and what becomes of the account.
@Suite(.timeLimit(.minutes(10)))
struct ClientSignInTests {
  @Test func `a person signs in with the name, and the token is one for back ends`() async throws {
    try await withService { service in
      let auth = try Handset(service.baseURL).app()
      let credential = try Mint.credential { $0.email = "ada@example.com" }
      let result = try await auth.signIn(with: .of(credential, name: "Ada"))
      #expect(result.additionalUserInfo?.isNewUser == true)
      #expect(result.additionalUserInfo?.profile?["email"] as? String == "ada@example.com")
      let user = result.user
      #expect((user.displayName, user.email, user.isEmailVerified) == ("Ada", "ada@example.com", true))
      #expect(user.providerData.map(\.providerID) == ["apple.com"])
      let token = try await user.getIDTokenResult()
      #expect(try await service.read(token.token).claims.text("sub") == user.uid)
      #expect(token.claims["email"] as? String == "ada@example.com")
      let sessions = try await service.get(
        "/v1/sessions", headers: [("Authorization", "Bearer \(token.token)")]
      ).json.objects("sessions")
      #expect(sessions.first?.object("device")?.text("os") == DeviceDescription.current.os)
      let change = user.createProfileChangeRequest()
      change.displayName = "Ada L."
      try await change.commitChanges()
      #expect(user.displayName == "Ada L.")
      try await user.reload()
      #expect(user.displayName == "Ada L.")
      let age = try #require(user.metadata.creationDate).timeIntervalSinceNow
      #expect(abs(age) < 300)
    }
  }

  @Test func `the service is killed between request and answer, and the retry gives the same session`()
    async throws
  {
    try await withStage { stage in
      let settings = ["BRAMLEY_PUBLIC_URL": "https://auth.example.com"]
      let service = try await stage.start(settings)
      let relay = try Relay(to: service.port)
      let auth = try Handset(relay.url).app()
      let credential = AuthCredential.of(try Mint.credential())
      relay.loseAnswers(true)
      async let outcome = fault { _ = try await auth.signIn(with: credential) }
      let lost = try #require(try await relay.lost(1).first).json
      try await service.kill()
      #expect(await outcome.code == .networkError)
      #expect(auth.currentUser == nil)
      relay.loseAnswers(false)
      relay.lead(to: try await stage.start(settings).port)
      let result = try await auth.signIn(with: credential)
      #expect(result.user.uid == lost.text("localId"))
      #expect(result.user.refreshToken == lost.text("refreshToken"))
      #expect(result.additionalUserInfo?.isNewUser == true)
      #expect(try await result.user.getIDTokenResult().claims["sid"] as? String == lost.text("sessionId"))
      #expect(try await stage.sql("SELECT count(*) FROM sessions") == "1")
      #expect(Set(relay.requests.map(\.body)).count == 1)
    }
  }

  @Test func `an app that was ended before the answer came is signed in by its next process`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let relay = try Relay(to: service.port)
      let path = stage.folder + "/session"
      let auth = try Handset(relay.url, store: FileStore(path: path)).app()
      let credential = AuthCredential.of(try Mint.credential())
      relay.loseAnswers(true)
      #expect(await fault { _ = try await auth.signIn(with: credential) }.code == .networkError)
      let lost = try #require(try await relay.lost(1).first).json
      relay.loseAnswers(false)
      let next = try await run(Program.clientApp, [relay.url, path, "resume"])
      #expect(next.status == 0, "\(next.output) \(next.errors)")
      #expect(next.output == (lost.text("localId") ?? "?") + "\n")
      #expect(try await stage.sql("SELECT count(*) FROM sessions") == "1")
      let kept = try FileManager.default.attributesOfItem(atPath: path)
      #expect(kept[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test func `N01 N04 N07 N08 a wrong nonce is named, and which mistake it was`() async throws {
    try await withService { service in
      let auth = try Handset(service.baseURL).app()
      func refused(_ rawNonce: String, _ change: (inout TokenOrder) -> Void) async throws -> String? {
        let credential = Credential(idToken: try Mint.token(change), rawNonce: rawNonce)
        let (code, reason, error) = await fault { _ = try await auth.signIn(with: .of(credential)) }
        #expect(code == .missingOrInvalidNonce)
        #expect(error?.userInfo[AuthErrorUserInfoNameKey] as? String == "ERROR_MISSING_OR_INVALID_NONCE")
        #expect((error?.localizedDescription.count ?? 0) > 20)
        return reason
      }
      let nonce = AppleNonce()
      #expect(try await refused(nonce.sha256) { $0.nonce = nonce.sha256 } == "nonce_is_already_hashed")
      #expect(try await refused(nonce.raw) { $0.nonce = sha256Base64(nonce.raw) } == "nonce_wrong_encoding")
      #expect(try await refused(nonce.raw) { $0.nonce = sha256Hex(nonce.sha256) } == "nonce_double_hashed")
      #expect(try await refused(nonce.raw) { _ in } == "nonce_claim_missing")
      let right = Credential(idToken: try Mint.token { $0.nonce = nonce.sha256 }, rawNonce: nonce.raw)
      _ = try await auth.signIn(with: .of(right))
    }
  }

  @Test func `a client that must bring a nonce of the service's gets one`() async throws {
    try await withService { service in
      let auth = try Handset(service.baseURL).app()
      let nonce = try await auth.fetchNonce()
      let token = try Mint.token { order in
        order.audience = Client.challenge
        order.nonce = nonce.sha256
      }
      _ = try await auth.signIn(with: .of(Credential(idToken: token, rawNonce: nonce.raw)))
    }
  }

  @Test func `a custom token signs in, an Apple identity comes to the account and is taken off again`()
    async throws
  {
    let forge = try CustomTokenForge(.es256)
    try await withService(["BRAMLEY_CUSTOM_TOKEN_KEYS": forge.pem]) { service in
      let auth = try Handset(service.baseURL).app()
      let token = try forge.token("ann-1", claims: #"{"role":"gardener"}"#)
      let result = try await auth.signIn(withCustomToken: token)
      #expect(result.additionalUserInfo?.isNewUser == true)
      let user = result.user
      #expect(user.uid == "ann-1" && !user.isAnonymous && user.providerData.isEmpty)
      #expect(try await user.getIDTokenResult().claims["role"] as? String == "gardener")
      #expect(await fault { _ = try await user.unlink(fromProvider: "apple.com") }.code == .noSuchProvider)
      let subject = Mint.subject()
      try await user.link(with: .of(Mint.credential { $0.subject = subject }))
      #expect(auth.currentUser?.providerData.map(\.uid) == [subject])
      #expect(try await user.unlink(fromProvider: "apple.com").providerData.isEmpty)
      #expect(auth.currentUser?.providerData.isEmpty == true)
      // The identity is free.
      let other = try Handset(service.baseURL).app()
      let second = try await other.signIn(with: .of(Mint.credential { $0.subject = subject }))
      #expect(second.user.uid != "ann-1" && second.additionalUserInfo?.isNewUser == true)
      #expect(await fault { _ = try await auth.signIn(withCustomToken: "x.y.z") }.code == .invalidCustomToken)
      #expect(auth.currentUser?.uid == "ann-1")
    }
  }

  @Test func `signing out ends the session at the service`() async throws {
    try await withService { service in
      let auth = try Handset(service.baseURL).app()
      let user = try await auth.signIn(with: .of(Mint.credential())).user
      let token = try #require(user.refreshToken)
      try auth.signOut()
      #expect(auth.currentUser == nil)
      try await eventually("the session does not end") {
        try await service.tryRefresh(token).reason == "session_ended"
      }
    }
  }

  @Test func `N13 L08 an anonymous account becomes a lasting one, and a conflict signs in to the other`()
    async throws
  {
    try await withService(["BRAMLEY_ANONYMOUS": "true"]) { service in
      let auth = try Handset(service.baseURL).app()
      let guest = try await auth.signInAnonymously().user
      #expect(guest.isAnonymous)
      #expect(try await auth.signInAnonymously().user == guest)
      let subject = Mint.subject()
      let linked = try await guest.link(with: .of(Mint.credential { $0.subject = subject }))
      #expect(linked.user == guest)
      #expect(!guest.isAnonymous && guest.providerData.first?.uid == subject)
      try await guest.reload()
      // On another device somebody began as a guest too.
      let other = try Handset(service.baseURL).app()
      let second = try await other.signInAnonymously().user
      let (code, _, error) = await fault {
        _ = try await second.link(with: .of(Mint.credential { $0.subject = subject }))
      }
      #expect(code == .credentialAlreadyInUse)
      #expect(other.currentUser == second)
      let updated = try #require(error?.userInfo[AuthErrorUserInfoUpdatedCredentialKey] as? AuthCredential)
      #expect(try await other.signIn(with: updated).user.uid == guest.uid)
    }
  }

  @Test func `an account is deleted after another sign-in, as App Review wants it`() async throws {
    let apple = try await MockAppleProgram.start()
    try await withStage(appleURL: apple.baseURL) { stage in
      let settings = Team.settings.merging(["BRAMLEY_RECENT_LOGIN_WINDOW": "5"]) { $1 }
      let service = try await stage.start(settings)
      let store = MemoryStore()
      let auth = try Handset(service.baseURL, store: store).app()
      let subject = Mint.subject()
      let (first, code) = try Mint.credentialWithCode { $0.subject = subject }
      let user = try await auth.signIn(with: .of(first, code: code)).user
      // Whoever else is at the device cannot stand in for the person.
      let stranger = await fault { _ = try await user.reauthenticate(with: .of(Mint.credential())) }
      #expect(stranger.code == .userMismatch)
      #expect(auth.currentUser == user)
      // Until the sign-in is longer ago than five seconds: the service's own clock decides.
      let old = try await stage.start(settings, secondsAhead: 60)
      let late = try Handset(old.baseURL, store: store).app()
      let tooLate = await fault { try await late.currentUser?.delete() }
      #expect(tooLate.code == .requiresRecentLogin, "\(tooLate)")
      _ = try await user.reauthenticate(with: .of(Mint.credential { $0.subject = subject }))
      try await user.delete()
      #expect(auth.currentUser == nil)
      #expect(try await stage.sql("SELECT count(*) FROM accounts") == "0")
      try await apple.waits("Apple is not told") { $0.count("revoke") == 1 }
    }
    try await apple.kill()
  }

  @Test func `consent that the person took back is seen on the device and at the service`() async throws {
    try await withService(["BRAMLEY_REVALIDATE_ENDS_SESSIONS": "false"]) { service in
      let handset = Handset(service.baseURL)
      let auth = try handset.app()
      let subject = Mint.subject()
      let user = try await auth.signIn(with: .of(Mint.credential { $0.subject = subject })).user
      #expect(try await user.credentialState() == .authorized)
      handset.say(.authorized)
      try await service.notify(of: subject)
      #expect(try await user.credentialState() == .revoked)
      await auth.consentWasRevoked()
      #expect(auth.currentUser == user)
      handset.say(.revoked)
      await auth.consentWasRevoked()
      #expect(auth.currentUser == nil)
    }
  }

  @Test func `a person without Apple's sheet signs in by a browser`() async throws {
    let apple = try await MockAppleProgram.start()
    try await withStage(appleURL: apple.baseURL) { stage in
      let service = try await stage.start(WebApp.settings.merging(Team.settings) { $1 })
      let auth = try Handset(service.baseURL).app()
      func finish(_ button: String) async throws -> (WebSignIn, URL) {
        let web = auth.webSignIn(clientID: Client.web, returnURL: WebApp.returnURL)
        let items = URLComponents(url: web.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        var browser = WebBrowser(service)
        let fields = try await browser.begin(
          WebApp(), Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first })
        let posted = try await browser.agree(fields, to: apple, subject: Mint.subject(), button: button)
        let answer = try await browser.come(back: posted)
        return (web, try #require(URL(string: answer.header("Location") ?? "")))
      }
      let (cancelled, cancelURL) = try await finish("cancel")
      #expect(
        await fault { _ = try await auth.signIn(with: cancelled, returnedTo: cancelURL) }.code
          == .webContextCancelled)
      let (web, url) = try await finish("continue")
      #expect(
        await fault { _ = try await auth.signIn(with: cancelled, returnedTo: url) }.code
          == .webSignInUserInteractionFailure)
      let user = try await auth.signIn(with: web, returnedTo: url).user
      #expect(user.displayName == "Ada Lovelace")
      #expect(user.providerData.map(\.providerID) == ["apple.com"])
      _ = try await user.getIDToken(forcingRefresh: true)
      let again = await fault { _ = try await auth.signIn(with: web, returnedTo: url) }
      #expect(again.code == .invalidCredential && again.reason == "code_already_used")
      #expect(auth.currentUser == user)
    }
    try await apple.kill()
  }
}
