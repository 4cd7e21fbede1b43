import Crypto
import Domain
import JOSE
import ProviderTokens
import TestSupport
import Testing

private let known = TokenForge.apple.keyID
private let other = KeyID(unchecked: "OTHER")

private func at(_ seconds: Double) -> SteadyTime { SteadyTime(milliseconds: Int64(seconds * 1000)) }

private func good() throws -> KeySet { try KeySet(parsing: TokenForge.apple.keySet) }

/// A set with another key under another id.
private func rotated() throws -> KeySet {
  try KeySet(parsing: KeySet.json(of: [JSONWebKey(keyID: other, key: TokenForge.stranger.key.publicKey)]))
}

/// What a look-up came to, as something that can be compared.
private enum Outcome: Equatable {
  case use, wait, unknown, unavailable
}

/// A cache behind a reference, so that an expectation can ask it.
private final class Cache {
  private var cache = KeyCache(policy: .standard)

  var isFetching: Bool { cache.isFetching }

  func isReady(at time: SteadyTime) -> Bool { cache.isReady(at: time) }

  func tick(at time: SteadyTime) -> Bool { cache.tick(at: time) }

  func fetchEnded(_ keys: KeySet?, at time: SteadyTime) { cache.fetchEnded(keys, at: time) }

  func key(_ id: KeyID, _ seconds: Double) -> PublicKey? {
    if case .use(let key) = cache.lookUp(id, at: at(seconds), hasWaited: false).answer { key } else { nil }
  }

  func ask(_ id: KeyID, _ seconds: Double, hasWaited: Bool = false) -> (Outcome, Bool) {
    let lookup = cache.lookUp(id, at: at(seconds), hasWaited: hasWaited)
    let outcome: Outcome =
      switch lookup.answer {
      case .use: .use
      case .wait: .wait
      case .unknown: .unknown
      case .unavailable: .unavailable
      }
    return (outcome, lookup.startsFetch)
  }

  /// A cache that fetched a good set at second 0.
  static func filled() throws -> Cache {
    let cache = Cache()
    _ = cache.tick(at: at(0))
    cache.fetchEnded(try good(), at: at(0))
    return cache
  }
}

@Suite struct KeyCacheTests {
  @Test func `K02 an empty cache fetches once, and everybody else waits`() throws {
    let cache = Cache()
    #expect(!cache.isReady(at: at(0)))
    #expect(cache.ask(known, 0) == (.wait, true))
    #expect(cache.ask(known, 0) == (.wait, false))
    #expect(cache.ask(other, 1) == (.wait, false))
    #expect(!cache.tick(at: at(1)))
    #expect(cache.isFetching)
    cache.fetchEnded(try good(), at: at(1))
    #expect(!cache.isFetching)
    #expect(cache.isReady(at: at(1)))
    #expect(cache.ask(known, 1, hasWaited: true) == (.use, false))
    #expect(cache.ask(other, 1, hasWaited: true) == (.unknown, false))
  }

  @Test func `K01 the key is chosen by its id`() throws {
    let cache = Cache()
    _ = cache.tick(at: at(0))
    let keys = [
      JSONWebKey(keyID: other, key: TokenForge.stranger.key.publicKey),
      JSONWebKey(keyID: known, key: TokenForge.apple.key.publicKey),
    ]
    cache.fetchEnded(try KeySet(parsing: KeySet.json(of: keys)), at: at(0))
    #expect(cache.key(known, 1)?.numbers == TokenForge.apple.key.publicKey.numbers)
  }

  @Test func `K19 a set is fresh for an hour, then refreshed while it is used`() throws {
    let cache = try Cache.filled()
    #expect(cache.ask(known, 3599.999) == (.use, false))
    #expect(!cache.tick(at: at(3599.999)))
    #expect(cache.ask(known, 3600) == (.use, true))
    #expect(cache.ask(known, 3601) == (.use, false))
    #expect(!cache.tick(at: at(3601)))
    cache.fetchEnded(try good(), at: at(3602))
    #expect(cache.ask(known, 7201) == (.use, false))
    #expect(cache.tick(at: at(7202)))
  }

  @Test func `K08 a key that Apple withdrew goes with the next refresh`() throws {
    let cache = try Cache.filled()
    #expect(cache.tick(at: at(3600)))
    cache.fetchEnded(try rotated(), at: at(3600))
    #expect(cache.ask(other, 3601) == (.use, false))
    #expect(cache.ask(known, 3601) == (.unknown, false))
  }

  @Test func `K10 K11 a failed fetch never replaces a good set`() throws {
    let cache = try Cache.filled()
    #expect(cache.tick(at: at(3600)))
    cache.fetchEnded(nil, at: at(3605))
    #expect(cache.ask(known, 3606).0 == .use)
    #expect(cache.isReady(at: at(3606)))
  }

  @Test func `a set is believed for a day after it was fetched, and no longer`() throws {
    let cache = try Cache.filled()
    #expect(cache.tick(at: at(3600)))
    cache.fetchEnded(nil, at: at(3600))
    #expect(cache.ask(known, 86_399.999).0 == .use)
    cache.fetchEnded(nil, at: at(86_399.999))
    #expect(!cache.isReady(at: at(86_400)))
    #expect(cache.ask(known, 86_400) == (.unavailable, false))
    #expect(cache.ask(known, 86_470) == (.wait, true))
    cache.fetchEnded(nil, at: at(86_471))
    #expect(cache.ask(known, 86_471, hasWaited: true) == (.unavailable, false))
  }

  @Test func `K04 unknown ids cause one fetch a cool-down, counted from its start`() throws {
    let cache = try Cache.filled()
    #expect(cache.ask(other, 59.999) == (.unknown, false))
    #expect(cache.ask(other, 60) == (.wait, true))
    #expect(cache.ask(known, 61) == (.use, false), "a known key is served meanwhile")
    cache.fetchEnded(try good(), at: at(64))
    #expect(cache.ask(other, 64, hasWaited: true) == (.unknown, false))
    var fetches = 0
    for step in 0..<1000 {
      let (outcome, starts) = cache.ask(KeyID(unchecked: "random\(step)"), 64 + Double(step) / 20)
      #expect(outcome == .unknown)
      if starts { fetches += 1 }
    }
    #expect(fetches == 0)
    #expect(cache.ask(known, 114) == (.use, false), "the good keys are still there")
    #expect(cache.ask(other, 119.999) == (.unknown, false))
    #expect(cache.ask(other, 120) == (.wait, true))
  }

  @Test func `K05 the cool-down holds after failures and without any set`() {
    let cache = Cache()
    #expect(cache.ask(other, 0) == (.wait, true))
    cache.fetchEnded(nil, at: at(1))
    #expect(cache.ask(other, 1, hasWaited: true) == (.unavailable, false))
    #expect(cache.ask(other, 2) == (.unavailable, false))
    #expect(cache.ask(other, 59.999) == (.unavailable, false))
    #expect(cache.ask(other, 60) == (.wait, true))
  }

  @Test func `an unknown id is unknown after a success and cannot be told after a failure`() throws {
    let cache = try Cache.filled()
    #expect(cache.ask(other, 30) == (.unknown, false))
    #expect(cache.ask(other, 60) == (.wait, true))
    cache.fetchEnded(nil, at: at(65))
    #expect(cache.ask(other, 65, hasWaited: true) == (.unavailable, false))
    #expect(cache.ask(other, 66) == (.unavailable, false))
    #expect(cache.ask(known, 66).0 == .use)
  }

  @Test func `after failures the attempts that nobody asked for grow apart`() {
    let cache = Cache()
    var attempts: [Int] = []
    for second in 0..<400 where cache.tick(at: at(Double(second))) {
      attempts.append(second)
      cache.fetchEnded(nil, at: at(Double(second)))
    }
    #expect(attempts == [0, 5, 15, 35, 75, 135, 195, 255, 315, 375])
  }

  @Test func `after a success everything is as before the failures`() throws {
    let cache = Cache()
    _ = cache.tick(at: at(0))
    cache.fetchEnded(nil, at: at(0))
    #expect(cache.tick(at: at(5)))
    cache.fetchEnded(try good(), at: at(6))
    #expect(!cache.tick(at: at(100)))
    #expect(cache.tick(at: at(3606)))
    cache.fetchEnded(nil, at: at(3606))
    #expect(!cache.tick(at: at(3610)))
    #expect(cache.tick(at: at(3611)))
  }

  @Test func `who has waited once does not wait again`() throws {
    let cache = Cache()
    #expect(cache.ask(known, 0) == (.wait, true))
    #expect(cache.ask(known, 0, hasWaited: true) == (.unavailable, false))
  }
}
