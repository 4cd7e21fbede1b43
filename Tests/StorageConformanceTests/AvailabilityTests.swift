import PostgresStorage
import Storage
import Testing

/// What is told of a database that goes and comes, who is refused meanwhile, and what readiness remembers.
struct AvailabilityTests {
  private let start = ContinuousClock.now

  private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
    start.advanced(by: .milliseconds(milliseconds))
  }

  @Test func `the first trouble is told, and the end of the last once it has lasted`() {
    var availability = Availability()
    #expect(availability.note(nil, on: 0, at: at(0)) == nil)
    #expect(availability.note(.unreachable, on: 0, at: at(100)) == .lost(.unreachable))
    #expect(availability.note(.silent, on: 1, at: at(200)) == nil)
    #expect(availability.note(nil, on: 0, at: at(3000)) == nil)
    #expect(availability.note(nil, on: 0, at: at(9000)) == nil)
    #expect(availability.note(nil, on: 1, at: at(10_100)) == nil)
    #expect(availability.note(nil, on: 0, at: at(11_000)) == nil)
    #expect(availability.note(nil, on: 0, at: at(11_100)) == .back(after: .seconds(10)))
    #expect(availability.note(nil, on: 1, at: at(11_200)) == nil)
  }

  @Test func `a database that comes and goes every few seconds is told of less and less often`() {
    var availability = Availability()
    var told = 0
    // An hour, with a look every half second.
    for step in 0..<7200 {
      let trouble: StorageTrouble? = step % 12 < 2 ? .unreachable : nil
      if availability.note(trouble, on: 0, at: at(step * 500)) != nil { told += 1 }
    }
    #expect(told > 2 && told <= 20)
    // Once it stays, that is told.
    let end = (0..<200).compactMap { availability.note(nil, on: 0, at: at(3_600_000 + $0 * 500)) }
    #expect(end.count == 1)
  }

  @Test func `a commit that found no room counts for five seconds, whatever is written beside it`() {
    var availability = Availability()
    #expect(!availability.lacksRoom(at: at(0)))
    #expect(availability.noteFull(on: 0, at: at(0)) == .lost(.full))
    var told: [StorageNews] = []
    // A refusal every two seconds, and a commit after each, on that connection and on the other.
    for second in 0..<60 {
      for connection in [0, 1] {
        told += [availability.note(nil, on: connection, at: at(second * 1000 + 500))].compactMap { $0 }
      }
      #expect(availability.lacksRoom(at: at(second * 1000 + 600)))
      if second.isMultiple(of: 2) {
        told += [availability.noteFull(on: 0, at: at(second * 1000 + 1000))].compactMap { $0 }
      }
    }
    #expect(told.isEmpty)
    #expect(availability.lacksRoom(at: at(63_999)) && !availability.lacksRoom(at: at(64_000)))
    // What a connection says again of itself is no other refusal.
    #expect(availability.note(.full, on: 1, at: at(64_000)) == nil)
    #expect(!availability.lacksRoom(at: at(64_001)))
    for connection in [0, 1] { #expect(availability.note(nil, on: connection, at: at(64_100)) == nil) }
    #expect(availability.note(nil, on: 0, at: at(65_100)) == .back(after: .milliseconds(64_100)))
  }

  @Test func `nobody waits behind a group that takes longer than any that is answered`() {
    var line = LineState(bound: .seconds(2))
    #expect(!line.refuses(at: at(0)) && line.isWell(at: at(0)))
    line.begin(at: at(0))
    #expect(!line.refuses(at: at(2000)))
    #expect(line.refuses(at: at(2001)))
    #expect(!line.isWell(at: at(2001)))
    line.end()
    #expect(!line.refuses(at: at(2002)))
  }

  @Test func `who would be refused at once may find out that the server is back, who would wait may not`() {
    var line = LineState(bound: .seconds(2))
    line.wentDown(since: at(0), at: at(10))
    #expect(line.refuses(at: at(11)) && !line.mayTry(at: at(11)))
    #expect(!line.refuses(at: at(110)) && line.mayTry(at: at(110)) && !line.isSilent)
    #expect(!line.isWell(at: at(110)))
    // Who asks meanwhile waits behind an attempt, and not behind one that takes long.
    line.begin(at: at(110))
    #expect(!line.refuses(at: at(200)) && line.refuses(at: at(400)))
    line.end()
    line.wentDown(since: at(200), at: at(3200))
    #expect(line.refuses(at: at(60_000)) && !line.mayTry(at: at(60_000)) && line.isSilent)
    line.cameUp()
    #expect(line.isWell(at: at(60_001)) && line.mayTry(at: at(60_001)))
  }

  @Test func `one asks at a time, and a database that says nothing for two seconds is not there`() {
    var memory = ProbeMemory()
    #expect(memory.answer(at: at(0)) == nil)
    memory.note(true, at: at(100))
    #expect(memory.answer(at: at(2000)) == true)
    #expect(memory.answer(at: at(2100)) == nil)
    #expect(memory.answer(at: at(2200)) == true)
    #expect(memory.answer(at: at(4099)) == true)
    #expect(memory.answer(at: at(4100)) == false)
    #expect(memory.last(at: at(9000)) == false)
    memory.note(true, at: at(9000))
    #expect(memory.answer(at: at(9001)) == true)
    memory.note(false, at: at(20_000))
    #expect(memory.answer(at: at(20_001)) == false)
    #expect(memory.answer(at: at(20_250)) == nil)
  }
}
