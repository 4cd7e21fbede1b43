import BramleyClient
import Foundation
import TestProcesses
import Testing
import Wire

/// The app's kit and the running service, when things happen at once or answers come late.
@Suite(.timeLimit(.minutes(10)))
struct ClientRaceTests {
  @Test func `a refresh answered after the person has signed in again does not sign out`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let relay = try Relay(to: service.port)
      let auth = try Handset(relay.url, store: FileStore(path: stage.folder + "/session")).app()
      let subject = Mint.subject()
      let user = try await auth.signIn(with: .of(Mint.credential { $0.subject = subject })).user
      let release = relay.holdNextAnswer()
      async let late = user.getIDToken(forcingRefresh: true)
      _ = try await relay.held()
      _ = try await user.reauthenticate(with: .of(Mint.credential { $0.subject = subject }))
      release()
      let token = try await late
      #expect(try await user.getIDToken() == token)
      // The session before is ended at the service, and this one is not it.
      try await eventually("the session before does not end") {
        try await stage.sql("SELECT count(*) FROM sessions WHERE ended_at IS NULL") == "1"
      }
      _ = try await user.getIDToken(forcingRefresh: true)
      try await user.delete()
      #expect(try await stage.sql("SELECT count(*) FROM accounts") == "0")
    }
  }

  @Test func `a disk that is full for several refreshes costs nobody the session at the next start`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      let path = stage.folder + "/session"
      let handset = Handset(service.baseURL, store: FileStore(path: path))
      let user = try await handset.app().signIn(with: .of(Mint.credential())).user
      // Nothing can be written where a folder is in the way.
      try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
      for _ in 0..<3 { _ = try await user.getIDToken(forcingRefresh: true) }
      let next = try await run(Program.clientApp, [service.baseURL, path, "refresh", "1"])
      #expect(next.output == user.uid + "\n")
      try FileManager.default.removeItem(atPath: path + ".new")
      for _ in 0..<2 { _ = try await user.getIDToken(forcingRefresh: true) }
      let last = try await run(Program.clientApp, [service.baseURL, path, "refresh", "1"])
      #expect(last.output == user.uid + "\n")
    }
  }

  @Test(arguments: [true, false])
  func `a link whose answer gets lost keeps the person, whatever the app does next`(_ asksAgain: Bool)
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start(["BRAMLEY_ANONYMOUS": "true"])
      let relay = try Relay(to: service.port)
      let handset = Handset(relay.url)
      let auth = try handset.app()
      let guest = try await auth.signInAnonymously().user
      let credential = AuthCredential.of(try Mint.credential())
      relay.loseAnswers(true)
      #expect(await fault { _ = try await guest.link(with: credential) }.code == .networkError)
      _ = try await relay.lost(1)
      relay.loseAnswers(false)
      // The link has ended the session that the app still has, and whose token it would renew now.
      handset.pass(3400)
      if asksAgain {
        #expect(try await guest.link(with: credential).user == guest)
      } else {
        _ = try await guest.getIDToken()
        try await eventually("the link is not repeated") { !guest.isAnonymous }
      }
      #expect(auth.currentUser == guest && !guest.isAnonymous)
      _ = try await guest.getIDToken(forcingRefresh: true)
      #expect(try await stage.sql("SELECT count(*) FROM accounts") == "1")
    }
  }

  @Test func `whoever signs out without a network is signed out at the service when there is one`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      let relay = try Relay(to: service.port)
      let auth = try Handset(relay.url).app()
      _ = try await auth.signIn(with: .of(Mint.credential()))
      relay.loseAnswers(true)
      relay.lead(to: 1)
      try auth.signOut()
      _ = try await relay.asked("/v1/signOut")
      relay.loseAnswers(false)
      relay.lead(to: service.port)
      // Nobody does anything but wait.
      try await eventually("the service is not told") {
        try await stage.sql("SELECT count(*) FROM sessions WHERE ended_at IS NULL") == "0"
      }
    }
  }
}
