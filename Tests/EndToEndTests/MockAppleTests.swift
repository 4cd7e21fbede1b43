import Domain
import Foundation
import Testing
import Wire

/// The stand-in for Apple as a program of its own.
@Suite(.timeLimit(.minutes(10)))
struct MockAppleTests {
  private func payload(_ token: String) throws -> JSONObject {
    try JSONObject(parsing: decodeBase64URL(#require(part(1, token)).utf8))
  }

  private func part(_ index: Int, _ token: String) -> Substring? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    return parts.indices.contains(index) ? parts[index] : nil
  }

  private func mint(_ arguments: String...) async throws -> String {
    let finished = try await run(Program.mockApple, ["token"] + arguments)
    try #require(finished.status == 0, "\(finished.errors)")
    return finished.output.trimmingCharacters(in: .newlines)
  }

  @Test func `it serves several keys and a discovery document`() async throws {
    let apple = try await MockAppleProgram.shared
    let keys = try await exchange(HTTPRequest(path: "/auth/keys"), port: apple.port).json.objects("keys")
    #expect(keys.count == 3)
    #expect(Set(keys.compactMap { $0.text("kid") }).count == 3)
    for key in keys {
      #expect(key.text("kty") == "RSA")
      #expect(key.text("alg") == "RS256")
      #expect(key["d"] == nil)
    }
    let discovery = try await exchange(
      HTTPRequest(path: "/.well-known/openid-configuration"), port: apple.port
    ).json
    #expect(discovery.text("issuer") == "https://appleid.apple.com")
    #expect(discovery.text("jwks_uri")?.hasSuffix("/auth/keys") == true)
    #expect(try await exchange(HTTPRequest(path: "/nowhere"), port: apple.port).status == 404)
    let printed = try await run(Program.mockApple, ["keys"]).json
    #expect(printed.objects("keys").count == 3)
  }

  @Test func `a minted token signs in, from the command and over HTTP`() async throws {
    try await withService { service in
      let token = try await mint("--audience", Client.app, "--nonce-raw", "n", "--email", "a@example.com")
      #expect(try await service.signIn(Credential(idToken: token, rawNonce: "n")).isNewUser)
      let body = #"{"audience":"\#(Client.app)","nonceRaw":"m","subject":"other.subject","key":"MCKc3Ly6Uv"}"#
      let apple = try await MockAppleProgram.shared
      let answer = try await exchange(.post("/mint", json: body), port: apple.port)
      let minted = try #require(try answer.json.text("idToken"))
      #expect(try await service.signIn(Credential(idToken: minted, rawNonce: "m")).isNewUser)
    }
  }

  @Test func `claims are removed and replaced, the header changed`() async throws {
    let token = try await mint(
      "--audience", "a.b", "--claim", "sub=null", "--claim", "email_verified=\"true\"", "--claim", "n=[1]",
      "--claim", "iss=https://other.example", "--header", "alg=none", "--header", "kid=null", "--issued-at",
      "1000",
      "--expires-in", "60")
    let claims = try payload(token)
    #expect(claims["sub"] == nil)
    #expect(claims.text("email_verified") == "true")
    #expect(claims.array("n")?.count == 1)
    #expect(claims.text("iss") == "https://other.example")
    #expect(claims.integer("iat") == 1000)
    #expect(claims.integer("exp") == 1060)
    let header = try JSONObject(parsing: decodeBase64URL(#require(part(0, token)).utf8))
    #expect(header.text("alg") == "none")
    #expect(header["kid"] == nil)
  }

  @Test func `wrong tokens are refused as what they are`() async throws {
    try await withService { service in
      let cases: [([String], String)] = [
        (["--break-signature"], "signature_invalid"), (["--claim", "exp=1"], "claim_invalid"),
        (["--header", "alg=HS256"], "algorithm_not_allowed"), (["--payload", "no json"], "token_malformed"),
        (["--claim", "iss=null"], "issuer_not_allowed"),
      ]
      for (arguments, reason) in cases {
        let finished = try await run(
          Program.mockApple, ["token", "--audience", Client.app, "--nonce-raw", "n"] + arguments)
        let token = finished.output.trimmingCharacters(in: .newlines)
        try expect(
          await service.trySignIn(Credential(idToken: token, rawNonce: "n")), is: .token(reason))
      }
    }
  }

  @Test func `it explains itself and refuses wrong usage`() async throws {
    for arguments in [["--help"], ["serve", "--help"], ["token", "--help"]] {
      let finished = try await run(Program.mockApple, arguments)
      #expect(finished.status == 0)
      #expect(finished.output.contains("usage: bramley-mock-apple"))
    }
    let wrong = [
      [], ["nonsense"], ["token"], ["token", "x", "--audience", "a.b"], ["token", "--audience"],
      ["serve", "--listen", "nowhere"], ["token", "--audience", "a.b", "--claim", "novalue"],
      ["token", "--audience", "a.b", "--expires-in", "soon"], ["serve", "--port", "1"],
    ]
    for arguments in wrong {
      #expect(try await run(Program.mockApple, arguments).status == 64, "\(arguments)")
    }
    let unknown = try await run(Program.mockApple, ["token", "--audience", "a.b", "--key", "none"])
    #expect(unknown.status == 1)
  }

  @Test(arguments: ["", "[]", #"{"audience":7}"#, #"{"key":"none"}"#, #"{"claims":[]}"#])
  func `a mint order that it cannot read is refused`(_ body: String) async throws {
    let answer = try await exchange(.post("/mint", json: body), port: MockAppleProgram.shared.port)
    #expect(answer.status == 400)
    #expect(try answer.json.text("error") != nil)
  }
}
