import Foundation
import TestProcesses
import Testing
import Wire

/// Who is let in to the routes of administrators.
@Suite(.timeLimit(.minutes(2)))
struct AdminAccessTests {
  /// Every operation of administrators: how it is called, and under which path of the project.
  static let operations = [
    ("POST", "/accounts"), ("POST", "/accounts:lookup"), ("POST", "/accounts:update"),
    ("POST", "/accounts:delete"), ("POST", "/accounts:batchDelete"), ("GET", "/accounts:batchGet"),
    ("POST", "/accounts:batchCreate"), ("POST", "/accounts:query"), ("POST", ":createSessionCookie"),
    ("POST", "/accounts:sendOobCode"), ("POST", "/tenants/t/accounts:lookup"),
    ("GET", "/tenants/t/accounts:batchGet"), ("POST", "/tenants/t:createSessionCookie"),
  ]

  private func request(
    _ operation: (String, String), project: String = "bramley", _ headers: [(name: String, value: String)]
  ) -> HTTPRequest {
    let path = "/identitytoolkit.googleapis.com/v1/projects/\(project)\(operation.1)"
    return operation.0 == "GET"
      ? HTTPRequest(path: path, headers: headers) : .post(path, json: "{}", headers: headers)
  }

  @Test(arguments: operations)
  func `row 20 without an administrator's bearer it is 401, whatever the bearer is`(
    _ method: String, _ path: String
  ) async throws {
    try await withAdministrator { service, _ in
      let session = try await service.signIn(Mint.credential()).idToken
      let missing = try await service.send(request((method, path), []))
      try expect(missing, is: Refusal(401, "UNAUTHENTICATED", "admin_token_missing"))
      #expect(missing["WWW-Authenticate"] == "Bearer")
      #expect(try missing.json.object("error")?.objects("errors").first?.text("reason") == "required")
      let token = Administrator.token
      var bodies: Set<[UInt8]> = []
      for value in [
        "Bearer owner", "Bearer x", "Bearer ", "Bearer \(session)", "Bearer \(token)x",
        "Bearer \(token.dropLast())",
        "Basic \(token)", token, "Bearer  \(token)", "Bearer ya29.x",
      ] {
        let headers = [(name: "Authorization", value: value), (name: "X-Request-Id", value: "one")]
        let answer = try await service.send(request((method, path), headers))
        try expect(answer, is: Refusal(401, "UNAUTHENTICATED", "admin_token_invalid"))
        #expect(answer["WWW-Authenticate"]?.hasPrefix("Bearer error=") == true)
        #expect(try answer.json.object("error")?.objects("errors").first?.text("reason") == "authError")
        bodies.insert(answer.body)
      }
      #expect(bodies.count == 1, "one answer, whatever the token")
    }
  }

  @Test(arguments: operations)
  func `where nobody is an administrator the routes are not there`(_ method: String, _ path: String)
    async throws
  {
    try await withService { service in
      for headers in [[], [(name: "Authorization", value: "Bearer owner")]] {
        let answer = try await service.send(request((method, path), headers))
        #expect(answer.status == 404, "\(answer)")
        #expect(answer.reason == "not_found")
      }
    }
  }

  @Test(arguments: ["", "x", "owner", "session"])
  func `an app that asks as an administrator does is refused, and nothing is changed or shown`(
    _ bearer: String
  ) async throws {
    try await withAdministrator { service, admin in
      let id = try await admin.create(#"{"email":"ann@example.com","displayName":"Ann"}"#)
      let session = try await service.signIn(Mint.credential()).idToken
      let headers =
        bearer.isEmpty ? [] : [("Authorization", "Bearer \(bearer == "session" ? session : bearer)")]
      let old = "/identitytoolkit/v3/relyingparty/"
      let rows: [(path: String, members: String, refusal: Refusal)] = [
        ("/v1/accounts:lookup", #""localId":["\#(id)"]"#, Refusal(400, "MISSING_ID_TOKEN")),
        (old + "getAccountInfo", #""email":["ann@example.com"]"#, Refusal(400, "MISSING_ID_TOKEN")),
        ("/v1/accounts:update", #""localId":"\#(id)","displayName":"Eve""#, Refusal(400, "INVALID_REQ_TYPE")),
        (old + "setAccountInfo", #""localId":"\#(id)","disableUser":true"#, Refusal(400, "INVALID_REQ_TYPE")),
        ("/v1/accounts:delete", #""localId":"\#(id)""#, Refusal(400, "MISSING_ID_TOKEN")),
        (old + "deleteAccount", #""localId":"\#(id)""#, Refusal(400, "MISSING_ID_TOKEN")),
        ("/v1/accounts:signUp", #""localId":"eve""#, Refusal(400, "ADMIN_ONLY_OPERATION")),
        (
          "/v1/accounts:lookup", #""targetProjectId":"bramley","localId":["\#(id)"]"#,
          Refusal(400, "INSUFFICIENT_PERMISSION")
        ),
        (
          "/v1/accounts:delete", #""idToken":"\#(session)","localId":"\#(id)""#,
          Refusal(400, "INSUFFICIENT_PERMISSION")
        ),
      ]
      for row in rows {
        try expect(
          await service.send(.post(row.path, json: "{\(row.members)}", headers: headers)), is: row.refusal)
      }
      for path in ["downloadAccount", "uploadAccount"] {
        #expect(try await service.send(.post(old + path, json: "{}", headers: headers)).status == 401)
      }
      let account = try #require(try await admin.account(id))
      #expect(account.text("displayName") == "Ann")
      #expect(account["disabled"] == nil)
      #expect(try await admin.account("eve") == nil)
    }
  }

  @Test func `another project and its tenants are not here`() async throws {
    try await withAdministrator { service, admin in
      let headers = [(name: "Authorization", value: "Bearer \(Administrator.token)")]
      for operation in Self.operations {
        let answer = try await service.send(request(operation, project: "other", headers))
        try expect(answer, is: Refusal(400, "CONFIGURATION_NOT_FOUND"))
        if operation.1.hasPrefix("/tenants") {
          try expect(await service.send(request(operation, headers)), is: Refusal(400, "TENANT_NOT_FOUND"))
        }
      }
      try expect(
        await Administrator(service: service, bearer: "x", project: "other").post("accounts", "{}"),
        is: Refusal(401, "UNAUTHENTICATED", "admin_token_invalid"))
      try expect(
        await admin.post("accounts:sendOobCode", "{}"),
        is: Refusal(400, "OPERATION_NOT_ALLOWED", "provider_not_enabled"))
    }
  }

  @Test func `a project of another name is the one of the path`() async throws {
    try await withAdministrator(["BRAMLEY_PROJECT_ID": "orchard-1"]) { service, admin in
      try expect(await admin.post("accounts", "{}"), is: Refusal(400, "CONFIGURATION_NOT_FOUND"))
      let own = Administrator(service: service, project: "orchard-1")
      #expect(try await own.post("accounts", "{}").status == 200)
    }
  }

  @Test func `an administrator needs no API key, and an API key makes no administrator`() async throws {
    try await withAdministrator(["BRAMLEY_API_KEYS": "the-key"]) { service, admin in
      try await admin.create("{}")
      for (bearer, key) in [(nil, "?key=the-key"), ("the-key", ""), ("the-key", "?key=the-key")] {
        let caller = Administrator(service: service, bearer: bearer)
        #expect(try await caller.post("accounts" + key, "{}").status == 401)
      }
    }
  }

  @Test func `the scheme is spelled in any case, and two bearers are none`() async throws {
    try await withAdministrator { service, _ in
      let token = Administrator.token
      func status(_ headers: [(name: String, value: String)]) async throws -> Int {
        try await service.send(request(("POST", "/accounts:lookup"), headers)).status
      }
      for scheme in ["bearer", "BEARER", "Bearer"] {
        let status = try await status([("authorization", "\(scheme) \(token)")])
        #expect(status == 200)
      }
      let two = try await status([("Authorization", "Bearer \(token)"), ("Authorization", "Bearer \(token)")])
      #expect([400, 401].contains(two))
    }
  }

  @Test func `the token is read from a file, and two administrators have one each`() async throws {
    try await withStage { stage in
      let file = try stage.write("ada=token-of-ada-0123456,bob=token-of-bob-0123456\n", to: "tokens")
      let service = try await stage.start(["BRAMLEY_ADMIN_TOKEN_FILE": file])
      for (token, status) in [
        ("token-of-ada-0123456", 200), ("token-of-bob-0123456", 200), ("ada=token-of-ada-0123456", 401),
        ("token-of-eve-0123456", 401), ("ada", 401),
      ] {
        let admin = Administrator(service: service, bearer: token)
        #expect(try await admin.post("accounts:lookup", "{}").status == status, "\(token)")
      }
    }
  }

  @Test func `a reload lets a new administrator in and the old one out`() async throws {
    try await withStage { stage in
      let file = try stage.write("log_level: info\n", to: "bramley.yaml")
      let service = try await stage.start(arguments: ["--config", file])
      func reload(_ text: String) async throws {
        _ = try stage.write(text, to: "bramley.yaml")
        let count = { @Sendable (output: [UInt8]) in
          lines(output).count { $0.contains(#""event":"reload"#) }
        }
        let before = count(service.process.state.read(\.output))
        service.process.send(signal: SIGHUP)
        _ = try await service.process.state.first { count($0.output) > before ? true : nil }
      }
      func status(_ token: String) async throws -> Int {
        try await Administrator(service: service, bearer: token).post("accounts:lookup", "{}").status
      }
      let (first, second) = ("token-of-ada-0123456", "token-of-bob-0123456")
      #expect(try await status(first) == 404)
      try await reload("admin_token: \(first)\n")
      #expect(try await status(first) == 200)
      try await reload("admin_token: bob=\(second)\n")
      #expect(try await status(first) == 401)
      #expect(try await status(second) == 200)
      try await reload("admin_token: short\n")
      #expect(try await status(second) == 200)
      try await reload("log_level: info\n")
      #expect(try await status(second) == 404)
    }
  }

  @Test(arguments: [
    "short", "ada=short", "ada=token-of-ada-0123456,ada=token-of-bob-0123456",
    "token-of-ada-0123456,token-of-bob-0123456", "=token-of-ada-0123456", "token of ada 0123456",
  ])
  func `a token that anybody may guess, or nobody can name, is a wrong setting`(_ value: String) async throws
  {
    try await withStage { stage in
      let child = try stage.launch(["BRAMLEY_ADMIN_TOKEN": value])
      #expect(try await child.ended() == .exit(78))
      #expect(child.errorText.contains("BRAMLEY_ADMIN_TOKEN"))
      #expect(!child.errorText.contains(value))
    }
  }
}
