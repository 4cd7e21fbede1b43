import Domain
import PostgresStorage
import SQLiteStorage
import Storage
import Testing

/// The same things asked for many times at once: of one storage, and of two on one file as two processes are.
@Suite(.timeLimit(.minutes(5)))
struct RaceTests {
  @Test(arguments: RacingDesks.allCases)
  func `many first sign-ins of one person make one account`(_ kind: RacingDesks) async throws {
    try await kind.run { desks in
      let outcomes = try await inParallel(50) { number in
        let desk = desks[number % desks.count]
        return try await desk.storage.signIn(desk.intent(credential: number))
      }
      let signedIn = outcomes.compactMap(\.signedIn)
      #expect(signedIn.count == 50)
      #expect(Set(signedIn.map(\.grant.account.id)).count == 1)
      #expect(Set(signedIn.map(\.grant.session.id)).count == 50)
      #expect(signedIn.count { $0.isNewUser } == 1)
      #expect(try await desks[0].storage.accounts(after: nil, limit: 100).accounts.count == 1)
    }
  }

  @Test(arguments: RacingDesks.allCases)
  func `many sign-ins with one credential make one session`(_ kind: RacingDesks) async throws {
    try await kind.run { desks in
      let outcomes = try await inParallel(50) { number in
        let desk = desks[number % desks.count]
        return try await desk.storage.signIn(desk.intent(credential: 1))
      }
      let signedIn = outcomes.compactMap(\.signedIn)
      #expect(signedIn.count == 50)
      #expect(Set(signedIn.map(\.grant.session.id)).count == 1)
      #expect(signedIn.allSatisfy { $0.isNewUser })
      #expect(try await desks[0].storage.sessionCounts(within: limits, at: start) == [firstKey: 1])
    }
  }

  @Test(arguments: RacingDesks.allCases)
  func `one challenge with many credentials lets one in`(_ kind: RacingDesks) async throws {
    try await kind.run { desks in
      let outcomes = try await inParallel(50) { number in
        let desk = desks[number % desks.count]
        return try await desk.storage.signIn(desk.intent("s\(number)", credential: number, challenge: 1))
      }
      #expect(outcomes.compactMap(\.signedIn).count == 1)
      #expect(outcomes.count { $0 == .credentialAlreadyUsed } == 49)
    }
  }

  @Test(arguments: RacingDesks.allCases)
  func `many refreshes of one token get one successor`(_ kind: RacingDesks) async throws {
    try await kind.run { desks in
      let id = try await desks[0].arrive().grant.session.id
      let outcomes = try await inParallel(200) { number in
        try await desks[number % desks.count].refresh(id, 0)
      }
      #expect(outcomes.compactMap(\.session?.counter) == Array(repeating: 1, count: 200))
      #expect(outcomes.allSatisfy { $0.remark == nil })
    }
  }

  @Test(arguments: RacingDesks.allCases)
  func `many sessions refresh side by side`(_ kind: RacingDesks) async throws {
    try await kind.run { desks in
      let counters = try await inParallel(40) { number in
        let desk = desks[number % desks.count]
        let id = try await desk.arrive("s\(number)", credential: number).grant.session.id
        for counter: UInt32 in 0..<5 { _ = try await desk.refresh(id, counter) }
        return try await desk.storage.session(id)?.counter
      }
      #expect(counters == Array(repeating: 5, count: 40))
    }
  }
}

/// Whom a race runs against.
enum RacingDesks: String, CaseIterable, Sendable {
  case memory, sqlite, twoOnOneFile, postgres, twoNodes

  func run(_ body: ([Desk]) async throws -> Void) async throws {
    switch self {
    case .memory:
      try await Engine.memory.run { try await body([$0]) }
    case .sqlite:
      try await Engine.sqlite.run { try await body([$0]) }
    case .postgres:
      try await Engine.postgres.run { try await body([$0]) }
    case .twoNodes:
      let url = try await SharedServer.shared.newDatabase()
      let first = try PostgresStorage(PostgresOptions(url: url))
      let second = try PostgresStorage(PostgresOptions(url: url))
      try await body([Desk(storage: first), Desk(storage: second, seed: 2)])
      await first.stop()
      await second.stop()
    case .twoOnOneFile:
      let folder = try Folder()
      let first = try SQLiteStorage(path: folder.database)
      let second = try SQLiteStorage(path: folder.database)
      try await body([Desk(storage: first), Desk(storage: second, seed: 2)])
      await first.stop()
      await second.stop()
    }
  }
}
