import BramleyClient
import Foundation
import TestProcesses
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// How the kit behaves towards a service that does not answer, or asks to be left alone.
@Suite(.timeLimit(.minutes(5))) struct OutageTests {
  @Test func `whoever has a good token pays little for an outage, and once`() async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    let first = try await user.getIDToken()
    device.pass(3400)
    device.service.play(.fail(.timedOut))
    for _ in 0..<5 { #expect(try await user.getIDToken() == first) }
    #expect(device.service.count("/v1/token") == 1)
    let request = device.service.state.read { $0.requests.last }
    #expect(request?.timeoutInterval == 10)
    #expect(device.clocks.read(\.slept) == [])
    // Half a minute, and half of the quarter that chance may add.
    device.pass(33)
    #expect(try await user.getIDToken() == first)
    device.pass(1)
    #expect(try await user.getIDToken() != first)
    #expect(device.service.count("/v1/token") == 2)
  }

  @Test func `whoever has none asks again at once, and is not put off by an outage before`() async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.pass(3400)
    device.service.play(.fail(.timedOut))
    let first = try await user.getIDToken()
    #expect(try await user.getIDToken(forcingRefresh: true) != first)
  }

  @Test func `a network that swallows everything is asked once more only while that takes little time`()
    async throws
  {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.pass(4000)
    device.service.state.update { $0.meanwhile = { device.pass(20) } }
    device.service.play(.fail(.timedOut))
    #expect(await fault { _ = try await user.getIDToken() }.code == .networkError)
    #expect(device.service.count("/v1/token") == 1)
  }

  @Test func `a connection that broke off while the app was suspended is no reason to give up`() async throws
  {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.pass(4000)
    device.service.state.update { $0.meanwhile = { device.pass(600) } }
    device.service.play(.fail(.networkConnectionLost))
    _ = try await user.getIDToken()
    #expect(device.service.count("/v1/token") == 2)
    // Once: whoever is suspended between all tries has the next one when somebody asks.
    device.pass(4000)
    device.service.state.update { $0.afterwards = { device.pass(600) } }
    device.service.play(.fail(.networkConnectionLost), .fail(.networkConnectionLost))
    #expect(await fault { _ = try await user.getIDToken() }.code == .networkError)
    #expect(device.service.count("/v1/token") == 4)
  }

  @Test func `what would be done twice is not sent again when there was no answer, but when there was a no`()
    async throws
  {
    let device = Device()
    let auth = device.app()
    device.service.play(.loseAnswer)
    #expect(await fault { _ = try await auth.signInAnonymously() }.code == .networkError)
    #expect(device.service.count("/v1/accounts:signUp") == 1)
    device.service.play(.answer(503, "UNAVAILABLE", headers: ["retry-after": "1"]))
    #expect(try await auth.signInAnonymously().user.isAnonymous)
    #expect(device.service.count("/v1/accounts:signUp") == 3)
  }

  @Test func `what the app itself does not allow is said, and not tried again`() async throws {
    let device = Device()
    device.service.play(.fail(.appTransportSecurityRequiresSecureConnection))
    let auth = device.app()
    let (code, details) = await fault { _ = try await auth.signIn(with: credential()) }
    #expect(code == .networkError)
    #expect((details[NSLocalizedDescriptionKey] as? String)?.contains("NSAppTransportSecurity") == true)
    #expect(device.service.count("/v1/signInWithIdp") == 1)
  }

  @Test func `what the service asks for goes for every call of the kind`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    let busy = ServiceDouble.Trick.answer(429, "TOO_MANY_ATTEMPTS_TRY_LATER", headers: ["retry-after": "60"])
    device.service.play(busy, busy)
    for _ in 0..<3 { #expect(await fault { try await user.reload() }.code == .tooManyRequests) }
    for _ in 0..<3 {
      let (code, details) = await fault { _ = try await auth.signIn(with: credential()) }
      #expect(code == .tooManyRequests)
      #expect(details[AuthErrorUserInfoRetryAfterKey] as? Double == 60)
    }
    #expect(device.service.paths == ["/v1/signInWithIdp", "/v1/account", "/v1/signInWithIdp"])
    // Another kind of call has another measure.
    _ = try await user.getIDToken(forcingRefresh: true)
    device.pass(68)
    try await user.reload()
    _ = try await auth.signIn(with: credential())
  }

  @Test func `a browser's sign-in does not wait for what the service asks of refreshes`() async throws {
    let device = Device()
    let (auth, user) = try await device.signedIn()
    device.service.play(.answer(429, "TOO_MANY_ATTEMPTS_TRY_LATER", headers: ["retry-after": "60"]))
    for _ in 0..<2 {
      #expect(await fault { _ = try await user.getIDToken(forcingRefresh: true) }.code == .tooManyRequests)
    }
    let web = auth.webSignIn(clientID: "a", returnURL: "b:/c")
    let query = try #require(URLComponents(url: web.url, resolvingAgainstBaseURL: false)?.queryItems)
    let state = try #require(query.first { $0.name == "state" }?.value)
    let url = try #require(URL(string: "b:/c?code=x&state=\(state)"))
    device.service.play(.answer(400, "INVALID_CODE"))
    #expect(
      await fault { _ = try await auth.signIn(with: web, returnedTo: url) }.code == .invalidCredential)
    #expect(device.service.count("/v1/token") == 2)
  }

  @Test(arguments: [true, false])
  func `a time of day in Retry-After is one by the service's clock`(_ sendsDate: Bool) async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    let time = device.service.state.read(\.time)
    if sendsDate { device.clocks.update { $0.wall += 86_400 } }
    var headers = ["retry-after": httpDate(time + 120)]
    if sendsDate { headers["date"] = httpDate(time) }
    device.service.play(.answer(503, "UNAVAILABLE", headers: headers))
    let (_, details) = await fault { try await user.reload() }
    #expect(details[AuthErrorUserInfoRetryAfterKey] as? Double == 120)
    #expect(await fault { try await user.reload() }.code == .networkError)
    device.pass(136)
    try await user.reload()
    #expect(device.service.count("/v1/account") == 2)
  }

  @Test func `a fault without a wish is no reason to keep anybody waiting`() async throws {
    let device = Device()
    let (_, user) = try await device.signedIn()
    device.service.play(.answer(500, "INTERNAL"), .answer(500, "INTERNAL"), .answer(500, "INTERNAL"))
    #expect(await fault { try await user.reload() }.code == .internalError)
    try await user.reload()
  }
}
