import Crypto
import Domain
import Sessions
import Storage
import TestSupport
import Testing
import Wire

private let now = UnixTime(1_750_000_000)

@Suite struct ChallengeTests {
  @Test func `a challenge is recognised and says when it ends`() throws {
    let ring = try ring(1)
    let challenge = ring.makeChallenge(at: now, entropy: .seeded(1))
    #expect(challenge.expiresAt == now + 300)
    #expect(ring.challenge(from: challenge.text) == challenge)
    #expect(challenge.text.hasPrefix("bch1."))
    #expect(challenge.text.utf8.count <= Limits.nonceBytes)
    #expect(challenge.hashed == hexText(sha256(Array(challenge.text.utf8))))
    #expect(ring.makeChallenge(at: now, entropy: .seeded(2)) != challenge)
  }

  @Test func `an expired challenge is still a challenge`() throws {
    let ring = try ring(1)
    let challenge = ring.makeChallenge(at: now - 1_000_000, entropy: .seeded(1))
    #expect(ring.challenge(from: challenge.text)?.expiresAt == now - 1_000_000 + 300)
  }

  @Test func `every changed bit makes an ordinary nonce of it`() throws {
    let ring = try ring(1)
    let text = ring.makeChallenge(at: now, entropy: .seeded(1)).text
    let bytes = try decodeBase64URL(text.utf8.dropFirst(5))
    for bit in 0..<(bytes.count * 8) {
      var wrong = bytes
      wrong[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(ring.challenge(from: "bch1." + base64URLText(wrong)) == nil)
    }
  }

  @Test func `our prefix alone, another's challenge and other texts are ordinary nonces`() throws {
    let ring = try ring(1)
    let foreign = try SessionsTests.ring(2).makeChallenge(at: now, entropy: .seeded(1)).text
    let own = ring.makeChallenge(at: now, entropy: .seeded(1)).text
    for nonce in [
      "bch1.", "bch1.AAAA", foreign, own + "A", String(own.dropLast()), " " + own, "BCH1." + own.dropFirst(5),
      "",
    ] {
      #expect(ring.challenge(from: nonce) == nil)
    }
    #expect(try SessionsTests.ring(2, 1).challenge(from: own) != nil)
  }

  @Test func `who demands a challenge takes nothing else`() async throws {
    let bench = try SessionBench()
    let request = try bench.request(nonce: "ordinary", demandsChallenge: true)
    await #expect(throws: SessionRefusal.objected(.challengeRequired)) {
      try await bench.issuer.signIn(request)
    }
    let foreign = try SessionsTests.ring(2).makeChallenge(at: bench.clock.now, entropy: .seeded(1)).text
    let forged = try bench.request(nonce: foreign, demandsChallenge: true)
    await #expect(throws: SessionRefusal.objected(.challengeRequired)) {
      try await bench.issuer.signIn(forged)
    }
    _ = try await bench.issuer.signIn(bench.request(nonce: foreign))
  }

  @Test func `a challenge is good for five minutes, and a failed attempt burns nothing`() async throws {
    let bench = try SessionBench()
    let nonce = bench.issuer.makeChallenge().text
    bench.clock.advance(300)
    let late = try bench.request(nonce: nonce, demandsChallenge: true)
    await #expect(throws: SessionRefusal.objected(.challengeExpired)) { try await bench.issuer.signIn(late) }
    bench.clock.step(by: -1)
    _ = try await bench.issuer.signIn(late)
  }

  @Test func `an expired challenge is refused for every client`() async throws {
    let bench = try SessionBench()
    let nonce = bench.issuer.makeChallenge().text
    bench.clock.advance(300)
    let late = try bench.request(nonce: nonce, demandsChallenge: false)
    await #expect(throws: SessionRefusal.objected(.challengeExpired)) { try await bench.issuer.signIn(late) }
  }

  @Test func `a challenge is used once, whatever token it comes with`() async throws {
    let bench = try SessionBench()
    let nonce = bench.issuer.makeChallenge().text
    _ = try await bench.issuer.signIn(bench.request(digest: 1, nonce: nonce, demandsChallenge: true))
    let second = try bench.request(digest: 2, nonce: nonce, demandsChallenge: true)
    await #expect(throws: SessionRefusal.credentialAlreadyUsed) { try await bench.issuer.signIn(second) }
  }
}
