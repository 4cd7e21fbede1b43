import Crypto
import Foundation
import TestProcesses
import Testing
import Wire

/// `accounts:signInWithCustomToken`: whoever holds a key that the operator named says who somebody is.
@Suite(.timeLimit(.minutes(2)))
struct CustomTokenTests {
  private static let invalid = Refusal(400, "INVALID_CUSTOM_TOKEN")

  private func send(_ service: Service, _ token: String, path: String = "/v1/accounts:signInWithCustomToken")
    async throws -> HTTPAnswer
  {
    try await service.send(.post(path, json: #"{"token":"\#(token)","returnSecureToken":true}"#))
  }

  private func withForge(
    _ algorithm: SignatureAlgorithm = .es256,
    _ body: (Service, Administrator, CustomTokenForge) async throws -> Void
  ) async throws {
    let forge = try CustomTokenForge(algorithm)
    try await withAdministrator(["BRAMLEY_CUSTOM_TOKEN_KEYS": forge.pem]) { service, admin in
      try await body(service, admin, forge)
    }
  }

  @Test(arguments: [SignatureAlgorithm.rs256, .es256])
  func `trap 2 a good token opens a session, with its claims also after a refresh`(
    _ algorithm: SignatureAlgorithm
  ) async throws {
    try await withForge(algorithm) { service, admin, forge in
      let claims = #"{"role":"gardener","level":3,"nested":{"a":[1,2]}}"#
      let answer = try await send(service, forge.token("ann-1", claims: claims))
      #expect(answer.status == 200, "\(answer)")
      let json = try answer.json
      #expect(json.text("kind") == "identitytoolkit#VerifyCustomTokenResponse")
      #expect(json.text("expiresIn") == "3600")
      #expect(json.flag("isNewUser") == true)
      let token = try #require(json.text("idToken"))
      let first = try await service.read(token).claims
      #expect(first.text("sub") == "ann-1")
      #expect(first.text("role") == "gardener")
      #expect(first.integer("level") == 3)
      #expect(first.object("nested")?.array("a")?.count == 2)
      #expect(first.object("firebase")?.text("sign_in_provider") == "custom")
      #expect(first.object("firebase")?.object("identities")?.names.isEmpty == true)
      let refreshed = try await service.tryRefresh(#require(json.text("refreshToken"))).json
      let second = try await service.read(#require(refreshed.text("id_token"))).claims
      #expect(second.text("role") == "gardener")
      #expect(second.integer("auth_time") == first.integer("auth_time"))
      // The claims are this session's; another sign-in without them has none.
      let again = try await send(
        service, forge.token("ann-1"),
        path: "/www.googleapis.com/identitytoolkit/v3/relyingparty/verifyCustomToken"
      ).json
      #expect(again.flag("isNewUser") == false)
      #expect(try await service.read(#require(again.text("idToken"))).claims["role"] == nil)
      #expect(try await admin.account("ann-1")?["customAttributes"] == nil)
    }
  }

  @Test func `an administrator's claims stand beside those of the token, which come later`() async throws {
    try await withForge { service, admin, forge in
      try await admin.create(#"{"localId":"bo","customAttributes":"{\"role\":\"old\",\"plan\":\"pro\"}"}"#)
      let json = try await send(service, forge.token("bo", claims: #"{"role":"new"}"#)).json
      #expect(json.flag("isNewUser") == false)
      let claims = try await service.read(#require(json.text("idToken"))).claims
      #expect(claims.text("role") == "new")
      #expect(claims.text("plan") == "pro")
    }
  }

  @Test func `the account of Apple's person may be named, and a disabled one may not`() async throws {
    try await withForge { service, admin, forge in
      let person = try await service.signIn(Mint.credential())
      let json = try await send(service, forge.token(person.localID)).json
      let claims = try await service.read(#require(json.text("idToken"))).claims
      #expect(claims.text("sub") == person.localID)
      #expect(claims.object("firebase")?.object("identities")?.texts("apple.com").count == 1)
      try await admin.update(person.localID, #""disableUser":true"#)
      try expect(await send(service, forge.token(person.localID)), is: Refusal(400, "USER_DISABLED"))
    }
  }

  @Test func `a token that no key signed is refused`() async throws {
    try await withForge(.rs256) { service, admin, forge in
      let stranger = try CustomTokenForge(.rs256)
      let good = try TokenParts(forge.token("ann"))
      let none = base64URLText(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
      let header = #"{"alg":"HS256","typ":"JWT"}"#
      let tokens = [
        try stranger.token("ann"), try CustomTokenForge(.es256).token("ann"),
        none + "." + good.payload + ".", none + "." + good.payload + "." + good.signature,
        good.withMAC(keyedBy: Array(try forge.pem.utf8), header: header),
        good.withMAC(keyedBy: [], header: header),
        good.header + "." + good.payload + ".", good.header + "." + good.payload,
        good.header + "." + (try TokenParts(forge.token("bo")).payload) + "." + good.signature,
        try forge.token("ann", header: #"{"alg":"ES256","typ":"JWT"}"#),
        "x", "a.b.c", "...", String(repeating: "x", count: 20_000),
      ]
      for token in tokens { try expect(await send(service, token), is: Self.invalid) }
      // Nor is a token of Apple's one, or a session token.
      let person = try await service.signIn(Mint.credential())
      for token in [try Mint.token { $0.rawNonce = "n" }, person.idToken] {
        try expect(await send(service, token), is: Self.invalid)
      }
      #expect(try await admin.account("ann") == nil)
    }
  }

  @Test func `a token with wrong claims is refused, each by its name`() async throws {
    let now = Int64(time(nil))
    let rows: [([String: JSONValue], Refusal)] = [
      (["aud": .text("other")], Refusal(400, "CREDENTIAL_MISMATCH")),
      (["aud": .null], Refusal(400, "CREDENTIAL_MISMATCH")),
      (["aud": .text("bramley")], Refusal(400, "CREDENTIAL_MISMATCH")),
      (["iat": .integer(now - 7200), "exp": .integer(now - 3600)], Self.invalid),
      (["exp": .integer(now + 3700), "iat": .integer(now)], Self.invalid),
      (["iat": .integer(now + 600), "exp": .integer(now + 1200)], Self.invalid),
      (["exp": .integer(now - 100)], Self.invalid), (["exp": .integer(.max)], Self.invalid),
      (["iat": .integer(.min)], Self.invalid), (["exp": .null], Self.invalid), (["iat": .null], Self.invalid),
      (["exp": .text("\(now + 600)")], Self.invalid), (["iss": .null], Self.invalid),
      (["sub": .text("other@orchard.example")], Self.invalid), (["uid": .null], Self.invalid),
      (["uid": .text("")], Self.invalid), (["uid": .integer(7)], Self.invalid),
      (["uid": .text("two words")], Self.invalid),
      (["uid": .text(String(repeating: "x", count: 129))], Self.invalid),
      (["tenant_id": .text("t")], Self.invalid), (["claims": .text("{}")], Refusal(400, "INVALID_CLAIMS")),
    ]
    try await withForge { service, admin, forge in
      for (changes, refusal) in rows {
        let answer = try await send(service, forge.token("ann", setting: changes))
        try expect(answer, is: refusal)
      }
      for name in ["sub", "firebase", "sid", "email", "auth_time"] {
        let answer = try await send(service, forge.token("ann", claims: #"{"\#(name)":"x"}"#))
        #expect(answer.status == 400)
        #expect(try answer.json.object("error")?.text("message") == "FORBIDDEN_CLAIM : \(name)")
      }
      let large = #"{"a":"\#(String(repeating: "x", count: 1000))"}"#
      try expect(await send(service, forge.token("ann", claims: large)), is: Refusal(400, "CLAIMS_TOO_LARGE"))
      #expect(try await admin.account("ann") == nil)
      #expect(try await send(service, forge.token("ann", setting: ["claims": .null])).status == 200)
    }
  }

  @Test func `a body without a token is told so, and a tenant is not here`() async throws {
    try await withForge { service, _, forge in
      for body in ["{}", #"{"token":null}"#, #"{"token":""}"#] {
        try expect(
          await service.send(.post("/v1/accounts:signInWithCustomToken", json: body)),
          is: Refusal(400, "MISSING_CUSTOM_TOKEN"))
      }
      let body = #"{"token":"\#(try forge.token("ann"))","tenantId":"t"}"#
      try expect(
        await service.send(.post("/v1/accounts:signInWithCustomToken", json: body)),
        is: Refusal(400, "UNSUPPORTED_TENANT_OPERATION"))
    }
  }

  @Test func `without keys there are no custom tokens`() async throws {
    try await withService { service in
      let token = try CustomTokenForge(.es256).token("ann")
      let off = Refusal(400, "OPERATION_NOT_ALLOWED", "custom_tokens_not_enabled")
      try expect(await send(service, token), is: off)
      try expect(await send(service, "x"), is: off)
    }
  }

  @Test func `new accounts are counted against their rate, known ones are not`() async throws {
    let forge = try CustomTokenForge(.es256)
    try await withService(["BRAMLEY_CUSTOM_TOKEN_KEYS": forge.pem, "BRAMLEY_RATE_SIGNUP": "2/h"]) { service in
      for uid in ["ann", "bo", "ann", "bo"] {
        let answer = try await send(service, forge.token(uid))
        #expect(answer.status == 200, "\(uid): \(answer)")
      }
      try expect(await send(service, forge.token("cy")), is: Refusal(429, "TOO_MANY_ATTEMPTS_TRY_LATER"))
      #expect(try await send(service, forge.token("ann")).status == 200)
    }
  }

  @Test func `of several keys each is good, and a reload takes them over`() async throws {
    let (first, second) = (try CustomTokenForge(.es256), try CustomTokenForge(.rs256))
    try await withStage { stage in
      let setting = { (keys: [String]) in
        "custom_token_keys: |\n"
          + keys.joined().split(separator: "\n").map { "  \($0)\n" }.joined()
      }
      let file = try stage.write(setting([first.pem, second.pem]), to: "bramley.yaml")
      let service = try await stage.start(arguments: ["--config", file])
      for forge in [first, second] { #expect(try await send(service, forge.token("ann")).status == 200) }
      _ = try stage.write(setting([second.pem]), to: "bramley.yaml")
      service.process.send(signal: SIGHUP)
      _ = try await service.process.state.first { state in
        lines(state.output).contains { $0.contains(#""event":"reload"#) } ? true : nil
      }
      try expect(await send(service, first.token("ann")), is: Self.invalid)
      #expect(try await send(service, second.token("ann")).status == 200)
    }
  }
}
