import Domain
import Sessions
import Storage
import TestSupport
import Testing
import Wire

private let prefix = "bpt1."

private let longestName = PersonName(
  givenName: String(repeating: "\"", count: 100), familyName: String(repeating: "日", count: 100),
  middleName: String(repeating: "\u{1F34E}", count: 100), namePrefix: String(repeating: "\\", count: 100),
  nameSuffix: String(repeating: "é", count: 100), nickname: "n")

/// The bytes behind a pending token's prefix.
private func bytes(of token: String) throws -> [UInt8] {
  try decodeBase64URL(token.utf8.dropFirst(prefix.utf8.count))
}

@Suite struct PendingCredentialTests {
  @Test(
    arguments: [nil, "ada@example.com", String(repeating: "a", count: 318) + "@b"],
    [
      nil, PersonName(), PersonName(givenName: "Ada"), longestName,
    ])
  func `everything comes back from the text`(_ email: String?, _ name: PersonName?) throws {
    let bench = try SessionBench()
    let challenge = bench.issuer.makeChallenge()
    let request = try bench.request(email: email, name: name, digest: 7, nonce: challenge.text)
    let token = try #require(bench.issuer.pendingToken(for: request))
    let pending = try #require(bench.issuer.pendingCredential(from: token))
    #expect(pending.identity == request.identity)
    #expect(pending.audience == request.audience)
    #expect(pending.profile == request.profile)
    #expect(pending.name == name)
    #expect(pending.credential == CredentialKey(stamp: request.tokenIssuedAt, digest: request.tokenDigest))
    #expect(pending.credentialExpiresAt == request.tokenExpiresAt + 60)
    #expect(pending.challenge == CredentialKey(stamp: challenge.expiresAt, digest: challenge.digest))
    #expect(pending.expiresAt == bench.clock.now + 600)
  }

  @Test(
    arguments: [nil, .unsupported, .unknown, .likelyReal] as [RealUserStatus?],
    [
      (true, false), (false, true),
    ])
  func `the marks of an address and a person come back`(
    _ status: RealUserStatus?, _ marks: (isVerified: Bool, isPrivate: Bool)
  ) throws {
    let bench = try SessionBench()
    let plain = try bench.request()
    let request = SignInRequest(
      identity: plain.identity, audience: plain.audience,
      profile: Profile(
        email: plain.profile.email, isEmailVerified: marks.isVerified, isPrivateEmail: marks.isPrivate,
        realUserStatus: status),
      name: nil, device: nil, tokenDigest: plain.tokenDigest, tokenIssuedAt: plain.tokenIssuedAt,
      tokenExpiresAt: plain.tokenExpiresAt, isTokenTooOld: false, rawNonce: "nonce", demandsChallenge: false,
      link: nil)
    let token = try #require(bench.issuer.pendingToken(for: request))
    let pending = bench.issuer.pendingCredential(from: token)
    #expect(pending?.profile == request.profile)
    #expect(pending?.challenge == nil)
  }

  @Test func `it is good for ten minutes`() throws {
    let bench = try SessionBench()
    let token = try #require(bench.issuer.pendingToken(for: bench.request()))
    bench.clock.advance(599)
    #expect(bench.issuer.pendingCredential(from: token) != nil)
    bench.clock.advance(1)
    #expect(bench.issuer.pendingCredential(from: token) == nil)
  }

  @Test func `every changed byte and every shorter text is refused`() throws {
    let bench = try SessionBench(entropy: .seeded(3))
    let token = try #require(bench.issuer.pendingToken(for: bench.request()))
    let whole = try bytes(of: token)
    for index in whole.indices {
      var changed = whole
      changed[index] ^= 1 << UInt8(index % 8)
      #expect(bench.issuer.pendingCredential(from: prefix + base64URLText(changed)) == nil)
    }
    for length in 0..<token.utf8.count {
      #expect(bench.issuer.pendingCredential(from: String(token.prefix(length))) == nil)
    }
    for wrong in [
      "bpt2." + token.dropFirst(5), String(token.dropFirst(5)), "BPT1." + token.dropFirst(5),
      token + "A", token + "=", " " + token, "bch1." + token.dropFirst(5),
      prefix + String(repeating: "A", count: 9000),
    ] {
      #expect(bench.issuer.pendingCredential(from: wrong) == nil)
    }
  }

  @Test func `a ring opens it as long as it holds the key that made it`() throws {
    let maker = try SessionBench()
    let token = try #require(maker.issuer.pendingToken(for: maker.request()))
    #expect(try SessionBench(ring: ring(2, 1)).issuer.pendingCredential(from: token) != nil)
    #expect(try SessionBench(ring: ring(2)).issuer.pendingCredential(from: token) == nil)
    var renamed = try bytes(of: token)
    renamed.replaceSubrange(..<8, with: try masterKey(2).id.bytes)
    let forged = prefix + base64URLText(renamed)
    #expect(try SessionBench(ring: ring(2, 1)).issuer.pendingCredential(from: forged) == nil)
  }

  @Test func `nothing in it can be read, and no two are alike`() throws {
    let bench = try SessionBench()
    let request = try bench.request(name: PersonName(givenName: "Ada", familyName: "Lovelace"))
    let token = try #require(bench.issuer.pendingToken(for: request))
    let haystack = String(decoding: try bytes(of: token), as: UTF8.self)
    for needle in ["ada@", "example", "Lovelace", String(AppleClaims.subject.prefix(6)), "apple", "sub"] {
      #expect(!haystack.contains(needle))
      #expect(!token.contains(needle))
    }
    #expect(bench.issuer.pendingToken(for: request) != token)
  }
}

@Suite(.timeLimit(.minutes(3)))
struct PendingSignInTests {
  /// A person's second identity meets its own account: the request, and the pending token that follows.
  private func conflict(
    _ bench: SessionBench, nonce: String = "nonce"
  ) async throws -> (owner: IssuedSession, request: SignInRequest, pending: PendingCredential) {
    let owner = try await bench.issuer.signIn(bench.request(digest: 90))
    let guest = try await bench.issuer.openAnonymousSession()
    let link = try bench.issuer.verify(guest.idToken.reveal())
    let request = try bench.request(digest: 91, nonce: nonce, link: link)
    let refused = await refusal { try await bench.issuer.signIn(request, createsAccount: true) }
    #expect(refused == .identityAlreadyLinked)
    let token = try #require(bench.issuer.pendingToken(for: request))
    return (owner, request, try #require(bench.issuer.pendingCredential(from: token)))
  }

  private func request(_ pending: PendingCredential, link: SessionTokenClaims? = nil) -> PendingSignInRequest
  {
    PendingSignInRequest(pending: pending, device: nil, link: link)
  }

  private func withoutLink(_ request: SignInRequest) -> SignInRequest {
    SignInRequest(
      identity: request.identity, audience: request.audience, profile: request.profile, name: request.name,
      device: nil, tokenDigest: request.tokenDigest, tokenIssuedAt: request.tokenIssuedAt,
      tokenExpiresAt: request.tokenExpiresAt, isTokenTooOld: false, rawNonce: request.rawNonce,
      demandsChallenge: false, link: nil)
  }

  @Test func `it opens the session of whom it met, once, and uses up the credential`() async throws {
    let bench = try SessionBench()
    let (owner, original, pending) = try await conflict(bench)
    let issued = try await bench.issuer.signIn(request(pending), createsAccount: false)
    #expect(issued.account.id == owner.account.id)
    #expect(!issued.isNewUser && !issued.isRepeat)
    let again = await refusal { try await bench.issuer.signIn(request(pending), createsAccount: true) }
    #expect(again == .pendingTokenInvalid)
    for credential in [original, withoutLink(original)] {
      let used = await refusal { try await bench.issuer.signIn(credential, createsAccount: true) }
      #expect(used == .credentialAlreadyUsed)
    }
  }

  @Test func `the credential uses it up`() async throws {
    let bench = try SessionBench()
    let (owner, original, pending) = try await conflict(bench)
    let issued = try await bench.issuer.signIn(withoutLink(original))
    #expect(issued.account.id == owner.account.id)
    let late = await refusal { try await bench.issuer.signIn(request(pending), createsAccount: true) }
    #expect(late == .pendingTokenInvalid)
  }

  @Test func `another pending token of the same credential is used up with it`() async throws {
    let bench = try SessionBench()
    let (_, original, pending) = try await conflict(bench)
    let token = try #require(bench.issuer.pendingToken(for: original))
    let other = try #require(bench.issuer.pendingCredential(from: token))
    _ = try await bench.issuer.signIn(request(pending), createsAccount: false)
    let refused = await refusal { try await bench.issuer.signIn(request(other), createsAccount: false) }
    #expect(refused == .pendingTokenInvalid)
  }

  @Test func `twenty redemptions at once are one session`() async throws {
    let bench = try SessionBench()
    let (owner, _, pending) = try await conflict(bench)
    let issuer = bench.issuer
    let request = request(pending)
    let answers = await withTaskGroup(of: SessionRefusal?.self) { group in
      for _ in 0..<20 {
        group.addTask { await refusal { try await issuer.signIn(request, createsAccount: true) } }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let sessions = answers.count { $0 == nil }
    let refusals = answers.count { $0 == .pendingTokenInvalid }
    #expect(sessions == 1)
    #expect(refusals == 19)
    #expect(try await bench.storage.sessions(of: owner.account.id).count == 2)
  }

  @Test func `an attempt that fails uses nothing up`() async throws {
    let bench = try SessionBench()
    let token = try #require(bench.issuer.pendingToken(for: bench.request()))
    let pending = try #require(bench.issuer.pendingCredential(from: token))
    let unknown = await refusal { try await bench.issuer.signIn(request(pending), createsAccount: false) }
    #expect(unknown == .unknownIdentity)
    let issued = try await bench.issuer.signIn(request(pending), createsAccount: true)
    #expect(issued.isNewUser)
    #expect(issued.account.profile.email?.text == "ada@example.com")
  }

  @Test func `a challenge that it brings is used up as well`() async throws {
    let bench = try SessionBench()
    let nonce = bench.issuer.makeChallenge().text
    let (_, _, pending) = try await conflict(bench, nonce: nonce)
    _ = try await bench.issuer.signIn(request(pending), createsAccount: false)
    let reused = try bench.request(digest: 5, nonce: nonce)
    let refused = await refusal { try await bench.issuer.signIn(reused) }
    #expect(refused == .credentialAlreadyUsed)
  }

  @Test func `a challenge that was used meanwhile makes it invalid`() async throws {
    let bench = try SessionBench()
    let nonce = bench.issuer.makeChallenge().text
    let (_, _, pending) = try await conflict(bench, nonce: nonce)
    _ = try await bench.issuer.signIn(bench.request(digest: 5, nonce: nonce))
    let refused = await refusal { try await bench.issuer.signIn(request(pending), createsAccount: false) }
    #expect(refused == .pendingTokenInvalid)
  }

  @Test func `it links like the credential itself, and is refused like it`() async throws {
    let bench = try SessionBench()
    let guest = try await bench.issuer.openAnonymousSession()
    let link = try bench.issuer.verify(guest.idToken.reveal())
    let (_, _, pending) = try await conflict(bench)
    let held = await refusal {
      try await bench.issuer.signIn(request(pending, link: link), createsAccount: false)
    }
    #expect(held == .identityAlreadyLinked)
    let token = try #require(
      bench.issuer.pendingToken(for: bench.request(subject: "another", email: nil, digest: 6)))
    let other = try #require(bench.issuer.pendingCredential(from: token))
    let linked = try await bench.issuer.signIn(request(other, link: link), createsAccount: false)
    #expect(linked.account.id == guest.account.id)
    #expect(linked.account.identities.map(\.subject.text) == ["another"])
  }

  @Test func `L07 who meets an account by its address links with it once signed in there`() async throws {
    let bench = try SessionBench(linking: .verifiedEmail)
    let owner = try await bench.issuer.signIn(with: customToken(uid: "owner"), createsAccount: true)
    var change = AccountChange()
    change.email = .set(try #require(EmailAddress("ada@example.com")))
    try await bench.administer(owner.account.id, change)
    let held = try #require(await bench.storage.account(owner.account.id))
    let original = try bench.request()
    let met = await refusal { try await bench.issuer.signIn(original) }
    #expect(met == .emailHeld(held))
    let token = try #require(bench.issuer.pendingToken(for: original))
    let pending = try #require(bench.issuer.pendingCredential(from: token))
    let again = await refusal { try await bench.issuer.signIn(request(pending), createsAccount: true) }
    #expect(again == .emailHeld(held))
    let link = try bench.issuer.verify(owner.idToken.reveal())
    let linked = try await bench.issuer.signIn(request(pending, link: link), createsAccount: true)
    #expect(linked.account.id == owner.account.id)
    #expect(linked.account.identities.map(\.provider) == ["apple.com"])
    let used = await refusal { try await bench.issuer.signIn(original) }
    #expect(used == .credentialAlreadyUsed)
  }
}
