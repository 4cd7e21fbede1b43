import Foundation
import Testing
import Wire

/// Attacks on the readers: tokens that two readers could read differently, and sizes.
@Suite(.timeLimit(.minutes(10)))
struct MalformedTokenAttackTests {
  @Test func `attack 15 a token of five parts and one that is compressed are no tokens`() async throws {
    try await withService { service in
      let good = try Mint.credential()
      let parts = try TokenParts(good.idToken)
      let sealed = base64URLText(Array(#"{"alg":"dir","enc":"A256GCM","zip":"DEF"}"#.utf8))
      for token in [
        sealed + "..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA", good.idToken + ".AAAA.AAAA",
        sealed + "." + parts.payload + "." + parts.signature + ".AA.AA",
      ] {
        try expect(
          await service.trySignIn(Credential(idToken: token, rawNonce: good.rawNonce)),
          is: .token("token_malformed"))
      }
      let zipped = try Mint.credential { $0.header = [member("zip", "DEF")] }
      try expect(await service.trySignIn(zipped), is: .token("header_not_allowed"))
    }
  }

  @Test(arguments: ["gzip", "deflate", "br", "identity", "x, gzip"])
  func `attack 15 a body with a content coding is refused, not unpacked and not taken as it is`(
    _ coding: String
  )
    async throws
  {
    try await withService { service in
      let credential = try Mint.credential()
      let bomb: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0xED, count: 60_000)
      for (path, type) in [
        ("/v1/signInWithIdp", "application/json"), ("/v1/token", "application/json"),
        ("/v1/token", "application/x-www-form-urlencoded"),
      ] {
        for body in [bomb, Array(credential.body().utf8)] {
          let answer = try await service.send(
            .post(path, body, type: type, headers: [("Content-Encoding", coding)]))
          try expect(answer, is: .argument("media_type_not_supported", 415))
        }
      }
      #expect(try await service.signIn(credential).isNewUser)
    }
  }

  @Test func `attack 16 JSON that two readers could read differently is refused in a signed token too`()
    async throws
  {
    try await withService { service in
      let nonce = Mint.nonce()
      let head =
        #""iss":"https://appleid.apple.com","iat":\#(now()),"exp":\#(now() + 600),"nonce":"\#(sha256Hex(nonce))""#
      let (sub, aud) = (#""sub":"\#(Mint.subject())""#, #""aud":"\#(Client.app)""#)
      let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
      let wrong = [
        "{\(head),\(sub),\(aud),\(sub)}", "{\(head),\(sub),\(aud),\(aud)}",
        "{\(head),\(aud),\(sub),\"sub\":\"other\"}",
        #"{\#(head),\#(aud),\#(sub),"s\u0075b":"other"}"#, #"{\#(head),\#(aud),\#(sub),"x":{"a":1,"a":2}}"#,
        "{\(head),\(aud),\(sub),\"x\":\(deep)}", "{\(head),\(aud),\(sub),\"x\":1e999}",
        "{\(head),\(aud),\(sub),\"x\":NaN}", "{\(head),\(aud),\(sub),\"x\":Infinity}",
        #"{\#(head),\#(aud),\#(sub),"x":"\ud800"}"#, #"{\#(head),\#(aud),\#(sub),"\udc00":1}"#,
        #"{\#(head),\#(aud),\#(sub),"x":"a\u0000b"}"#, "{\(head),\(aud),\(sub),}",
        "{\(head),\(aud),\(sub)}{}",
        "{\(head),\(sub),\"aud\":[\"\(Client.app)\",\"com.other\"]}", "{\(head),\(sub),\"aud\":[]}",
        "{\(head),\(sub),\"aud\":[[\"\(Client.app)\"]]}", "{\(head),\(sub),\"aud\":{\"\(Client.app)\":1}}",
      ]
      for payload in wrong {
        let token = try Mint.token { $0.payload = payload }
        let answer = try await service.trySignIn(Credential(idToken: token, rawNonce: nonce))
        #expect(
          answer.isRefused("token_malformed", "audience_not_allowed", "claim_invalid"), "\(payload) \(answer)"
        )
      }
      // The same claims, once each.
      let token = try Mint.token { $0.payload = "{\(head),\(aud),\(sub)}" }
      _ = try await service.signIn(Credential(idToken: token, rawNonce: nonce))
    }
  }

  @Test(arguments: [
    #"["https://appleid.apple.com"]"#, #"["https://evil.example","https://appleid.apple.com"]"#,
    #"{"https://appleid.apple.com":1}"#, #""https://appleid.apple.com/""#, #""https://APPLEID.apple.com""#,
    #""https://appleid.apple.com\u200b""#, #""https://appleid.apple.c\u03bfm""#,
    #""\u212Attps://appleid.apple.com""#,
    #""https://appleid.apple.com#""#, #""https://appleid.apple.com@evil.example""#, #""""#, "null", "true",
    "7",
  ])
  func `attack 17 an issuer is one text, byte for byte`(_ issuer: String) async throws {
    try await withService { service in
      let value = try #require(try JSONObject(parsing: Array("{\"v\":\(issuer)}".utf8))["v"])
      let credential = try Mint.credential { $0.claims = [("iss", value)] }
      if case .null = value {
      } else {
        let answer = try await service.trySignIn(credential)
        #expect(answer.isRefused("issuer_not_allowed", "claim_invalid"), "\(answer)")
      }
    }
  }

  @Test func `attack 17 a client id is compared byte for byte, so that a Kelvin sign is no k`() async throws {
    try await withService(["BRAMLEY_APPLE_CLIENT_IDS": "com.example.kiosk"]) { service in
      for audience in ["com.example.\u{212A}iosk", "com.example.Kiosk", "com.example.kiosk\u{200D}"] {
        let credential = try Mint.credential { $0.audience = audience }
        #expect(try await service.trySignIn(credential).isRefused("audience_not_allowed", "claim_invalid"))
      }
      _ = try await service.signIn(Mint.credential { $0.audience = "com.example.kiosk" })
    }
  }
}
