import Domain
import Storage
import Testing

/// The counter table of the refresh tokens, row by row.
@Suite(.timeLimit(.minutes(2)))
struct RefreshTests {
  @Test(arguments: Engine.allCases)
  func `the current token rotates`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      let outcome = try await desk.refresh(id, 0, at: start + 10)
      #expect(outcome.session?.counter == 1)
      #expect(outcome.session?.rotatedAt == start + 10)
      #expect(outcome.remark == nil)
      #expect(try await desk.storage.session(id) == outcome.session)
    }
  }

  @Test(arguments: Engine.allCases, [0, 60] as [Int64])
  func `the token before gets the same successor in the window`(_ engine: Engine, _ later: Int64) async throws
  {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      let rotated = try await desk.refresh(id, 0)
      #expect(try await desk.refresh(id, 0, at: start + later) == rotated)
    }
  }

  @Test(arguments: Engine.allCases)
  func `after the window a repeat is answered and remarked`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      _ = try await desk.refresh(id, 0)
      for later: Int64 in [61, 62] {
        let outcome = try await desk.refresh(id, 0, at: start + later)
        #expect(outcome.session?.counter == 1)
        #expect(outcome.session?.lateRotations == 1)
        #expect(outcome.remark == .lateRepeat)
      }
    }
  }

  @Test(arguments: Engine.allCases)
  func `the third rotation in a row with a late repeat ends the session`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let id = grant.session.id
      for round: UInt32 in 0..<3 {
        let time = start + Int64(round) * 100
        #expect(try await desk.refresh(id, round, at: time).session?.counter == round + 1)
        let late = try await desk.refresh(id, round, at: time + 61)
        #expect(round < 2 ? late.remark == .lateRepeat : late == .reused(grant.account.id))
      }
      #expect(try await desk.refresh(id, 3, at: start + 300) == .sessionOver(.reused))
      #expect(try await desk.storage.session(id)?.endedAt == start + 261)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a rotation without a late repeat sets the count back`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      var time = start
      for (counter, isLate) in zip(0 as UInt32..<5, [true, true, false, true, true]) {
        time = time + 100
        #expect(try await desk.refresh(id, counter, at: time).session?.counter == counter + 1)
        if isLate { #expect(try await desk.refresh(id, counter, at: time + 61).remark == .lateRepeat) }
      }
      #expect(try await desk.refresh(id, 5, at: time + 70).session?.counter == 6)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a slow tab two before is answered within ten seconds`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      _ = try await desk.refresh(id, 0)
      _ = try await desk.refresh(id, 1)
      let slow = try await desk.refresh(id, 0, at: start + 10)
      #expect(slow.session?.counter == 2)
      #expect(slow.remark == .lateRepeat)
    }
  }

  @Test(arguments: Engine.allCases, [(2, 11), (3, 0), (9, 5)] as [(UInt32, Int64)])
  func `an older token ends this session and no other`(
    _ engine: Engine, _ row: (behind: UInt32, seconds: Int64)
  ) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let other = try await desk.arrive(credential: 2).grant.session
      for counter in 0..<row.behind { _ = try await desk.refresh(grant.session.id, counter) }
      let outcome = try await desk.refresh(grant.session.id, 0, at: start + row.seconds)
      #expect(outcome == .reused(grant.account.id))
      #expect(try await desk.refresh(grant.session.id, row.behind) == .sessionOver(.reused))
      #expect(try await desk.refresh(other.id, 0).session?.counter == 1)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a counter ahead is taken as current`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      let ahead = try await desk.refresh(id, 41)
      #expect(ahead.session?.counter == 42)
      #expect(ahead.remark == .counterAhead)
      #expect(try await desk.refresh(id, 41).session?.counter == 42)
    }
  }

  @Test(arguments: Engine.allCases)
  func `the last counter of all ends the session`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      #expect(try await desk.refresh(grant.session.id, .max - 1).session?.counter == .max)
      #expect(try await desk.refresh(grant.session.id, .max) == .reused(grant.account.id))
    }
  }

  @Test(arguments: Engine.allCases)
  func `a session grows idle and old`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      #expect(try await desk.refresh(id, 0, at: start + limits.idle) == .idle)
      #expect(try await desk.refresh(id, 0, at: start + limits.absolute) == .overAge)
      #expect(try await desk.refresh(id, 0, at: start + (limits.idle - 1)).session?.counter == 1)
      #expect(try await desk.refresh(id, 1, at: start + (2 * limits.idle - 2)).session?.counter == 2)
    }
  }

  @Test(arguments: Engine.allCases)
  func `a disabled account is told before an ended session`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let grant = try await desk.arrive().grant
      let ended = try await desk.arrive(credential: 2).grant.session
      try await desk.storage.end(ended.id, as: .revoked)
      try await desk.storage.disable(grant.account.id)
      #expect(try await desk.refresh(ended.id, 0) == .accountDisabled)
      #expect(try await desk.refresh(grant.session.id, 0) == .accountDisabled)
      #expect(try await desk.storage.session(grant.session.id)?.end == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an account that is gone is told before an ended session`(_ engine: Engine) async throws {
    try await engine.run { desk in
      var session = Session.bare(1, of: AccountID(unchecked: "gone"))
      session.finish(as: .ended, at: start)
      try await desk.storage.insert(session)
      #expect(try await desk.refresh(session.id, 0) == .accountNotFound)
    }
  }

  @Test(arguments: Engine.allCases, [SessionEnd.ended, .revoked, .reused])
  func `a session that is over says why and stays over`(_ engine: Engine, _ end: SessionEnd) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      try await desk.storage.end(id, as: end)
      #expect(try await desk.refresh(id, 0) == .sessionOver(end))
      #expect(try await desk.storage.session(id)?.counter == 0)
    }
  }

  @Test(arguments: Engine.allCases)
  func `an unknown session is over without a reason`(_ engine: Engine) async throws {
    try await engine.run { (desk) async throws in
      let unknown = SessionID(at: start, from: desk.entropy)
      #expect(try await desk.refresh(unknown, 0) == .sessionOver(nil))
    }
  }

  @Test(arguments: Engine.allCases)
  func `a clock that steps back ends nothing`(_ engine: Engine) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      #expect(try await desk.refresh(id, 0, at: start - 3600).session?.counter == 1)
      #expect(try await desk.refresh(id, 0, at: start - 7200).session?.counter == 1)
      #expect(try await desk.refresh(id, 1, at: start).session?.counter == 2)
    }
  }

  @Test(arguments: Engine.allCases)
  func `repeats are made with the key of the token and rotations with the new one`(
    _ engine: Engine
  ) async throws {
    try await engine.run { desk in
      let id = try await desk.arrive().grant.session.id
      #expect(try await desk.refresh(id, 0, masterKey: firstKey).session?.masterKey == firstKey)
      #expect(try await desk.refresh(id, 0, masterKey: secondKey).session?.masterKey == firstKey)
      #expect(try await desk.refresh(id, 1, masterKey: secondKey).session?.masterKey == secondKey)
      #expect(try await desk.refresh(id, 1, masterKey: firstKey).session?.masterKey == secondKey)
    }
  }
}
