import BramleyClient
import Foundation
import TestProcesses
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What a person does with the account.
@Suite(.timeLimit(.minutes(5))) struct AccountTests {
  @Test func `reauthenticating as somebody else leaves who is signed in, and ends the other session`()
    async throws
  {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    let token = try await user.getIDToken()
    device.service.state.update { $0.uid = "person2" }
    #expect(await fault { _ = try await user.reauthenticate(with: credential()) }.code == .userMismatch)
    #expect(auth.currentUser == user)
    #expect(try await user.getIDToken() == token)
    #expect(try await auth.resumeSignIn() == nil)
    try await device.service.isTold()
  }

  @Test(arguments: ["EMAIL_NOT_FOUND", "USER_NOT_FOUND"])
  func `reauthenticating as somebody unknown makes no account and signs nobody out`(_ word: String)
    async throws
  {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.service.play(.answer(400, word))
    #expect(await fault { _ = try await user.reauthenticate(with: credential()) }.code == .userMismatch)
    #expect(auth.currentUser == user)
    let body = device.service.state.read { $0.requests.last?.httpBody } ?? Data()
    #expect(String(decoding: body, as: UTF8.self).contains(#""autoCreate":false"#))
  }

  @Test func `an identity is linked once, with the session as bearer`() async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    #expect(await fault { _ = try await user.link(with: credential()) }.code == .providerAlreadyLinked)
    #expect(device.service.count("/v1/signInWithIdp") == 1)
  }

  @Test func `an expired bearer is renewed and the call repeated`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.service.play(.answer(401, "TOKEN_EXPIRED", reason: "session_token_expired"))
    try await user.reload()
    #expect(device.service.paths.suffix(3) == ["/v1/account", "/v1/token", "/v1/account"])
    #expect(auth.currentUser == user)
    #expect(user.metadata.creationDate == Date(timeIntervalSince1970: 1_780_000_000))
  }

  @Test func `a name is changed at the service and shows at once`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    let change = user.createProfileChangeRequest()
    change.displayName = "Ada L."
    try await change.commitChanges()
    #expect(user.displayName == "Ada L.")
    #expect(auth.currentUser?.displayName == "Ada L.")
    #expect(device.app().currentUser?.displayName == "Ada L.")
    let request = try #require(device.service.state.read { $0.requests.last })
    #expect(request.httpMethod == "PATCH")
    #expect(request.httpBody == Data(#"{"displayName":"Ada L."}"#.utf8))
  }

  @Test func `deleting the account signs out, also when the first answer was lost`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.service.play(.loseAnswer, .answer(400, "USER_NOT_FOUND"))
    try await user.delete()
    #expect(auth.currentUser == nil)
    #expect(device.service.state.read { $0.requests.last?.httpMethod } == "DELETE")
  }

  @Test func `a page of somebody else's that says 200 deletes nobody and ends no session`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    let portal = ServiceDouble.Trick.raw(
      TransportAnswer(status: 200, body: Data(#"{"login":"hotel"}"#.utf8)))
    device.service.play(portal)
    #expect(await fault { try await user.delete() }.code == .networkError)
    #expect(auth.currentUser == user)
    device.service.play(portal)
    try auth.signOut()
    // Told once more, when the hotel's network lets it through.
    _ = try await device.service.state.first { state in
      state.requests.count { $0.url?.path == "/v1/signOut" } == 2 ? true : nil
    }
  }

  @Test func `whoever has signed out is not reauthenticated`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    try auth.signOut()
    let (reauthenticating, linking) = (
      await fault { _ = try await user.reauthenticate(with: credential()) }.code,
      await fault { _ = try await user.delete() }.code
    )
    #expect(reauthenticating == .nullUser && linking == .nullUser)
    #expect(auth.currentUser == nil)
    #expect(device.service.count("/v1/signInWithIdp") == 1)
  }

  @Test func `a deletion long after the sign-in asks for another one and changes nothing`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.service.play(.answer(400, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"))
    #expect(await fault { try await user.delete() }.code == .requiresRecentLogin)
    #expect(auth.currentUser == user)
  }

  @Test func `a code has Apple's consent revoked`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    try await auth.revokeToken(withAuthorizationCode: "c0de")
    let body = try #require(device.service.state.read { $0.requests.last?.httpBody })
    let members = try #require(try JSONSerialization.jsonObject(with: body) as? [String: String])
    let token = try await user.getIDToken()
    #expect(members == ["idToken": token, "providerId": "apple.com", "token": "c0de", "tokenType": "CODE"])
    #expect(
      await fault { try await Device().app().revokeToken(withAuthorizationCode: "c") }.code == .nullUser)
  }

  // MARK: Consent

  @Test(arguments: CredentialState.allCases)
  func `what device and service know is joined, and the worse counts`(_ state: CredentialState) async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.clocks.update { $0.consent = state }
    #expect(try await user.credentialState() == state)
    device.service.play(.raw(device.account(state: "transferred")))
    #expect(try await user.credentialState() == (state == .revoked ? .revoked : .transferred))
    device.service.play(.raw(device.account(state: "revoked")))
    #expect(try await user.credentialState() == .revoked)
    // Without the service the device decides.
    device.service.play(.fail(.notConnectedToInternet))
    #expect(try await user.credentialState() == state)
  }

  @Test func `without a device that knows, the service decides, and without both it is an outage`()
    async throws
  {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    #expect(try await user.credentialState() == .authorized)
    device.service.play(.raw(device.account(state: "notFound")))
    #expect(try await user.credentialState() == .notFound)
    device.service.play(.fail(.notConnectedToInternet))
    #expect(await fault { _ = try await user.credentialState() }.code == .networkError)
    #expect(auth.currentUser == user)
  }

  @Test(arguments: [
    (CredentialState.authorized, nil, false), (.notFound, nil, false), (.revoked, nil, true),
    // A device that fails has said nothing, and the service is asked.
    (nil, "authorized", false), (nil, "revoked", true), (nil, nil, false),
  ])
  func `Apple's notification signs out when the device, or else the service, says that the consent is gone`(
    _ state: CredentialState?, _ told: String?, _ signsOut: Bool
  ) async throws {
    let device = Device()
    let (auth, _) = try await device.signedIn()
    device.clocks.update { $0.consent = state }
    device.service.play(told.map { .raw(device.account(state: $0)) } ?? .fail(.notConnectedToInternet))
    await auth.consentWasRevoked()
    #expect((auth.currentUser == nil) == signsOut)
  }

  @Test(arguments: [
    (CredentialState.authorized, false), (.notFound, false), (.transferred, false), (.revoked, true),
    (nil, false),
  ])
  func `a consent that was taken back while the app did not run signs out at its start`(
    _ state: CredentialState?, _ signsOut: Bool
  ) async throws {
    let device = Device()
    _ = try await device.signedIn()
    device.clocks.update { $0.consent = state }
    let asked = device.service.paths.count
    let auth = device.app()
    await auth.start()
    #expect((auth.currentUser == nil) == signsOut)
    // The service is asked for nothing.
    #expect(device.service.paths.dropFirst(asked).allSatisfy { $0 == "/v1/signOut" })
  }

  @Test func `Apple's notification is none of a guest's, who has given no consent`() async throws {
    let device = Device()
    let auth = device.app()
    let guest = try await auth.signInAnonymously().user
    device.clocks.update { $0.consent = .revoked }
    await auth.consentWasRevoked()
    #expect(auth.currentUser == guest)
    #expect(device.service.paths == ["/v1/accounts:signUp"])
  }
}

extension Device {
  /// The answer about the account with another state of the consent.
  fileprivate func account(state: String) -> TransportAnswer {
    TransportAnswer(
      status: 200,
      body: Data(
        #"{"localId":"person1","createdAt":1,"disabled":false,"anonymous":false,"credentialState":"\#(state)","identities":[]}"#
          .utf8))
  }
}
