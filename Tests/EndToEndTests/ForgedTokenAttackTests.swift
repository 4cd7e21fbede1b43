import Crypto
import Foundation
import Testing
import Wire

/// Attacks on the signature: tokens that Apple did not make, and session tokens that we did not make.
@Suite(.timeLimit(.minutes(10)))
struct ForgedTokenAttackTests {
  @Test func `attack 1 a stranger's own issuer cannot speak for Apple, nor sign for it`() async throws {
    try await withService { service in
      let victim = try await service.signIn(Mint.credential { $0.email = "victim@example.com" })
      for issuer in ["https://evil.example", "https://login.microsoftonline.com/t/v2.0"] {
        let credential = try Mint.credential { order in
          order.email = "victim@example.com"
          order.claims = [member("iss", issuer)]
        }
        try expect(await service.trySignIn(credential), is: .token("issuer_not_allowed"))
      }
      let forged = try Mint.credential { order in
        order.email = "victim@example.com"
        order.keyName = "MCKb5Xe8Rt"
        order.header = [member("kid", "MCKa7Qw2Zp")]
      }
      try expect(await service.trySignIn(forged), is: .token("signature_invalid"))
      _ = try await service.refresh(victim.refreshToken)
    }
  }

  @Test(arguments: [
    "PEM", "PEM without its end", "PEM after white space", "DER", "modulus", "nothing", "kid",
  ])
  func `attack 4 attack 5 attack 6 G01 a MAC keyed with what is public is no signature`(_ form: String)
    async throws
  {
    let key = try await ApplePublicKey()
    let secret: [UInt8] =
      switch form {
      case "PEM": Array(key.pem.utf8)
      case "PEM without its end": Array(key.pem.utf8.dropLast())
      case "PEM after white space": Array((" \n\t" + key.pem).utf8)
      case "DER": key.der
      case "modulus": key.modulus
      case "kid": Array("MCKa7Qw2Zp".utf8)
      default: []
      }
    try await withService { service in
      let good = try Mint.credential()
      let parts = try TokenParts(good.idToken)
      for (algorithm, reason) in [("HS256", "algorithm_not_allowed"), ("RS256", "signature_invalid")] {
        let token = parts.withMAC(keyedBy: secret, header: #"{"kid":"MCKa7Qw2Zp","alg":"\#(algorithm)"}"#)
        try expect(
          await service.trySignIn(Credential(idToken: token, rawNonce: good.rawNonce)), is: .token(reason))
      }
      // The same on the other side: the session token of a bearer.
      let session = try TokenParts(try await service.signIn(good).idToken)
      let bearer = session.withMAC(keyedBy: secret, header: #"{"alg":"HS256","typ":"JWT"}"#)
      try expect(
        await service.trySignIn(Mint.credential(), bearer: bearer),
        is: Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid"))
    }
  }

  @Test(arguments: ["none", "None", "nOnE", "NONE", ""])
  func `attack 8 a token that says it needs no signature needs one`(_ algorithm: String) async throws {
    try await withService { service in
      let good = try Mint.credential()
      let session = try await service.signIn(good)
      let apple = try TokenParts(Mint.token { $0.rawNonce = good.rawNonce })
      let header = base64URLText(Array(#"{"kid":"MCKa7Qw2Zp","alg":"\#(algorithm)"}"#.utf8))
      for signature in ["", apple.signature] {
        let token = header + "." + apple.payload + "." + signature
        let answer = try await service.trySignIn(Credential(idToken: token, rawNonce: good.rawNonce))
        #expect(answer.isRefused("algorithm_not_allowed", "token_malformed"), "\(answer)")
        let bearer = header + "." + (try TokenParts(session.idToken)).payload + "." + signature
        try expect(
          await service.trySignIn(Mint.credential(), bearer: bearer),
          is: Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid"))
      }
      // An empty signature under the right name of the algorithm.
      let answer = try await service.trySignIn(
        Credential(idToken: apple.header + "." + apple.payload + ".", rawNonce: good.rawNonce))
      #expect(answer.isRefused("signature_invalid", "token_malformed"), "\(answer)")
    }
  }

  @Test func `attack 9 signatures of zeros, of the order and of other shapes are none`() async throws {
    let order: [UInt8] = [
      0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC,
      0xE6,
      0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
    let zero = [UInt8](repeating: 0, count: 32)
    let one: [UInt8] = Array(zero.dropLast()) + [1]
    try await withService { service in
      let session = try await service.signIn(Mint.credential())
      var parts = try TokenParts(session.idToken)
      let right = try decodeBase64URL(parts.signature.utf8)
      try #require(right.count == 64)
      let (r, s) = (Array(right[..<32]), Array(right[32...]))
      // r and s as they are, but written as DER integers.
      let integers = [0x02, 0x21, 0x00] + r + [0x02, 0x21, 0x00] + s
      let wrong: [[UInt8]] = [
        zero + zero, order + order, order + s, r + order, zero + s, r + zero, one + one, r, [],
        Array(right.dropLast()),
        right + [0], [0] + right, [0x30, UInt8(integers.count)] + integers,
      ]
      for signature in wrong {
        parts.signature = base64URLText(signature)
        try expect(
          await service.trySignIn(Mint.credential(), bearer: parts.text),
          is: Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid"))
      }
    }
  }

  @Test func `attack 10 a padding that holds more than the digest is no signature`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let good = try Mint.credential()
      var parts = try TokenParts(good.idToken)
      let digest = sha256(Array((parts.header + "." + parts.payload).utf8))
      // RFC 8017 §9.2: the DER of the digest's algorithm, then the digest.
      let algorithm: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
        0x04,
        0x20,
      ]
      let info = algorithm + digest
      func padded(_ info: [UInt8], fill: Int, _ tail: [UInt8] = []) -> [UInt8] {
        let head = [0, 1] + [UInt8](repeating: 0xFF, count: fill) + [0] + info + tail
        return head + [UInt8](repeating: 0, count: 256 - head.count)
      }
      let wrong = [
        padded(info, fill: 8), padded(info, fill: 8, [UInt8](repeating: 0x41, count: 194)),
        padded(info, fill: 201), padded(digest, fill: 221),
        padded(Array(algorithm.dropFirst(2)) + digest, fill: 204),
      ]
      for block in wrong {
        parts.signature = try await sign(block, stage)
        let credential = Credential(idToken: parts.text, rawNonce: good.rawNonce)
        try expect(await service.trySignIn(credential), is: .token("signature_invalid"))
      }
      // The whole block, to show that it is the padding alone which was wrong.
      parts.signature = try await sign(padded(info, fill: 202), stage)
      _ = try await service.signIn(Credential(idToken: parts.text, rawNonce: good.rawNonce))
    }
  }

  /// Raises a block to the private exponent of the stand-in's first key, without any padding.
  private func sign(_ block: [UInt8], _ stage: Stage) async throws -> String {
    let (input, output) = (stage.folder + "/block", stage.folder + "/signature")
    try Data(block).write(to: URL(fileURLWithPath: input))
    let key = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources/MockApple/Keys/MockKeyA.pem").path
    let signed = try await run(
      "/usr/bin/openssl",
      [
        "pkeyutl", "-decrypt", "-inkey", key, "-pkeyopt", "rsa_padding_mode:none", "-in", input, "-out",
        output,
      ])
    try #require(signed.status == 0, "\(signed.errors)")
    return base64URLText(Array(try Data(contentsOf: URL(fileURLWithPath: output))))
  }

  @Test(arguments: [
    ("crit", #"["exp"]"#), ("crit", "[]"), ("crit", #"["http://example.com/unknown"]"#), ("crit", #""exp""#),
    ("b64", "false"), ("b64", "true"), ("zip", #""DEF""#),
  ])
  func `attack 11 a header that changes what the token means is refused`(_ name: String, _ json: String)
    async throws
  {
    try await withService { service in
      let value = try #require(try JSONObject(parsing: Array("{\"v\":\(json)}".utf8))["v"])
      let credential = try Mint.credential { $0.header = [(name, value)] }
      try expect(await service.trySignIn(credential), is: .token("header_not_allowed"))
    }
  }

  @Test func `attack 12 G07 a key or an address in the header is not used, and nothing is fetched`()
    async throws
  {
    let decoy = try await MockAppleProgram.start()
    try await withService { service in
      let key = try #require(
        try await exchange(HTTPRequest(path: "/auth/keys"), port: decoy.port).json.objects("keys").last)
      let url = decoy.keysURL + "/auth/keys"
      let headers: [(String, JSONValue)] = [
        ("jku", .text(url)), ("x5u", .text(url)), ("jwk", .object(key)), ("x5c", .array([.text("MIIB")])),
        ("kid", .text(url)), ("iss", .text(decoy.keysURL)),
      ]
      for (name, value) in headers {
        let credential = try Mint.credential { order in
          order.keyName = key.text("kid")
          order.header = name == "kid" ? [] : [member("kid", "MCKa7Qw2Zp")]
          order.header.append((name, value))
        }
        let answer = try await service.trySignIn(credential)
        #expect(
          answer.isRefused("signature_invalid", "header_not_allowed", "key_unknown"), "\(name) \(answer)")
      }
      #expect(try await decoy.keyRequests() == 0)
    }
    try await decoy.kill()
  }

  @Test func `attack 13 a key id is a name and nothing else`() async throws {
    try await withMisbehavingApple("good") { apple, stage in
      let service = try await stage.start()
      let names = [
        "../../../../../../dev/null", "/dev/null", "file:///etc/passwd", "' OR '1'='1",
        "x'; DROP TABLE accounts; --",
        "$(reboot)", "MCKa7Qw2Zp\u{0}", "MCKa7Qw2Zp ", "mcka7qw2zp", "MCKa7Qw2Zp\u{200B}",
        String(repeating: "k", count: 300), String(repeating: "k", count: 5000),
        String(repeating: "k", count: 40_000), "%2e%2e%2f", "{{7*7}}", "\u{212A}",
      ]
      for name in names {
        let credential = try Mint.credential { $0.header = [member("kid", name)] }
        let answer = try await service.trySignIn(credential)
        #expect(
          answer.isRefused("key_unknown", "header_not_allowed", "token_malformed", "token_too_large"),
          "\(answer)")
      }
      let huge = try Mint.credential { $0.header = [member("kid", String(repeating: "k", count: 65_536))] }
      try expect(await service.trySignIn(huge), is: .argument("body_too_large", 413))
      _ = try await service.signIn(Mint.credential())
      #expect(try await apple.keyRequests() <= 2)
    }
  }

  @Test func `attack 18 what was once verified does not vouch for another signature`() async throws {
    try await withService { service in
      let good = try Mint.credential()
      _ = try await service.signIn(good)
      var parts = try TokenParts(good.idToken)
      parts.signature = try TokenParts(Mint.token { _ in }).signature
      for signature in [parts.signature, base64URLText([UInt8](repeating: 1, count: 256))] {
        parts.signature = signature
        try expect(
          await service.trySignIn(Credential(idToken: parts.text, rawNonce: good.rawNonce)),
          is: .token("signature_invalid"))
      }
    }
  }
}
