import Testing
import Wire

/// The E rows, P05 and L01: which address is believed, and what Apple's booleans mean.
@Suite(.timeLimit(.minutes(10)))
struct EmailTests {
  /// The answer to a sign-in with these claims.
  private func answer(_ service: Service, _ claims: [(name: String, value: JSONValue)]) async throws
    -> JSONObject
  {
    let answer = try await service.trySignIn(Mint.credential { $0.claims = claims })
    try #require(answer.status == 200, "\(answer)")
    return try answer.json
  }

  @Test func `E01 E02 E04 booleans are taken as booleans and as strings`() async throws {
    try await withService { service in
      let values: [(JSONValue, Bool)] = [
        (.flag(true), true), (.flag(false), false), (.text("true"), true), (.text("false"), false),
        (.text("yes"), false), (.integer(1), false), (.null, false),
      ]
      for (value, expected) in values {
        let json = try await answer(
          service,
          [member("email", "ada@example.com"), ("email_verified", value), ("is_private_email", value)])
        #expect(json.flag("emailVerified") == expected, "\(value)")
        #expect(json.flag("isPrivateEmail") == expected, "\(value)")
      }
    }
  }

  @Test func `E05 an address that is not said to be a relay is none`() async throws {
    try await withService { service in
      let json = try await answer(
        service, [member("email", "ada@example.com"), ("email_verified", .flag(true))])
      #expect(json.flag("isPrivateEmail") == false)
    }
  }

  @Test(arguments: ["absent", "empty", "null"])
  func `E07 E08 an account without an address is an account`(_ kind: String) async throws {
    try await withService { service in
      let claims: [(name: String, value: JSONValue)] =
        switch kind {
        case "empty": [("email", .text("")), ("email_verified", .text("true"))]
        case "null": [("email", .null)]
        default: []
        }
      for _ in 0..<2 {
        let json = try await answer(service, claims)
        #expect(json["email"] == nil)
        #expect(json["emailVerified"] == nil)
        let (_, session) = try await service.read(json.text("idToken") ?? "")
        #expect(session["email"] == nil)
        #expect(session["email_verified"] == nil)
      }
    }
  }

  @Test func `E10 E11 what is no plausible address is not kept`() async throws {
    try await withService { service in
      let strange = [
        "a@b\r\nBcc:x", "two@at@example.com", "nobody", "@example.com", "ada@", "a b@example.com",
        String(repeating: "a", count: 2000) + "@example.com", "\"<script>\"@example.com",
      ]
      for text in strange {
        let json = try await answer(service, [member("email", text), ("email_verified", .flag(true))])
        #expect(json["email"] == nil, "\(text)")
      }
    }
  }

  @Test(arguments: ["x@privaterelay.appleid.com", "x@private.icloud.com", "x@icloud.com"])
  func `P05 a relay address is one by the claim, whatever its domain`(_ address: String) async throws {
    try await withService { service in
      let relay = try await answer(
        service,
        [member("email", address), ("email_verified", .flag(true)), ("is_private_email", .flag(true))])
      #expect(relay.flag("isPrivateEmail") == true)
      #expect(relay.text("email") == address)
      let plain = try await answer(service, [member("email", address), ("email_verified", .flag(true))])
      #expect(plain.flag("isPrivateEmail") == false)
    }
  }

  @Test func `attack 25 L01 G05 address and user of the request are not looked at`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let victim = try await service.signIn(Mint.credential { $0.email = "victim@example.com" })
      let forged = [
        "email": #""victim@example.com""#, "emailVerified": "true", "sub": #""001234.victim""#,
        "localId": "\"\(victim.localID)\"", "user": #"{"email":"victim@example.com"}"#,
        "fullName": #"{"givenName":"Mallory","email":"victim@example.com"}"#,
      ]
      let answer = try await service.trySignIn(Mint.credential(), forged)
      let attacker = try SignedIn(answer)
      #expect(attacker.localID != victim.localID)
      #expect(attacker.isNewUser)
      #expect(try answer.json["email"] == nil)
      #expect(!answer.description.contains("victim@"))
      let shown = try await stage.command("users", "show", attacker.localID, "--json").json
      #expect(shown["email"] == nil)
    }
  }

  @Test func `attack 35 one address on two identities makes two accounts`() async throws {
    try await withService { service in
      let first = try await service.signIn(Mint.credential { $0.email = "ada@example.com" })
      let second = try await service.signIn(Mint.credential { $0.email = "ada@example.com" })
      #expect(second.isNewUser)
      #expect(second.localID != first.localID)
    }
  }

  @Test func `an address that is left out later is not forgotten`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      _ = try await service.signIn(
        Mint.credential { order in
          order.subject = subject
          order.email = "ada@privaterelay.appleid.com"
        })
      let later = try await service.trySignIn(Mint.credential { $0.subject = subject }).json
      #expect(later.text("email") == "ada@privaterelay.appleid.com")
      #expect(later.flag("isPrivateEmail") == true)
      #expect(later.flag("emailVerified") == true)
    }
  }

  @Test(arguments: [(0, 0), (1, 1), (2, 2), (7, 1)])
  func `the real-user status is kept, and a new one counts as unknown`(_ sent: Int, _ kept: Int) async throws
  {
    try await withService { service in
      let json = try await answer(service, [("real_user_status", .integer(Int64(sent)))])
      #expect(json.integer("realUserStatus") == Int64(kept))
    }
  }
}
