import Crypto
import Domain
import JOSE
import Sessions
import Storage
import TestSupport
import Testing
import Wire

private let now = UnixTime(1_750_000_000)

private func utf8(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

private let sid = "684ee180000000000000000000000000"
private let good =
  #"{"iss":"https://auth.example.com","aud":"bramley","sub":"account","iat":1750000000,"exp":1750003600,"#
  + #""auth_time":1750000000,"sid":"\#(sid)"}"#

@Suite struct SessionTokenTests {
  @Test func `T04 the payload is these bytes`() async throws {
    let bench = try SessionBench(entropy: zeroEntropy)
    let name = PersonName(givenName: "Ada", familyName: "Lovelace")
    let issued = try await bench.issuer.signIn(bench.request(name: name))
    #expect(
      utf8(try bench.payload(issued.idToken))
        == #"{"iss":"https://auth.example.com","aud":"bramley","sub":"AAAAAAAAAAAAAAAAAAAAAAAAAAAA","#
        + #""user_id":"AAAAAAAAAAAAAAAAAAAAAAAAAAAA","iat":1750000000,"exp":1750003600,"auth_time":1750000000,"#
        + #""sid":"684ee180000000000000000000000000","email":"ada@example.com","email_verified":true,"#
        + #""name":"Ada Lovelace","firebase":{"identities":{"apple.com":["#
        + #""000123.0123456789abcdef0123456789abcdef.0456"],"email":["ada@example.com"]},"#
        + #""sign_in_provider":"apple.com"}}"#)
    let header = try CompactToken(parsing: issued.idToken.reveal().utf8).header.object.bytes
    #expect(
      utf8(header) == "{\"alg\":\"ES256\",\"kid\":\"\(thumbprint(of: bench.key.publicKey))\",\"typ\":\"JWT\"}"
    )
  }

  @Test func `E07 E10 without an address and a name nothing stands in for them`() async throws {
    let bench = try SessionBench(entropy: zeroEntropy)
    let claims = try bench.claims(try await bench.issuer.signIn(bench.request(email: nil)).idToken)
    #expect(claims.names == ["iss", "aud", "sub", "user_id", "iat", "exp", "auth_time", "sid", "firebase"])
    #expect(try claims.optionalObject("firebase")?.optionalObject("identities")?.names == ["apple.com"])
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `J05 the greatest token is below two kibibytes`(_ algorithm: SignatureAlgorithm) async throws {
    let project = String(repeating: "p", count: 64)
    let quotes = String(repeating: "\"", count: 100)
    let bench = try SessionBench(
      rules(issuer: "https://securetoken.google.com/" + project, audience: project),
      key: algorithm == .rs256 ? TokenForge.apple.key : nil)
    let issued = try await bench.issuer.signIn(
      bench.request(
        email: String(repeating: "a", count: 318) + "@b",
        name: PersonName(givenName: quotes, familyName: quotes)))
    #expect(issued.idToken.reveal().utf8.count < 2048)
  }

  @Test(arguments: [
    PersonName(
      givenName: String(repeating: "\"", count: 100), familyName: String(repeating: "\\", count: 100)),
    PersonName(
      givenName: "日" + String(repeating: "\"", count: 99), familyName: String(repeating: "\"", count: 100)),
    PersonName(givenName: String(repeating: "👨‍👩‍👧‍👦", count: 16), familyName: "x"),
    PersonName(givenName: String(repeating: "a", count: 100), familyName: String(repeating: "b", count: 100)),
    PersonName(givenName: String(repeating: "日", count: 100)),
  ])
  func `the name claim holds what fits, cut at a grapheme`(_ name: PersonName) async throws {
    let bench = try SessionBench()
    let claims = try bench.claims(try await bench.issuer.signIn(bench.request(name: name)).idToken)
    let claim = try #require(claims.text("name"))
    let whole = try #require(name.displayName)
    #expect(whole.hasPrefix(claim))
    #expect(jsonText(claim).utf8.count - 2 <= 128)
    #expect(jsonText(claim).utf8.count - 2 > 128 - 25, "no more is lost than one grapheme")
  }

  @Test func `a token never outlives its session`() async throws {
    let bench = try SessionBench(rules(lifetime: 3600, absolute: 4000))
    let first = try await bench.issuer.signIn(bench.request())
    #expect(first.expiresIn == 3600)
    bench.clock.advance(1000)
    let second = try await bench.issuer.refresh(first.refreshToken.reveal()).session
    #expect(second.expiresIn == 3000)
    #expect(try bench.claims(second.idToken).optionalInteger("exp") == now.seconds + 4000)
    bench.clock.advance(2999)
    let third = try await bench.issuer.refresh(second.refreshToken.reveal()).session
    #expect(third.expiresIn == 1)
    bench.clock.advance(1)
    let last = third.refreshToken.reveal()
    await #expect(throws: SessionRefusal.sessionOverAge) { try await bench.issuer.refresh(last) }
  }

  @Test func `a good token says who, which session and since when`() async throws {
    let bench = try SessionBench()
    let issued = try await bench.issuer.signIn(bench.request())
    let claims = try bench.issuer.verify(issued.idToken.reveal())
    #expect(claims.account == issued.account.id)
    #expect(claims.session == issued.session.id)
    #expect(claims.authenticatedAt == now)
    let forged = try bench.issuer.verify(bench.forge(claims: good))
    #expect(forged.account.text == "account")
  }

  @Test func `times are judged with the leeway, on both sides`() throws {
    let bench = try SessionBench()
    func at(_ seconds: Int64) -> SessionTokenError? {
      do throws(SessionTokenError) {
        _ = try bench.keys.verify(
          (try? bench.forge(claims: good)) ?? "", rules: bench.rules, now: now + seconds)
        return nil
      } catch {
        return error
      }
    }
    #expect(at(0) == nil)
    #expect(at(3659) == nil)
    #expect(at(3660) == .expired)
    #expect(at(-60) == nil)
    #expect(at(-61) == .invalid)
  }

  @Test(arguments: [
    ("\"iss\":\"https://auth.example.com\"", "\"iss\":\"https://auth.example.com/\""),
    ("\"iss\":\"https://auth.example.com\"", "\"iss\":\"https://appleid.apple.com\""),
    ("\"iss\":\"https://auth.example.com\"", "\"iss\":null"), ("\"aud\":\"bramley\"", "\"aud\":\"other\""),
    ("\"aud\":\"bramley\"", "\"aud\":[\"bramley\"]"), ("\"sub\":\"account\"", "\"sub\":\"\""),
    ("\"sub\":\"account\"", "\"sub\":5"), ("\"sub\":\"account\",", ""), (sid, "x"), (sid, sid.uppercased()),
    ("1750003600", "\"1750003600\""), ("1750003600", "null"), ("1750003600", "1750003600.0"),
    ("\"iat\":1750000000,", ""),
    ("\"auth_time\":1750000000,", ""), ("\"exp\":1750003600,", ""),
    ("\"iat\":1750000000", "\"iat\":1750000000,\"iat\":1"),
  ])
  func `a claim that is not ours makes the token invalid`(_ part: String, _ replacement: String) throws {
    let bench = try SessionBench()
    let token = try bench.forge(claims: good.replacing(part, with: replacement))
    #expect(good.contains(part))
    #expect(throws: SessionTokenError.invalid) { try bench.issuer.verify(token) }
  }

  @Test(arguments: [
    #"{"alg":"none","kid":"KID","typ":"JWT"}"#, #"{"alg":"HS256","kid":"KID","typ":"JWT"}"#,
    #"{"alg":"RS256","kid":"KID","typ":"JWT"}"#, #"{"alg":"ES256","kid":"KID"}"#,
    #"{"alg":"ES256","kid":"KID","typ":"at+jwt"}"#,
    #"{"alg":"ES256","kid":"KID","typ":"jwt"}"#, #"{"alg":"ES256","typ":"JWT"}"#,
    #"{"alg":"ES256","kid":"other","typ":"JWT"}"#,
    #"{"alg":"ES256","kid":"KID","typ":"JWT","crit":["b64"]}"#, #"{"kid":"KID","typ":"JWT"}"#,
    #"{"alg":"ES256","alg":"ES256","kid":"KID","typ":"JWT"}"#,
  ])
  func `a header that is not ours makes the token invalid`(_ header: String) throws {
    let bench = try SessionBench()
    let token = try bench.forge(
      header: header.replacing("KID", with: thumbprint(of: bench.key.publicKey).text), claims: good)
    #expect(throws: SessionTokenError.invalid) { try bench.issuer.verify(token) }
  }

  @Test func `G01 a token without a signature, or with a MAC keyed with the public key, is invalid`() throws {
    let bench = try SessionBench()
    let id = thumbprint(of: bench.key.publicKey).text
    let none =
      base64URLText("{\"alg\":\"none\",\"kid\":\"\(id)\",\"typ\":\"JWT\"}".utf8) + "."
      + base64URLText(good.utf8) + "."
    #expect(throws: SessionTokenError.invalid) { try bench.issuer.verify(none) }
    let signed =
      base64URLText("{\"alg\":\"HS256\",\"kid\":\"\(id)\",\"typ\":\"JWT\"}".utf8) + "."
      + base64URLText(good.utf8)
    for secret in [
      bench.keys.keySetJSON,
      JSONWebKey(keyID: thumbprint(of: bench.key.publicKey), key: bench.key.publicKey).json,
    ] {
      let token = signed + "." + base64URLText(MACKey(secret).code(for: Array(signed.utf8)))
      #expect(throws: SessionTokenError.invalid) { try bench.issuer.verify(token) }
    }
  }

  @Test func `another key's signature is invalid`() throws {
    let bench = try SessionBench()
    let token = try bench.forge(claims: good, by: PrivateKey.generate(.es256))
    #expect(throws: SessionTokenError.invalid) { try bench.issuer.verify(token) }
  }

  @Test func `G08 neither a refresh token nor Apple's token is a session token`() async throws {
    let bench = try SessionBench()
    let issued = try await bench.issuer.signIn(bench.request())
    let wrongs = [
      issued.refreshToken.reveal(), TokenForge.apple.token(AppleClaims(issuedAt: now)), "", "a.b.c",
      issued.idToken.reveal() + ".", " " + issued.idToken.reveal(), String(repeating: ".", count: 100_000),
    ]
    for wrong in wrongs { #expect(throws: SessionTokenError.invalid) { try bench.issuer.verify(wrong) } }
  }
}
