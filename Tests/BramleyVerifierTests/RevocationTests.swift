import BramleyVerifier
import Domain
import TestSupport
import Testing

/// The feed of ended sessions, followed step by step.
@Suite(.timeLimit(.minutes(3)))
struct RevocationTests {
  private let clock = ManualClock()
  private var claims: SessionClaims { SessionClaims(issuedAt: clock.now) }

  private func feed(_ change: (inout RevocationFeed) -> Void = { _ in }) -> RevocationFeed {
    var feed = RevocationFeed(serviceKey: "service key of 1")
    change(&feed)
    return feed
  }

  private func session(_ id: String = SessionClaims.session, until end: Int64 = 3660) -> String {
    #"{"sid":"\#(id)","exp":\#(clock.now.seconds + end)}"#
  }

  private func account(upTo issuedAt: Int64, until end: Int64 = 3660) -> String {
    #"{"sub":"\#(SessionClaims.account)","iat":\#(issuedAt),"exp":\#(clock.now.seconds + end)}"#
  }

  @Test func `a session that was named is refused, others are not`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.addPage(cursor: "7")
    issuer.addPage(session(), cursor: "8")
    let verifier = issuer.verifier(clock, feed: feed())
    await verifier.followOnce()
    let token = try key.token(claims)
    _ = try await verifier.verify(token)
    await verifier.followOnce()
    await #expect(throws: VerificationError.revoked) { try await verifier.verify(token) }
    let other = claims.setting("sid", #""ffffffffffffffffffffffffffffffff""#)
    _ = try await verifier.verify(key.token(other))
  }

  @Test func `a disabled account's tokens up to then are refused, later ones are not`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.addPage(account(upTo: clock.now.seconds), account(upTo: clock.now.seconds - 100), cursor: "2")
    let verifier = issuer.verifier(clock, feed: feed())
    await verifier.followOnce()
    await #expect(throws: VerificationError.revoked) { try await verifier.verify(key.token(claims)) }
    _ = try await verifier.verify(key.token(SessionClaims(issuedAt: clock.now + 1)))
    _ = try await verifier.verify(key.token(claims.setting("sub", #""another""#)))
  }

  @Test func `an account that is back is let in again, until it is named anew`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.addPage(account(upTo: clock.now.seconds + 60), cursor: "1")
    issuer.addPage(account(upTo: 0), cursor: "2")
    issuer.addPage(account(upTo: 0), account(upTo: clock.now.seconds + 70), cursor: "4")
    issuer.addPage(account(upTo: clock.now.seconds + 80), account(upTo: 0), cursor: "6")
    let verifier = issuer.verifier(clock, feed: feed())
    let token = try key.token(claims)
    for isBack in [false, true, false, true] {
      await verifier.followOnce()
      if isBack {
        _ = try await verifier.verify(token)
      } else {
        await #expect(throws: VerificationError.revoked) { try await verifier.verify(token) }
      }
    }
  }

  @Test func `the feed is asked from where it was read to, with the service key`() async throws {
    let issuer = IssuerDouble(try SigningKey())
    let verifier = issuer.verifier(clock, feed: feed())
    issuer.addPage(cursor: "41")
    issuer.addPage(session(), cursor: "4 2")
    for _ in 0..<4 { await verifier.followOnce() }
    #expect(
      issuer.feedRequests.map(\.url)
        == [
          "?since=0&wait=0", "?since=41&wait=20", "?since=4%202&wait=20", "?since=4%202&wait=20",
        ].map { IssuerDouble.url + "/v1/revocations" + $0 })
    for request in issuer.feedRequests {
      #expect(request.headers.contains { $0 == ("X-API-Key", "service key of 1") })
      #expect(request.totalMilliseconds >= 10_000)
    }
  }

  @Test func `a full page is not the end, and until the end nothing is accepted`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    let verifier = issuer.verifier(clock, feed: feed())
    let entries = (0..<Limits.revocationPage).map { number in
      let digits = String(number)
      return session(String(repeating: "0", count: 32 - digits.count) + digits)
    }
    issuer.addPage(text: #"{"revocations":[\#(entries.joined(separator: ","))],"cursor":"1000"}"#)
    issuer.addPage(session(), cursor: "1001")
    await verifier.followOnce()
    let fine = claims.setting("sid", #""ffffffffffffffffffffffffffffffff""#)
    await #expect(throws: VerificationError.revocationsUnavailable) {
      try await verifier.verify(key.token(fine))
    }
    await verifier.followOnce()
    _ = try await verifier.verify(key.token(fine))
    await #expect(throws: VerificationError.revoked) { try await verifier.verify(key.token(claims)) }
    #expect(issuer.feedRequests.last?.url.hasSuffix("?since=1000&wait=0") == true)
  }

  @Test func `a feed that is silent for too long means refusal`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.addPage(cursor: "1")
    let verifier = issuer.verifier(clock, feed: feed())
    await verifier.followOnce()
    clock.advance(60)
    #expect(await verifier.followOnce() == 250)
    #expect(await verifier.followOnce() == 500)
    _ = try await verifier.verify(key.token(claims))
    clock.advance(1)
    await #expect(throws: VerificationError.revocationsUnavailable) {
      try await verifier.verify(key.token(claims))
    }
    issuer.addPage(cursor: "1")
    await verifier.followOnce()
    _ = try await verifier.verify(key.token(claims))
  }

  @Test func `or acceptance, where the caller wants that; what was named stays refused`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.addPage(session(), cursor: "1")
    let verifier = issuer.verifier(clock, feed: feed { $0.silence = .accepts })
    await verifier.followOnce()
    clock.advance(300)
    await #expect(throws: VerificationError.revoked) { try await verifier.verify(key.token(claims)) }
    _ = try await verifier.verify(key.token(claims.setting("sid", #""ffffffffffffffffffffffffffffffff""#)))
  }

  @Test func `news are asked for at once, and nothing new not more than once a second`() async throws {
    let issuer = IssuerDouble(try SigningKey())
    let verifier = issuer.verifier(clock, feed: feed { $0.tolerance = .seconds(10) })
    for cursor in ["0", "1", "2", "2"] { issuer.addPage(cursor: cursor) }
    #expect(await verifier.followOnce() == 0)
    #expect(await verifier.followOnce() == 0)
    #expect(await verifier.followOnce() == 0)
    #expect(await verifier.followOnce() == 1000)
    #expect(issuer.feedRequests.last?.url.hasSuffix("&wait=5") == true)
  }

  @Test func `the service key is printed nowhere`() {
    #expect(!String(reflecting: feed()).contains("service key of 1"))
    #expect(!"\(feed())".contains("service key of 1"))
  }

  @Test(arguments: [
    "", "{}", #"{"revocations":[],"cursor":7}"#, #"{"revocations":[7],"cursor":"7"}"#,
    #"{"revocations":[{"sid":"x","exp":9}],"cursor":"7"}"#,
    #"{"revocations":[{"sub":"x","exp":9}],"cursor":"7"}"#,
    #"{"revocations":[{"sid":"0123456789abcdef0123456789abcdef"}],"cursor":"7"}"#,
  ])
  func `a page that is not wholly understood counts as silence`(_ page: String) async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.addPage(text: page)
    let verifier = issuer.verifier(clock, feed: feed())
    #expect(await verifier.followOnce() > 0)
    await #expect(throws: VerificationError.revocationsUnavailable) {
      try await verifier.verify(key.token(claims))
    }
  }

  @Test func `the first request waits until the feed has been asked once`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.addPage(session(), cursor: "1")
    let verifier = issuer.verifier(clock, feed: feed())
    let token = try key.token(claims)
    let request = Task { try await verifier.verify(token) }
    await verifier.followOnce()
    await #expect(throws: VerificationError.revoked) { try await request.value }
  }

  @Test func `what no token can be meant by any more is forgotten`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.addPage(session(until: 100), account(upTo: clock.now.seconds, until: 100), cursor: "1")
    issuer.addPage(cursor: "1")
    issuer.addPage(cursor: "1")
    let verifier = issuer.verifier(clock, feed: feed())
    let token = try key.token(claims)
    await verifier.followOnce()
    clock.advance(159)
    await verifier.followOnce()
    await #expect(throws: VerificationError.revoked) { try await verifier.verify(token) }
    clock.advance(1)
    await verifier.followOnce()
    _ = try await verifier.verify(token)
  }
}
