import BramleyClient
import Foundation
import TestProcesses
import Testing

/// Who is told of what.
@Suite(.timeLimit(.minutes(5))) struct ListenerTests {
  /// What listeners were told, in order.
  private final class Told: Sendable {
    let uids = Watched<[String?]>([])
    func add(_ user: User?) { uids.update { $0.append(user?.uid) } }
    func first(_ count: Int) async throws -> [String?] {
      try await uids.first { $0.count >= count ? $0 : nil }
    }
  }

  @Test func `a listener is told who is signed in now, and of everybody who comes and goes`() async throws {
    let device = Device()
    let (auth, states, tokens) = (device.app(), Told(), Told())
    let handle = auth.addStateDidChangeListener { _, user in states.add(user) }
    auth.addIDTokenDidChangeListener { _, user in tokens.add(user) }
    #expect(try await states.first(1) == [nil])
    let user = try await auth.signIn(with: credential()).user
    #expect(try await states.first(2) == [nil, "person1"])
    _ = try await user.getIDToken(forcingRefresh: true)
    #expect(try await tokens.first(3) == [nil, "person1", "person1"])
    try auth.signOut()
    #expect(try await states.first(3) == [nil, "person1", nil])
    #expect(try await tokens.first(4) == [nil, "person1", "person1", nil])
    auth.removeStateDidChangeListener(handle)
    _ = try await auth.signIn(with: credential())
    #expect(try await tokens.first(5).last == "person1")
    #expect(states.uids.read(\.count) == 3)
  }

  @Test func `an offline start tells of who was signed in before`() async throws {
    let device = Device()
    _ = try await device.signedIn()
    device.pass(100_000)
    device.service.play(.fail(.notConnectedToInternet))
    let (auth, told) = (device.app(), Told())
    auth.addStateDidChangeListener { _, user in told.add(user) }
    #expect(try await told.first(1) == ["person1"])
    #expect(await fault { _ = try await auth.currentUser?.getIDToken() }.code == .networkError)
    #expect(auth.currentUser?.displayName == "Ada")
    _ = try await auth.currentUser?.getIDToken()
    #expect(told.uids.read(\.count) == 1)
  }

  @Test func `as long as the store cannot be read nobody is told anything, and then who is there`()
    async throws
  {
    let store = FailingStore()
    let device = Device(store: store)
    _ = try await device.signedIn()
    store.isUnreadable.update { $0 = true }
    let (auth, told, waits) = (device.app(), Told(), device.clocks)
    auth.addStateDidChangeListener { _, user in told.add(user) }
    _ = try await waits.first { $0.slept.count > 3 ? true : nil }
    #expect(told.uids.read(\.count) == 0)
    store.isUnreadable.update { $0 = false }
    // Nobody has to ask.
    #expect(try await told.first(1) == ["person1"])
  }

  @Test func `of a store that can never be read listeners hear that nobody is signed in, and later who is`()
    async throws
  {
    let store = FailingStore()
    let device = Device(store: store)
    _ = try await device.signedIn()
    store.isUnreadable.update { $0 = true }
    store.mayRecover.update { $0 = false }
    let (auth, told) = (device.app(), Told())
    auth.addStateDidChangeListener { _, user in told.add(user) }
    #expect(try await told.first(1) == [nil])
    #expect(await fault { _ = try await auth.signIn(with: credential()) }.code == .keychainError)
    store.isUnreadable.update { $0 = false }
    #expect(auth.currentUser?.uid == "person1")
    #expect(try await told.first(2) == [nil, "person1"])
  }

  @Test func `what waited in a store that could not be read is done when it can`() async throws {
    let store = FailingStore()
    let device = Device(store: store)
    device.service.play(.loseAnswer, .loseAnswer, .loseAnswer)
    let first = device.app()
    #expect(await fault { _ = try await first.signIn(with: credential()) }.code == .networkError)
    // Not for so long that the sign-in is too old.
    store.refusals.update { $0 = 10 }
    let (auth, told) = (device.app(), Told())
    await auth.start()
    #expect(device.service.count("/v1/signInWithIdp") == 3)
    auth.addStateDidChangeListener { _, user in told.add(user) }
    // That nobody was there for a moment they may hear or not.
    _ = try await told.uids.first { $0.contains("person1") ? true : nil }
  }

  @Test func `a stream and a notification tell the same`() async throws {
    let device = Device()
    let auth = device.app()
    let posted = Watched(0)
    let observer = NotificationCenter.default.addObserver(
      forName: .AuthStateDidChange, object: auth, queue: nil
    ) { _ in posted.update { $0 += 1 } }
    defer { NotificationCenter.default.removeObserver(observer) }
    var seen: [String?] = []
    for await user in auth.authStateChanges {
      seen.append(user?.uid)
      if user != nil {
        try auth.signOut()
      } else if seen.count == 1 {
        _ = try await auth.signIn(with: credential())
      }
      if seen.count == 3 { break }
    }
    #expect(seen == [nil, "person1", nil])
    _ = try await posted.first { $0 == 2 ? true : nil }
  }

  @Test func `a handle is taken back as whatever code keeps it`() async throws {
    let (auth, told) = (Device().app(), Told())
    var handle: (any NSObjectProtocol)?
    handle = auth.addStateDidChangeListener { _, user in told.add(user) }
    _ = try await told.first(1)
    if let handle { auth.removeStateDidChangeListener(handle) }
    let user = try await auth.signIn(with: credential()).user
    let people: Set = [user]
    #expect(people.contains(try #require(auth.currentUser)))
    #expect(told.uids.read(\.count) == 1)
  }
}
