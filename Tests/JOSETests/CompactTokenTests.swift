import Crypto
import Domain
import JOSE
import TestSupport
import Testing
import Wire

private let signature = base64URLText([UInt8](repeating: 1, count: 256))

private func token(_ header: String, _ payload: String = "{}") -> String {
  base64URLText(header.utf8) + "." + base64URLText(payload.utf8) + "." + signature
}

private func parse(_ text: String) throws(JOSEError) -> CompactToken { try CompactToken(parsing: text.utf8) }

@Suite struct CompactTokenTests {
  @Test func `a token is taken apart`() throws {
    let token = try parse(token(#"{"alg":"RS256","kid":"k","typ":"JWT","x":[1]}"#, #"{"sub":"s"}"#))
    #expect(token.header.algorithm == "RS256")
    #expect(token.header.keyID == KeyID("k"))
    #expect(token.header.type == "JWT")
    #expect(try token.claims().text("sub") == "s")
  }

  @Test(arguments: [
    "", ".", "..", "...", "a.b", "a.b.c.d", "e30.e30.AA.AA.AA", "e30.e30", "e30.e30.AA.", ".e30.AA",
    "e30.e30.AA=", "e30=.e30.AA", " e30.e30.AA", "e30.e30.AA\n", "e30.e30.A+", "e30.e30.A/", "e3 0.e30.AA",
    "e30.e30.A",
    "e30.e30.AB", "e31.e30.AA", "<65794a68 624763>", "{length = 900, bytes = 0x65794a68}", "null",
    "W10.e30.AA",
    "bnVsbA.e30.AA", "ImEi.e30.AA", "_w.e30.AA", "Bearer e30.e30.AA",
  ])
  func `J07 what is not three parts of canonical base64url is malformed`(_ text: String) {
    #expect(throws: JOSEError.malformed) { try parse(text) }
  }

  @Test(arguments: [
    #"{"alg":"RS256","alg":"none"}"#, #"{"alg":"none","alg":"RS256"}"#, #"{"alg":"RS256","\u0061lg":"none"}"#,
    #"{"kid":"a","kid":"b"}"#, #"{"x":{"y":1,"y":2}}"#, #"{"alg":"RS256",}"#, "\u{FEFF}{}",
    #"{"alg":"RS256"}x"#,
    #"{"kid":"\ud800"}"#, #"{"kid":"a\u0000"}"#,
  ])
  func `J01 J02 a header that two readers could read differently is malformed`(_ header: String) {
    #expect(throws: JOSEError.malformed) { try parse(token(header)) }
  }

  @Test(arguments: [
    #"{"iss":"a","iss":"b"}"#, #"{"sub":"a","s\u0075b":"b"}"#, #"{"x":{"y":1,"y":2}}"#, "[]", "\"a\"", "",
    "null", "{}x",
  ])
  func `J01 J02 so is such a payload, when its claims are asked for`(_ payload: String) throws {
    let token = try parse(token("{}", payload))
    #expect(throws: JOSEError.malformed) { try token.claims() }
  }

  @Test(arguments: [
    #"{"crit":[]}"#, #"{"crit":["exp"]}"#, #"{"crit":null}"#, #"{"crit":false}"#, #"{"b64":false}"#,
    #"{"b64":true}"#,
    #"{"zip":"DEF"}"#, #"{"zip":null}"#, #"{"\u0063rit":[]}"#,
  ])
  func `a header that changes what the token means is not allowed`(_ header: String) {
    #expect(throws: JOSEError.headerNotAllowed) { try parse(token(header)) }
  }

  @Test func `J04 the size is looked at first`() throws {
    #expect(throws: JOSEError.tooLarge) { try parse(String(repeating: ".", count: 1_000_000)) }
    #expect(throws: JOSEError.tooLarge) { try parse(String(repeating: "a", count: 8193)) }
    #expect(throws: JOSEError.malformed) { try parse(String(repeating: ".", count: 8192)) }
    let head = base64URLText("{}".utf8) + "." + base64URLText("{}".utf8) + "."
    _ = try parse(head + String(repeating: "A", count: 8192 - head.utf8.count))
    #expect(throws: JOSEError.tooLarge) {
      try parse(head + String(repeating: "A", count: 8193 - head.utf8.count))
    }
  }

  @Test(
    arguments: [
      (#"{"kid":5}"#, nil), (#"{"kid":null}"#, nil), (#"{"kid":""}"#, nil), (#"{"kid":["a"]}"#, nil),
      (#"{}"#, nil),
      (#"{"kid":"é"}"#, nil), (#"{"kid":"a b"}"#, nil), (#"{"kid":"../../key"}"#, "../../key"),
    ] as [(String, String?)])
  func `a key id is printable text or nothing`(_ header: String, _ id: String?) throws {
    #expect(try parse(token(header)).header.keyID?.text == id)
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `what is signed verifies with that key and no other`(_ algorithm: SignatureAlgorithm) throws {
    let key = try PrivateKey.generate(algorithm)
    let payload = Array(#"{"sub":"s","n":1}"#.utf8)
    let id = thumbprint(of: key.publicKey)
    let text = try signCompact(payload: payload, key: key, keyID: id, type: "JWT")
    let token = try parse(text)
    #expect(token.payload == payload)
    #expect(
      token.header.object.bytes
        == Array("{\"alg\":\"\(algorithm.rawValue)\",\"kid\":\"\(id)\",\"typ\":\"JWT\"}".utf8))
    try token.verify(with: key.publicKey)
    let other = try PrivateKey.generate(algorithm)
    #expect(throws: JOSEError.signatureInvalid) { try token.verify(with: other.publicKey) }
    let foreign = try PrivateKey.generate(algorithm == .es256 ? .rs256 : .es256)
    #expect(throws: JOSEError.algorithmNotAllowed) { try token.verify(with: foreign.publicKey) }
  }

  @Test func `a token without a type has none`() throws {
    let text = try signCompact(
      payload: Array("{}".utf8), key: TokenForge.apple.key, keyID: TokenForge.apple.keyID, type: nil)
    #expect(try parse(text).header.object.names == ["alg", "kid"])
  }

  @Test(arguments: ["none", "None", "HS256", "RS384", "RS512", "PS256", "ES256", "rs256", "RS256 ", ""])
  func `G02 the algorithm is the key's, whatever the header says`(_ name: String) throws {
    let text = TokenForge.apple.token(
      header: "{\"alg\":\(jsonText(name)),\"kid\":\"FORGEKEY01\"}", claims: "{}")
    let token = try parse(text)
    #expect(throws: JOSEError.algorithmNotAllowed) { try token.verify(with: TokenForge.apple.key.publicKey) }
  }

  @Test(arguments: [#"{"kid":"FORGEKEY01"}"#, #"{"alg":null}"#, #"{"alg":["RS256"]}"#, #"{"alg":256}"#])
  func `a header without a textual algorithm is not verified`(_ header: String) throws {
    let token = try parse(TokenForge.apple.token(header: header, claims: "{}"))
    #expect(throws: JOSEError.algorithmNotAllowed) { try token.verify(with: TokenForge.apple.key.publicKey) }
  }

  @Test func `every changed character costs the signature`() throws {
    let text = Array(TokenForge.apple.token(claims: #"{"sub":"s"}"#).utf8)
    for index in text.indices where index % 7 == 0 && text[index] != UInt8(ascii: ".") {
      var changed = text
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(throws: JOSEError.self) {
        try CompactToken(parsing: changed).verify(with: TokenForge.apple.key.publicKey)
      }
    }
  }

  // RFC 7515 A.3.
  @Test func `the ES256 example of RFC 7515 verifies`() throws {
    let entry = try JSONObject(
      parsing: (#"{"kty":"EC","crv":"P-256","kid":"a3","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#).utf8)
    let key = try #require(JSONWebKey(entry))
    let token = try parse(
      "eyJhbGciOiJFUzI1NiJ9"
        + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
    try token.verify(with: key.key)
    #expect(try token.claims().text("iss") == "joe")
  }

  @Test func `the real token of 2021 verifies with the second key of its time`() throws {
    let text = trimmed(fixture("apple-id-token-2021.jwt"))
    let keys = try KeySet(parsing: fixture("apple-jwks-2020.json"))
    #expect(keys.count == 2)
    let token = try CompactToken(parsing: text)
    let id = try #require(token.header.keyID)
    #expect(id.text == "eXaunmL")
    try token.verify(with: try #require(keys[id]))
    let first = try #require(keys[KeyID(unchecked: "86D88Kf")])
    #expect(throws: JOSEError.signatureInvalid) { try token.verify(with: first) }
    let claims = try token.claims()
    #expect(try claims.optionalInteger("iat") == 1_630_741_430)
    #expect(claims.text("iss") == "https://appleid.apple.com")
    #expect(claims["nonce"] == nil)
    #expect(claims["email"] == nil)
    #expect(try claims.optionalFlag("nonce_supported") == true)
  }

  @Test func `a preview shows what can be read and nothing else`() {
    let good = TokenPreview(of: token(#"{"alg":"none"}"#, #"{"a":1}"#).utf8)
    #expect(good.header == Array(#"{"alg":"none"}"#.utf8))
    #expect(good.claims == Array(#"{"a":1}"#.utf8))
    #expect(TokenPreview(of: "e30".utf8).header == Array("{}".utf8))
    #expect(TokenPreview(of: "x.y.z".utf8).header == nil)
    #expect(TokenPreview(of: "".utf8).claims == nil)
    #expect(TokenPreview(of: String(repeating: ".", count: 1_000_000).utf8).header == nil)
  }
}

/// Without the line feed that a file ends with.
private func trimmed(_ bytes: [UInt8]) -> [UInt8] { bytes.filter { $0 > 0x20 } }
