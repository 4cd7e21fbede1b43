import Crypto
import Domain
import JOSE
import Sessions
import Storage
import TestSupport
import Testing
import Wire

private let now = UnixTime(1_750_000_000)
private let signer = "firebase-adminsdk@example.iam.gserviceaccount.com"
private let audience =
  "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

/// Claims of a custom token as Firebase's Admin SDKs write them, but for those that are named here; nil
/// leaves one out.
private func body(_ changed: KeyValuePairs<String, String?> = [:]) -> String {
  var members = [
    ("iss", jsonText(signer)), ("sub", jsonText(signer)), ("aud", jsonText(audience)),
    ("uid", jsonText("user-1")), ("iat", "1750000000"), ("exp", "1750003600"),
  ]
  for (name, json) in changed {
    members.removeAll { $0.0 == name }
    if let json { members.append((name, json)) }
  }
  return "{" + members.map { jsonText($0.0) + ":" + $0.1 }.joined(separator: ",") + "}"
}

private func sign(_ claims: String, by key: PrivateKey = TokenForge.apple.key, header: String? = nil) throws
  -> String
{
  let header = header ?? "{\"alg\":\"\(key.algorithm.rawValue)\",\"typ\":\"JWT\",\"kid\":\"any\"}"
  let signed = base64URLText(header.utf8) + "." + base64URLText(claims.utf8)
  return signed + "." + base64URLText(try key.sign(Array(signed.utf8)))
}

private func read(
  _ text: String, keys: [PublicKey] = [TokenForge.apple.key.publicKey], leeway: Int64 = 60,
  at time: UnixTime = now
) -> Result<CustomToken, CustomTokenError> {
  do throws(CustomTokenError) {
    return .success(try CustomToken(verifying: text, keys: keys, leeway: leeway, now: time))
  } catch {
    return .failure(error)
  }
}

private func error(_ changed: KeyValuePairs<String, String?>) throws -> CustomTokenError? {
  if case .failure(let error) = read(try sign(body(changed))) { error } else { nil }
}

/// A custom token that was found good.
func customToken(uid: String, claims: String? = nil) throws -> CustomToken {
  try read(sign(body(["uid": jsonText(uid), "claims": claims]))).get()
}

@Suite struct CustomTokenTests {
  @Test(arguments: SignatureAlgorithm.allCases)
  func `a token of any configured key names an account`(_ algorithm: SignatureAlgorithm) throws {
    let key = try algorithm == .rs256 ? TokenForge.apple.key : PrivateKey.generate(.es256)
    let others = [TokenForge.stranger.key.publicKey, try PrivateKey.generate(.es256).publicKey]
    let token = try read(sign(body(), by: key), keys: others + [key.publicKey]).get()
    #expect(token.account.text == "user-1")
    #expect(token.claims == nil)
    let bare = try read(
      sign(body(), by: key, header: "{\"alg\":\"\(algorithm.rawValue)\"}"), keys: [key.publicKey])
    #expect(try bare.get() == token)
  }

  @Test func `G01 only a configured key and its own algorithm count`() throws {
    let elliptic = try PrivateKey.generate(.es256)
    #expect(read(try sign(body(), by: TokenForge.stranger.key)) == .failure(.invalid))
    #expect(read(try sign(body(), by: elliptic)) == .failure(.invalid))
    #expect(read(try sign(body()), keys: []) == .failure(.invalid))
    for algorithm in ["none", "HS256", "ES256", "RS512", "PS256", "rs256", ""] {
      let token = try sign(body(), header: "{\"alg\":\"\(algorithm)\"}")
      #expect(read(token) == .failure(.invalid), "\(algorithm)")
    }
    #expect(read(try sign(body(), header: "{}")) == .failure(.invalid))
    #expect(read(try sign(body(), header: #"{"alg":"RS256","crit":["b64"]}"#)) == .failure(.invalid))
  }

  @Test func `G01 neither no signature nor a MAC keyed with the public key counts`() throws {
    for header in [#"{"alg":"none"}"#, #"{"alg":"none","typ":"JWT"}"#, #"{"alg":"RS256"}"#] {
      let unsigned = base64URLText(header.utf8) + "." + base64URLText(body().utf8) + "."
      #expect(read(unsigned) == .failure(.invalid))
    }
    let key = TokenForge.apple.key.publicKey
    let signed = base64URLText(#"{"alg":"HS256","typ":"JWT"}"#.utf8) + "." + base64URLText(body().utf8)
    let secret = JSONWebKey(keyID: thumbprint(of: key), key: key).json
    let token = signed + "." + base64URLText(MACKey(secret).code(for: Array(signed.utf8)))
    #expect(read(token) == .failure(.invalid))
  }

  @Test func `G08 neither a session token nor Apple's token nor other text is a custom token`() async throws {
    let bench = try SessionBench(key: TokenForge.apple.key)
    let session = try await bench.issuer.signIn(bench.request()).idToken.reveal()
    #expect(read(session) == .failure(.invalid))
    #expect(read(TokenForge.apple.token(AppleClaims(issuedAt: now))) == .failure(.invalid))
    for text in ["", ".", "..", "a.b.c", try sign(body()) + ".", " " + (try sign(body())), try sign("[]")] {
      #expect(read(text) == .failure(.invalid))
    }
  }

  @Test func `another audience is told apart, but only of a configured key`() throws {
    for other in [
      jsonText("https://example.com"), jsonText(audience + "/"), "[\(jsonText(audience))]", "null", nil,
    ] {
      #expect(try error(["aud": other]) == .otherAudience)
      let foreign = try sign(body(["aud": other]), by: TokenForge.stranger.key)
      #expect(read(foreign) == .failure(.invalid))
    }
  }

  @Test(
    arguments: [
      ["iss": "\"another\""], ["iss": nil], ["sub": nil], ["iss": "\"\"", "sub": "\"\""],
      ["iss": "1", "sub": "1"],
      ["iss": "\"\u{e9}\"", "sub": "\"e\u{301}\""], ["iat": nil], ["exp": nil], ["iat": "\"1750000000\""],
      ["exp": "1750003600.5"], ["exp": "null"], ["exp": "1750003601"], ["exp": "1750000000"],
      ["exp": "1749999999"],
      ["iat": "-9223372036854775808", "exp": "9223372036854775807"], ["exp": "9223372036854775807"],
      ["iat": "9223372036854775000", "exp": "9223372036854775807"],
      ["iat": "-9223372036854775808", "exp": "-9223372036854775807"],
      ["uid": nil], ["uid": "\"\""], ["uid": "null"], ["uid": "5"], ["uid": "\"a b\""], ["uid": "\"\u{e9}\""],
      ["tenant_id": "\"tenant\""], ["tenant_id": "null"],
    ] as [KeyValuePairs<String, String?>])
  func `a claim that is not right makes the token invalid`(_ changed: KeyValuePairs<String, String?>) throws {
    #expect(try error(changed) == .invalid)
  }

  @Test func `an account's name has at most one hundred and twenty-eight bytes`() throws {
    #expect(try error(["uid": jsonText(String(repeating: "a", count: 128))]) == nil)
    #expect(try error(["uid": jsonText(String(repeating: "a", count: 129))]) == .invalid)
  }

  @Test(arguments: [0, 60, 300] as [Int64])
  func `times are judged with the leeway, on both sides`(_ leeway: Int64) throws {
    let token = try sign(body())
    func isGood(at offset: Int64) -> Bool {
      if case .success = read(token, leeway: leeway, at: now + offset) { true } else { false }
    }
    let answers = [-leeway - 1, -leeway, 0, 3599 + leeway, 3600 + leeway].map { isGood(at: $0) }
    #expect(answers == [false, true, true, true, false])
  }

  @Test func `its claims are custom claims like any other`() throws {
    #expect(try customToken(uid: "a", claims: #"{ "role": "admin" }"#).claims == #"{"role":"admin"}"#)
    #expect(try customToken(uid: "a", claims: "{}").claims == nil)
    #expect(try customToken(uid: "a", claims: "null").claims == nil)
    for text in ["[]", "1", "true", "\"{}\""] {
      #expect(try error(["claims": text]) == .claims(.malformed))
    }
    #expect(try error(["claims": #"{"a":{"b":1},"sub":1}"#]) == .claims(.forbidden("sub")))
    let long = "{\"k\":\"" + String(repeating: "a", count: 993) + "\"}"
    #expect(try error(["claims": long]) == .claims(.tooLarge))
    #expect(try error(["claims": #"{"a":1,"a":2}"#]) == .invalid)
  }
}

@Suite struct CustomTokenSessionTests {
  @Test func `the account is made when it is wanted, and is the same ever after`() async throws {
    let bench = try SessionBench()
    let token = try customToken(uid: "user-1", claims: #"{"plan":"gold"}"#)
    let unwanted = await refusal { try await bench.issuer.signIn(with: token, createsAccount: false) }
    #expect(unwanted == .unknownIdentity)
    let first = try await bench.issuer.signIn(with: token, createsAccount: true)
    let second = try await bench.issuer.signIn(with: token, createsAccount: true)
    #expect(first.isNewUser && !second.isNewUser)
    #expect(!first.account.isAnonymous)
    #expect(first.session.id != second.session.id)
    let claims = try bench.claims(first.idToken)
    #expect(claims.text("sub") == "user-1")
    #expect(claims.text("plan") == "gold")
    #expect(claims["provider_id"] == nil)
    let firebase = try #require(try claims.optionalObject("firebase"))
    #expect(
      String(decoding: firebase.bytes, as: UTF8.self) == #"{"identities":{},"sign_in_provider":"custom"}"#)
  }

  @Test func `a disabled account gets no session`() async throws {
    let bench = try SessionBench()
    let token = try customToken(uid: "user-1")
    let account = try await bench.issuer.signIn(with: token, createsAccount: true).account.id
    var change = AccountChange()
    change.isDisabled = true
    try await bench.administer(account, change)
    let refused = await refusal { try await bench.issuer.signIn(with: token, createsAccount: true) }
    #expect(refused == .accountDisabled)
  }
}
