import Crypto
import Domain
import JOSE
import Sessions
import Storage
import TestSupport
import Testing
import Wire

private let now = UnixTime(1_750_000_000)

@Suite struct AnonymousSessionTests {
  @Test func `an anonymous token says so, and names nobody`() async throws {
    let bench = try SessionBench(entropy: zeroEntropy)
    let issued = try await bench.issuer.openAnonymousSession()
    #expect(issued.isNewUser && issued.account.isAnonymous)
    #expect(
      String(decoding: try bench.payload(issued.idToken), as: UTF8.self)
        == #"{"iss":"https://auth.example.com","aud":"bramley","sub":"AAAAAAAAAAAAAAAAAAAAAAAAAAAA","#
        + #""user_id":"AAAAAAAAAAAAAAAAAAAAAAAAAAAA","iat":1750000000,"exp":1750003600,"auth_time":1750000000,"#
        + #""sid":"684ee180000000000000000000000000","provider_id":"anonymous","#
        + #""firebase":{"identities":{},"sign_in_provider":"anonymous"}}"#)
    #expect(try bench.issuer.verify(issued.idToken.reveal()).account == issued.account.id)
  }

  @Test func `every one is somebody else, and stays so when refreshed`() async throws {
    let bench = try SessionBench()
    let first = try await bench.issuer.openAnonymousSession()
    let second = try await bench.issuer.openAnonymousSession()
    #expect(first.account.id != second.account.id)
    let refreshed = try await bench.issuer.refresh(first.refreshToken.reveal()).session
    #expect(refreshed.account.id == first.account.id)
    #expect(try bench.claims(refreshed.idToken).text("provider_id") == "anonymous")
  }

  @Test func `linking Apple keeps the account, ends its other sessions and the bearer's`() async throws {
    let bench = try SessionBench()
    let guest = try await bench.issuer.openAnonymousSession()
    let bearer = try bench.issuer.verify(guest.idToken.reveal())
    // An anonymous account may be upgraded at any time.
    bench.clock.advance(3000)
    let linked = try await bench.issuer.signIn(bench.request(link: bearer))
    #expect(linked.account.id == guest.account.id)
    #expect(linked.session.id != guest.session.id)
    #expect(!linked.account.isAnonymous && !linked.isNewUser)
    let claims = try bench.claims(linked.idToken)
    #expect(claims["provider_id"] == nil)
    #expect(try claims.optionalObject("firebase")?.text("sign_in_provider") == "apple.com")
    #expect(try await bench.storage.sessions(of: guest.account.id).map(\.id) == [linked.session.id])
    let refresh = guest.refreshToken.reveal()
    let over = await refusal { try await bench.issuer.refresh(refresh).session }
    #expect(over == .sessionOver(.ended))
    let account = await refusal { try await bench.issuer.account(of: bearer) }
    #expect(account == .bearer(.sessionOver(.ended)))
  }
}

@Suite struct BearerTests {
  private func signedIn(_ bench: SessionBench) async throws -> (
    issued: IssuedSession, bearer: SessionTokenClaims
  ) {
    let issued = try await bench.issuer.signIn(bench.request())
    return (issued, try bench.issuer.verify(issued.idToken.reveal()))
  }

  @Test func `a bearer sees and changes the account`() async throws {
    let bench = try SessionBench()
    let (issued, bearer) = try await signedIn(bench)
    #expect(try await bench.issuer.account(of: bearer) == issued.account)
    var change = AccountChange()
    change.displayName = .set("Countess")
    guard case .changed(let account) = try await bench.issuer.change(change, of: bearer) else {
      Issue.record("not changed")
      return
    }
    #expect(account.displayName == "Countess")
    #expect(try await bench.issuer.account(of: bearer) == account)
  }

  @Test(arguments: [(300, true), (301, false)] as [(Int64, Bool)])
  func `to unlink and to delete one must have signed in recently`(_ age: Int64, _ isRecent: Bool) async throws
  {
    let bench = try SessionBench()
    let (_, bearer) = try await signedIn(bench)
    bench.clock.advance(age)
    var change = AccountChange()
    change.removedProviders = ["apple.com"]
    let outcome = try await bench.issuer.change(change, of: bearer)
    #expect((outcome == .refused(.loginTooOld)) != isRecent)
    let refused = await refusal { try await bench.issuer.deleteAccount(of: bearer) }
    #expect(refused == (isRecent ? nil : .bearer(.loginTooOld)))
  }

  @Test func `what is deleted is gone at once, and comes back as somebody else`() async throws {
    let bench = try SessionBench()
    let (issued, bearer) = try await signedIn(bench)
    try await bench.issuer.deleteAccount(of: bearer)
    let token = issued.refreshToken.reveal()
    let refreshed = await refusal { try await bench.issuer.refresh(token).session }
    #expect(refreshed == .accountNotFound)
    let again = await refusal { try await bench.issuer.deleteAccount(of: bearer) }
    #expect(again == .bearer(.accountNotFound))
    let request = try bench.request()
    let used = await refusal { try await bench.issuer.signIn(request) }
    #expect(used == .credentialAlreadyUsed)
    let next = try await bench.issuer.signIn(bench.request(digest: 2))
    #expect(next.isNewUser)
    #expect(next.account.id != issued.account.id)
  }
}

@Suite struct SessionCookieTests {
  @Test func `a cookie says what its token says, for longer, by another issuer`() async throws {
    let bench = try SessionBench()
    try await bench.register("account", email: "ada@example.com", customClaims: #"{"role":"admin"}"#)
    let issued = try await bench.issuer.signIn(bench.request())
    let bearer = try bench.issuer.verify(issued.idToken.reveal())
    bench.clock.advance(100)
    let cookie = try await bench.issuer.sessionCookie(for: bearer, lifetime: 1_209_600)
    var expected = String(decoding: try bench.payload(issued.idToken), as: UTF8.self)
    expected = expected.replacing(
      "https://auth.example.com", with: "https://session.firebase.google.com/bramley")
    expected = expected.replacing(#""iat":1750000000"#, with: #""iat":1750000100"#)
    expected = expected.replacing(#""exp":1750003600"#, with: #""exp":1751209700"#)
    #expect(String(decoding: try bench.payload(cookie), as: UTF8.self) == expected)
    #expect(expected.contains(#""auth_time":1750000000"#))
    #expect(expected.hasPrefix(#"{"role":"admin","iss":"#))
  }

  @Test func `the key of a cookie is published as long as the cookie lives, which is on disk before it`()
    async throws
  {
    let storage = MemoryStorage()
    let key = try PrivateKey.generate(.es256)
    _ = try await storage.replaceSigningKeys(expecting: 0, with: [record(key, role: .active)])
    let bench = try SessionBench(storage: storage)
    bench.issuer.take(try SigningKeys(opening: await storage.signingKeys(), with: ring(1), known: nil))
    let bearer = try bench.issuer.verify(
      try await bench.issuer.signIn(bench.request()).idToken.reveal())
    for (lifetime, end, version) in [
      // Whole days, so that the second cookie of a day writes nothing.
      (1_209_600, 1_751_241_600, 2), (1_209_500, 1_751_241_600, 2), (300, 1_751_241_600, 2),
    ] as [(Int64, Int64, Int64)] {
      _ = try await bench.issuer.sessionCookie(for: bearer, lifetime: lifetime)
      let book = try await storage.signingKeys()
      #expect(book.keys[0].cookiesUntil == UnixTime(end))
      #expect(book.version == version)
      #expect(bench.issuer.keys.version == version)
    }
    bench.clock.advance(86_400)
    _ = try await bench.issuer.sessionCookie(for: bearer, lifetime: 1_209_600)
    #expect(try await storage.signingKeys().keys[0].cookiesUntil == UnixTime(1_751_328_000))
  }

  @Test func `a cookie is signed with a key that signs by then, not with one that was revoked`() async throws
  {
    let storage = MemoryStorage()
    let bench = try SessionBench(storage: storage)
    let old = try PrivateKey.generate(.es256)
    let stale = SigningKeyBook(version: 1, keys: [try record(old, role: .active)])
    bench.issuer.take(try SigningKeys(opening: stale, with: ring(1), known: nil))
    let bearer = try bench.issuer.verify(
      try await bench.issuer.signIn(bench.request()).idToken.reveal())
    let new = try PrivateKey.generate(.es256)
    _ = try await storage.replaceSigningKeys(expecting: 0, with: [record(new, role: .active)])
    let cookie = try await bench.issuer.sessionCookie(for: bearer, lifetime: 3000)
    #expect(try CompactToken(parsing: cookie.reveal().utf8).header.keyID == thumbprint(of: new.publicKey))
  }

  @Test func `G08 a cookie is no session token`() async throws {
    let bench = try SessionBench()
    let issued = try await bench.issuer.signIn(bench.request())
    let bearer = try bench.issuer.verify(issued.idToken.reveal())
    let cookie = try await bench.issuer.sessionCookie(for: bearer, lifetime: 300).reveal()
    #expect(throws: SessionTokenError.invalid) { try bench.issuer.verify(cookie) }
  }

  @Test func `a cookie never outlives its session`() async throws {
    let bench = try SessionBench(rules(absolute: 4000))
    let issued = try await bench.issuer.signIn(bench.request())
    let bearer = try bench.issuer.verify(issued.idToken.reveal())
    bench.clock.advance(1000)
    let cookie = try await bench.issuer.sessionCookie(for: bearer, lifetime: 1_209_600)
    #expect(try bench.claims(cookie).optionalInteger("exp") == now.seconds + 4000)
  }

  @Test func `a session that is over, a disabled and a deleted account get none`() async throws {
    let bench = try SessionBench()
    let issued = try await bench.issuer.signIn(bench.request())
    let bearer = try bench.issuer.verify(issued.idToken.reveal())
    var change = AccountChange()
    change.isDisabled = true
    try await bench.administer(bearer.account, change)
    let disabled = await refusal { try await bench.issuer.sessionCookie(for: bearer, lifetime: 300) }
    #expect(disabled == .bearer(.accountDisabled))
    change.isDisabled = false
    change.validSince = bench.clock.now
    try await bench.administer(bearer.account, change)
    let revoked = await refusal { try await bench.issuer.sessionCookie(for: bearer, lifetime: 300) }
    #expect(revoked == .bearer(.sessionOver(.revoked)))
    let next = try await bench.issuer.signIn(bench.request(digest: 2))
    let other = try bench.issuer.verify(next.idToken.reveal())
    try await bench.issuer.deleteAccount(of: other)
    let deleted = await refusal { try await bench.issuer.sessionCookie(for: other, lifetime: 300) }
    #expect(deleted == .bearer(.accountNotFound))
  }
}
