import BramleyClient
import Foundation
import TestProcesses
import Testing
import Wire

/// The app's kit and the running service: tokens, over a whole life of outages.
@Suite(.timeLimit(.minutes(10)))
struct ClientRefreshTests {
  private func refreshes(_ service: Service) async throws -> Int {
    let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
    let line = text.split(separator: "\n").first {
      $0.hasPrefix(#"bramley_refreshes_total{outcome="refreshed"}"#)
    }
    return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
  }

  @Test func `a hundred tasks that ask for a token at its end make one refresh`() async throws {
    try await withService { service in
      let handset = Handset(service.baseURL)
      let user = try await handset.app().signIn(with: .of(Mint.credential())).user
      let first = try await user.getIDToken()
      #expect(try await refreshes(service) == 0)
      handset.pass(3400)
      let tokens = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<100 { group.addTask { try await user.getIDToken() } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(tokens.count == 1 && !tokens.contains(first))
      #expect(try await refreshes(service) == 1)
      _ = try await service.read(tokens.first ?? "")
    }
  }

  @Test func `R02 a refresh whose answer gets lost goes on with the same session`() async throws {
    try await withService { service in
      let relay = try Relay(to: service.port)
      let handset = Handset(relay.url)
      let auth = try handset.app()
      let user = try await auth.signIn(with: .of(Mint.credential())).user
      relay.loseAnswers(true)
      handset.pass(3400)
      // Still good for some minutes, and so it is given.
      let old = try await user.getIDToken()
      // It is asked for once, and the next that needs one asks three times.
      #expect(await fault { _ = try await user.getIDToken(forcingRefresh: true) }.code == .networkError)
      let lost = try await relay.lost(4).compactMap { try $0.json.text("refresh_token") }
      #expect(Set(lost).count == 1)
      relay.loseAnswers(false)
      let new = try await user.getIDToken(forcingRefresh: true)
      #expect(new != old)
      #expect(user.refreshToken == lost.first)
      #expect(auth.currentUser == user)
    }
  }

  @Test func `an offline start keeps the person signed in`() async throws {
    try await withStage { stage in
      let settings = ["BRAMLEY_PUBLIC_URL": "https://auth.example.com"]
      let service = try await stage.start(settings)
      let handset = Handset(service.baseURL, store: FileStore(path: stage.folder + "/session"))
      let uid = try await handset.app().signIn(with: .of(Mint.credential(), name: "Ada")).user.uid
      try await service.stop()
      let auth = try handset.app()
      #expect(auth.currentUser?.uid == uid)
      #expect(auth.currentUser?.displayName == "Ada")
      _ = try await auth.currentUser?.getIDToken()
      handset.pass(7200)
      #expect(await fault { _ = try await auth.currentUser?.getIDToken() }.code == .networkError)
      #expect(auth.currentUser?.uid == uid)
      let next = try await stage.start(
        settings.merging(["BRAMLEY_LISTEN": "127.0.0.1:\(service.port)"]) { $1 })
      let token = try #require(try await auth.currentUser?.getIDToken())
      _ = try await next.read(token)
    }
  }

  @Test func `two processes with one store stay signed in through a hundred refreshes`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let path = stage.folder + "/session"
      let handset = Handset(service.baseURL, store: FileStore(path: path))
      let auth = try handset.app()
      let user = try await auth.signIn(with: .of(Mint.credential())).user
      async let one = run(Program.clientApp, [service.baseURL, path, "refresh", "50"])
      async let other = run(Program.clientApp, [service.baseURL, path, "refresh", "50"])
      for process in try await [one, other] {
        #expect(process.status == 0, "\(process.output) \(process.errors)")
        #expect(process.output == user.uid + "\n")
      }
      #expect(try await refreshes(service) == 100)
      // And this one, which has known nothing of it all.
      _ = try await user.getIDToken(forcingRefresh: true)
      #expect(auth.currentUser == user)
      #expect(try await stage.sql("SELECT count(*) FROM sessions WHERE ended_at IS NULL") == "1")
    }
  }

  @Test func `a session that an operator ended, and a disabled account, sign out at the next refresh`()
    async throws
  {
    try await withOperator { service, visitor in
      let auth = try Handset(service.baseURL).app()
      let credential = { try Mint.credential { $0.subject = "001234.operator.0001" } }
      let user = try await auth.signIn(with: .of(credential())).user
      try await visitor.done("DELETE", "/users/\(user.uid)/sessions")
      let revoked = await fault { _ = try await user.getIDToken(forcingRefresh: true) }
      #expect(revoked.code == .userTokenExpired && revoked.reason == "session_revoked", "\(revoked)")
      #expect(auth.currentUser == nil)
      let again = try await auth.signIn(with: .of(credential())).user
      try await visitor.done("PATCH", "/users/\(user.uid)", #"{"disabled":true}"#)
      #expect(await fault { _ = try await again.getIDToken(forcingRefresh: true) }.code == .userDisabled)
      #expect(auth.currentUser == nil)
    }
  }

  @Test func `R13 a service that says too many is left alone, and nobody is signed out`() async throws {
    try await withService(["BRAMLEY_RATE_REFRESH": "2/m"]) { service in
      let relay = try Relay(to: service.port)
      let auth = try Handset(relay.url).app()
      let user = try await auth.signIn(with: .of(Mint.credential())).user
      for _ in 0..<2 { _ = try await user.getIDToken(forcingRefresh: true) }
      for _ in 0..<20 {
        let (code, _, error) = await fault { _ = try await user.getIDToken(forcingRefresh: true) }
        #expect(code == .tooManyRequests)
        #expect(error?.userInfo[AuthErrorUserInfoRetryAfterKey] as? Double ?? 0 > 1)
      }
      #expect(relay.requests.count { $0.target == "/v1/token" } == 3)
      #expect(auth.currentUser == user)
      _ = try await user.getIDToken()
    }
  }
}
