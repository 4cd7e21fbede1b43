import Crypto
import Foundation
import TestProcesses
import Testing
import Wire

extension Service {
  /// Brings accounts in by the Admin API, as an import does.
  fileprivate func take(_ users: String..., at location: SourceLocation = #_sourceLocation) async throws {
    let answer = try await Administrator(service: self).post(
      "accounts:batchCreate", #"{"users":[\#(users.joined(separator: ","))]}"#)
    try #require(answer.status == 200, "\(answer)", sourceLocation: location)
    try #require(try answer.json["error"] == nil, "\(answer)", sourceLocation: location)
  }
}

private let ada =
  #"{"localId":"ada","email":"ada@example.com","emailVerified":true,"createdAt":"1500000000000"}"#

/// People who are signed in at Firebase come over without Apple's page.
@Suite(.timeLimit(.minutes(10)))
struct HandOverTests {
  @Test(arguments: [GoogleDouble.Behaviour.keySet, .certificates])
  func `who came by an import comes over with the uid, and the session lives like every other`(
    _ behaviour: GoogleDouble.Behaviour
  ) async throws {
    try await withGoogle([:], behaviour) { google, _, service in
      try await service.take(ada)
      let answer = try await service.tryHandOver(google.token("ada"))
      let session = try SignedIn(answer)
      #expect(session.localID == "ada")
      #expect(!session.isNewUser)
      // What the token says of the address counts for nothing.
      #expect(try answer.json.text("email") == "ada@example.com")
      let refresh = try await service.tryRefresh(session.refreshToken)
      #expect(refresh.status == 200)
      let claims = try await service.read(session.idToken).claims
      #expect(claims.text("sub") == "ada")
      #expect(claims.object("firebase")?.text("sign_in_provider") == "apple.com")
      let listed = try await service.get(
        "/v1/sessions", headers: [("Authorization", "Bearer \(session.idToken)")]
      ).json.objects("sessions")
      #expect(listed.map { $0.object("device")?.text("name") } == ["An old phone"])
      let audit = try await service.get(
        "/v1/admin/audit?account=ada", headers: [("Authorization", "Bearer \(Administrator.token)")])
      #expect(
        try audit.json.objects("entries").map { $0.text("action") } == [
          "account_imported", "session_handed_over",
        ])
      let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      #expect(metrics.contains(#"bramley_firebase_hand_overs_total{outcome="handed_over"} 1"#))
    }
  }

  @Test func `fifty at once with one token are one session, and the window ends with the first refresh`()
    async throws
  {
    try await withGoogle { google, _, service in
      try await service.take(ada)
      let token = try google.token("ada")
      let answers = try await inParallel(50, port: service.port) { _ in .handOver(token) }
      let sessions = try answers.map { try SignedIn($0) }
      #expect(Set(sessions.map(\.sessionID)).count == 1)
      #expect(Set(sessions.map(\.refreshToken)).count == 1)
      #expect(google.requests == 1)
      _ = try await service.refresh(sessions[0].refreshToken)
      try expect(await service.tryHandOver(token), is: .nonce("credential_already_used"))
      // The next token of the same session at Google's is another.
      #expect(try await service.handOver(google.token("ada")).sessionID != sessions[0].sessionID)
    }
  }

  @Test func `after the window, and after a sign-out, the token is used`() async throws {
    try await withGoogle(["BRAMLEY_RETRY_WINDOW": "0"]) { google, stage, service in
      try await service.take(ada)
      let token = try google.token("ada")
      let session = try await service.handOver(token)
      let out = try await service.send(
        .post("/v1/signOut", json: "{}", headers: [("Authorization", "Bearer \(session.idToken)")]))
      #expect(out.status == 200)
      try expect(await service.tryHandOver(token), is: .nonce("credential_already_used"))
    }
  }

  @Test func `a session that was handed over is no recent login`() async throws {
    try await withGoogle { google, _, service in
      try await service.take(ada)
      let now = Int64(time(nil))
      let token = try google.token("ada", setting: ["auth_time": .integer(now)])
      let session = try await service.handOver(token)
      let begin = try #require(try await service.read(session.idToken).claims.integer("auth_time"))
      #expect((now - 320...Int64(time(nil)) - 301).contains(begin))
      let bearer: [(name: String, value: String)] = [("Authorization", "Bearer \(session.idToken)")]
      let deletion = try await service.send(
        HTTPRequest(method: "DELETE", path: "/v1/account", headers: bearer))
      try expect(deletion, is: Refusal(400, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"))
      try expect(
        await service.trySignIn(Mint.credential(), bearer: session.idToken),
        is: Refusal(400, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"))
    }
  }

  @Test func `who signed in years ago comes over for half of the greatest age`() async throws {
    try await withGoogle(["BRAMLEY_SESSION_MAX_TTL": "20000"]) { google, _, service in
      try await service.take(ada)
      let session = try await service.handOver(
        google.token("ada", setting: ["auth_time": .integer(1_400_000_000)]))
      let claims = try await service.read(session.idToken).claims
      let (begin, issued) = (try #require(claims.integer("auth_time")), try #require(claims.integer("iat")))
      #expect(issued - begin == 10_000)
      #expect(claims.integer("exp") == issued + 3600)
      _ = try await service.refresh(session.refreshToken)
    }
  }

  @Test func `whoever was not imported, or is disabled, deleted or revoked stays where he is`() async throws {
    try await withGoogle { google, stage, service in
      let admin = Administrator(service: service)
      let person = try await service.signIn(Mint.credential())
      for uid in ["nobody", person.localID] {
        try expect(await service.tryHandOver(google.token(uid)), is: Refusal(400, "USER_NOT_FOUND"))
      }
      try await admin.create(#"{"localId":"made"}"#)
      try expect(await service.tryHandOver(google.token("made")), is: Refusal(400, "USER_NOT_FOUND"))
      try await service.take(
        #"{"localId":"off","disabled":true}"#, #"{"localId":"gone"}"#, #"{"localId":"revoked"}"#)
      try expect(await service.tryHandOver(google.token("off")), is: Refusal(400, "USER_DISABLED"))
      try await admin.delete("gone")
      try expect(await service.tryHandOver(google.token("gone")), is: Refusal(400, "USER_NOT_FOUND"))
      try await admin.update("revoked", #""validSince":"\#(Int(time(nil)))""#)
      try expect(await service.tryHandOver(google.token("revoked")), is: .session("session_revoked"))
      // One who was refused has used nothing up.
      let token = try google.token("off")
      try expect(await service.tryHandOver(token), is: Refusal(400, "USER_DISABLED"))
      try await admin.update("off", #""disableUser":false"#)
      #expect(try await service.handOver(token).localID == "off")
    }
  }

  @Test func `whose sessions were all ended here is not handed over by a sign-in from before`() async throws {
    try await withGoogle { google, stage, service in
      let people = ["himself", "by-command", "by-route"]
      try await service.take(
        #"{"localId":"himself"}"#, #"{"localId":"by-command"}"#, #"{"localId":"by-route"}"#)
      var bearers: [String: String] = [:]
      for uid in people { bearers[uid] = try await service.handOver(google.token(uid)).idToken }
      let own = try #require(bearers["himself"])
      let everywhere = try await service.send(
        .post(
          "/v1/signOut", json: #"{"everywhere":true}"#, headers: [("Authorization", "Bearer \(own)")]))
      #expect(everywhere.status == 200)
      #expect(try await stage.command("users", "end-sessions", "by-command").status == 0)
      try await Operator(service: service).done("DELETE", "/users/by-route/sessions")
      for uid in people {
        try expect(await service.tryHandOver(google.token(uid)), is: .session("session_revoked"))
      }
    }
  }

  @Test func `an anonymous person of Firebase's can be linked to Apple here, and keeps the uid`() async throws
  {
    try await withGoogle { google, _, service in
      try await service.take(#"{"localId":"guest"}"#)
      let provider = try JSONObject(parsing: #"{"sign_in_provider":"anonymous","identities":{}}"#.utf8)
      let session = try await service.handOver(
        google.token("guest", setting: ["firebase": .object(provider)]))
      let linked = try await service.signIn(Mint.credential(), bearer: session.idToken)
      #expect(linked.localID == "guest")
    }
  }

  @Test func `a token exchange of RFC 8693 answers in its form`() async throws {
    try await withGoogle { google, _, service in
      try await service.take(ada)
      let token = try google.token("ada")
      let grant = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange"
      let type = "subject_token_type=urn:ietf:params:oauth:token-type"
      let form = "\(grant)&subject_token=\(token)&\(type):id_token"
      func exchange(_ form: String) async throws -> HTTPAnswer {
        try await service.send(.post("/v1/migrate/firebase", form: form))
      }
      let answer = try await exchange(form)
      try #require(answer.status == 200, "\(answer)")
      let json = try answer.json
      #expect(json.text("token_type") == "Bearer")
      #expect(json.text("issued_token_type") == "urn:ietf:params:oauth:token-type:access_token")
      #expect(json.integer("expires_in") == 3600)
      _ = try await service.refresh(#require(json.text("refresh_token")))
      try expect(
        await exchange("grant_type=refresh_token&subject_token=\(token)&\(type):id_token"),
        is: Refusal(400, "INVALID_GRANT_TYPE"))
      try expect(
        await exchange("\(grant)&subject_token=\(token)"), is: .argument("field_missing"),
        field: "subject_token_type")
      try expect(
        await exchange("\(grant)&subject_token=\(token)&\(type):refresh_token"),
        is: .argument("field_invalid"), field: "subject_token_type")
      try expect(
        await exchange(form + "&actor_token=x"), is: .argument("field_invalid"), field: "actor_token")
      try expect(
        await exchange(form + "&requested_token_type=urn:ietf:params:oauth:token-type:saml2"),
        is: .argument("field_invalid"), field: "requested_token_type")
    }
  }

  @Test func `without the setting nobody comes over, and the answer says which`() async throws {
    try await withService { service in
      let google = try GoogleDouble()
      let answer = try await service.tryHandOver(google.token("ada"))
      try expect(answer, is: Refusal(400, "OPERATION_NOT_ALLOWED", "hand_over_not_enabled"))
      #expect("\(answer)".contains("BRAMLEY_FIREBASE_PROJECT_ID"))
      #expect(google.requests == 0)
    }
  }

  @Test func `hand-overs are limited as sign-ins are`() async throws {
    try await withGoogle(["BRAMLEY_RATE_SIGNIN": "2/h"]) { google, _, service in
      try await service.take(ada)
      _ = try await service.handOver(google.token("ada"))
      _ = try await service.handOver(google.token("ada"))
      try expect(
        await service.tryHandOver(google.token("ada")), is: Refusal(429, "TOO_MANY_ATTEMPTS_TRY_LATER"))
    }
  }
}
