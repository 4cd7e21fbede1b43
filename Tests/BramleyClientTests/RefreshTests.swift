import BramleyClient
import Foundation
import Testing

/// When the kit asks for tokens, how often, and what of all that can go wrong signs anybody out.
@Suite(.timeLimit(.minutes(5))) struct RefreshTests {
  @Test func `a hundred tasks that want a token at its end make one refresh`() async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    let first = try await user.getIDToken()
    device.pass(3400)
    let tokens = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<100 { group.addTask { try await user.getIDToken() } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(tokens.count == 1)
    #expect(!tokens.contains(first))
    #expect(device.service.count("/v1/token") == 1)
  }

  @Test(arguments: [(3299.0, 0), (3301.0, 1)])
  func `a token is renewed five minutes early, and not before`(_ seconds: Double, _ count: Int) async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.pass(seconds)
    _ = try await user.getIDToken()
    #expect(device.service.count("/v1/token") == count)
  }

  @Test func `forcing asks although the token is good, and a hundred who force at once ask once`()
    async throws
  {
    let device = Device()
    let (_, user) = try await device.signedIn()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { _ = try await user.getIDToken(forcingRefresh: true) } }
      try await group.waitForAll()
    }
    #expect(device.service.count("/v1/token") == 1)
    _ = try await user.getIDToken(forcingRefresh: true)
    #expect(device.service.count("/v1/token") == 2)
  }

  @Test func `in an outage a token that is still good is given, and without one nobody is signed out`()
    async throws
  {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    let first = try await user.getIDToken()
    device.pass(3400)
    device.service.play(.fail(.notConnectedToInternet))
    #expect(try await user.getIDToken() == first)
    device.pass(300)
    device.service.play(.fail(.notConnectedToInternet))
    #expect(await fault { _ = try await user.getIDToken() }.code == .networkError)
    #expect(auth.currentUser == user)
    // Nobody waits for a network that the device knows is not there.
    #expect(device.clocks.read(\.slept) == [])
    #expect(try await user.getIDToken() != first)
  }

  static let outages: [ServiceDouble.Trick] = [
    .answer(503, "UNAVAILABLE", reason: "storage_unavailable", headers: ["retry-after": "1"]),
    .answer(429, "TOO_MANY_ATTEMPTS_TRY_LATER", headers: ["retry-after": "1"]), .answer(500, "INTERNAL"),
    .answer(408, "INVALID_ARGUMENT", reason: "request_timeout"), .fail(.timedOut),
    .fail(.cannotConnectToHost),
    .fail(.cannotFindHost), .fail(.secureConnectionFailed),
    // A hotel's page, a proxy's, and one that says 400 or 401 without being the service.
    .raw(TransportAnswer(status: 200, body: Data("<html>Welcome".utf8))),
    .raw(TransportAnswer(status: 200, body: Data(#"{"ok":true}"#.utf8))),
    .raw(TransportAnswer(status: 302, headers: ["location": "http://portal.example/"], body: Data())),
    .raw(TransportAnswer(status: 400, body: Data("Bad Request".utf8))),
    .raw(TransportAnswer(status: 401, body: Data())),
    .raw(TransportAnswer(status: 404, body: Data("{}".utf8))),
    .raw(TransportAnswer(status: 502, body: Data("<html>".utf8))),
    // No word that ends a session.
    .answer(400, "INVALID_GRANT_TYPE"), .answer(400, "MISSING_REFRESH_TOKEN"),
    .answer(403, "PERMISSION_DENIED"), .answer(404, "INVALID_ARGUMENT"),
    .answer(400, "A_WORD_FROM_THE_FUTURE"),
  ]

  @Test(arguments: outages.indices)
  func `R13 nothing that may pass signs anybody out`(_ index: Int) async throws {
    let trick = Self.outages[index]
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.pass(4000)
    device.service.play(trick, trick, trick)
    let code = await fault { _ = try await user.getIDToken() }.code
    #expect(code != .userTokenExpired && code != .nullUser)
    #expect(auth.currentUser == user)
    #expect(device.app().currentUser?.uid == "person1")
    device.service.state.update { $0.tricks = [] }
    device.pass(1000)
    _ = try await user.getIDToken()
  }

  @Test(arguments: [
    ("TOKEN_EXPIRED", AuthErrorCode.userTokenExpired), ("USER_DISABLED", .userDisabled),
    ("USER_NOT_FOUND", .userNotFound), ("INVALID_REFRESH_TOKEN", .userTokenExpired),
  ])
  func `the words of the token endpoint that mean it sign out, here and after a restart`(
    _ word: String, _ code: AuthErrorCode
  ) async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.pass(4000)
    device.service.play(.answer(400, word, reason: "session_revoked"))
    let (seen, details) = await fault { _ = try await user.getIDToken() }
    #expect(seen == code)
    #expect(details[AuthErrorUserInfoReasonKey] as? String == "session_revoked")
    #expect(auth.currentUser == nil)
    #expect(device.app().currentUser == nil)
    #expect(device.service.count("/v1/token") == 1)
  }

  @Test func `R13 what the service asks for is kept to, and a little longer`() async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.pass(4000)
    let busy = ServiceDouble.Trick.answer(429, "TOO_MANY_ATTEMPTS_TRY_LATER", headers: ["retry-after": "4"])
    device.service.play(busy, busy, busy)
    let (code, details) = await fault { _ = try await user.getIDToken() }
    #expect(code == .tooManyRequests)
    #expect(details[AuthErrorUserInfoRetryAfterKey] as? Double == 4)
    // Four seconds, and half of the quarter that chance may add.
    #expect(device.clocks.read(\.slept) == [4.5, 4.5])
    // From now on the service is left alone, however often the app asks.
    for _ in 0..<10 { #expect(await fault { _ = try await user.getIDToken() }.code == .tooManyRequests) }
    #expect(device.service.count("/v1/token") == 3)
    device.pass(5)
    _ = try await user.getIDToken()
    #expect(device.service.count("/v1/token") == 4)
  }

  @Test func `a wait that is longer than anybody's patience is told and not waited for`() async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.pass(4000)
    device.service.play(.answer(503, "UNAVAILABLE", headers: ["retry-after": "86400"]))
    #expect(await fault { _ = try await user.getIDToken() }.code == .networkError)
    #expect(device.clocks.read(\.slept) == [])
    // No server can keep the app away for longer than an hour and a quarter.
    device.pass(4501)
    _ = try await user.getIDToken()
  }

  @Test func `R02 a refresh whose answer got lost goes on with the same session`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.pass(4000)
    device.service.play(.loseAnswer)
    _ = try await user.getIDToken()
    #expect(auth.currentUser == user)
    #expect(device.service.count("/v1/token") == 2)
    _ = try await user.getIDToken(forcingRefresh: true)
  }

  @Test(arguments: [-400_000_000.0, -86_400, -3600, 3600, 86_400, 400_000_000])
  func `it does not matter what the device's clock shows`(_ shift: TimeInterval) async throws {
    let device = Device()
    device.clocks.update { $0.wall += shift }
    let (_, user) = try await device.signedIn()
    device.pass(3200)
    _ = try await user.getIDToken()
    _ = try await device.app().currentUser?.getIDToken()
    #expect(device.service.count("/v1/token") == 0)
    device.pass(200)
    _ = try await user.getIDToken()
    #expect(device.service.count("/v1/token") == 1)
    #expect(try await user.getIDTokenResult().signInProvider == "apple.com")
  }

  @Test(arguments: [-7200.0, -1800, 7200])
  func `a clock that is set while the app runs changes nothing`(_ shift: TimeInterval) async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.clocks.update { $0.wall += shift }
    _ = try await user.getIDToken()
    #expect(device.service.count("/v1/token") == 0)
    device.pass(3400)
    _ = try await user.getIDToken()
    #expect(device.service.count("/v1/token") == 1)
  }

  @Test func `after a restart with a clock that was set back the token is not believed`() async throws {
    let device = Device()
    _ = try await device.signedIn()
    device.clocks.update { $0.wall -= 7200 }
    _ = try await device.app().currentUser?.getIDToken()
    #expect(device.service.count("/v1/token") == 1)
  }

  @Test(arguments: [true, false])
  func `a token that was made a while before its answer is not thought younger than it is`(_ sendsDate: Bool)
    async throws
  {
    let device = Device()
    device.service.state.update { $0.sendsDate = sendsDate }
    let auth = device.app()
    let apple = credential()
    // Answered an hour less four minutes ago; the same answer comes again, with the date of now or without one.
    device.service.play(.loseAnswer, .fail(.notConnectedToInternet))
    #expect(await fault { _ = try await auth.signIn(with: apple) }.code == .networkError)
    device.pass(3360)
    device.service.state.update { state in
      let time = state.time
      state.used = state.used.mapValues { answer in
        guard sendsDate else { return answer }
        return TransportAnswer(
          status: answer.status, headers: ["date": httpDate(time)],
          body: answer.body)
      }
    }
    let user = try await auth.signIn(with: apple).user
    _ = try await user.getIDToken()
    #expect(device.service.count("/v1/token") == (sendsDate ? 1 : 0))
  }
}
