import Foundation
import TestProcesses
import Testing

@testable import BramleyClient

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sessions that are over here and live on at the service for a while.
@Suite(.timeLimit(.minutes(5))) struct EndingTests {
  private let device = Device()

  private func holdSignOuts() { device.service.state.update { $0.held = ["/v1/signOut"] } }
  private func letSignOutsGo() { device.service.state.update { $0.held = [] } }

  /// Waits until the service knows of everything.
  private func nothingIsLeft() async throws {
    while try !device.store.state(known: nil).endings.isEmpty { await Task.yield() }
  }

  @Test func `a credential that another person reauthenticated with does not sign them in`() async throws {
    let (auth, user) = try await device.signedIn()
    device.service.state.update { $0.uid = "person2" }
    holdSignOuts()
    let apple = credential()
    #expect(await fault { _ = try await user.reauthenticate(with: apple) }.code == .userMismatch)
    let (code, details) = await fault { _ = try await auth.signIn(with: apple) }
    #expect(code == .invalidCredential)
    #expect((details[NSLocalizedDescriptionKey] as? String)?.contains("new credential") == true)
    #expect(auth.currentUser == user)
    #expect(try await auth.resumeSignIn() == nil)
    letSignOutsGo()
    try await nothingIsLeft()
    // A new one does, and it stays so.
    let other = try await auth.signIn(with: credential()).user
    try await nothingIsLeft()
    _ = try await other.getIDToken(forcingRefresh: true)
    #expect(auth.currentUser == other && other.uid == "person2")
  }

  @Test func `whoever signed out is not signed in by the same credential again`() async throws {
    let (auth, apple) = (device.app(), credential())
    let token = try #require(try await auth.signIn(with: apple).user.refreshToken)
    holdSignOuts()
    try auth.signOut()
    #expect(await fault { _ = try await auth.signIn(with: apple) }.code == .invalidCredential)
    #expect(auth.currentUser == nil)
    letSignOutsGo()
    try await nothingIsLeft()
    let told = device.service.state.read { $0.requests.last?.httpBody }
    #expect(told == Data(#"{"refreshToken":"\#(token)"}"#.utf8))
  }

  @Test func `it is so too when the service ends the session while the answer is on its way`() async throws {
    let (auth, apple) = (device.app(), credential())
    _ = try await auth.signIn(with: apple)
    holdSignOuts()
    try auth.signOut()
    device.service.state.update {
      $0.afterwards = {
        letSignOutsGo()
        try await nothingIsLeft()
      }
    }
    #expect(await fault { _ = try await auth.signIn(with: apple) }.code == .invalidCredential)
    #expect(auth.currentUser == nil)
    #expect(try device.store.read() == nil)
  }

  @Test func `a start does not undo a sign-out in another process`() async throws {
    let store = HookedStore()
    let device = Device(store: store)
    device.service.play(.fail(.notConnectedToInternet))
    #expect(await fault { _ = try await device.app().signIn(with: credential()) }.code == .networkError)
    let other = device.app()
    store.afterRead.update {
      $0 = {
        store.afterRead.update { $0 = nil }
        try other.signOut()
      }
    }
    let auth = device.app()
    #expect(try await auth.resumeSignIn() == nil)
    #expect(auth.currentUser == nil)
    #expect(device.service.count("/v1/signInWithIdp") == 1)
  }

  @Test func `a sign-in after a sign-out counts, though the same one is still on its way`() async throws {
    let (auth, apple) = (device.app(), credential())
    let second = Watched<Task<User, any Error>?>(nil)
    device.service.state.update {
      $0.meanwhile = {
        try auth.signOut()
        let task = Task { try await auth.signIn(with: apple).user }
        second.update { $0 = task }
        for _ in 0..<10_000 where device.service.paths.isEmpty { await Task.yield() }
        #expect(device.service.paths == ["/v1/signInWithIdp"])
      }
    }
    let first = try await auth.signIn(with: apple).user
    let user = try await second.first { $0 }.value
    #expect(auth.currentUser == user && user == first)
    #expect(device.service.state.read(\.sessions) == 1)
    #expect(try device.store.state(known: nil).endings == [])
  }

  @Test func `a sign-out that the service cannot do does not hold up the others`() async throws {
    let auth = device.app()
    let broken = try #require(try await auth.signIn(with: credential()).user.refreshToken)
    let bad = Data(#"{"refreshToken":"\#(broken)"}"#.utf8)
    device.service.state.update { $0.habit = { $0.httpBody == bad ? .answer(500, "INTERNAL") : nil } }
    holdSignOuts()
    let other = try #require(try await auth.signIn(with: credential()).user.refreshToken)
    try auth.signOut()
    letSignOutsGo()
    let told = try await device.service.state.first { state -> [Data?]? in
      let told = state.requests.filter { $0.url?.path == "/v1/signOut" }
      return told.count > 7 ? told.map(\.httpBody) : nil
    }
    #expect(told.contains(Data(#"{"refreshToken":"\#(other)"}"#.utf8)))
    // The one itself is told of as soon as that is possible.
    device.service.state.update { $0.habit = nil }
    try await nothingIsLeft()
    #expect(auth.currentUser == nil)
  }
}
