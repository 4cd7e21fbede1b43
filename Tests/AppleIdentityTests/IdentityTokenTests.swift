import AppleIdentity
import Crypto
import Domain
import JOSE
import ProviderTokens
import TestSupport
import Testing
import Wire

let now = UnixTime(1_750_000_000)

func rules(
  issuers: [String] = ["https://appleid.apple.com"],
  clients: [String: NonceRule] = [AppleClaims.audience: .standard],
  maximumAge: Int64 = 3600, leeway: Int64 = 60
) -> IdentityTokenRules {
  IdentityTokenRules(
    issuers: issuers,
    clients: Dictionary(uniqueKeysWithValues: clients.map { (ClientID(unchecked: $0.key), $0.value) }),
    maximumAge: maximumAge, leeway: leeway)
}

/// Judges a token as a sign-in does, but for the nonce.
func verify(
  _ token: String, _ rules: IdentityTokenRules = rules(), at time: UnixTime = now,
  by key: PublicKey = TokenForge.apple.key.publicKey
) throws(IdentityTokenRefusal) -> VerifiedIdentityToken {
  try UnverifiedIdentityToken(parsing: token, rules: rules).verified(by: key, rules: rules, now: time)
}

private let claims = AppleClaims(issuedAt: now)

private func verify(
  _ name: String, _ json: String?, _ rules: IdentityTokenRules = rules()
) throws(IdentityTokenRefusal) -> IdentityClaims {
  try verify(TokenForge.apple.token(claims.setting(name, json)), rules).claims
}

@Suite struct IdentityTokenTests {
  @Test func `a token as Apple writes it is taken`() throws {
    let token = try verify(TokenForge.apple.token(claims))
    #expect(token.claims.issuer == "https://appleid.apple.com")
    #expect(token.claims.audience.text == AppleClaims.audience)
    #expect(token.claims.subject.text == AppleClaims.subject)
    #expect(token.claims.nonce == AppleClaims.hashedNonce)
    #expect(token.claims.issuedAt == now)
    #expect(token.claims.expiresAt == now + 86_400)
    #expect(token.claims.profile.email?.text == "abc123xyz@privaterelay.appleid.com")
    #expect(token.claims.profile.isEmailVerified)
    #expect(token.claims.profile.isPrivateEmail)
    #expect(token.claims.profile.realUserStatus == .likelyReal)
    #expect(token.nonceRule == .standard)
    #expect(!token.isTooOld)
  }

  @Test func `A02 another issuer is accepted only where it is listed`() throws {
    let other = "\"https://account.apple.com\""
    #expect(throws: IdentityTokenRefusal.issuerNotAllowed) { try verify("iss", other) }
    let both = rules(issuers: ["https://appleid.apple.com", "https://account.apple.com"])
    #expect(try verify("iss", other, both).issuer == "https://account.apple.com")
  }

  @Test(arguments: [
    "https://appleid.apple.com/", "https://appleid.apple.com.evil.example", "http://appleid.apple.com",
    "HTTPS://APPLEID.APPLE.COM", "appleid.apple.com", " https://appleid.apple.com",
    "https://accounts.google.com",
    "https://appleid.apple.com\u{200d}", "https://appleid.apple.\u{212A}om",
  ])
  func `A10 another issuer is refused, however alike`(_ issuer: String) {
    #expect(throws: IdentityTokenRefusal.issuerNotAllowed) { try verify("iss", jsonText(issuer)) }
  }

  @Test func `A04 the native and the web client both work`() throws {
    let both = rules(clients: ["com.example.app": .standard, "com.example.web": .standard])
    #expect(try verify("aud", "\"com.example.app\"", both).audience.text == "com.example.app")
    #expect(try verify("aud", "\"com.example.web\"", both).audience.text == "com.example.web")
  }

  @Test(arguments: ["com.example.one", "com.example.two", "com.example.three"])
  func `A05 every listed client works`(_ client: String) throws {
    let list = rules(
      clients: ["com.example.one": .standard, "com.example.two": .standard, "com.example.three": .standard])
    #expect(try verify("aud", jsonText(client), list).audience.text == client)
  }

  @Test func `A07 a client that is not listed is refused, and nothing in the token widens the list`() {
    let token = claims.setting("aud", text: "com.attacker.app").setting("azp", text: AppleClaims.audience)
    #expect(throws: IdentityTokenRefusal.audienceNotAllowed) { try verify(TokenForge.apple.token(token)) }
  }

  @Test func `A08 an App Store number on the list lets no app in`() {
    let list = rules(clients: ["1596750535": .standard])
    #expect(throws: IdentityTokenRefusal.audienceNotAllowed) {
      try verify("aud", "\"com.example.app\"", list)
    }
  }

  @Test(arguments: [
    "\"com.example.other\"", "\"com.example.ap\"", "\"com.example.app \"", "\"COM.EXAMPLE.APP\"", "\"*\"",
    "\"\"", "[]", nil,
    "null", "[\"com.example.other\"]", "[\"com.example.app\",\"com.example.other\"]",
    "[\"com.example.app\",\"com.example.app\"]", "\"com.example.app,com.example.other\"",
  ])
  func `A10 another audience is refused`(_ json: String?) {
    #expect(throws: IdentityTokenRefusal.audienceNotAllowed) { try verify("aud", json) }
  }

  @Test(arguments: [
    "5", "true", "{}", "[5]", "[null]", "[\"com.example.app\",5]", "[[\"com.example.app\"]]",
  ])
  func `an audience that is no text is an invalid claim`(_ json: String) {
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try verify("aud", json) }
  }

  @Test func `an audience in an array of one is taken`() throws {
    #expect(try verify("aud", "[\"com.example.app\"]").audience.text == "com.example.app")
  }

  @Test(
    arguments: [
      ("sub", nil), ("sub", "\"\""), ("sub", "null"), ("sub", "5"), ("sub", "[\"a\"]"), ("sub", "\"a b\""),
      ("sub", "\"é\""),
      ("iss", "5"), ("iss", "[\"https://appleid.apple.com\"]"), ("nonce", "5"), ("nonce", "[]"),
      ("nonce", "true"),
      ("transfer_sub", "5"), ("transfer_sub", "\"a b\""), ("transfer_sub", "{}"),
      ("email", "5"), ("email", "[\"a@b\"]"), ("email", "{}"),
    ] as [(String, String?)])
  func `a claim that is missing or of another type is invalid`(_ name: String, _ json: String?) {
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try verify(name, json) }
  }

  @Test func `U10 subjects are compared by their bytes`() {
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try verify("sub", "\"e\\u0301\"") }
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try verify("sub", "\"\\u00e9\"") }
  }

  @Test func `claims that nobody uses may be anything`() throws {
    for json in ["null", "5", "1e300", "[[{}]]", "\"x\"", "{\"a\":[]}"] {
      _ = try verify("org_id", json)
    }
    _ = try verify("auth_time", "\"yesterday\"")
  }

  @Test func `G01 G02 another algorithm is refused before any key is used`() {
    for name in ["HS256", "none", "RS384", "RS512", "PS256", "ES256", "rs256"] {
      let token = TokenForge.apple.token(
        header: "{\"alg\":\"\(name)\",\"kid\":\"FORGEKEY01\"}", claims: claims.json)
      #expect(throws: IdentityTokenRefusal.algorithmNotAllowed) {
        try UnverifiedIdentityToken(parsing: token, rules: rules())
      }
    }
  }

  @Test func `K16 a header without a usable key id is refused at once`() {
    for kid in ["", ",\"kid\":\"\"", ",\"kid\":null", ",\"kid\":5", ",\"kid\":\"a b\""] {
      let token = TokenForge.apple.token(header: "{\"alg\":\"RS256\"\(kid)}", claims: claims.json)
      #expect(throws: IdentityTokenRefusal.headerNotAllowed) {
        try UnverifiedIdentityToken(parsing: token, rules: rules())
      }
    }
  }

  @Test func `G07 a key in the header is not looked at`() throws {
    let key = String(
      decoding: JSONWebKey(keyID: TokenForge.stranger.keyID, key: TokenForge.stranger.key.publicKey).json,
      as: UTF8.self)
    let token = TokenForge.stranger.token(
      header: "{\"alg\":\"RS256\",\"kid\":\"FORGEKEY01\",\"jwk\":\(key),\"jku\":\"https://evil.example\"}",
      claims: claims.json)
    #expect(throws: IdentityTokenRefusal.signatureInvalid) { try verify(token) }
  }

  @Test func `G04 a right payload with another's signature is refused`() {
    #expect(throws: IdentityTokenRefusal.signatureInvalid) { try verify(TokenForge.stranger.token(claims)) }
  }

  @Test func `the signature is judged before the times`() {
    let token = TokenForge.stranger.token(AppleClaims(issuedAt: now - 1_000_000))
    #expect(throws: IdentityTokenRefusal.signatureInvalid) { try verify(token) }
  }

  @Test func `a key of another kind verifies nothing`() throws {
    let key = try PrivateKey.generate(.es256)
    let token = TokenForge.apple.token(claims)
    #expect(throws: IdentityTokenRefusal.algorithmNotAllowed) { try verify(token, by: key.publicKey) }
  }

  @Test func `J01 J02 a member named twice is malformed`() {
    for json in [#"{"iss":"a","iss":"b"}"#, #"{"sub":"a","s\u0075b":"b"}"#] {
      #expect(throws: IdentityTokenRefusal.tokenMalformed) {
        try verify(TokenForge.apple.token(claims: json))
      }
    }
  }

  @Test func `a token that is too large is said to be so`() {
    let token = TokenForge.apple.token(claims.setting("x", text: String(repeating: "x", count: 8000)))
    #expect(throws: IdentityTokenRefusal.tokenTooLarge) { try verify(token) }
  }

  @Test func `claims are kept as Apple wrote them`() throws {
    let token = try UnverifiedIdentityToken(parsing: TokenForge.apple.token(claims), rules: rules())
    #expect(token.claimsText == claims.json)
    #expect(token.keyID == TokenForge.apple.keyID)
  }

  @Test func `the digest is that of what is unique, not of the text`() throws {
    let digest = try verify(TokenForge.apple.token(claims)).digest
    #expect(try verify(TokenForge.apple.token(claims.setting("email", nil))).digest == digest)
    #expect(
      try verify(TokenForge.apple.token(claims.setting("exp", String(now.seconds + 600)))).digest == digest)
    let others = [
      claims.setting("sub", text: "other"), claims.setting("nonce", text: "other"),
      claims.setting("nonce", nil),
      claims.setting("iat", String(now.seconds - 1)),
    ]
    for other in others { #expect(try verify(TokenForge.apple.token(other)).digest != digest) }
    let wide = rules(issuers: ["a", "b"], clients: ["c": .standard, "d": .standard])
    let digests = try [("a", "c"), ("a", "d"), ("b", "c")].map { issuer, audience in
      try verify(
        TokenForge.apple.token(claims.setting("iss", text: issuer).setting("aud", text: audience)), wide
      ).digest
    }
    #expect(Set(digests).count == 3)
  }
}

@Suite struct IdentityTokenMailTests {
  @Test(arguments: [("true", true), ("\"true\"", true), ("false", false), ("\"false\"", false)])
  func `E01 E02 E04 booleans and their texts both count`(_ json: String, _ isTrue: Bool) throws {
    #expect(try verify("email_verified", json).profile.isEmailVerified == isTrue)
    #expect(try verify("is_private_email", json).profile.isPrivateEmail == isTrue)
  }

  @Test(arguments: [
    "\"TRUE\"", "\"True\"", "1", "0", "null", "\"1\"", "\"yes\"", "\"\"", "[true]", "{}", "\" true\"", nil,
  ])
  func `E04 nothing else is true`(_ json: String?) throws {
    #expect(try !verify("email_verified", json).profile.isEmailVerified)
    #expect(try !verify("is_private_email", json).profile.isPrivateEmail)
  }

  @Test func `E05 an absent is_private_email is false`() throws {
    #expect(try !verify("is_private_email", nil).profile.isPrivateEmail)
  }

  @Test(arguments: [nil, "\"\"", "null"])
  func `E07 E08 E10 a token without an address is taken, and no address is made up`(_ json: String?) throws {
    let profile = try verify("email", json).profile
    #expect(profile.email == nil)
    #expect(!profile.isEmailVerified)
    #expect(!profile.isPrivateEmail)
  }

  @Test(arguments: [
    "a@b\r\nBcc:x", "a@b@c", String(repeating: "a", count: 2000) + "@b", "no at", "a b@c", "<a@b>",
  ])
  func `E11 an implausible address is left out, and its marks with it`(_ text: String) throws {
    let profile = try verify("email", jsonText(text)).profile
    #expect(profile.email == nil)
    #expect(!profile.isEmailVerified)
    #expect(!profile.isPrivateEmail)
  }

  @Test(
    arguments: [
      ("0", .unsupported), ("1", .unknown), ("2", .likelyReal), ("3", .unknown), ("-1", .unknown),
      ("\"2\"", nil), ("2.5", nil),
      (nil, nil), ("null", nil),
    ] as [(String?, RealUserStatus?)])
  func `a status that is not known is unknown`(_ json: String?, _ status: RealUserStatus?) throws {
    #expect(try verify("real_user_status", json).profile.realUserStatus == status)
  }
}

@Suite struct IdentityTokenTimeTests {
  private func judge(_ issued: Int64, _ expires: Int64, leeway: Int64 = 60) -> Result<
    Bool, IdentityTokenRefusal
  > {
    let token = TokenForge.apple.token(
      claims.setting("iat", String(now.seconds + issued)).setting("exp", String(now.seconds + expires)))
    do throws(IdentityTokenRefusal) {
      return .success(try verify(token, rules(leeway: leeway)).isTooOld)
    } catch {
      return .failure(error)
    }
  }

  @Test func `T01 T02 a token from the future is taken up to the leeway and no further`() {
    #expect(judge(5, 600) == .success(false))
    #expect(judge(35, 600) == .success(false))
    #expect(judge(60, 600) == .success(false))
    #expect(judge(61, 600) == .failure(.tokenFromTheFuture))
    #expect(judge(1, 600, leeway: 0) == .failure(.tokenFromTheFuture))
    #expect(judge(0, 600, leeway: 0) == .success(false))
  }

  @Test func `T05 A10 an expired token is taken up to the leeway and no further`() {
    #expect(judge(-600, -59) == .success(false))
    #expect(judge(-600, -60) == .failure(.tokenExpired))
    #expect(judge(-600, 1, leeway: 0) == .success(false))
    #expect(judge(-600, 0, leeway: 0) == .failure(.tokenExpired))
    #expect(judge(-22_200, -21_600, leeway: 300) == .failure(.tokenExpired))
  }

  @Test func `an old token is told apart, whatever its exp says`() {
    #expect(judge(-3600, 82_800) == .success(false))
    #expect(judge(-3601, 82_799) == .success(true))
  }

  @Test func `a token expires after it was issued`() {
    #expect(judge(0, 0) == .failure(.claimInvalid))
    #expect(judge(10, 5) == .failure(.claimInvalid))
    #expect(judge(0, 1) == .success(false))
  }

  @Test(arguments: [
    "1e300", "-1e300", "9223372036854775807", "-1", "0", "\"1750000600\"", "1750000600.5", "true", "[]", "{}",
    "null", nil,
    "568714106.499", "1099511627776",
  ])
  func `T04 T11 a time is whole seconds since 1970 or an invalid claim`(_ json: String?) {
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try verify("exp", json) }
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try verify("iat", json) }
  }

  @Test func `T11 a fraction of zero is whole`() throws {
    #expect(try verify("exp", "1750000600.0").expiresAt == UnixTime(1_750_000_600))
    #expect(try verify("iat", "1750000000.0").issuedAt == now)
    #expect(try verify("exp", "1.7500006e9").expiresAt == UnixTime(1_750_000_600))
  }

  @Test func `T11 numbers that JSON readers choke on make the token malformed`() {
    for json in ["1e400", "99999999999999999999"] {
      #expect(throws: IdentityTokenRefusal.tokenMalformed) { try verify("exp", json) }
    }
  }
}
