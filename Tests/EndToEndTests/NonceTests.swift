import Foundation
import MockApple
import Testing
import Wire

/// The N rows of the bug cases, with real tokens over the wire.
@Suite(.timeLimit(.minutes(10)))
struct NonceTests {
  /// A token whose nonce claim is this text, with the raw nonce of the request.
  private func refused(
    claim: String, raw: String, client: String = Client.app, as reason: String,
    at location: SourceLocation = #_sourceLocation
  ) async throws {
    try await withService { service in
      let token = try Mint.token { order in
        order.audience = client
        order.nonce = claim
      }
      let answer = try await service.trySignIn(Credential(idToken: token, rawNonce: raw))
      try expect(answer, is: .nonce(reason), at: location)
    }
  }

  @Test func `N01 the hash in place of the raw nonce is told as such`() async throws {
    let digest = sha256Hex(Mint.nonce())
    try await refused(claim: digest, raw: digest, as: "nonce_is_already_hashed")
  }

  @Test func `N02 a raw nonce in the claim is told as such`() async throws {
    let nonce = Mint.nonce()
    try await refused(claim: nonce, raw: nonce, as: "nonce_claim_not_hashed")
  }

  @Test(arguments: [sha256Base64("raw N04"), sha256Base64("raw N04").replacing("=", with: "")])
  func `N04 a digest in base64 is refused and its spelling named`(_ claim: String) async throws {
    try await refused(claim: claim, raw: "raw N04", as: "nonce_wrong_encoding")
  }

  @Test(arguments: [
    sha256Base64URL("raw N05"), sha256Base64URL("raw N05") + "=", sha256Hex("raw N05").uppercased(),
  ])
  func `N05 a digest in base64url or upper case is refused and its spelling named`(_ claim: String)
    async throws
  {
    try await refused(claim: claim, raw: "raw N05", as: "nonce_wrong_encoding")
  }

  @Test func `N07 a nonce that was hashed twice is refused`() async throws {
    let nonce = Mint.nonce()
    try await refused(claim: sha256Hex(sha256Hex(nonce)), raw: nonce, as: "nonce_double_hashed")
  }

  @Test func `N08 a token without a nonce is refused whatever the request says`() async throws {
    try await withService { service in
      let token = try Mint.token { _ in }
      let answer = try await service.trySignIn(Credential(idToken: token, rawNonce: "anything"))
      try expect(answer, is: .nonce("nonce_claim_missing"))
    }
  }

  @Test(arguments: [nil, "null", #""""#])
  func `N10 a token with a nonce and a request without one are refused`(_ nonce: String?) async throws {
    try await withService { service in
      let token = try Mint.credential().idToken
      let body = #"{"idToken":"\#(token)"\#(nonce.map { #","rawNonce":\#($0)"# } ?? "")}"#
      try expect(await service.send(.signIn(body)), is: .nonce("nonce_missing"), field: "rawNonce")
    }
  }

  @Test(arguments: ["null", #""""#])
  func `N10 a claim that is null or empty is missing`(_ claim: String) async throws {
    try await withService { service in
      let credential = try Mint.credential { order in
        order.claims = [("nonce", claim == "null" ? .null : .text(""))]
      }
      try expect(await service.trySignIn(credential), is: .nonce("nonce_claim_missing"))
    }
  }

  @Test func `N11 a client that cannot carry a nonce gets no exception`() async throws {
    try await withService { service in
      let token = try Mint.token { $0.claims = [("nonce_supported", .flag(false))] }
      try expect(
        await service.trySignIn(Credential(idToken: token, rawNonce: "n")), is: .nonce("nonce_claim_missing"))
    }
  }

  @Test func `N14 the nonce of another attempt is refused`() async throws {
    try await withService { service in
      let (first, second) = (try Mint.credential(), try Mint.credential())
      let mixed = Credential(idToken: first.idToken, rawNonce: second.rawNonce)
      try expect(await service.trySignIn(mixed), is: .nonce("nonce_mismatch"))
      // And burns nothing.
      _ = try await service.signIn(first)
    }
  }

  @Test func `N16 a request without the nonce names the field`() async throws {
    try await withService { service in
      let body = #"{"idToken":"\#(try Mint.credential().idToken)","nonce":"misnamed"}"#
      try expect(await service.send(.signIn(body)), is: .nonce("nonce_missing"), field: "rawNonce")
    }
  }

  @Test func `N17 a nonce of another type is refused and never made into text`() async throws {
    try await withService { service in
      let token = try Mint.token { $0.rawNonce = "123" }
      for value in ["123", "1.5", "true", "false", "[]", #"["123"]"#, "{}"] {
        let answer = try await service.send(.signIn(#"{"idToken":"\#(token)","rawNonce":\#(value)}"#))
        try expect(answer, is: .argument("field_type"), field: "rawNonce")
      }
      let claims: [JSONValue] = [.integer(123), .flag(true), .array([])]
      for claim in claims {
        let credential = try Mint.credential { $0.claims = [("nonce", claim)] }
        try expect(await service.trySignIn(credential), is: .token("claim_invalid"))
      }
    }
  }

  @Test func `N19 a web client whose claim is raw signs in, and a hashed claim is refused there`()
    async throws
  {
    try await withService { service in
      let nonce = Mint.nonce()
      let raw = try Mint.token { order in
        order.audience = Client.web
        order.nonce = nonce
      }
      _ = try await service.signIn(Credential(idToken: raw, rawNonce: nonce))
    }
    let nonce = Mint.nonce()
    try await refused(
      claim: sha256Hex(nonce), raw: nonce, client: Client.web, as: "nonce_claim_is_hashed")
    try await refused(
      claim: sha256Base64(nonce), raw: nonce, client: Client.web, as: "nonce_wrong_encoding")
    try await refused(claim: "other", raw: nonce, client: Client.web, as: "nonce_mismatch")
  }

  @Test func `a nonce of 512 bytes is taken, and one byte more is refused`() async throws {
    try await withService { service in
      let longest = String(repeating: "n", count: 512)
      let token = try Mint.token { $0.rawNonce = longest }
      _ = try await service.signIn(Credential(idToken: token, rawNonce: longest))
      let answer = try await service.trySignIn(Credential(idToken: token, rawNonce: longest + "n"))
      try expect(answer, is: .argument("field_too_long"), field: "rawNonce")
    }
  }
}
