import Crypto
import Domain
import Foundation
import MockApple
import TestProcesses
import Testing
import Wire

/// A client secret as somebody makes it, right or wrong.
struct SecretForge {
  var header = #"{"alg":"ES256","kid":"MOCKKEY001"}"#
  var claims: [String: String] = [:]
  var key: PrivateKey?
  var breaksSignature = false

  /// - Parameter now: Seconds since 1970.
  func text(client: String = Client.app, now: Int = Int(time(nil))) throws -> String {
    let all = [
      "iss": #""MOCKTEAM01""#, "iat": "\(now - 60)", "exp": "\(now + 300)",
      "aud": #""https://appleid.apple.com""#, "sub": #""\#(client)""#,
    ].merging(claims) { $1 }.filter { !$0.value.isEmpty }
    let payload = "{" + all.map { #""\#($0)":\#($1)"# }.joined(separator: ",") + "}"
    let signed = base64URLText(Array(header.utf8)) + "." + base64URLText(Array(payload.utf8))
    let key = try key ?? PrivateKey(pem: Secret(Array(MockTeam.pem.utf8)))
    let signature = try key.sign(Array((signed + (breaksSignature ? "x" : "")).utf8))
    return signed + "." + base64URLText(signature)
  }
}

extension Mint {
  /// What the stand-in gives for a code, without any service.
  static func tokens(
    of code: String, at apple: MockAppleProgram, client: String = Client.app
  ) async throws -> JSONObject {
    let answer = try await exchange(
      .post(
        "/auth/token",
        form:
          "client_id=\(client)&client_secret=\(SecretForge().text(client: client))&grant_type=authorization_code"
          + "&code=\(code)"), port: apple.port)
    try #require(answer.status == 200, "\(answer)")
    return try answer.json
  }
}

/// The stand-in's token endpoints: as strict as Apple's.
@Suite(.timeLimit(.minutes(10)))
struct MockTokenDeskTests {
  private func withApple(_ body: (MockAppleProgram) async throws -> Void) async throws {
    let apple = try await MockAppleProgram.start()
    try await body(apple)
    try await apple.kill()
  }

  private func error(
    _ apple: MockAppleProgram, _ form: String, path: String = "/auth/token"
  ) async throws -> String? {
    let answer = try await exchange(.post(path, form: form), port: apple.port)
    return answer.status == 200 ? nil : try answer.json.text("error")
  }

  private func exchangeForm(_ code: String, _ secret: SecretForge = SecretForge(), more: String = "") throws
    -> String
  {
    "client_id=\(Client.app)&client_secret=\(try secret.text())&grant_type=authorization_code&code=\(code)\(more)"
  }

  @Test func `O01 a code is good once, and its client and redirect URI have to be its own`() async throws {
    try await withApple { apple in
      let subject = Mint.subject()
      let uri = "https://app.example.com/apple"
      let web = try Mint.code(subject, redirectURI: uri)
      #expect(try await error(apple, exchangeForm(web)) == "invalid_grant")
      #expect(
        try await error(apple, exchangeForm(web, more: "&redirect_uri=https://other.example.com"))
          == "invalid_grant")
      #expect(try await error(apple, exchangeForm(web, more: "&redirect_uri=\(uri)")) == nil)
      #expect(try await error(apple, exchangeForm(web, more: "&redirect_uri=\(uri)")) == "invalid_grant")
      let other = try Mint.code(subject, client: Client.second)
      #expect(try await error(apple, exchangeForm(other)) == "invalid_grant")
      #expect(try await error(apple, exchangeForm("garbage")) == "invalid_grant")
      let tokens = try await Mint.tokens(of: Mint.code(subject), at: apple)
      #expect(tokens.text("token_type") == "Bearer")
      #expect(tokens.integer("expires_in") == 3600)
      let claims = try JSONObject(
        parsing: decodeBase64URL(#require(tokens.text("id_token")).split(separator: ".")[1].utf8))
      #expect(claims.text("sub") == subject)
      #expect(claims.text("aud") == Client.app)
      #expect(claims.text("at_hash")?.count == 22)
    }
  }

  @Test func `O04 O05 O07 a client secret is checked whole`() async throws {
    try await withApple { apple in
      let now = Int(time(nil))
      let wrong: [SecretForge] = [
        SecretForge(claims: ["exp": "\(now + 31_536_000)"]), SecretForge(claims: ["exp": "\(now - 10)"]),
        SecretForge(claims: ["iat": "\(now - 181 * 86_400)", "exp": "\(now - 86_400)"]),
        SecretForge(claims: ["iat": "\(now + 600)", "exp": "\(now + 900)"]),
        SecretForge(claims: ["sub": ""]), SecretForge(claims: ["aud": #""appleid.apple.com""#]),
        SecretForge(claims: ["iss": #""OTHERTEAM1""#]),
        SecretForge(claims: ["sub": #""com.example.second""#]),
        SecretForge(header: #"{"alg":"ES256","kid":"OTHERKEY01"}"#), SecretForge(header: #"{"alg":"ES256"}"#),
        SecretForge(key: try PrivateKey.generate(.es256)), SecretForge(breaksSignature: true),
      ]
      let code = try Mint.code(Mint.subject())
      for (index, secret) in wrong.enumerated() {
        #expect(try await error(apple, exchangeForm(code, secret)) == "invalid_client", "\(index)")
      }
      let noSecret = "client_id=\(Client.app)&grant_type=authorization_code&code=\(code)"
      #expect(try await error(apple, noSecret) == "invalid_client")
      #expect(try await error(apple, exchangeForm(code)) == nil)
    }
  }

  @Test func `only a form is read, and only two grants are known`() async throws {
    try await withApple { apple in
      let json = try await exchange(.post("/auth/token", json: "{}"), port: apple.port)
      #expect(json.status == 400)
      #expect(try json.json.text("error") == "unsupported_grant_type")
      let client = "client_id=\(Client.app)&client_secret=\(try SecretForge().text())"
      #expect(try await error(apple, client + "&grant_type=password") == "unsupported_grant_type")
      #expect(try await error(apple, client) == "invalid_request")
      #expect(try await error(apple, client + "&grant_type=authorization_code") == "invalid_request")
      #expect(try await error(apple, client + "&grant_type=refresh_token") == "invalid_request")
    }
  }

  @Test func `V01 a revocation of garbage is 200, without a client it is invalid_client`() async throws {
    try await withApple { apple in
      let client = "client_id=\(Client.app)&client_secret=\(try SecretForge().text())"
      #expect(try await error(apple, client + "&token=garbage", path: "/auth/revoke") == nil)
      #expect(try await error(apple, "", path: "/auth/revoke") == "invalid_client")
      #expect(try await error(apple, client, path: "/auth/revoke") == "invalid_request")
      let tokens = try await Mint.tokens(of: Mint.code(Mint.subject()), at: apple)
      let refresh = try #require(tokens.text("refresh_token"))
      let look = client + "&grant_type=refresh_token&refresh_token=\(refresh)"
      #expect(try await error(apple, look) == nil)
      #expect(
        try await error(
          apple, client + "&token=\(refresh)&token_type_hint=access_token", path: "/auth/revoke")
          == "invalid_request")
      #expect(
        try await error(
          apple, client + "&token=\(refresh)&token_type_hint=refresh_token", path: "/auth/revoke")
          == nil)
      #expect(try await error(apple, look) == "invalid_grant")
    }
  }

  @Test func `another team is known when it is told, and the first no more`() async throws {
    try await withApple { apple in
      let key = try PrivateKey.generate(.es256)
      guard case .p256(let x, let y)? = key.publicKey.numbers else { throw CancellationError() }
      let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
        0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
      ]
      let pem =
        "-----BEGIN PUBLIC KEY-----\\n\(Data(prefix + x + y).base64EncodedString())\\n-----END PUBLIC KEY-----\\n"
      let told = try await exchange(
        .post(
          "/teams", json: #"{"teams":[{"teamId":"OTHERTEAM1","keyId":"OTHERKEY01","publicKey":"\#(pem)"}]}"#),
        port: apple.port)
      #expect(told.status == 200, "\(told)")
      let code = try Mint.code(Mint.subject())
      #expect(try await error(apple, exchangeForm(code)) == "invalid_client")
      let forge = SecretForge(
        header: #"{"alg":"ES256","kid":"OTHERKEY01"}"#, claims: ["iss": #""OTHERTEAM1""#], key: key)
      #expect(try await error(apple, exchangeForm(code, forge)) == nil)
    }
  }

  @Test func `it prints the team that it knows, and gives codes with the tokens that it mints`() async throws
  {
    let team = try await run(Program.mockApple, ["team"]).json
    #expect(team.text("teamId") == MockTeam.id)
    #expect(team.text("keyId") == MockTeam.keyID.text)
    #expect(team.text("privateKey")?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
    try await withApple { apple in
      let answer = try await exchange(
        .post("/mint", json: #"{"audience":"\#(Client.app)","subject":"001.a","nonceRaw":"n","code":true}"#),
        port: apple.port)
      let code = try #require(try answer.json.text("authorizationCode"))
      #expect(try await error(apple, exchangeForm(code)) == nil)
    }
  }
}
