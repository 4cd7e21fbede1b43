import Foundation
import Testing
import Wire

/// The G rows: tokens that somebody else made.
@Suite(.timeLimit(.minutes(10)))
struct ForgeryTests {
  @Test func `G04 a forged signature is refused`() async throws {
    try await withService { service in
      let credential = try Mint.credential { $0.breaksSignature = true }
      try expect(await service.trySignIn(credential), is: .token("signature_invalid"))
    }
  }

  @Test func `G04 a claim that was changed after signing is refused`() async throws {
    try await withService { service in
      let (mine, other) = (try Mint.credential(), try Mint.credential())
      let parts = mine.idToken.split(separator: ".")
      let forged = "\(parts[0]).\(other.idToken.split(separator: ".")[1]).\(parts[2])"
      let credential = Credential(idToken: forged, rawNonce: other.rawNonce)
      try expect(await service.trySignIn(credential), is: .token("signature_invalid"))
    }
  }

  @Test(arguments: ["none", "HS256", "RS384", "PS256", "ES256", "rs256", ""])
  func `G01 G02 an algorithm other than Apple's is refused before any key is used`(_ name: String)
    async throws
  {
    try await withService { service in
      let credential = try Mint.credential { $0.header = [member("alg", name)] }
      let answer = try await service.trySignIn(credential)
      #expect(["algorithm_not_allowed", "header_not_allowed", "token_malformed"].contains(answer.reason))
      #expect(answer.status == 400)
    }
  }

  @Test func `G07 a key that the token brings along is not believed`() async throws {
    try await withService { service in
      let credential = try Mint.credential { order in
        order.keyName = "MCKb5Xe8Rt"
        order.header = [
          member("kid", "MCKa7Qw2Zp"), member("jku", "http://127.0.0.1:9/keys"),
          member("x5u", "http://127.0.0.1:9/cert"),
        ]
      }
      let answer = try await service.trySignIn(credential)
      #expect(["signature_invalid", "header_not_allowed"].contains(answer.reason), "\(answer)")
    }
  }

  @Test func `K01 a token of each of Apple's keys is taken`() async throws {
    try await withService { service in
      for key in ["MCKa7Qw2Zp", "MCKb5Xe8Rt", "MCKc3Ly6Uv"] {
        _ = try await service.signIn(Mint.credential { $0.keyName = key })
      }
    }
  }

  @Test func `a key that Apple does not have is unknown, and K16 no name is refused at once`() async throws {
    try await withService { service in
      let unknown = try Mint.credential { $0.header = [member("kid", "AAAAAAAAAA")] }
      // The first one waits for the fetch of the start or makes one; then the cool-down holds.
      for _ in 0..<3 { try expect(await service.trySignIn(unknown), is: .token("key_unknown")) }
      _ = try await service.signIn(Mint.credential())
      for name in [nil, ""] {
        let credential = try Mint.credential { $0.header = [member("kid", name)] }
        try expect(await service.trySignIn(credential), is: .token("header_not_allowed"))
      }
    }
  }

  @Test func `G08 our session token is no Apple token`() async throws {
    try await withService { service in
      let signedIn = try await service.signIn(Mint.credential())
      let answer = try await service.trySignIn(Credential(idToken: signedIn.idToken, rawNonce: "n"))
      #expect(answer.status == 400)
      #expect(["algorithm_not_allowed", "issuer_not_allowed"].contains(answer.reason), "\(answer)")
    }
    try await withService(["BRAMLEY_SESSION_ALG": "RS256", "BRAMLEY_PROJECT_ID": Client.app]) { service in
      let signedIn = try await service.signIn(Mint.credential())
      let answer = try await service.trySignIn(Credential(idToken: signedIn.idToken, rawNonce: "n"))
      try expect(answer, is: .token("issuer_not_allowed"))
    }
  }

  @Test func `G08 an Apple token is no session token`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let answer = try await service.trySignIn(credential, bearer: Mint.credential().idToken)
      try expect(answer, is: Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid"))
      // It was no plain sign-in either.
      #expect(try await service.signIn(credential).isNewUser)
    }
  }

  @Test func `J07 what is no token at all is refused as malformed`() async throws {
    try await withService { service in
      let good = try Mint.credential().idToken
      let texts = [
        "x", "..", "a.b", "a.b.c.d", good + ".", good.replacing(".", with: "..", maxReplacements: 1),
        good + "=", " " + good, good + "\\n", "<65794a68 62476369>", "{length = 900, bytes = 0x65794a}",
        String(good.dropLast()) + "é",
      ]
      for text in texts {
        let answer = try await service.send(.signIn(#"{"idToken":"\#(text)","rawNonce":"n"}"#))
        try expect(answer, is: .token("token_malformed"))
      }
      try expect(
        await service.send(.signIn(#"{"rawNonce":"n"}"#)), is: .argument("field_missing"), field: "idToken")
    }
  }

  @Test func `attack 16 J02 a payload or header that names a member twice is refused`() async throws {
    try await withService { service in
      let payloads = [
        #"{"iss":"https://appleid.apple.com","aud":"\#(Client.app)","sub":"a","sub":"b"}"#,
        #"{"iss":"https://appleid.apple.com","aud":"\#(Client.app)","sub":"a","s\u0075b":"b"}"#,
        "[]", "null", "", "\u{FEFF}{}", #"{"iss":"https://appleid.apple.com",}"#,
      ]
      for payload in payloads {
        let token = try Mint.token { $0.payload = payload }
        let answer = try await service.trySignIn(Credential(idToken: token, rawNonce: "n"))
        try expect(answer, is: .token("token_malformed"))
      }
    }
  }
}
