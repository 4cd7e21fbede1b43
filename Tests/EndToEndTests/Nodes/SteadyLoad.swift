import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// People who ask a node one thing after the other, whatever becomes of its database.
struct SteadyLoad: Sendable {
  /// How requests ended, and when.
  private struct Ends: Sendable {
    var answers: [ContinuousClock.Instant] = []
    var refusals: [ContinuousClock.Instant] = []
    var others: [String] = []
    var isOver = false
  }

  private let callers: [Caller]
  private let seen = Watched(Ends())

  init(people count: Int) async throws {
    callers = try await onThread {
      try (0..<count).map { _ in
        let subject = Mint.subject()
        return Caller(credential: try Mint.credential { $0.subject = subject }, subject: subject)
      }
    }
  }

  /// Has each send one request after the other until the end.
  func run(on node: Service) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for caller in callers { group.addTask { try await onThread { try keepAsking(caller, node) } } }
      try await group.waitForAll()
    }
  }

  func end() { seen.update { $0.isOver = true } }

  /// Returns when so many were answered.
  func answers(_ count: Int) async throws {
    _ = try await seen.first { $0.answers.count > count ? true : nil }
  }

  /// Returns when somebody was refused later than this.
  func isRefused(after moment: ContinuousClock.Instant) async throws {
    _ = try await seen.first { ends in ends.refusals.last.map { $0 > moment } ?? false ? true : nil }
  }

  /// Returns when somebody was answered later than this.
  func isAnswered(after moment: ContinuousClock.Instant) async throws {
    _ = try await seen.first { ends in ends.answers.last.map { $0 > moment } ?? false ? true : nil }
  }

  /// Every request ended in an answer or a refusal, refusals ended within five seconds of the database's return, whoever was
  /// answered has his session, and everybody one account.
  func check(
    on node: Service, _ stage: Stage, returnedAt back: ContinuousClock.Instant, settings: [String: String]
  ) async throws {
    let ends = seen.read { $0 }
    #expect(ends.others == [])
    #expect(ends.refusals.allSatisfy { $0 < back + .seconds(5) })
    for caller in callers { _ = try await node.refresh(try #require(caller.refreshToken)) }
    let listed = try await stage.command("users", "list", "--limit", "1000", "--json", settings: settings)
    let subjects = try listed.json.objects("users").compactMap {
      $0.objects("identities").first?.text("subject")
    }
    #expect(subjects.sorted() == callers.map(\.subject).sorted())
  }

  private func keepAsking(_ caller: Caller, _ node: Service) throws {
    let connection = try HTTPConnection(port: node.port)
    while !seen.read(\.isOver) {
      do throws(LoadFault) {
        try caller.step(over: connection)
        seen.update { $0.answers.append(.now) }
      } catch {
        guard case .refused(let answer) = error, answer["Retry-After"] != nil else {
          return seen.update { $0.others.append("\(error)") }
        }
        seen.update { $0.refusals.append(.now) }
        _ = poll(nil, 0, 20)
      }
    }
  }
}
