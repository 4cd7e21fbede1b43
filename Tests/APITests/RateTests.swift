import API
import Domain
import HTTPServer
import TestSupport
import Testing
import Wire

@Suite struct RateTests {
  @Test func `a bucket holds its count and fills again bit by bit`() {
    let limiter = RateLimiter(rate: Rate(count: 3, period: 60), places: 64, seed: 1)
    func take(_ key: UInt8, _ seconds: Int64) -> Int64? {
      limiter.take([key], at: SteadyTime(milliseconds: seconds * 1000))
    }
    for _ in 0..<3 { #expect(take(1, 0) == nil) }
    #expect(take(1, 0) == 20)
    #expect(take(1, 19) == 1)
    #expect(take(2, 19) == nil, "another key has a bucket of its own")
    #expect(take(1, 20) == nil)
    #expect(take(1, 20) == 20)
    for _ in 0..<3 { #expect(take(1, 1000) == nil) }
    #expect(take(1, 1000) == 20)
    #expect(take(1, 900) == 20, "a clock that goes back gives nothing")
  }

  @Test func `what is given back can be taken again, and never more than that`() {
    let limiter = RateLimiter(rate: Rate(count: 1, period: 60), places: 8, seed: 1)
    let now = SteadyTime(milliseconds: 0)
    limiter.giveBack([1], at: now)
    for _ in 0..<5 {
      #expect(limiter.take([1], at: now) == nil)
      limiter.giveBack([1], at: now)
    }
    limiter.giveBack([1], at: now)
    #expect(limiter.take([1], at: now) == nil)
    #expect(limiter.take([1], at: now) == 60)
  }

  @Test func `every place of the table is used`() {
    let limiter = RateLimiter(rate: Rate(count: 1, period: 3600), places: 4096, seed: 1)
    let now = SteadyTime(milliseconds: 0)
    // With half of the sets unused, a quarter of these would have been forgotten by the second time.
    let keys = (0..<2000).map { [UInt8($0 >> 8), UInt8($0 & 255)] }
    for key in keys { _ = limiter.take(key, at: now) }
    let remembered = keys.filter { limiter.take($0, at: now) != nil }
    #expect(remembered.count > 1900)
  }

  @Test func `a flood of keys empties nobody's bucket and refills no empty one for long`() {
    let limiter = RateLimiter(rate: Rate(count: 10, period: 3600), places: 8, seed: 1)
    let now = SteadyTime(milliseconds: 0)
    for _ in 0..<10 { #expect(limiter.take([1], at: now) == nil) }
    for key in 0..<200 { _ = limiter.take([2, UInt8(key)], at: now) }
    #expect(limiter.take([1], at: now) != nil)
  }

  @Test func `too many sign-ins of one address or of one person are told when to come back`() async throws {
    let bench = try await Bench(signIn: Rate(count: 2, period: 60))
    for _ in 0..<2 { #expect(try await bench.signIn().status == 200) }
    let third = try await bench.signIn()
    #expect(third.status == 429)
    #expect(third.reason == "too_many_attempts_try_later")
    #expect(third.headers.all("Retry-After") == ["30"])
    #expect(try third.object().optionalObject("error")?.text("status") == "RESOURCE_EXHAUSTED")
    bench.clock.advance(30)
    #expect(try await bench.signIn().status == 200)
  }

  @Test func `too many new accounts of one address keep out new people only`() async throws {
    let answer = ScriptedFetcher.Step.answer(.json(TokenForge.apple.keySet))
    let bench = try await Bench(steps: [answer, answer], signUp: Rate(count: 1, period: 3600))
    let claims = AppleClaims(issuedAt: bench.clock.now)
    func signIn(_ subject: String) async throws -> Response {
      let token = claims.setting("sub", text: subject).setting("iat", String(bench.clock.now.seconds))
      return try await bench.post("/v1/signInWithIdp", bench.signInBody(claims: token))
    }
    #expect(try await signIn("ada").status == 200)
    let second = try await signIn("eve")
    #expect(second.status == 429)
    #expect(second.reason == "too_many_attempts_try_later")
    bench.clock.advance(1)
    #expect(try await signIn("ada").status == 200)
    bench.clock.advance(3600)
    #expect(try await signIn("eve").status == 200)
  }

  @Test func `too many refreshes of one session are refused before storage is asked`() async throws {
    let bench = try await Bench(refresh: Rate(count: 1, period: 60))
    let token = try #require(try await bench.signIn().object().text("refreshToken"))
    let body = #"{"grant_type":"refresh_token","refresh_token":"\#(token)"}"#
    #expect(try await bench.post("/v1/token", body).status == 200)
    #expect(try await bench.post("/v1/token", body).status == 429)
  }

  @Test(
    arguments: [
      (["10.0.0.9"], "192.0.2.1", "192.0.2.2", false), (["127.0.0.0/8"], "192.0.2.1", "192.0.2.2", true),
      (["127.0.0.0/8"], "192.0.2.1, 198.51.100.1", "192.0.2.2, 198.51.100.1", false),
      (["127.0.0.0/8", "198.51.100.0/24"], "192.0.2.1, 198.51.100.1", "192.0.2.2,198.51.100.1", true),
      (["127.0.0.0/8"], "2001:db8::1", "2001:db8::2", false),
      (["127.0.0.0/8"], "2001:db8::1", "2001:db8:0:1::1", true),
      (["127.0.0.0/8"], "unknown", "garbage", false),
      (["127.0.0.0/8"], "192.0.2.1:80", "192.0.2.2:81", true),
      (["127.0.0.0/8"], "192.0.2.1:80", "192.0.2.1:81", false),
      (["127.0.0.0/8"], "[2001:db8::1]:80", "[2001:db8:0:1::1]:80", true),
      (["127.0.0.0/8"], "192.0.2.1:80:1", "192.0.2.2:80:1", false),
    ] as [([String], String, String, Bool)])
  func `attack 29 attack 30 an address is counted by what a trusted proxy says, and by nothing else`(
    _ proxies: [String], _ one: String, _ other: String, _ areApart: Bool
  ) async throws {
    let bench = try await Bench(refresh: Rate(count: 1, period: 60), proxies: proxies)
    func status(_ forwarded: String) async throws -> Int {
      try await bench.post(
        "/v1/token", "{}",
        headers: ["X-Forwarded-For": forwarded, "X-Real-IP": "203.0.113.9", "Forwarded": "for=203.0.113.9"]
      ).status
    }
    #expect(try await status(one) == 400)
    #expect(try await status(one) == 429)
    #expect(try await status(other) == (areApart ? 400 : 429))
  }
}
