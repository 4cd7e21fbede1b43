import Crypto
import Domain
import FirebaseIdentity
import JOSE
import ProviderTokens
import TestSupport
import Testing
import Wire

private let now = UnixTime(1_750_000_000)
private let rules = FirebaseTokenRules(project: "orchard", leeway: 60)

/// Claims as Google writes them, with changes: JSON by name, nil takes one out.
private func claims(_ changes: [String: String?] = [:]) -> String {
  var members: [String: String?] = [
    "iss": #""https://securetoken.google.com/orchard""#, "aud": #""orchard""#, "auth_time": "1700000000",
    "user_id": #""uid-1""#, "sub": #""uid-1""#, "iat": "\(now.seconds)", "exp": "\(now.seconds + 3600)",
    "email": #""ada@example.com""#, "email_verified": "true",
    "firebase": #"{"identities":{"apple.com":["001"]},"sign_in_provider":"apple.com"}"#,
  ]
  members.merge(changes) { $1 }
  return "{"
    + members.compactMap { name, json in json.map { jsonText(name) + ":" + $0 } }.joined(separator: ",") + "}"
}

private func verify(
  _ token: String, at time: UnixTime = now, by key: PublicKey = TokenForge.apple.key.publicKey
) throws(IdentityTokenRefusal) -> FirebaseToken {
  try UnverifiedFirebaseToken(parsing: token, rules: rules).verified(by: key, rules: rules, now: time)
}

private func verify(_ name: String, _ json: String?) throws(IdentityTokenRefusal) -> FirebaseToken {
  try verify(TokenForge.apple.token(claims: claims([name: json])))
}

@Suite struct FirebaseTokenTests {
  @Test func `a token as Google writes it is taken`() throws {
    let token = try verify(TokenForge.apple.token(claims: claims()))
    #expect(token.account.text == "uid-1")
    #expect(token.authenticatedAt == UnixTime(1_700_000_000))
    #expect(token.issuedAt == now)
    #expect(token.expiresAt == now + 3600)
    #expect(token.signInProvider == "apple.com")
    #expect(token.digest.count == 32)
  }

  @Test(arguments: [
    "https://securetoken.google.com/other", "https://securetoken.google.com/orchard/",
    "https://session.firebase.google.com/orchard", "https://accounts.google.com", "https://appleid.apple.com",
    "https://securetoken.google.com/ORCHARD", "https://securetoken.google.com/orch\u{430}rd",
  ])
  func `another issuer is refused, however alike`(_ issuer: String) {
    #expect(throws: IdentityTokenRefusal.issuerNotAllowed) { try verify("iss", jsonText(issuer)) }
  }

  @Test(arguments: ["\"other\"", "\"\"", "null", "\"Orchard\"", nil])
  func `another project is refused`(_ json: String?) {
    #expect(throws: IdentityTokenRefusal.audienceNotAllowed) { try verify("aud", json) }
  }

  @Test(arguments: [
    ("aud", "[\"orchard\"]"), ("aud", "1"), ("iss", "1"), ("sub", "\"\""), ("sub", "1"), ("sub", "\"a b\""),
    ("iat", "\"1750000000\""), ("iat", "0"), ("iat", "1e99"), ("exp", "1750000000"), ("exp", "true"),
    ("auth_time", "0"), ("auth_time", "\"x\""), ("firebase", "null"), ("firebase", "[]"), ("firebase", "{}"),
    ("firebase", #"{"sign_in_provider":1}"#), ("firebase", #"{"sign_in_provider":"a b"}"#),
    ("firebase", #"{"sign_in_provider":"apple.com","tenant":"t"}"#),
  ])
  func `a claim of another kind is refused`(_ name: String, _ json: String) {
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try verify(name, json) }
  }

  @Test(arguments: ["sub", "iat", "exp", "auth_time", "firebase"])
  func `a claim that is missing is refused`(_ name: String) {
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try verify(name, nil) }
  }

  @Test func `a uid has 1 to 128 characters`() throws {
    let long = String(repeating: "u", count: 128)
    #expect(try verify("sub", jsonText(long)).account.text == long)
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try verify("sub", jsonText(long + "u")) }
  }

  @Test func `times are held against the clock with the leeway`() throws {
    let token = TokenForge.apple.token(claims: claims())
    _ = try verify(token, at: now + 3659)
    #expect(throws: IdentityTokenRefusal.tokenExpired) { try verify(token, at: now + 3660) }
    _ = try verify(token, at: now - 60)
    #expect(throws: IdentityTokenRefusal.tokenFromTheFuture) { try verify(token, at: now - 61) }
    _ = try verify("auth_time", "\(now.seconds + 60)")
    #expect(throws: IdentityTokenRefusal.tokenFromTheFuture) {
      try verify("auth_time", "\(now.seconds + 61)")
    }
  }

  @Test(arguments: ["none", "HS256", "RS384", "RS512", "PS256", "ES256", "EdDSA", "rs256"])
  func `another algorithm is refused before any key is used`(_ name: String) {
    let token = TokenForge.apple.token(
      header: #"{"alg":"\#(name)","kid":"FORGEKEY01"}"#, claims: claims())
    #expect(throws: IdentityTokenRefusal.algorithmNotAllowed) { try verify(token) }
  }

  @Test func `a key of another kind, or of somebody else, verifies nothing`() throws {
    let token = TokenForge.apple.token(claims: claims())
    let curve = try PrivateKey.generate(.es256)
    #expect(throws: IdentityTokenRefusal.algorithmNotAllowed) { try verify(token, by: curve.publicKey) }
    #expect(throws: IdentityTokenRefusal.signatureInvalid) {
      try verify(TokenForge.stranger.token(claims: claims()))
    }
  }

  @Test(arguments: [
    #"{"alg":"RS256"}"#, #"{"alg":"RS256","kid":""}"#, #"{"alg":"RS256","kid":"a","crit":["x"]}"#,
  ])
  func `a header without a key, or with what nobody understands, is refused`(_ header: String) {
    let token = TokenForge.apple.token(header: header, claims: claims())
    #expect(throws: IdentityTokenRefusal.headerNotAllowed) { try verify(token) }
  }

  @Test func `the digest is one of what the token is, and not of how it is written`() throws {
    let first = try verify(TokenForge.apple.token(claims: claims()))
    let again = try verify(TokenForge.apple.token(claims: claims(["name": "\"Ada\""])))
    #expect(first.digest == again.digest)
    for (name, json) in [("sub", "\"uid-2\""), ("auth_time", "1700000001"), ("iat", "\(now.seconds - 1)")] {
      #expect(try verify(name, json).digest != first.digest)
    }
  }

  @Test func `what is no token, or far too long, is refused by its shape`() {
    #expect(throws: IdentityTokenRefusal.tokenMalformed) { try verify("a.b") }
    #expect(throws: IdentityTokenRefusal.tokenTooLarge) { try verify(String(repeating: "a", count: 8193)) }
  }
}
