import Domain
import Sessions
import Storage
import TestSupport
import Testing
import Wire

private func error(of text: String) -> CustomClaimsError? {
  do throws(CustomClaimsError) {
    _ = try customClaims(from: text)
    return nil
  } catch {
    return error
  }
}

/// A claim whose text has this many scalars in all.
private func claims(_ scalar: Unicode.Scalar, scalars count: Int) -> String {
  #"{"k":""# + String(repeating: Character(scalar), count: count - 8) + #""}"#
}

@Suite struct CustomClaimsTests {
  @Test(arguments: ["a", "\u{e9}", "日", "\u{1F34E}"] as [Unicode.Scalar])
  func `a thousand scalars of any width are enough, and one more is too much`(_ scalar: Unicode.Scalar) {
    #expect(error(of: claims(scalar, scalars: 1000)) == nil)
    #expect(error(of: claims(scalar, scalars: 1001)) == .tooLarge)
  }

  @Test func `scalars are counted and not characters`() {
    let flags = String(repeating: "🇩🇪", count: 496)
    #expect(error(of: "{\"k\":\"\(flags)\"}") == nil)
    #expect(error(of: "{\"k\":\"\(flags)a\"}") == .tooLarge)
  }

  @Test(arguments: [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "cnf", "c_hash", "exp", "firebase", "iat", "iss",
    "jti", "nbf", "nonce", "sub", "user_id", "sid", "email", "email_verified", "name", "picture",
    "phone_number", "provider_id",
  ])
  func `names of ours and of the standards are forbidden, however they are spelt`(_ name: String) {
    #expect(error(of: "{\"role\":1,\"\(name)\":1}") == .forbidden(name))
    let escaped = name.utf8.map { "\\u00" + hexText([$0]) }.joined()
    #expect(error(of: "{\"\(escaped)\":null}") == .forbidden(name))
    #expect(error(of: "{\"\(name.uppercased())\":1,\"\(name)2\":1,\"o\":{\"\(name)\":1}}") == nil)
  }

  @Test(arguments: [
    "", " ", "null", "[]", "[{}]", "\"{}\"", "1", "{", "{}x", "{}{}", "{'a':1}", "{a:1}", "{\"a\":1,}",
    "{\"a\":NaN}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "{\"o\":{\"a\":1,\"a\":1}}",
    "\u{feff}{}", "{\"a\":\"\\u0000\"}", "{\"a\":\"\\ud800\"}", "{\"a\":99999999999999999999}",
    "{\"a\":" + String(repeating: "[", count: 32) + String(repeating: "]", count: 32) + "}",
  ])
  func `anything but one object is malformed`(_ text: String) {
    #expect(error(of: text) == .malformed)
  }

  @Test func `nothing is what an empty object says`() throws {
    #expect(try customClaims(from: "{}") == nil)
    #expect(try customClaims(from: " {\n} ") == nil)
  }

  @Test func `what is kept is the text as it was set, numbers too`() throws {
    let text = "{ \"z\" : [ 0.1, 2 ],\n\"a\":{ \"é\" : null } }"
    #expect(try customClaims(from: text) == text)
  }

  @Test(arguments: [
    claims("\u{1F34E}", scalars: 1000), claims("\u{7f}", scalars: 700), claims("\u{2028}", scalars: 700),
    "{\"k\":[" + Array(repeating: "0.1", count: 200).joined(separator: ",") + "]}",
  ])
  func `claims that are accepted give a token that is accepted`(_ text: String) async throws {
    let project = String(repeating: "p", count: 64)
    let bench = try SessionBench(
      rules(issuer: "https://securetoken.google.com/" + project, audience: project),
      key: TokenForge.apple.key)
    try await bench.register(
      String(repeating: "a", count: 128), email: String(repeating: "a", count: 318) + "@b",
      customClaims: try customClaims(from: text))
    let issued = try await bench.issuer.signIn(bench.request(email: nil))
    #expect(try bench.issuer.verify(issued.idToken.reveal()).session == issued.session.id)
  }

  @Test func `claims that would grow beyond a token when they are written are too large`() {
    #expect(error(of: claims("\u{7f}", scalars: 1000)) == .tooLarge)
  }
}

@Suite struct ClaimsInTokensTests {
  private func payload(account: String?, token: String? = nil) async throws -> String {
    let bench = try SessionBench(entropy: zeroEntropy)
    try await bench.register("account", customClaims: account)
    let issued = try await bench.issuer.signIn(
      with: customToken(uid: "account", claims: token), createsAccount: false)
    #expect(try bench.issuer.verify(issued.idToken.reveal()).account.text == "account")
    return String(decoding: try bench.payload(issued.idToken), as: UTF8.self)
  }

  @Test func `claims stand at top level with their types, and ours follow`() async throws {
    let claims =
      #"{"t":true,"f":false,"n":null,"i":-7,"r":1.5,"w":1.0,"s":"é\"\\","a":[1,"2",{"k":[]}],"o":{"x":{"y":1}}}"#
    let payload = try await payload(account: claims)
    #expect(payload.hasPrefix(String(claims.dropLast()) + #","iss":"https://auth.example.com","aud":"#))
  }

  @Test func `of two claims of one name the custom token's counts, once`() async throws {
    let payload = try await payload(
      account: #"{"role":"user","team":"a"}"#, token: #"{"role":{"admin":true},"x":1}"#)
    #expect(payload.hasPrefix(#"{"team":"a","role":{"admin":true},"x":1,"iss":"#))
    #expect(try JSONObject(parsing: payload.utf8).names.count { $0 == "role" } == 1)
  }

  @Test func `names that only look alike are two names`() async throws {
    let payload = try await payload(account: "{\"\u{e9}\":1}", token: "{\"e\u{301}\":2}")
    let beginning = "{\"\u{e9}\":1,\"e\u{301}\":2,\"iss\":"
    #expect(payload.utf8.starts(with: beginning.utf8))
  }

  @Test func `ours win over whatever has found its way into storage`() async throws {
    let plain = try await payload(account: nil)
    #expect(plain.hasPrefix(#"{"iss":"#))
    #expect(
      try await payload(account: #"{"sub":"x","firebase":{},"user_id":1,"sid":"","provider_id":1}"#) == plain)
    for garbage in ["", "x", "[]", #"{"a":1,"a":2}"#, "{}"] {
      let payload = try await payload(account: garbage)
      #expect(payload == plain)
    }
  }

  @Test func `claims follow the account at the next refresh, and a custom token's stay with its session`()
    async throws
  {
    let bench = try SessionBench()
    let account = try await bench.register("account", customClaims: #"{"role":"user"}"#)
    let first = try await bench.issuer.signIn(
      with: customToken(uid: "account", claims: #"{"from":"token"}"#), createsAccount: false)
    var change = AccountChange()
    change.customClaims = .set(#"{"role":"admin"}"#)
    try await bench.administer(account.id, change)
    bench.clock.advance(50)
    let second = try await bench.issuer.refresh(first.refreshToken.reveal()).session
    let claims = try bench.claims(second.idToken)
    #expect(claims.text("role") == "admin")
    #expect(claims.text("from") == "token")
    #expect(try claims.optionalInteger("auth_time") == 1_750_000_000)
    change.customClaims = .clear
    try await bench.administer(account.id, change)
    let third = try await bench.issuer.refresh(second.refreshToken.reveal()).session
    let names = try bench.claims(third.idToken).names
    #expect(names.first == "from")
    #expect(!names.contains("role"))
    let other = try await bench.issuer.signIn(bench.request())
    #expect(try bench.claims(other.idToken).names.first == "iss")
  }
}
