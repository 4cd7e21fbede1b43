import BramleyClient
import Foundation
import TestProcesses
import Testing

/// Who is told of what.
@Suite struct ListenerTests {
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
}
