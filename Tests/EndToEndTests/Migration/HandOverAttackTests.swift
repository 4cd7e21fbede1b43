import Crypto
import Foundation
import TestProcesses
import Testing
import Wire

/// Tokens that are not Google's, or not for us; and a Google that does not answer.
@Suite(.timeLimit(.minutes(10)))
struct HandOverAttackTests {
  /// A service to which one account was imported.
  private func with(
    _ changes: [String: String] = [:], _ behaviour: GoogleDouble.Behaviour = .keySet,
    _ body: (GoogleDouble, Stage, Service) async throws -> Void
  ) async throws {
    try await withGoogle(changes, behaviour) { google, stage, service in
      let users = #"{"users":[{"localId":"ada","email":"ada@example.com","emailVerified":true}]}"#
      let admin = Administrator(service: service, project: changes["BRAMLEY_PROJECT_ID"] ?? "bramley")
      let answer = try await admin.post("accounts:batchCreate", users)
      try #require(answer.status == 200, "\(answer)")
      try await body(google, stage, service)
    }
  }

  @Test func `a token that is wrong in one thing is refused for that`() async throws {
    try await with { google, _, service in
      let now = Int64(time(nil))
      let wrong: [(String, JSONValue, String)] = [
        ("iss", .text("https://securetoken.google.com/other"), "issuer_not_allowed"),
        ("iss", .text("https://session.firebase.google.com/" + GoogleDouble.project), "issuer_not_allowed"),
        ("iss", .text("https://appleid.apple.com"), "issuer_not_allowed"),
        ("aud", .text("other"), "audience_not_allowed"), ("aud", .null, "audience_not_allowed"),
        ("aud", .array([.text(GoogleDouble.project)]), "claim_invalid"),
        ("sub", .text(""), "claim_invalid"),
        ("sub", .text(String(repeating: "a", count: 129)), "claim_invalid"),
        ("exp", .integer(now - 61), "claim_invalid"), ("firebase", .null, "claim_invalid"),
        ("iat", .integer(now + 120), "token_from_the_future"),
        ("auth_time", .integer(now + 120), "token_from_the_future"), ("auth_time", .null, "claim_invalid"),
      ]
      for (name, value, reason) in wrong {
        try expect(
          await service.tryHandOver(google.token("ada", setting: [name: value])), is: .token(reason))
      }
      let old: [String: JSONValue] = ["iat": .integer(now - 3700), "exp": .integer(now - 61)]
      try expect(await service.tryHandOver(google.token("ada", setting: old)), is: .token("token_expired"))
      #expect(try await service.handOver(google.token("ada")).localID == "ada")
    }
  }

  @Test func `a token that Google did not sign is refused`() async throws {
    try await with { google, _, service in
      let stranger = try GoogleDouble.stranger.get()
      try expect(
        await service.tryHandOver(google.token("ada", by: stranger)), is: .token("signature_invalid"))
      try expect(
        await service.tryHandOver(google.token("ada", header: #"{"alg":"RS256","kid":"x"}"#, by: stranger)),
        is: .token("key_unknown"))
      for name in ["none", "HS256", "ES256", "PS256"] {
        try expect(
          await service.tryHandOver(google.token("ada", header: #"{"alg":"\#(name)","kid":"google-1"}"#)),
          is: .token("algorithm_not_allowed"))
      }
      // A key in the header, or the place of one, is nothing.
      let header = #"{"alg":"RS256","kid":"google-1","jku":"http://127.0.0.1:1/","jwk":{},"x5u":"x"}"#
      try expect(
        await service.tryHandOver(google.token("ada", header: header, by: stranger)),
        is: .token("signature_invalid"))
      let token = try google.token("ada")
      let parts = token.split(separator: ".").map(String.init)
      let unsigned = base64URLText(Array(#"{"alg":"none","typ":"JWT"}"#.utf8)) + "." + parts[1] + "."
      try expect(await service.tryHandOver(unsigned), is: .token("algorithm_not_allowed"))
      try expect(await service.tryHandOver("nonsense"), is: .token("token_malformed"))
      try expect(await service.tryHandOver(""), is: .argument("field_missing"), field: "idToken")
      let apple = try Mint.credential().idToken
      try expect(await service.tryHandOver(apple), is: .token("issuer_not_allowed"))
    }
  }

  @Test func `unknown keys do not make the service hammer Google`() async throws {
    try await with { google, _, service in
      let tokens = try (0..<100).map {
        try google.token("ada", header: #"{"alg":"RS256","kid":"k\#($0)"}"#)
      }
      let answers = try await inParallel(100, port: service.port) { .handOver(tokens[$0]) }
      for answer in answers { try expect(answer, is: .token("key_unknown")) }
      #expect(google.requests <= 2)
    }
  }

  @Test
  func `keys never mix: ours open no hand-over, and Google's no door of ours, though all names are the same`()
    async throws
  {
    let same = [
      "BRAMLEY_PROJECT_ID": GoogleDouble.project, "BRAMLEY_ISSUER": "firebase",
      "BRAMLEY_SESSION_ALG": "RS256",
    ]
    try await with(same.merging(["BRAMLEY_SERVICE_KEYS": "key-of-a-back-end"]) { $1 }) { google, _, service in
      let session = try await service.handOver(google.token("ada"))
      try expect(await service.tryHandOver(session.idToken), is: .token("key_unknown"))
      // One that has everything that ours have, but for the key.
      let ours = try await service.read(session.idToken)
      let sid = try #require(ours.claims.text("sid"))
      for header in [nil, #"{"alg":"RS256","kid":"\#(ours.header.text("kid") ?? "")","typ":"JWT"}"#] {
        let forged = try google.token("ada", setting: ["sid": .text(sid)], header: header)
        let bearer: [(name: String, value: String)] = [("Authorization", "Bearer \(forged)")]
        let invalid = Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid")
        try expect(await service.get("/v1/account", headers: bearer), is: invalid)
        try expect(await service.get("/v1/verify", headers: bearer), is: invalid)
        try expect(await service.trySignIn(Mint.credential(), bearer: forged), is: invalid)
        let seen = try await service.send(
          .post(
            "/v1/introspect", form: "token=\(forged)", headers: [("X-API-Key", "key-of-a-back-end")]))
        #expect(try seen.json.flag("active") == false)
        let lookup = try await service.send(
          .post("/v1/accounts:lookup", json: #"{"idToken":"\#(forged)"}"#))
        try expect(lookup, is: Refusal(400, "INVALID_ID_TOKEN", "session_token_invalid"))
      }
    }
  }

  @Test(arguments: [GoogleDouble.Behaviour.down, .nonsense])
  func `while Google is down it is an outage, and nothing else is held up`(
    _ behaviour: GoogleDouble.Behaviour
  )
    async throws
  {
    try await with([:], behaviour) { google, stage, service in
      let token = try google.token("ada")
      try expect(await service.tryHandOver(token), is: .outage("firebase_keys_unavailable"))
      try expect(await service.tryHandOver(token), is: .outage("firebase_keys_unavailable"))
      // What needs no key is judged without one.
      try expect(
        await service.tryHandOver(google.token("ada", setting: ["aud": .text("other")])),
        is: .token("audience_not_allowed"))
      // The service is ready: people sign in.
      #expect(try await service.get("/readyz").status == 200)
      _ = try await service.signIn(Mint.credential())
      let doctor = try await stage.command("doctor", settings: google.settings)
      #expect(doctor.status == 1)
      #expect(doctor.output.contains("failed  Firebase: http://127.0.0.1"))
    }
  }

  @Test func `with keys in memory nobody notices that Google is down`() async throws {
    try await with { google, stage, service in
      _ = try await service.handOver(google.token("ada"))
      let doctor = try await stage.command("doctor", settings: google.settings)
      #expect(doctor.output.contains("ok  Firebase: "))
      google.behave(.down)
      _ = try await service.handOver(google.token("ada"))
      try expect(
        await service.tryHandOver(google.token("ada", header: #"{"alg":"RS256","kid":"x"}"#)),
        is: .token("key_unknown"))
    }
  }

  @Test func `an imported verified address joins nobody, also after a hand-over`() async throws {
    try await with(["BRAMLEY_ACCOUNT_LINKING": "verified-email"]) { google, _, service in
      _ = try await service.handOver(google.token("ada"))
      try expect(
        await service.trySignIn(Mint.credential { $0.email = "ada@example.com" }),
        is: Refusal(400, "EMAIL_EXISTS"))
    }
  }
}
