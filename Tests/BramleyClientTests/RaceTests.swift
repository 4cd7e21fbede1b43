import Foundation
import TestProcesses
import Testing

@testable import BramleyClient

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What comes late does not undo what was done since.
@Suite(.timeLimit(.minutes(5))) struct RaceTests {
  @Test func `a refresh that is answered after a new sign-in of the same person changes nothing`()
    async throws
  {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.service.state.update {
      $0.afterwards = { _ = try await user.reauthenticate(with: credential()) }
    }
    let token = try await user.getIDToken(forcingRefresh: true)
    #expect(try await user.getIDTokenResult().claims["sid"] as? String == "session2")
    #expect(try await user.getIDToken() == token)
    try await device.service.isTold()
    // The session before has ended by now, and the new one lives.
    try await user.delete()
    #expect(auth.currentUser == nil)
  }

  @Test func `it is so too when another process has signed the person in again`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    let other = device.app()
    device.service.state.update { $0.afterwards = { _ = try await other.signIn(with: credential()) } }
    _ = try await user.getIDToken(forcingRefresh: true)
    try await device.service.isTold()
    for auth in [auth, other, device.app()] {
      let user = try #require(auth.currentUser)
      #expect(try await user.getIDTokenResult(forcingRefresh: true).claims["sid"] as? String == "session2")
    }
  }

  @Test func `a session that is over does not take a new one along`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    let other = device.app()
    device.pass(3700)
    device.service.play(.answer(400, "TOKEN_EXPIRED", reason: "session_revoked"))
    device.service.state.update { $0.afterwards = { _ = try await other.signIn(with: credential()) } }
    _ = try await user.getIDToken()
    #expect(auth.currentUser == user)
    #expect(try await user.getIDTokenResult().claims["sid"] as? String == "session2")
  }

  @Test func `what the service knows of a person does not bring older tokens back`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.service.state.update { $0.afterwards = { _ = try await user.getIDToken(forcingRefresh: true) } }
    try await user.reload()
    #expect(user.refreshToken == "refresh2")
    #expect(device.app().currentUser?.refreshToken == "refresh2")
    #expect(auth.currentUser?.metadata.creationDate == Date(timeIntervalSince1970: 1_780_000_000))
    // And tokens do not undo what is known of the person.
    device.service.state.update { $0.afterwards = { try await user.reload() } }
    _ = try await user.getIDToken(forcingRefresh: true)
    #expect(user.metadata.creationDate == Date(timeIntervalSince1970: 1_780_000_000))
  }

  @Test func `whoever wants a new token waits for whoever wants any, and there is one request at a time`()
    async throws
  {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.pass(3400)
    let forced = Watched<Task<String, any Error>?>(nil)
    device.service.state.update {
      $0.meanwhile = {
        let task = Task { try await user.getIDToken(forcingRefresh: true) }
        forced.update { $0 = task }
        for _ in 0..<100 { await Task.yield() }
        // The request of the one that came first is not answered yet.
        #expect(device.service.count("/v1/token") == 0)
      }
    }
    let token = try await user.getIDToken()
    let other = try await forced.first { $0 }.value
    #expect(other != token)
    #expect(device.service.count("/v1/token") == 2)
  }

  @Test func `a look that began before a sign-out does not bring the person back`() async throws {
    let store = HookedStore()
    let device = Device(store: store)
    let (auth, user) = try await device.signedIn()
    device.pass(2)
    let (hasRead, isSignedOut) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (looking, hasLooked) = (Watched<ObjectIdentifier?>(nil), Watched(false))
    store.afterRead.update {
      $0 = {
        guard looking.read({ $0 }) == ObjectIdentifier(Thread.current) else { return }
        hasRead.signal()
        isSignedOut.wait()
      }
    }
    store.beforeWrite.update {
      $0 = {
        store.beforeWrite.update { $0 = nil }
        Thread.detachNewThread {
          looking.update { $0 = ObjectIdentifier(Thread.current) }
          _ = try? auth.keeper.read()
          hasLooked.update { $0 = true }
        }
        _ = hasRead.wait(timeout: .now() + 10)
      }
    }
    try auth.signOut()
    isSignedOut.signal()
    _ = try await hasLooked.first { $0 ? true : nil }
    #expect(auth.currentUser == nil)
    #expect(await fault { _ = try await user.getIDToken() }.code == .nullUser)
  }

  // MARK: Several processes

  @Test func `a sign-out in another process is seen within a second`() async throws {
    let device = Device()
    let (one, user) = try await device.signedIn()
    try device.app().signOut()
    device.pass(1)
    #expect(await fault { _ = try await user.getIDToken() }.code == .nullUser)
    #expect(one.currentUser == nil)
  }

  @Test func `whoever signs out does not sign out whom another process has signed in since`() async throws {
    let device = Device()
    let (one, _) = try await device.signedIn()
    let other = device.app()
    device.service.state.update { $0.uid = "person2" }
    let second = try await other.signIn(with: credential()).user
    let told = Watched<[String?]>([])
    one.addStateDidChangeListener { _, user in told.update { $0.append(user?.uid) } }
    #expect(try await told.first { $0.isEmpty ? nil : $0 } == ["person1"])
    try one.signOut()
    #expect(one.currentUser?.uid == "person2")
    #expect(try await told.first { $0.count > 1 ? $0 : nil } == ["person1", "person2"])
    _ = try await second.getIDToken(forcingRefresh: true)
    #expect(other.currentUser == second)
  }

  // MARK: Links

  private func guest(_ device: Device) async throws -> (auth: Auth, user: User) {
    let auth = device.app()
    return (auth, try await auth.signInAnonymously().user)
  }

  private func bearers(_ device: Device) -> [String?] {
    device.service.state.read { state in
      state.requests.filter { $0.url?.path == "/v1/signInWithIdp" }
        .map { $0.value(forHTTPHeaderField: "Authorization") }
    }
  }

  @Test func `a link whose answer got lost is repeated with the bearer that it was made with`() async throws {
    let device = Device()
    let (auth, user) = try await guest(device)
    let apple = credential()
    device.service.play(.loseAnswer, .fail(.notConnectedToInternet))
    #expect(await fault { _ = try await user.link(with: apple) }.code == .networkError)
    // By now the token would be renewed, and its session has been ended by the link.
    device.pass(3400)
    #expect(try await user.link(with: apple).user == user)
    #expect(!user.isAnonymous && auth.currentUser == user)
    #expect(Set(bearers(device)).count == 1)
    #expect(device.service.count("/v1/token") == 0)
  }

  @Test func `a refresh beside a link whose answer got lost signs nobody out`() async throws {
    let device = Device()
    let (auth, user) = try await guest(device)
    device.service.play(.loseAnswer, .fail(.notConnectedToInternet))
    #expect(await fault { _ = try await user.link(with: credential()) }.code == .networkError)
    device.pass(3400)
    // The token endpoint says that the session is over; the link is repeated and brings the new one.
    _ = try await user.getIDToken(forcingRefresh: false)
    _ = try await device.service.state.first { $0.requests.count == 5 ? true : nil }
    while user.isAnonymous { await Task.yield() }
    #expect(auth.currentUser == user)
    _ = try await user.getIDToken(forcingRefresh: true)
  }

  @Test func `a link that the service never saw goes with a new token when the first has expired`()
    async throws
  {
    let device = Device()
    let (_, user) = try await guest(device)
    let apple = credential()
    device.service.play(.fail(.notConnectedToInternet))
    #expect(await fault { _ = try await user.link(with: apple) }.code == .networkError)
    device.service.play(.answer(401, "TOKEN_EXPIRED", reason: "session_token_expired"))
    #expect(try await user.link(with: apple).user == user)
    let sent = bearers(device)
    #expect(sent.count == 3 && sent[0] == sent[1] && sent[1] != sent[2])
    // When the session is over, nothing is left of the link either.
    let other = Device()
    let (auth, second) = try await guest(other)
    other.service.play(.fail(.notConnectedToInternet))
    #expect(await fault { _ = try await second.link(with: apple) }.code == .networkError)
    other.service.play(
      .answer(401, "TOKEN_EXPIRED"), .answer(400, "TOKEN_EXPIRED", reason: "session_revoked"))
    #expect(await fault { _ = try await second.link(with: apple) }.code == .userTokenExpired)
    #expect(auth.currentUser == nil)
  }
}
