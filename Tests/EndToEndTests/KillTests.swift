import Foundation
import TestProcesses
import Testing
import Wire

/// `kill -9` in the middle of a thousand sign-ins and refreshes: what was answered is on disk.
@Suite(.timeLimit(.minutes(2)))
struct KillTests {
  private static let connections = 32
  private static let persons = 250
  private static let steps = 4

  /// Persons with a token each; one in five has another one for the same subject.
  private func callers() async throws -> [Caller] {
    try await onThread {
      try (0..<Self.persons).reduce(into: [Caller]()) { callers, index in
        let subject = index % 5 == 4 ? callers[index - 1].subject : Mint.subject()
        callers.append(Caller(credential: try Mint.credential { $0.subject = subject }, subject: subject))
      }
    }
  }

  @Test(arguments: [UInt64(1), 2, 3, 4])
  func `D05 D07 after a kill every answered session lives and no account is doubled`(_ seed: UInt64)
    async throws
  {
    var random = SeededGenerator(seed: seed)
    // Somewhere from the first answers to the last; the seeds fall into four quarters.
    let quarter = Self.persons * Self.steps / 4
    let killPoint = Int(seed - 1) * quarter + Int.random(in: 1...(quarter - Self.connections), using: &random)
    try await withStage { stage in
      let service = try await stage.start()
      let callers = try await callers()
      let report = try await load(
        callers, connections: Self.connections, steps: Self.steps, port: service.port
      ) { count in
        if count == killPoint { service.process.send(signal: SIGKILL) }
      }
      #expect(try await service.process.ended() == .signal(SIGKILL))
      #expect(report.wrong.isEmpty, "\(report.wrong)")
      #expect(report.refused.isEmpty, "\(report.refused)")
      #expect(report.timedOut == 0)
      #expect(report.answers >= killPoint)
      #expect(report.answers < callers.count * Self.steps, "the kill came after the end")

      let next = try await restart(stage, port: service.port)
      try await checkAnswered(callers, next)
      try await checkUnanswered(callers, next)
      try await checkAccounts(callers, stage)
      #expect(try await stage.sql("PRAGMA integrity_check") == "ok")
      #expect(try await stage.sql("PRAGMA foreign_key_check").isEmpty)
      try await next.stop()
    }
  }

  /// On the same port, or on another where that was given away meanwhile.
  private func restart(_ stage: Stage, port: UInt16) async throws -> Service {
    do {
      return try await stage.start(["BRAMLEY_LISTEN": "127.0.0.1:\(port)"])
    } catch is NotReady {
      return try await stage.start()
    }
  }

  /// Every session whose sign-in or refresh was answered refreshes with the token that its caller holds.
  private func checkAnswered(_ callers: [Caller], _ service: Service) async throws {
    let answered = callers.filter { $0.refreshToken != nil && !$0.isUnanswered }
    let held = answered.map { ($0, $0.refreshToken) }
    let report = try await load(answered, connections: 8, steps: 1, port: service.port) { _ in }
    #expect(report.answers == answered.count, "\(report)")
    for (caller, token) in held { #expect(caller.refreshToken != token) }
  }

  /// A request that got no answer works when it is sent again, be it a sign-in or a refresh.
  private func checkUnanswered(_ callers: [Caller], _ service: Service) async throws {
    let rest = callers.filter { $0.refreshToken == nil || $0.isUnanswered }
    #expect(!rest.isEmpty)
    let report = try await load(rest, connections: min(8, rest.count), steps: 2, port: service.port) { _ in }
    #expect(report.answers == rest.count * 2, "\(report)")
  }

  /// One account for each subject, and the one that every answer named.
  private func checkAccounts(_ callers: [Caller], _ stage: Stage) async throws {
    let users = try await stage.command("users", "list", "--limit", "1000", "--json").json.objects("users")
    let accounts = users.compactMap { user in
      user.objects("identities").first?.text("subject").map { ($0, user.text("localId") ?? "") }
    }
    #expect(users.count == Set(callers.map(\.subject)).count)
    let bySubject = Dictionary(accounts, uniquingKeysWith: { first, _ in first })
    #expect(bySubject.count == users.count)
    for caller in callers { #expect(bySubject[caller.subject] == caller.localID) }
  }
}
