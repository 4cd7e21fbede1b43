import TestProcesses
import Testing
import Wire

/// `/v1/admin/…`: what an administrator sees and changes.
@Suite(.timeLimit(.minutes(10)))
struct AdminRouteTests {
  private static let unknown = Refusal(400, "USER_NOT_FOUND")
  private static let noID = String(repeating: "0", count: 32)
  private static let routes = [
    ("GET", "/users"), ("GET", "/users/ada"), ("PATCH", "/users/ada"), ("DELETE", "/users/ada"),
    ("GET", "/users/ada/sessions"), ("DELETE", "/users/ada/sessions"),
    ("DELETE", "/users/ada/sessions/\(noID)"), ("GET", "/audit"), ("GET", "/keys"), ("GET", "/activity"),
    ("GET", "/queues"),
  ]

  @Test func `without administrators there are no such routes, and nobody else is let in`() async throws {
    try await withService(["BRAMLEY_SERVICE_KEYS": "a-service-key"]) { service in
      for (method, path) in Self.routes {
        try expect(
          await Operator(service: service).send(method, path), is: .argument("not_found", 404))
      }
    }
    try await withOperator(["BRAMLEY_SERVICE_KEYS": "a-service-key"]) { service, _ in
      let token = try await service.signIn(Mint.credential()).idToken
      for (method, path) in Self.routes {
        try expect(
          await Operator(service: service, bearer: nil).send(method, path),
          is: Refusal(401, "UNAUTHENTICATED", "admin_token_missing"))
        for wrong in ["owner", "a-service-key", token, Administrator.token + "x", ""] {
          try expect(
            await Operator(service: service, bearer: wrong).send(method, path),
            is: Refusal(401, "UNAUTHENTICATED", "admin_token_invalid"))
        }
      }
      try expect(
        await service.get("/v1/admin/users?key=\(Administrator.token)"),
        is: Refusal(401, "UNAUTHENTICATED", "admin_token_missing"))
    }
  }

  @Test func `they are on the operators' listener when there is one, and then not on the other`()
    async throws
  {
    try await withOperator(["BRAMLEY_ADMIN_LISTEN": "127.0.0.1:0"]) { service, visitor in
      let person = try await service.signIn(Mint.credential())
      for (method, path) in Self.routes {
        try expect(await visitor.send(method, path), is: .argument("not_found", 404))
      }
      let line = try #require(service.process.outputLines.first { $0.contains("adminListen") })
      let address = try #require(try JSONObject(parsing: Array(line.utf8)).text("adminListen"))
      let insider = Operator(service: service, port: try port(of: address))
      #expect(try await insider.done("GET", "/users/\(person.localID)").text("localId") == person.localID)
      try await insider.done("PATCH", "/users/\(person.localID)", #"{"disabled":true}"#)
      // What is done there is known here at once.
      #expect(try await service.admits(person.idToken) == false)
    }
  }

  @Test(arguments: ["oldest", "newest"])
  func `accounts come in pages, each once, in the order of their creation or its reverse`(
    _ order: String
  ) async throws {
    try await withOperator { service, visitor in
      var made: [String] = []
      for _ in 0..<5 { made.append(try await service.signIn(Mint.credential()).localID) }
      var (found, cursor, pages) = ([String](), String?.none, 0)
      repeat {
        let page = try await visitor.done(
          "GET", "/users?order=\(order)&limit=2" + (cursor.map { "&cursor=\($0)" } ?? ""))
        found += page.localIDs
        cursor = page.text("cursor")
        pages += 1
      } while cursor != nil && pages < 10
      #expect(found == (order == "oldest" ? made : made.reversed()))
      #expect(pages == 3)
      for (query, field) in [
        ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"), ("cursor=-1", "cursor"),
        ("cursor=99999999999999999999", "cursor"), ("order=Newest", "order"),
      ] {
        try expect(
          await visitor.send("GET", "/users?" + query), is: .argument("field_invalid"), field: field)
      }
    }
  }

  @Test func `an account is found by its id, its address and its identity, and nobody by two at once`()
    async throws
  {
    try await withOperator { service, visitor in
      let subject = Mint.subject()
      let person = try await service.signIn(
        Mint.credential {
          $0.subject = subject
          $0.email = "ada+x@example.com"
        })
      _ = try await service.signIn(Mint.credential())
      for query in [
        "id=\(person.localID)", "email=ada%2Bx@example.com", "providerId=apple.com&subject=\(subject)",
        "providerId=Apple.com&subject=\(subject)", "email=Ada%2BX@Example.com",
      ] {
        let page = try await visitor.done("GET", "/users?" + query)
        #expect(page.localIDs == [person.localID], "\(query)")
        #expect(page.text("cursor") == nil)
      }
      for query in ["id=nobody", "id=a%20b", "email=eve@example.com", "email=x", "providerId=a&subject=b"] {
        #expect(try await visitor.done("GET", "/users?" + query).localIDs == [], "\(query)")
      }
      for (query, reason, field) in [
        ("id=a&email=b@c", "field_invalid", "email"), ("id=a&providerId=b&subject=c", "field_invalid", "id"),
        ("providerId=apple.com", "field_missing", "subject"), ("subject=x", "field_missing", "providerId"),
        ("id=", "field_missing", "id"), ("email", "field_missing", "email"),
        ("mail=a@b", "field_unknown", "mail"),
        ("limit=1&Id=a", "field_unknown", "Id"), ("cursor=", "field_missing", "cursor"),
      ] {
        try expect(await visitor.send("GET", "/users?" + query), is: .argument(reason), field: field)
      }
    }
  }

  @Test func `an account is shown with its sessions`() async throws {
    try await withOperator { service, visitor in
      let subject = Mint.subject()
      let person = try await service.signIn(
        Mint.credential { $0.subject = subject },
        [
          "device": #"{"name":"Ada's phone"}"#,
          "fullName": #"{"givenName":"Ada","familyName":"Example"}"#,
        ])
      let shown = try await visitor.done("GET", "/users/\(person.localID)")
      #expect(shown.text("displayName") == "Ada Example")
      #expect(shown.flag("disabled") == false)
      #expect(shown.objects("identities").first?.text("subject") == subject)
      let session = try #require(shown.objects("sessions").first)
      #expect(session.text("sessionId") == person.sessionID)
      #expect(session.object("device")?.text("name") == "Ada's phone")
      #expect(session.flag("current") == nil)
      let list = try await visitor.done("GET", "/users/\(person.localID)/sessions")
      #expect(list.objects("sessions").map(\.bytes) == [session.bytes])
      for (method, path) in [
        ("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/sessions"), ("DELETE", "/sessions"),
        ("DELETE", "/sessions/\(person.sessionID)"),
      ] {
        for id in ["nobody", "%00", "%zz", "a%20b", String(repeating: "a", count: 129)] {
          let body = method == "PATCH" ? "{}" : nil
          try expect(await visitor.send(method, "/users/\(id)\(path)", body), is: Self.unknown)
        }
      }
    }
  }

  @Test func `an id from elsewhere stands in the path with escapes`() async throws {
    try await withAdministrator { service, administrator in
      let visitor = Operator(service: service)
      try await administrator.create(#"{"localId":"auth0|a/b+c%41"}"#)
      let path = "/users/auth0%7Ca%2Fb+c%2541"
      #expect(try await visitor.done("GET", path).text("localId") == "auth0|a/b+c%41")
      try await visitor.done("DELETE", path)
      try expect(await visitor.send("GET", path), is: Self.unknown)
    }
  }

  @Test func `disabling is seen at once by verifiers and at the refresh, and is undone the same way`()
    async throws
  {
    try await withOperator { service, visitor in
      let person = try await service.signIn(Mint.credential())
      #expect(try await service.admits(person.idToken))
      let disabled = try await visitor.done("PATCH", "/users/\(person.localID)", #"{"disabled":true}"#)
      #expect(disabled.flag("disabled") == true)
      #expect(try await service.admits(person.idToken) == false)
      try expect(await service.tryRefresh(person.refreshToken), is: Refusal(400, "USER_DISABLED"))
      try await visitor.done("PATCH", "/users/\(person.localID)", #"{"disabled":false}"#)
      #expect(try await service.admits(person.idToken))
      _ = try await service.refresh(person.refreshToken)
    }
  }

  @Test func `claims are in the next token, and null takes them away`() async throws {
    try await withOperator { service, visitor in
      let person = try await service.signIn(Mint.credential())
      var token = person.refreshToken
      func next() async throws -> JSONObject {
        let answer = try await service.tryRefresh(token)
        try #require(answer.status == 200, "\(answer)")
        token = try #require(try answer.json.text("refresh_token"))
        return try await service.read(try #require(try answer.json.text("id_token"))).claims
      }
      let path = "/users/\(person.localID)"
      let changed = try await visitor.done(
        "PATCH", path, #"{"customClaims":{"role":"editor","level":[1,2.5,"é"]}}"#)
      #expect(changed.object("customClaims")?.text("role") == "editor")
      let claims = try await next()
      #expect(claims.text("role") == "editor")
      #expect(claims.array("level")?.count == 3)
      #expect(
        try await visitor.done("GET", path).object("customClaims")?.names.sorted() == ["level", "role"])
      for nothing in ["null", "{}"] {
        try await visitor.done("PATCH", path, #"{"customClaims":{"role":"editor"}}"#)
        let cleared = try await visitor.done("PATCH", path, #"{"customClaims":\#(nothing)}"#)
        #expect(cleared.object("customClaims") == nil)
        #expect(try await next().text("role") == nil)
      }
      for (body, refusal) in [
        (
          #"{"customClaims":{"a":"\#(String(repeating: "x", count: 1000))"}}"#,
          Refusal(400, "CLAIMS_TOO_LARGE")
        ),
        (#"{"customClaims":"{}"}"#, .argument("field_type")),
        (#"{"customClaims":[1]}"#, .argument("field_type")),
      ] {
        try expect(await visitor.send("PATCH", path, body), is: refusal)
      }
      // Firebase's SDKs read the name of the claim where others have a sentence.
      let forbidden = try await visitor.send("PATCH", path, #"{"customClaims":{"sub":"x"}}"#)
      #expect(forbidden.reason == "forbidden_claim")
      #expect(try forbidden.json.object("error")?.text("message") == "FORBIDDEN_CLAIM : sub")
    }
  }

  @Test func `name, photo and address are changed, cleared, and left alone`() async throws {
    try await withOperator { service, visitor in
      let person = try await service.signIn(Mint.credential { $0.email = "ada@example.com" })
      let other = try await service.signIn(Mint.credential { $0.email = "bob@example.com" })
      let path = "/users/\(person.localID)"
      let changed = try await visitor.done(
        "PATCH", path,
        #"{"displayName":"Ada L.","photoUrl":"https://example.com/a.png","email":"ada@example.org","emailVerified":true}"#
      )
      #expect(changed.text("displayName") == "Ada L.")
      #expect(changed.text("photoUrl") == "https://example.com/a.png")
      #expect(changed.text("email") == "ada@example.org")
      #expect(changed.flag("emailVerified") == true)
      #expect(try await visitor.done("PATCH", path, "{}").bytes == changed.bytes)
      let cleared = try await visitor.done(
        "PATCH", path, #"{"displayName":null,"photoUrl":"","email":null}"#)
      for name in ["displayName", "photoUrl", "email", "emailVerified"] { #expect(cleared[name] == nil) }
      for (body, refusal) in [
        (#"{"email":"bob@example.com"}"#, Refusal(400, "EMAIL_EXISTS")),
        (#"{"email":"no address"}"#, Refusal(400, "INVALID_EMAIL")),
        (#"{"photoUrl":"javascript:alert(1)"}"#, .argument("field_invalid")),
        (#"{"disabled":"perhaps"}"#, .argument("field_type")),
        (#"{"disabled":"true"}"#, .argument("field_type")),
        (#"{"emailVerified":"true"}"#, .argument("field_type")), (#"{"email":1}"#, .argument("field_type")),
        ("[]", .argument("body_malformed")), ("{", .argument("body_malformed")),
      ] {
        try expect(await visitor.send("PATCH", path, body), is: refusal)
      }
      try expect(await visitor.send("PATCH", path), is: .argument("media_type_not_supported", 415))
      #expect(try await visitor.done("GET", "/users/\(other.localID)").text("email") == "bob@example.com")
    }
  }

  @Test func `one session ends, or all, and verifiers know at once`() async throws {
    try await withOperator { service, visitor in
      let subject = Mint.subject()
      var people: [SignedIn] = []
      for _ in 0..<3 { people.append(try await service.signIn(Mint.credential { $0.subject = subject })) }
      let stranger = try await service.signIn(Mint.credential())
      let path = "/users/\(people[0].localID)/sessions"
      for id in [stranger.sessionID, Self.noID, "x"] {
        try expect(await visitor.send("DELETE", "\(path)/\(id)"), is: .argument("not_found", 404))
      }
      #expect(try await visitor.done("DELETE", "\(path)/\(people[0].sessionID)").integer("ended") == 1)
      #expect(try await visitor.done("DELETE", "\(path)/\(people[0].sessionID)").integer("ended") == 0)
      #expect(try await service.admits(people[0].idToken) == false)
      try expect(await service.tryRefresh(people[0].refreshToken), is: .session("session_revoked"))
      #expect(try await service.admits(people[1].idToken))
      #expect(try await visitor.done("DELETE", path).integer("ended") == 2)
      for person in people { #expect(try await service.admits(person.idToken) == false) }
      #expect(try await visitor.done("GET", path).objects("sessions").isEmpty)
      #expect(try await service.admits(stranger.idToken))
    }
  }

  @Test func `a deleted account is gone at once`() async throws {
    try await withOperator { service, visitor in
      let person = try await service.signIn(Mint.credential())
      #expect(try await visitor.done("DELETE", "/users/\(person.localID)").names.isEmpty)
      #expect(try await service.admits(person.idToken) == false)
      try expect(await service.tryRefresh(person.refreshToken), is: Self.unknown)
      try expect(await visitor.send("DELETE", "/users/\(person.localID)"), is: Self.unknown)
      #expect(try await visitor.done("GET", "/users").localIDs == [])
    }
  }

  @Test func `the signing keys are shown as the command shows them, without their private parts`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start(Administrator.settings)
      _ = try await service.signIn(Mint.credential())
      let visitor = Operator(service: service)
      var shown = try await visitor.done("GET", "/keys")
      // Once the audit is chained too, nothing of it changes any more.
      try await service.waits("the audit is not chained") {
        shown = try await visitor.done("GET", "/keys")
        return shown.object("auditEndsByMasterKey")?.names.count == 1
      }
      #expect(Set(shown.objects("signingKeys").map { $0.text("role") }) == ["active", "standby"])
      #expect(shown.object("liveSessionsByMasterKey")?.names.count == 1)
      let printed = try await stage.command("keys", "list", "--json").json
      #expect(printed.bytes == shown.bytes)
    }
  }

  @Test func `the audit is read line by line, of everybody or of one account`() async throws {
    try await withOperator { service, visitor in
      let person = try await service.signIn(Mint.credential())
      let other = try await service.signIn(Mint.credential())
      let all = try await visitor.done("GET", "/audit").objects("entries")
      #expect(all.count == 6)
      let mine = try await visitor.done("GET", "/audit?account=\(person.localID)").objects("entries")
      #expect(mine.map { $0.text("action") } == ["account_created", "signed_in"])
      #expect(Set(all.compactMap { $0.text("account") }) == [person.localID, other.localID])
      var (found, cursor) = ([JSONObject](), "0")
      while true {
        let page = try await visitor.done("GET", "/audit?limit=1&after=\(cursor)")
        guard !page.objects("entries").isEmpty else {
          #expect(page.text("cursor") == cursor)
          break
        }
        found += page.objects("entries")
        cursor = try #require(page.text("cursor"))
      }
      #expect(found.map(\.bytes) == all.map(\.bytes))
      let last = try await visitor.done("GET", "/audit?limit=2&before=9007199254740991")
      #expect(last.objects("entries").map(\.bytes) == all.suffix(2).reversed().map(\.bytes))
      let earlier = try await visitor.done(
        "GET", "/audit?before=\(try #require(last.text("cursor")))&account=\(person.localID)")
      #expect(earlier.objects("entries").map(\.bytes) == mine.reversed().map(\.bytes))
      for (query, field) in [
        ("limit=0", "limit"), ("after=-1", "after"), ("account=a%20b", "account"), ("before=0", "before"),
        ("after=1&before=2", "before"),
      ] {
        try expect(
          await visitor.send("GET", "/audit?" + query), is: .argument("field_invalid"), field: field)
      }
    }
  }
}
