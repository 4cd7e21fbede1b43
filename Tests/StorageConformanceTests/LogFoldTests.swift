import SQLiteStorage
import Testing

/// When the log is folded: a decision over values alone.
@Suite struct LogFoldTests {
  private let begun = ContinuousClock.now

  private func fold() -> LogFold {
    var fold = LogFold(at: begun)
    fold.noteFold(isDone: true, at: begun)
    return fold
  }

  @Test func `it is due as soon as nobody waits and something was written, be it by whoever was here before`()
  {
    #expect(LogFold(at: begun).isDue(isIdle: true, at: begun))
    var fold = fold()
    #expect(!fold.isDue(isIdle: true, at: begun + .seconds(1)))
    fold.noteCommit()
    #expect(!fold.isDue(isIdle: false, at: begun + .seconds(1)))
    #expect(fold.isDue(isIdle: true, at: begun + .seconds(1)))
  }

  @Test func `where there is always somebody, or somebody else writes, it is due once a minute`() {
    var fold = fold()
    for isIdle in [false, true] {
      #expect(!fold.isDue(isIdle: isIdle, at: begun + .seconds(59)))
      #expect(fold.isDue(isIdle: isIdle, at: begun + .seconds(60)))
    }
    fold.noteFold(isDone: false, at: begun + .seconds(60))
    #expect(!fold.isDue(isIdle: false, at: begun + .seconds(119)))
    // Somebody was in the way: the next moment without anybody will do.
    #expect(fold.isDue(isIdle: true, at: begun + .seconds(61)))
  }
}
