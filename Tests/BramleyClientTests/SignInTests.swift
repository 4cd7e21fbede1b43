import BramleyClient
import Foundation
import TestProcesses
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Signing in, over networks that lose answers, in apps that are ended in the middle.
@Suite(.timeLimit(.minutes(5))) struct SignInTests {
  private func bodies(_ device: Device) -> [Data?] {
    device.service.state.read { $0.requests.filter { $0.url?.path == "/v1/signInWithIdp" }.map(\.httpBody) }
  }

  @Test func `a sign-in brings the person as code for Firebase reads it`() async throws {
    let device = Device()
    let auth = device.app()
    #expect(auth.currentUser == nil)
    let result = try await auth.signIn(with: credential(7))
    #expect(result.additionalUserInfo?.isNewUser == true)
    #expect(result.additionalUserInfo?.profile?["sub"] as? String == "001.a.1")
    #expect(result.credential?.idToken == "apple7")
    let user = result.user
    #expect(auth.currentUser == user)
    #expect((user.uid, user.email, user.displayName) == ("person1", "ada@example.com", "Ada"))
    #expect(user.isEmailVerified && !user.isAnonymous)
    #expect(user.providerData.map(\.providerID) == ["apple.com"])
    #expect(user.providerData.first?.uid == "001.a.1")
    #expect(user.metadata.creationDate == user.metadata.lastSignInDate)
    let token = try await user.getIDTokenResult()
    #expect(token.claims["role"] as? String == "gardener")
    #expect(token.expirationDate.timeIntervalSince(token.issuedAtDate) == 3600)
    let body = try #require(bodies(device).first ?? nil)
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"fullName":{"givenName":"Ada"},"idToken":"apple7","providerId":"apple.com","rawNonce":"raw7"}"#)
  }

  @Test func `a lost answer is asked for again with the same bytes, and it is the same session`() async throws
  {
    let device = Device()
    device.service.play(.loseAnswer, .answer(503, "UNAVAILABLE", headers: ["retry-after": "2"]))
    let result = try await device.app().signIn(with: credential())
    #expect(result.additionalUserInfo?.isNewUser == true)
    #expect(bodies(device).count == 3)
    #expect(Set(bodies(device)).count == 1)
    #expect(device.service.state.read(\.sessions) == 1)
    #expect(device.clocks.read(\.slept) == [0.5625, 2.25])
  }

  @Test func `after an outage the app calls again with the same credential and gets the same session`()
    async throws
  {
    let device = Device()
    let (auth, apple) = (device.app(), credential())
    device.service.play(.loseAnswer, .fail(.timedOut), .fail(.timedOut))
    #expect(await fault { _ = try await auth.signIn(with: apple) }.code == .networkError)
    #expect(auth.currentUser == nil)
    _ = try await auth.signIn(with: apple)
    #expect(Set(bodies(device)).count == 1)
    #expect(device.service.state.read(\.sessions) == 1)
  }

  @Test func `an app that was ended before the answer came is signed in when it starts again`() async throws {
    let device = Device()
    device.service.play(.loseAnswer, .fail(.notConnectedToInternet))
    #expect(await fault { _ = try await device.app().signIn(with: credential()) }.code == .networkError)
    let next = device.app()
    #expect(next.currentUser == nil)
    let resumed = try #require(try await next.resumeSignIn())
    #expect(resumed.additionalUserInfo?.isNewUser == true)
    #expect(next.currentUser == resumed.user)
    #expect(device.service.state.read(\.sessions) == 1)
    #expect(Set(bodies(device)).count == 1)
    #expect(try await next.resumeSignIn() == nil)
  }

  @Test func `a start finishes a sign-in for nobody who is signed in already, unless the app asks`()
    async throws
  {
    let device = Device()
    let (auth, _) = try await device.signedIn()
    device.service.state.update { $0.uid = "person2" }
    device.service.play(.fail(.notConnectedToInternet))
    #expect(await fault { _ = try await auth.signIn(with: credential()) }.code == .networkError)
    let next = device.app()
    await next.start()
    #expect(next.currentUser?.uid == "person1")
    #expect(bodies(device).count == 2)
    #expect(try await next.resumeSignIn()?.user.uid == "person2")
  }

  @Test func `a start finishes a sign-in when nobody is signed in`() async throws {
    let device = Device()
    device.service.play(.loseAnswer, .fail(.notConnectedToInternet))
    #expect(await fault { _ = try await device.app().signIn(with: credential()) }.code == .networkError)
    let next = device.app()
    await next.start()
    #expect(next.currentUser?.uid == "person1")
    #expect(device.service.state.read(\.sessions) == 1)
  }

  @Test func `what is older than any token of Apple's is not sent again`() async throws {
    let device = Device()
    device.service.play(.fail(.notConnectedToInternet))
    #expect(await fault { _ = try await device.app().signIn(with: credential()) }.code == .networkError)
    device.pass(3601)
    #expect(try await device.app().resumeSignIn() == nil)
    #expect(bodies(device).count == 1)
  }

  @Test func `a refusal is final: it is told once and nothing is sent again`() async throws {
    let device = Device()
    let auth = device.app()
    device.service.play(.answer(400, "MISSING_OR_INVALID_NONCE", reason: "nonce_is_already_hashed"))
    let (code, details) = await fault { _ = try await auth.signIn(with: credential()) }
    #expect(code == .missingOrInvalidNonce)
    #expect(details[AuthErrorUserInfoNameKey] as? String == "ERROR_MISSING_OR_INVALID_NONCE")
    #expect(details[AuthErrorUserInfoReasonKey] as? String == "nonce_is_already_hashed")
    #expect(details[AuthErrorUserInfoRequestIDKey] as? String == "r1")
    #expect(details[NSLocalizedDescriptionKey] as? String == "A sentence.")
    #expect(try await auth.resumeSignIn() == nil)
    #expect(bodies(device).count == 1)
  }

  @Test func `the same credential twice at once is one request`() async throws {
    let device = Device()
    let (auth, apple) = (device.app(), credential())
    async let first = auth.signIn(with: apple)
    async let second = auth.signIn(with: apple)
    let (one, other) = try await (first, second)
    #expect(one.user == other.user)
    #expect(bodies(device).count == 1)
  }

  @Test func `N14 of two sign-ins at once the later counts, and the session of the other is ended`()
    async throws
  {
    let device = Device()
    let (auth, early, late) = (device.app(), credential(), credential())
    // The second begins and ends while the first is on its way.
    device.service.state.update { $0.meanwhile = { _ = try await auth.signIn(with: late) } }
    #expect(await fault { _ = try await auth.signIn(with: early) }.code == .signInSuperseded)
    #expect(auth.currentUser?.refreshToken == "refresh1")
    try await device.service.isTold()
    let told = device.service.state.read { $0.requests.last?.httpBody }
    #expect(told == Data(#"{"refreshToken":"refresh2"}"#.utf8))
    #expect(try await auth.resumeSignIn() == nil)
  }

  @Test func `whoever signs out while a sign-in is on its way stays signed out`() async throws {
    let device = Device()
    let auth = device.app()
    device.service.state.update { $0.meanwhile = { try auth.signOut() } }
    #expect(await fault { _ = try await auth.signIn(with: credential()) }.code == .signInSuperseded)
    #expect(auth.currentUser == nil)
    try await device.service.isTold()
  }

  @Test func `whoever signs out while an anonymous sign-in is on its way stays signed out`() async throws {
    let device = Device()
    let auth = device.app()
    device.service.state.update { $0.meanwhile = { try auth.signOut() } }
    #expect(await fault { _ = try await auth.signInAnonymously() }.code == .signInSuperseded)
    #expect(auth.currentUser == nil)
    try await device.service.isTold()
    // And of two sign-ins the later counts, whatever they are.
    device.service.state.update { $0.meanwhile = { _ = try await auth.signIn(with: credential()) } }
    #expect(await fault { _ = try await auth.signInAnonymously() }.code == .signInSuperseded)
    #expect(auth.currentUser?.isAnonymous == false)
    // Another process of the app that starts at the same time does not get in the way.
    let guest = device.app()
    try guest.signOut()
    device.service.state.update { $0.meanwhile = { await device.app().start() } }
    #expect(try await guest.signInAnonymously().user.isAnonymous)
  }

  @Test func `whoever signs in again has the session before ended at the service`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    let token = try #require(user.refreshToken)
    let again = try await auth.signIn(with: credential())
    #expect(again.user == user)
    let request = try await device.service.state.first { state in
      state.requests.first { $0.url?.path == "/v1/signOut" }
    }
    #expect(request.httpBody == Data(#"{"refreshToken":"\#(token)"}"#.utf8))
    #expect(again.user.refreshToken != token)
  }

  @Test func `signing out works without a network, and the service is told when there is one`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    let token = try #require(user.refreshToken)
    device.service.play(.fail(.notConnectedToInternet))
    try auth.signOut()
    #expect(auth.currentUser == nil)
    #expect(device.app().currentUser == nil)
    #expect(await fault { _ = try await user.getIDToken() }.code == .nullUser)
    #expect(await fault { _ = try await user.getIDToken(forcingRefresh: true) }.code == .nullUser)
    _ = try await device.service.state.first { $0.tricks.isEmpty ? true : nil }
    let told = try await device.service.state.first { state -> [URLRequest]? in
      let told = state.requests.filter { $0.url?.path == "/v1/signOut" }
      return told.count > 1 ? told : nil
    }
    #expect(Set(told.map(\.httpBody)) == [Data(#"{"refreshToken":"\#(token)"}"#.utf8)])
  }

  @Test(arguments: [(403, "PERMISSION_DENIED", 2), (400, "USER_DISABLED", 2), (400, "TOKEN_EXPIRED", 1)])
  func `a sign-out that the service refuses is told again, unless the session is over`(
    _ status: Int, _ word: String, _ count: Int
  ) async throws {
    let device = Device()
    let (auth, _) = try await device.signedIn()
    device.service.play(.answer(status, word))
    try auth.signOut()
    try await device.service.isTold()
    // Nothing is left to be told.
    while count == 1, try device.store.read() != nil { await Task.yield() }
    await device.app().start()
    #expect(device.service.count("/v1/signOut") == count)
  }

  @Test(arguments: [
    "\(AppleNonce(raw: "secret"))", "\([AppleNonce(raw: "secret")])", dumped(AppleNonce(raw: "secret")),
  ])
  func `a nonce that is printed shows what Apple gets`(_ text: String) {
    #expect(!text.contains("secret"))
    #expect(text.contains("2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"))
  }

  @Test func `a browser's sign-in that is printed shows nothing that is worth anything`() throws {
    let web = Device().app().webSignIn(clientID: "a", returnURL: "b:/c")
    let items = URLComponents(url: web.url, resolvingAgainstBaseURL: false)?.queryItems
    let state = try #require(items?.first { $0.name == "state" }?.value)
    for text in ["\(web)", "\([web])", dumped(web)] {
      #expect(!text.contains(state) && !text.contains("verifier"))
      #expect(text.contains("b:/c"))
    }
  }

  @Test(arguments: [nil, ""])
  func `N17 without a raw nonce nothing is sent`(_ nonce: String?) async throws {
    let device = Device()
    let apple = OAuthProvider.appleCredential(withIDToken: "a", rawNonce: nonce, fullName: nil)
    let (code, details) = await fault { _ = try await device.app().signIn(with: apple) }
    #expect(code == .missingOrInvalidNonce)
    #expect(details[AuthErrorUserInfoReasonKey] as? String == "nonce_missing")
    #expect(bodies(device).isEmpty)
  }

  @Test func `another provider is refused on the device`() async throws {
    let device = Device()
    let other = OAuthProvider.credential(withProviderID: "google.com", idToken: "a", rawNonce: "b")
    #expect(await fault { _ = try await device.app().signIn(with: other) }.code == .invalidProviderID)
    let apple = OAuthProvider.credential(providerID: .apple, idToken: "a", rawNonce: "b")
    _ = try await device.app().signIn(with: apple)
    #expect(bodies(device).count == 1)
  }

  @Test(arguments: [
    ("https://auth.example.com", "/"), ("https://auth.example.com/", "/"),
    ("https://example.com/auth", "/auth/"), ("https://example.com/auth/", "/auth/"),
    ("http://127.0.0.1:8080", "/"), ("http://localhost:8080/", "/"),
  ])
  func `the service may be anywhere that nobody reads along`(_ text: String, _ root: String) async throws {
    let device = Device()
    let auth = Auth(
      url: try #require(URL(string: text)), apiKey: "a key", store: device.store, transport: device.service,
      world: .system)
    _ = try? await auth.fetchNonce()
    let request = try #require(device.service.state.read { $0.requests.first })
    #expect(request.url?.path == root + "v1/nonces")
    #expect(request.value(forHTTPHeaderField: "X-API-Key") == "a key")
    let web = auth.webSignIn(clientID: "a", returnURL: "b:/c")
    #expect(web.url.path == root + "v1/apple/authorize")
  }

  @Test func `a nonce of the service's is there for clients that need one`() async throws {
    #expect(try await Device().app().fetchNonce().raw == "bwn1.challenge")
  }
}

private func dumped(_ value: some Any) -> String {
  var text = ""
  dump(value, to: &text)
  return text
}
