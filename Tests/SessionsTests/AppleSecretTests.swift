import Domain
import Sessions
import Storage
import TestSupport
import Testing

private let id = AppleSecretID(at: UnixTime(1_750_000_000), from: .seeded(1))
private let other = AppleSecretID(at: UnixTime(1_750_000_000), from: .seeded(2))

/// What Apple gave out, as it is kept.
@Suite struct AppleSecretTests {
  @Test func `a secret is opened by its own id and kind and master key alone`() throws {
    let ring = try ring(1)
    let secret = try ring.seal(Secret("r.example.token"), as: .refreshToken, id: id, entropy: .system)
    #expect(secret.masterKey == ring.current.id)
    #expect(ring.open(secret)?.reveal() == "r.example.token")
    #expect(String(decoding: secret.sealed, as: UTF8.self).contains("example") == false)
    func moved(
      to id: AppleSecretID = id, _ kind: AppleSecretKind = .refreshToken, _ sealed: [UInt8]? = nil,
      _ key: MasterKeyID? = nil
    ) -> AppleSecret {
      AppleSecret(id: id, kind: kind, sealed: sealed ?? secret.sealed, masterKey: key ?? secret.masterKey)
    }
    #expect(ring.open(moved())?.reveal() == "r.example.token")
    #expect(ring.open(moved(to: other)) == nil)
    #expect(ring.open(moved(to: id, .accessToken)) == nil)
    for place in secret.sealed.indices {
      var changed = secret.sealed
      changed[place] ^= 1
      #expect(ring.open(moved(to: id, .refreshToken, changed)) == nil)
    }
    #expect(ring.open(moved(to: id, .refreshToken, [])) == nil)
    let stranger = try SessionsTests.ring(2)
    #expect(stranger.open(secret) == nil)
    #expect(stranger.open(moved(to: id, .refreshToken, nil, stranger.current.id)) == nil)
    #expect(try SessionsTests.ring(2, 1).open(secret)?.reveal() == "r.example.token")
  }

  @Test func `no two seals of one secret are alike`() throws {
    let ring = try ring(1)
    let seals = try (0..<2).map { _ in
      try ring.seal(Secret("token"), as: .code, id: id, entropy: .system).sealed
    }
    #expect(seals[0] != seals[1])
  }

  @Test func `a sign-in seals its code and rings, and one without a code does neither`() async throws {
    let bench = try SessionBench(ring: try ring(1))
    _ = try await bench.issuer.signIn(bench.request(digest: 1))
    #expect(try await bench.storage.appleWork(after: nil, limit: 9) == [])
    var request = try bench.request(digest: 2)
    request.code = AuthorizationCode(text: Secret("c0de"), redirectURI: "https://app.example.com")
    _ = try await bench.issuer.signIn(request)
    for await _ in bench.issuer.appleBell.rings { break }
    let work = try #require(try await bench.storage.appleWork(after: nil, limit: 9).first)
    #expect(work.client == request.audience)
    #expect(work.subject == request.identity.subject)
    #expect(work.redirectURI == "https://app.example.com")
    #expect(try ring(1).open(work.secret)?.reveal() == "c0de")
  }

  @Test func `everything gets the seal of the first key, but for what no key opens`() async throws {
    let bench = try SessionBench(ring: try ring(1))
    var lost = try bench.request(digest: 1)
    lost.code = AuthorizationCode(text: Secret("lost"), redirectURI: nil)
    _ = try await bench.issuer.signIn(lost)
    let stranger = try SessionBench(ring: try ring(2), storage: bench.storage, entropy: .seeded(2))
    for digest in UInt8(2)...4 {
      var request = try stranger.request(digest: digest)
      request.code = AuthorizationCode(text: Secret("code \(digest)"), redirectURI: nil)
      _ = try await stranger.issuer.signIn(request)
    }
    let both = try ring(3, 2)
    let outcome = try await rewrapAppleSecrets(in: bench.storage, ring: both, entropy: .system)
    #expect(outcome.rewrapped == 3)
    #expect(outcome.unreadable == 1)
    let work = try await bench.storage.appleWork(after: nil, limit: 9)
    let alone = try ring(3)
    #expect(Set(work.compactMap { alone.open($0.secret)?.reveal() }) == ["code 2", "code 3", "code 4"])
    let again = try await rewrapAppleSecrets(in: bench.storage, ring: both, entropy: .system)
    #expect(again.rewrapped == 0)
  }
}
