import MockApple
import Testing
import Wire

/// What a person sees and ends of his own: sessions, and the account.
@Suite(.timeLimit(.minutes(10)))
struct OwnSessionTests {
  private static let invalid = Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid")

  private func send(
    _ service: Service, _ method: String, _ path: String, _ bearer: String?, _ body: String? = nil
  ) async throws -> HTTPAnswer {
    var headers = bearer.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
    if body != nil { headers.append((name: "Content-Type", value: "application/json")) }
    return try await service.send(
      HTTPRequest(method: method, path: path, headers: headers, body: Array((body ?? "").utf8)))
  }

  @Test func `a person sees where he is signed in, and which session asks`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let first = try await service.signIn(
        Mint.credential { $0.subject = subject },
        ["device": #"{"name":"Ada's phone","model":"iPhone17,1","os":"iOS 26.1","appVersion":"3.2"}"#])
      let second = try await service.signIn(Mint.credential { $0.subject = subject })
      _ = try await service.signIn(Mint.credential())
      let sessions = try await send(service, "GET", "/v1/sessions", second.idToken).json.objects("sessions")
      #expect(sessions.count == 2)
      #expect(Set(sessions.map { $0.text("sessionId") }) == [first.sessionID, second.sessionID])
      for session in sessions {
        #expect(session.flag("current") == (session.text("sessionId") == second.sessionID))
        let times = ["createdAt", "lastUsedAt", "expiresAt"].map { session.integer($0) ?? 0 }
        #expect(times[0] <= times[1])
        #expect(times[2] == times[1] + 2_592_000)
      }
      let device = sessions.first { $0.text("sessionId") == first.sessionID }?.object("device")
      #expect(device?.text("name") == "Ada's phone")
      #expect(device?.text("model") == "iPhone17,1")
    }
  }

  @Test func `a person ends one session of his own, and none of anybody else's`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let first = try await service.signIn(Mint.credential { $0.subject = subject })
      let second = try await service.signIn(Mint.credential { $0.subject = subject })
      let stranger = try await service.signIn(Mint.credential())
      for id in [stranger.sessionID, "0", String(repeating: "0", count: 32), first.sessionID.uppercased()] {
        try expect(
          await send(service, "DELETE", "/v1/sessions/\(id)", second.idToken), is: .argument("not_found", 404)
        )
      }
      for _ in 0..<2 {
        #expect(
          try await send(service, "DELETE", "/v1/sessions/\(first.sessionID)", second.idToken).status == 200)
      }
      try expect(await service.tryRefresh(first.refreshToken), is: .session("session_ended"))
      try expect(
        await send(service, "GET", "/v1/sessions", first.idToken), is: .session("session_ended", 401))
      _ = try await service.refresh(second.refreshToken)
      _ = try await service.refresh(stranger.refreshToken)
    }
  }

  @Test func `R05 sign-out ends this session, or all, and beats every grace`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      func signIn() async throws -> SignedIn {
        try await service.signIn(Mint.credential { $0.subject = subject })
      }
      let (a, b, c, d) = (try await signIn(), try await signIn(), try await signIn(), try await signIn())
      let next = try await service.refresh(a.refreshToken)
      #expect(try await send(service, "POST", "/v1/signOut", a.idToken).status == 200)
      // The token before the current one would be answered within the retry window, but not after a sign-out.
      for token in [a.refreshToken, next] {
        try expect(await service.tryRefresh(token), is: .session("session_ended"))
      }
      // By the refresh token, when the session token has expired.
      #expect(
        try await send(service, "POST", "/v1/signOut", nil, json([("refreshToken", quoted(b.refreshToken))]))
          .status
          == 200)
      try expect(await service.tryRefresh(b.refreshToken), is: .session("session_ended"))
      _ = try await service.refresh(c.refreshToken)
      #expect(
        try await send(service, "POST", "/v1/signOut", c.idToken, #"{"everywhere":true}"#).status == 200)
      for token in [c.refreshToken, d.refreshToken] {
        try expect(await service.tryRefresh(token), is: .session("session_ended"))
      }
      try expect(
        await send(service, "POST", "/v1/signOut", c.idToken), is: .session("session_ended", 401))
      for (bearer, body, refusal) in [
        (nil, nil, Self.invalid), ("x", nil, Self.invalid),
        (nil, #"{"refreshToken":"garbage"}"#, Refusal(400, "INVALID_REFRESH_TOKEN")),
        (nil, "{", .argument("body_malformed")),
      ] as [(String?, String?, Refusal)] {
        try expect(await send(service, "POST", "/v1/signOut", bearer, body), is: refusal)
      }
    }
  }

  @Test func `of a bearer and a refresh token of another session both sessions end`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      func signIn() async throws -> SignedIn {
        try await service.signIn(Mint.credential { $0.subject = subject })
      }
      let (a, b, c) = (try await signIn(), try await signIn(), try await signIn())
      let stranger = try await service.signIn(Mint.credential())
      func signOut(_ bearer: String?, _ refreshToken: String, _ further: String = "") async throws
        -> HTTPAnswer
      {
        try await send(
          service, "POST", "/v1/signOut", bearer, #"{"refreshToken":"\#(refreshToken)"\#(further)}"#)
      }
      // What is no refresh token ends nothing.
      try expect(await signOut(a.idToken, "garbage"), is: Refusal(400, "INVALID_REFRESH_TOKEN"))
      #expect(try await service.admits(a.idToken))
      #expect(try await signOut(a.idToken, b.refreshToken).status == 200)
      for token in [a.refreshToken, b.refreshToken] {
        try expect(await service.tryRefresh(token), is: .session("session_ended"))
      }
      // Neither a bearer that is over nor one that is none is in the way.
      let d = try await signIn()
      #expect(try await signOut(a.idToken, d.refreshToken).status == 200)
      let e = try await signIn()
      #expect(try await signOut("x", e.refreshToken).status == 200)
      for token in [d.refreshToken, e.refreshToken] {
        try expect(await service.tryRefresh(token), is: .session("session_ended"))
      }
      #expect(try await service.admits(c.idToken))
      #expect(try await signOut(stranger.idToken, c.refreshToken, #","everywhere":true"#).status == 200)
      for token in [c.refreshToken, stranger.refreshToken] {
        try expect(await service.tryRefresh(token), is: .session("session_ended"))
      }
    }
  }

  @Test func `a session that is over by a limit is neither listed nor counted`() async throws {
    let admin = "an-administrators-token"
    try await withStage { stage in
      let service = try await stage.start(["BRAMLEY_ADMIN_TOKEN": admin])
      let subject = Mint.subject()
      var people: [SignedIn] = []
      for _ in 0..<3 { people.append(try await service.signIn(Mint.credential { $0.subject = subject })) }
      let living = people[2]
      try await stage.sql(
        "UPDATE sessions SET rotated_at = rotated_at - 2592000 WHERE id = x'\(people[0].sessionID)'")
      try await stage.sql(
        "UPDATE sessions SET created_at = created_at - 31536000 WHERE id = x'\(people[1].sessionID)'")
      func listed(_ answer: JSONObject) -> [String?] {
        answer.objects("sessions").map { $0.text("sessionId") }
      }
      #expect(
        try await listed(send(service, "GET", "/v1/sessions", living.idToken).json) == [living.sessionID])
      for path in ["/v1/admin/users/\(living.localID)", "/v1/admin/users/\(living.localID)/sessions"] {
        #expect(try await listed(send(service, "GET", path, admin).json) == [living.sessionID])
      }
      let shown = try await stage.command("users", "show", living.localID, "--json")
      #expect(try listed(shown.json) == [living.sessionID])
      func count(_ answer: JSONObject) -> [Int64?] {
        let counts = answer.object("liveSessionsByMasterKey")
        return counts?.names.map { counts?.integer($0) } ?? []
      }
      #expect(try await count(send(service, "GET", "/v1/admin/keys", admin).json) == [1])
      #expect(try await count(stage.command("keys", "list", "--json").json) == [1])
    }
  }

  @Test func `a session token that has expired still ends its session, and a forged one does not`()
    async throws
  {
    try await withStage { stage in
      // Two that take each other's tokens, on whatever port they listen.
      let issuer = ["BRAMLEY_ISSUER": "https://auth.example.com"]
      let service = try await stage.start(issuer)
      let (a, b) = (try await service.signIn(Mint.credential()), try await service.signIn(Mint.credential()))
      let later = try await stage.start(issuer, secondsAhead: 4000)
      try expect(
        await send(later, "POST", "/v1/signOut", a.idToken),
        is: Refusal(401, "TOKEN_EXPIRED", "session_token_expired"))
      let (head, tail) = (b.idToken.dropLast(8), b.idToken.suffix(8))
      for token in [a.idToken, head + String(tail.reversed())] {
        let answer = try await later.send(.post("/v1/revoke", form: "token=\(token)"))
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self) == "{}")
      }
      try expect(await service.tryRefresh(a.refreshToken), is: .session("session_ended"))
      _ = try await service.refresh(b.refreshToken)
    }
  }

  @Test func `of too many sessions the oldest ends`() async throws {
    try await withService(["BRAMLEY_SESSION_MAX_PER_USER": "2"]) { service in
      let subject = Mint.subject()
      var people: [SignedIn] = []
      for _ in 0..<4 { people.append(try await service.signIn(Mint.credential { $0.subject = subject })) }
      for ended in people[..<2] {
        try expect(await service.tryRefresh(ended.refreshToken), is: .session("session_ended"))
        #expect(
          try await send(service, "GET", "/v1/verify", ended.idToken).status == 401, "seen at once")
      }
      for living in people[2...] { _ = try await service.refresh(living.refreshToken) }
    }
  }

  @Test func `a session that is over by a limit does not take the place of one that lives`() async throws {
    try await withStage { stage in
      let service = try await stage.start(["BRAMLEY_SESSION_MAX_PER_USER": "2"])
      let subject = Mint.subject()
      var people: [SignedIn] = []
      for number in 0..<3 {
        people.append(try await service.signIn(Mint.credential { $0.subject = subject }))
        if number == 1 {
          try await stage.sql(
            "UPDATE sessions SET rotated_at = rotated_at - 2592000 WHERE id = x'\(people[1].sessionID)'")
        }
      }
      for living in [people[0], people[2]] { _ = try await service.refresh(living.refreshToken) }
      try expect(await service.tryRefresh(people[1].refreshToken), is: .session("session_idle"))
    }
  }

  @Test func `revocation takes either token, and says nothing of what it found`() async throws {
    try await withService { service in
      let (a, b) = (try await service.signIn(Mint.credential()), try await service.signIn(Mint.credential()))
      func revoke(_ form: String) async throws -> HTTPAnswer {
        try await service.send(.post("/v1/revoke", form: form))
      }
      for form in [
        "token=\(a.refreshToken)&token_type_hint=refresh_token",
        "token=\(b.idToken)&token_type_hint=refresh_token",
        "token=garbage", "token=\(a.refreshToken)", "token=\(a.refreshToken)x",
      ] {
        let answer = try await revoke(form)
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self) == "{}")
      }
      for token in [a.refreshToken, b.refreshToken] {
        try expect(await service.tryRefresh(token), is: .session("session_ended"))
      }
      try expect(await revoke("token="), is: .argument("field_missing"), field: "token")
    }
  }

  @Test func `a person sees his account, changes it and ends it`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let person = try await service.signIn(
        Mint.credential {
          $0.subject = subject
          $0.email = "ada@example.com"
        }, ["fullName": #"{"givenName":"Ada","familyName":"Example"}"#])
      let account = try await send(service, "GET", "/v1/account", person.idToken).json
      #expect(account.text("localId") == person.localID)
      #expect(account.text("email") == "ada@example.com")
      #expect(account.flag("emailVerified") == true)
      #expect(account.text("displayName") == "Ada Example")
      #expect(account.flag("anonymous") == false)
      #expect(account.objects("identities").first?.text("subject") == subject)
      let changed = try await send(
        service, "PATCH", "/v1/account", person.idToken,
        #"{"displayName":"Countess","photoUrl":"https://example.com/a.png"}"#)
      #expect(try changed.json.text("displayName") == "Countess")
      #expect(try changed.json.text("photoUrl") == "https://example.com/a.png")
      let cleared = try await send(
        service, "PATCH", "/v1/account", person.idToken, #"{"displayName":null,"email":"victim@example.com"}"#
      )
      #expect(try cleared.json["displayName"] == nil)
      #expect(try cleared.json.text("photoUrl") == "https://example.com/a.png")
      #expect(try cleared.json.text("email") == "ada@example.com")
      for method in ["GET", "PATCH", "DELETE"] {
        try expect(await send(service, method, "/v1/account", nil, "{}"), is: Self.invalid)
      }
      #expect(try await send(service, "DELETE", "/v1/account", person.idToken).status == 200)
      try expect(await service.tryRefresh(person.refreshToken), is: Refusal(400, "USER_NOT_FOUND"))
      #expect(try await send(service, "GET", "/v1/verify", person.idToken).status == 401)
      try expect(
        await send(service, "GET", "/v1/account", person.idToken), is: Refusal(400, "USER_NOT_FOUND"))
    }
  }

  @Test func `an account is ended soon after a sign-in only`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let person = try await service.signIn(Mint.credential())
      try await stage.sql("UPDATE sessions SET created_at = created_at - 301")
      let old = try #require(try await service.tryRefresh(person.refreshToken).json.text("id_token"))
      try expect(
        await send(service, "DELETE", "/v1/account", old), is: Refusal(400, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"))
    }
  }
}
