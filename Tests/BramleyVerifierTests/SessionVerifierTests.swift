import BramleyVerifier
import Crypto
import Domain
import TestSupport
import Testing
import Wire

@Suite struct SessionVerifierTests {
  private let clock = ManualClock()
  private var claims: SessionClaims { SessionClaims(issuedAt: clock.now) }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `a good token says who it is`(_ algorithm: SignatureAlgorithm) async throws {
    let key = try SigningKey(algorithm)
    let session = try await IssuerDouble(key).verifier(clock).verify(key.token(claims))
    #expect(session.subject == SessionClaims.account)
    #expect(session.sessionID == SessionClaims.session)
    #expect(session.issuedAt == clock.now.seconds)
    #expect(session.expiresAt == clock.now.seconds + 3600)
    #expect(session.authenticatedAt == clock.now.seconds - 30)
    #expect(session.email == "ada@example.com")
    #expect(session.emailVerified)
    #expect(session.signInProvider == "apple.com")
  }

  @Test func `custom claims are read by kind`() async throws {
    let key = try SigningKey()
    let custom = claims.setting("level", "3").setting("share", "0.5").setting("staff", "true")
      .setting("groups", #"["a","b"]"#).setting("mixed", #"["a",1]"#).setting("email", nil)
    let session = try await IssuerDouble(key).verifier(clock).verify(key.token(custom))
    let claims = session.claims
    #expect(claims.text("role") == "gardener")
    #expect(claims.integer("level") == 3)
    #expect(claims.number("level") == 3)
    #expect(claims.number("share") == 0.5)
    #expect(claims.flag("staff") == true)
    #expect(claims.texts("groups") == ["a", "b"])
    #expect(claims.texts("mixed") == nil)
    #expect(claims.object("firebase")?.object("identities")?.texts("apple.com") == ["001"])
    #expect(claims.text("level") == nil)
    #expect(claims.names.first == "role")
    #expect(try JSONObject(parsing: claims.json).text("role") == "gardener")
    #expect(session.email == nil)
  }

  /// A claim, another value of it as JSON, and what that comes to.
  static let wrongClaims: [(name: String, json: String?, error: VerificationError)] = [
    ("iss", #""https://auth.example.com/""#, .wrongIssuer),
    ("iss", #""https://AUTH.example.com""#, .wrongIssuer),
    ("iss", #"["https://auth.example.com"]"#, .wrongIssuer),
    ("iss", nil, .wrongIssuer),
    ("aud", #""other""#, .wrongAudience), ("aud", #""Bramley""#, .wrongAudience),
    ("aud", #"["bramley"]"#, .wrongAudience), ("aud", #""bramley\u0301""#, .wrongAudience),
    ("aud", nil, .wrongAudience),
    ("exp", nil, .malformed), ("exp", #""1900000000""#, .malformed), ("exp", "1", .expired),
    ("iat", nil, .malformed), ("iat", "1900000000", .notYetValid), ("nbf", "1900000000", .notYetValid),
    ("nbf", "null", .malformed), ("sub", nil, .malformed), ("sub", #""""#, .malformed),
    ("sid", nil, .malformed), ("sid", #""0123456789ABCDEF0123456789ABCDEF""#, .malformed),
    ("auth_time", nil, .malformed),
  ]

  @Test func `a claim that is not right is refused, and causes no fetch`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    let verifier = issuer.verifier(clock)
    for (name, json, error) in Self.wrongClaims {
      let token = try key.token(claims.setting(name, json))
      await #expect(throws: error, "\(name) \(json ?? "-")") { try await verifier.verify(token) }
    }
    #expect(issuer.keyFetches == 0)
  }

  @Test func `clocks may be a minute apart`() async throws {
    let key = try SigningKey()
    let verifier = IssuerDouble(key).verifier(clock)
    let early = try key.token(SessionClaims(issuedAt: clock.now + 60))
    _ = try await verifier.verify(early)
    let tooEarly = try key.token(SessionClaims(issuedAt: clock.now + 61))
    await #expect(throws: VerificationError.notYetValid) { try await verifier.verify(tooEarly) }
    let token = try key.token(claims)
    clock.step(by: 3659)
    _ = try await verifier.verify(token)
    clock.step(by: 1)
    await #expect(throws: VerificationError.expired) { try await verifier.verify(token) }
  }

  @Test func `a changed part, a stranger's signature and a cut one are refused`() async throws {
    let (key, stranger) = (try SigningKey(), try SigningKey())
    let verifier = IssuerDouble(key).verifier(clock)
    let token = try key.token(claims)
    _ = try await verifier.verify(token)
    let parts = token.split(separator: ".").map(String.init)
    for index in parts.indices {
      var bytes = try decodeBase64URL(parts[index].utf8)
      bytes[bytes.count / 2] ^= 1
      var changed = parts
      changed[index] = base64URLText(bytes)
      await #expect(throws: VerificationError.self) {
        try await verifier.verify(changed.joined(separator: "."))
      }
    }
    let other = try key.token(claims.setting("sub", #""somebody-else""#)).split(separator: ".")[1]
    let header = #"{"alg":"ES256","kid":"\#(key.id.text)","typ":"JWT"}"#
    for bad in [
      "\(parts[0]).\(other).\(parts[2])", "\(parts[0]).\(parts[1]).",
      try stranger.token(header: header, claims),
    ] {
      await #expect(throws: VerificationError.signatureInvalid) { try await verifier.verify(bad) }
    }
    for bad in ["", "..", parts[0] + "." + parts[1], token + ".", token + "=", " " + token, token + "\n"] {
      await #expect(throws: VerificationError.malformed) { try await verifier.verify(bad) }
    }
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `the algorithm is the key's, whatever the header says`(_ algorithm: SignatureAlgorithm) async throws {
    let key = try SigningKey(algorithm)
    let verifier = IssuerDouble(key).verifier(clock)
    for name in ["none", "None", "HS256", "ES256", "RS256", "ES384", "PS256", "es256", ""]
    where name != algorithm.rawValue {
      let header = #"{"alg":"\#(name)","kid":"\#(key.id.text)","typ":"JWT"}"#
      let token = try key.token(header: header, claims)
      let unsigned = token.split(separator: ".").prefix(2).joined(separator: ".") + "."
      for bad in [token, unsigned] {
        await #expect(throws: VerificationError.signatureInvalid) { try await verifier.verify(bad) }
      }
    }
  }

  @Test func `a MAC keyed by what is public is no signature`() async throws {
    let key = try SigningKey()
    let verifier = IssuerDouble(key).verifier(clock)
    guard case .p256(let x, let y) = key.key.publicKey.numbers else { return }
    let certificate = try key.key.selfSignedCertificate(
      name: "x", serial: [1], notBefore: UnixTime(0), notAfter: UnixTime(4_000_000_000))
    let header = #"{"alg":"HS256","kid":"\#(key.id.text)","typ":"JWT"}"#
    let signed = base64URLText(Array(header.utf8)) + "." + base64URLText(Array(claims.json.utf8))
    for secret in [[4] + x + y, x, Array(certificate.utf8), Array(key.id.text.utf8), [0]] {
      let token = signed + "." + base64URLText(MACKey(secret).code(for: Array(signed.utf8)))
      await #expect(throws: VerificationError.signatureInvalid) { try await verifier.verify(token) }
    }
  }

  @Test(arguments: [
    #""kid":"../../etc/passwd""#, #""kid":"x' OR '1'='1""#, #""kid":"a\u0000b""#, #""kid":null"#, #""kid":7"#,
    #""kid":"""#, #""kid":"https://evil.example/keys""#, #""alg":"ES256""#,
    #""kid":"\#("k")","crit":["exp"]"#,
  ])
  func `a name that is no key's finds no key`(_ member: String) async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    let token = try key.token(header: #"{"typ":"JWT",\#(member)}"#, claims)
    let verifier = issuer.verifier(clock)
    for _ in 0..<20 {
      do {
        _ = try await verifier.verify(token)
        Issue.record("accepted")
      } catch {
        #expect([.malformed, .unknownKey].contains(error))
      }
    }
    #expect(issuer.keyFetches <= 1)
  }

  @Test func `a key that the token brings along or points to is not looked at`() async throws {
    let (key, stranger) = (try SigningKey(), try SigningKey())
    let issuer = IssuerDouble(key)
    let verifier = issuer.verifier(clock)
    for kid in [key.id.text, stranger.id.text] {
      let header =
        #"{"alg":"ES256","kid":"\#(kid)","typ":"JWT","jku":"https://evil.example/keys","x5u":"https://evil.example/c","jwk":{"kty":"EC"}}"#
      let token = try stranger.token(header: header, claims)
      await #expect(throws: VerificationError.self) { try await verifier.verify(token) }
    }
    #expect(issuer.keyFetches == 1)
  }

  @Test func `another kind of JWT is refused, and one that is too long before anything is read`() async throws
  {
    let key = try SigningKey()
    let verifier = IssuerDouble(key).verifier(clock)
    for type in [#""at+jwt""#, #""jwt""#, "null", #""JWT ""#] {
      let header = #"{"alg":"ES256","kid":"\#(key.id.text)","typ":\#(type)}"#
      let token = try key.token(header: header, claims)
      await #expect(throws: VerificationError.malformed) { try await verifier.verify(token) }
    }
    let name = String(repeating: "k", count: 64 * 1024)
    let long = try key.token(header: #"{"alg":"ES256","kid":"\#(name)","typ":"JWT"}"#, claims)
    await #expect(throws: VerificationError.malformed) { try await verifier.verify(long) }
    let twice = #"{"alg":"none","alg":"ES256","kid":"\#(key.id.text)","typ":"JWT"}"#
    let token = try key.token(header: twice, claims)
    await #expect(throws: VerificationError.malformed) { try await verifier.verify(token) }
  }

  @Test func `only an outage is an outage`() {
    #expect(VerificationError.keysUnavailable.isOutage)
    #expect(VerificationError.revocationsUnavailable.isOutage)
    for error in [VerificationError.malformed, .expired, .revoked, .unknownKey, .signatureInvalid] {
      #expect(!error.isOutage)
    }
  }

  @Test func `addresses that would not be fetched are refused at once`() throws {
    for issuer in [
      "http://auth.example.com", "auth.example.com", "ftp://127.0.0.1", "https://u:p@example.com",
    ] {
      #expect(throws: VerifierSetupError.self) { try SessionVerifier(issuer: issuer, audience: "bramley") }
    }
    var feed = RevocationFeed(serviceKey: "k")
    feed.url = "http://feed.example.com"
    #expect(throws: VerifierSetupError.addressNotAllowed("http://feed.example.com")) {
      try SessionVerifier(issuer: "https://auth.example.com", audience: "bramley", revocations: feed)
    }
  }
}
