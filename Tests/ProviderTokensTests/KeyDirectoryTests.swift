import Crypto
import Domain
import JOSE
import ProviderTokens
import Synchronization
import TestSupport
import Testing

private let known = TokenForge.apple.keyID
private let other = KeyID(unchecked: "OTHER")
private let url = "https://appleid.apple.com/auth/keys"

/// Collects reports, and lets a test wait until there are so many.
private final class Reports: Sendable {
  private struct State {
    var reports: [KeyFetchReport] = []
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  func add(_ report: KeyFetchReport) {
    let ready = state.withLock { state in
      state.reports.append(report)
      let count = state.reports.count
      defer { state.waiting.removeAll { $0.count <= count } }
      return state.waiting.filter { $0.count <= count }.map(\.continuation)
    }
    for continuation in ready { continuation.resume() }
  }

  func first(_ count: Int) async -> [KeyFetchReport] {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        guard state.reports.count < count else { return true }
        state.waiting.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
    return state.withLock { Array($0.reports.prefix(count)) }
  }
}

private struct Setup {
  let clock = ManualClock()
  let reports = Reports()
  let fetcher: ScriptedFetcher
  let directory: KeyDirectory

  init(_ steps: ScriptedFetcher.Step...) {
    fetcher = ScriptedFetcher(steps)
    directory = KeyDirectory(
      url: url, form: .keySet, policy: .standard, fetcher: fetcher, clock: clock.steady,
      report: { [reports] in reports.add($0) })
  }
}

private let goodAnswer = ScriptedFetcher.Step.answer(.json(TokenForge.apple.keySet))

@Suite(.timeLimit(.minutes(3)))
struct KeyDirectoryTests {
  @Test func `the first look-up fetches, with a body limit and both time limits`() async throws {
    let setup = Setup(goodAnswer)
    #expect(!setup.directory.isReady)
    let key = try await setup.directory.key(known)
    #expect(key.numbers == TokenForge.apple.key.publicKey.numbers)
    #expect(setup.directory.isReady)
    #expect(
      setup.fetcher.requests == [
        FetchRequest(
          url: url, headers: [("Accept", "application/json")], connectMilliseconds: 3000,
          totalMilliseconds: 5000,
          bodyLimit: 65_536)
      ])
    #expect(await setup.reports.first(1) == [.fetched(keyCount: 1)])
  }

  @Test func `K04 a hundred callers wait for one fetch`() async throws {
    let setup = Setup(.held)
    let directory = setup.directory
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { _ = try await directory.key(known) } }
      await Task.yield()
      setup.fetcher.release(.json(TokenForge.apple.keySet))
      try await group.waitForAll()
    }
    #expect(setup.fetcher.requests.count == 1)
  }

  @Test func `K13 a known key is served while a fetch hangs`() async throws {
    let setup = Setup(goodAnswer, .held)
    _ = try await setup.directory.key(known)
    setup.clock.advance(3600)
    setup.directory.tick()
    for _ in 0..<10 { _ = try await setup.directory.key(known) }
    setup.fetcher.release(.json(TokenForge.apple.keySet))
    #expect(await setup.reports.first(2) == [.fetched(keyCount: 1), .fetched(keyCount: 1)])
    #expect(setup.fetcher.requests.count == 2)
  }

  @Test func `K02 an unknown id is fetched for once, then found`() async throws {
    let rotated = KeySet.json(of: [
      JSONWebKey(keyID: known, key: TokenForge.apple.key.publicKey),
      JSONWebKey(keyID: other, key: TokenForge.stranger.key.publicKey),
    ])
    let setup = Setup(goodAnswer, .answer(.json(rotated)))
    _ = try await setup.directory.key(known)
    await #expect(throws: IdentityTokenRefusal.keyUnknown) { try await setup.directory.key(other) }
    setup.clock.advance(60)
    #expect(try await setup.directory.key(other).numbers == TokenForge.stranger.key.publicKey.numbers)
  }

  @Test(
    arguments: [
      (.answer(.json(Array("{}".utf8))), .notJSON),
      (.answer(.json(Array(#"{"keys":[]}"#.utf8))), .noUsableKey),
      (.answer(.json(TokenForge.apple.keySet, status: 503)), .status(503)),
      (.answer(.json(TokenForge.apple.keySet, status: 302)), .status(302)),
      (.answer(.json(Array("<html>".utf8), status: 200)), .notJSON),
      (.failure(.timedOut), .transport(.timedOut)),
      (.failure(.bodyTooLarge), .transport(.bodyTooLarge)),
    ] as [(ScriptedFetcher.Step, KeyFetchFault)])
  func `K10 K11 what is not a good set is a failed fetch, and an outage is not a bad token`(
    _ step: ScriptedFetcher.Step, _ fault: KeyFetchFault
  ) async {
    let setup = Setup(step)
    await #expect(throws: IdentityTokenRefusal.keysUnavailable) { try await setup.directory.key(known) }
    #expect(await setup.reports.first(1) == [.failed(fault)])
    // The cool-down has begun: no further fetch, for which the script has no answer.
    await #expect(throws: IdentityTokenRefusal.keysUnavailable) { try await setup.directory.key(known) }
    #expect(!setup.directory.isReady)
  }

  @Test func `an outage leaves the keys in use for a day`() async throws {
    let setup = Setup(goodAnswer, .failure(.couldNotConnect))
    _ = try await setup.directory.key(known)
    setup.clock.advance(3600)
    setup.directory.tick()
    _ = await setup.reports.first(2)
    _ = try await setup.directory.key(known)
    await #expect(throws: IdentityTokenRefusal.keysUnavailable) { try await setup.directory.key(other) }
  }
}
