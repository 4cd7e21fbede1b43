import Foundation
import Testing
import Wire

/// `token explain`, with a token that really came from Apple and with the stand-in's.
@Suite(.timeLimit(.minutes(10)))
struct TokenExplainTests {
  private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures")
  private static let keySet = fixtures.appendingPathComponent("apple-jwks-2020.json").path

  private var realToken: String {
    get throws {
      try String(contentsOf: Self.fixtures.appendingPathComponent("apple-id-token-2021.jwt"), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }

  /// Explains offline, without a single setting.
  private func explain(_ arguments: [String], _ token: String, input: String = "") async throws -> Finished {
    try await run(
      Program.bramley, ["token", "explain", "--json", "--jwks", Self.keySet] + arguments + [token],
      input: input)
  }

  private let audience = ["--audience", "com.gameroasters.stack4"]

  @Test func `the real token was right in its time but for its nonce`() async throws {
    let finished = try await explain(audience + ["--now", "1630741500"], realToken)
    #expect(finished.status == 1)
    let json = try finished.json
    #expect(json.names == ["valid", "code", "header", "claims", "detail"])
    #expect(json.flag("valid") == false)
    #expect(json.text("code") == "nonce_claim_missing")
    let detail = json.text("detail") ?? ""
    #expect(detail.contains("signature, issuer, audience and time are right"))
    #expect(detail.contains("nonce"))
    #expect(json.object("header")?.text("alg") == "RS256")
    #expect(json.object("claims")?.text("aud") == "com.gameroasters.stack4")
  }

  @Test func `today it has expired`() async throws {
    let finished = try await explain(audience, realToken)
    #expect(finished.status == 1)
    #expect(try finished.json.text("code") == "token_expired")
  }

  @Test func `it is refused for whatever else is not right`() async throws {
    let token = try realToken
    let now = ["--now", "1630741500"]
    let cases: [([String], String, String)] = [
      (["--audience", "com.example.app"] + now, token, "audience_not_allowed"),
      (audience + ["--issuer", "https://account.apple.com"] + now, token, "issuer_not_allowed"),
      (audience + ["--now", "1500000000"], token, "token_from_the_future"),
      (audience + now, String(token.dropLast(6)) + "AAAAAA", "signature_invalid"),
      (audience + now, "not.a.token", "token_malformed"),
      (audience + now, String(repeating: "A", count: 9000), "token_too_large"),
      (audience + now + ["--nonce", "raw"], token, "nonce_claim_missing"),
    ]
    for (arguments, token, code) in cases {
      let finished = try await explain(arguments, token)
      #expect(finished.status == 1)
      #expect(try finished.json.text("code") == code)
      #expect(try finished.json.flag("valid") == false)
    }
  }

  @Test func `a nonce for a token without one is told as what it is`() async throws {
    let finished = try await explain(audience + ["--now", "1630741500", "--nonce", "raw"], realToken)
    #expect(try finished.json.text("detail")?.hasSuffix("; the nonce claim is missing") == true)
  }

  @Test func `a client that needs a challenge is told of it`() async throws {
    try await withStage { stage in
      let credential = try Mint.credential { $0.audience = Client.challenge }
      let finished = try await stage.command(
        "token", "explain", "--json", "--nonce", credential.rawNonce, credential.idToken)
      #expect(finished.status == 0)
      #expect(try finished.json.text("detail")?.contains("/v1/nonces") == true)
    }
  }

  @Test func `the token may come from standard input`() async throws {
    let finished = try await explain(
      audience + ["--now", "1630741500"], "-", input: "\n \(try realToken)\n\n")
    #expect(try finished.json.text("code") == "nonce_claim_missing")
    let text = try await run(
      Program.bramley,
      ["token", "explain", "--jwks", Self.keySet, "--now", "1630741500"] + audience + [realToken])
    #expect(text.status == 1)
    #expect(text.output.hasPrefix("nonce_claim_missing: "))
  }

  @Test func `with the stand-in's keys a good token is valid, online and offline`() async throws {
    try await withStage { stage in
      let credential = try Mint.credential()
      let online = try await stage.command("token", "explain", "--json", credential.idToken)
      #expect(online.status == 0, "\(online.errors)")
      #expect(try online.json.flag("valid") == true)
      #expect(try online.json.text("code") == "valid")
      #expect(try online.json.text("detail")?.contains("nonce not checked") == true)

      let keys = try stage.write(try await run(Program.mockApple, ["keys"]).output, to: "keys.json")
      let offline = ["token", "explain", "--json", "--jwks", keys, "--audience", Client.app]
      let right = try await run(
        Program.bramley, offline + ["--nonce", credential.rawNonce, credential.idToken])
      #expect(right.status == 0)
      #expect(try right.json.text("detail")?.contains("nonce") == true)
      let wrong = try await run(Program.bramley, offline + ["--nonce", "other", credential.idToken])
      #expect(wrong.status == 1)
      #expect(try wrong.json.text("code") == "nonce_mismatch")
      let hashed = sha256Hex(credential.rawNonce)
      let known = try await run(Program.bramley, offline + ["--nonce", hashed, credential.idToken])
      #expect(try known.json.text("code") == "nonce_is_already_hashed")
    }
  }

  @Test func `what the command line cannot have is told`() async throws {
    try await withStage(appleURL: "http://127.0.0.1:1") { stage in
      let token = try Mint.credential().idToken
      #expect(try await stage.command("token", "explain", token).status == 69)
      let gone = try await run(
        Program.bramley,
        ["token", "explain", "--jwks", stage.folder + "/none", "--audience", Client.app, token])
      #expect(gone.status == 69)
      let empty = try stage.write(#"{"keys":[]}"#, to: "empty.json")
      let none = try await run(
        Program.bramley, ["token", "explain", "--jwks", empty, "--audience", Client.app, token])
      #expect(none.status == 69)
      #expect(try await run(Program.bramley, ["token", "explain", token]).status == 78)
    }
  }
}
