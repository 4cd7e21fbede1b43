import Domain
import Storage
import Testing

/// What becomes of a call that failed: a decision over values alone.
@Suite struct AppleRetryTests {
  private func work(
    _ kind: AppleSecretKind = .code, attempts: Int = 1, isSent: Bool = false
  ) -> AppleWork {
    AppleWork(
      secret: .numbered(1, kind), kind: kind == .code ? .exchange : .revoke,
      account: AccountID(unchecked: "ada"), subject: nil, client: app, redirectURI: nil, createdAt: start,
      dueAt: start, attempts: attempts, isSent: isSent)
  }

  private func result(
    _ work: AppleWork, _ setback: AppleSetback, jitter: Double = 0.5, after age: Int64 = 0
  ) -> AppleWorkResult {
    work.result(after: setback, "word", jitter: jitter, at: start + age)
  }

  @Test func `a refused code is never sent again, and the blame depends on whether it was sent before`() {
    #expect(result(work(), .refused) == .dropped("code_refused"))
    #expect(result(work(isSent: true), .refused) == .dropped("code_ambiguous"))
    #expect(result(work(.refreshToken), .refused) == .revoked(by: app))
    #expect(result(work(.refreshToken), .unusable) == .dropped("brought_unusable"))
  }

  @Test func `tries come after seconds at first, then after twice as long, and at last once an hour`() {
    var waits: [Int64] = []
    for attempt in 1...14 {
      guard
        case .postponed(let until, "word", isSent: false) = result(
          work(.refreshToken, attempts: attempt), .unsent)
      else {
        Issue.record("attempt \(attempt) is not postponed")
        return
      }
      waits.append(until.since(start))
    }
    #expect(waits.prefix(5) == [5, 10, 20, 40, 80])
    #expect(waits.suffix(3) == [3600, 3600, 3600])
    for jitter in [0.0, 0.3, 1] {
      guard case .postponed(let until, _, _) = result(work(), .declined, jitter: jitter) else {
        Issue.record("it is not postponed")
        return
      }
      #expect((4...6).contains(until.since(start)))
    }
    guard case .postponed(let once, _, false) = result(work(), .misconfigured) else {
      Issue.record("not postponed")
      return
    }
    #expect(once == start + 5)
    guard case .postponed(let slow, let fault, false) = result(work(attempts: 2), .misconfigured) else {
      Issue.record("it is not postponed")
      return
    }
    #expect(slow == start + 60)
    #expect(fault == "misconfigured: word")
  }

  @Test func `whether Apple may have had it is remembered`() {
    #expect(result(work(), .uncertain) == .postponed(until: start + 5, fault: "word", isSent: true))
    #expect(result(work(isSent: true), .unsent) == .postponed(until: start + 5, fault: "word", isSent: true))
    #expect(result(work(), .declined) == .postponed(until: start + 5, fault: "word", isSent: false))
  }

  @Test func `a code that Apple has answered for is let go when it is too old to be good`() {
    for setback in [AppleSetback.declined, .misconfigured, .uncertain] {
      #expect(result(work(), setback, after: 400) == .dropped("code_expired"))
    }
    #expect(result(work(isSent: true), .unsent, after: 400) == .dropped("code_expired"))
    // Never sent, it is sent once however late.
    #expect(
      result(work(), .unsent, after: 40_000)
        == .postponed(until: start + 40_005, fault: "word", isSent: false))
  }

  @Test func `O10 how long Apple wants not to be asked is kept to, up to an hour`() {
    func wait(_ seconds: Int64) -> AppleWorkResult {
      work(.refreshToken).result(after: .declined, "throttled", wait: seconds, jitter: 0.5, at: start)
    }
    for (asked, kept) in [(Int64(0), Int64(5)), (3, 5), (600, 600), (1_000_000, 3600)] {
      #expect(wait(asked) == .postponed(until: start + kept, fault: "throttled", isSent: false))
    }
  }

  @Test func `a revocation is tried for ten days`() {
    let token = work(.refreshToken, attempts: 200)
    for setback in [AppleSetback.unsent, .declined, .uncertain, .misconfigured] {
      guard case .postponed = result(token, setback, after: 850_000) else {
        Issue.record("\(setback) is given up too early")
        return
      }
      #expect(result(token, setback, after: 870_000) == .dropped("too_old"))
    }
  }
}
