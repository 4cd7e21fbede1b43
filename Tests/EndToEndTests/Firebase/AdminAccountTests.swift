import Foundation
import Testing
import Wire

/// `accounts:lookup` and `accounts` of an administrator: accounts are found and made.
@Suite(.timeLimit(.minutes(10)))
struct AdminAccountTests {
  @Test func `lookup finds by id, address and identity, each account once`() async throws {
    try await withAdministrator { service, admin in
      let subject = Mint.subject()
      let person = try await service.signIn(Mint.credential { $0.subject = subject })
      try await admin.create(#"{"localId":"mail","email":"ann@example.com"}"#)
      try await admin.create(#"{"localId":"plain"}"#)
      let identity = #"{"providerId":"apple.com","rawId":"\#(subject)"}"#
      #expect(try await admin.lookup(#"{"localId":["plain"]}"#).map { $0.text("localId") } == ["plain"])
      #expect(
        try await admin.lookup(#"{"email":["ann@example.com"]}"#).map { $0.text("localId") } == ["mail"])
      #expect(
        try await admin.lookup(#"{"federatedUserId":[\#(identity)]}"#).map { $0.text("localId") }
          == [person.localID])
      let mixed = try await admin.lookup(
        #"{"localId":["plain","mail","nobody"],"email":["ann@example.com","no@example.com"],"#
          + #""phoneNumber":["+15550100"],"federated_user_id":[\#(identity)]}"#)
      #expect(Set(mixed.compactMap { $0.text("localId") }) == ["plain", "mail", person.localID])
      #expect(mixed.count == 3)
    }
  }

  @Test func `trap 17 a lookup that finds nobody has no users`() async throws {
    try await withAdministrator { _, admin in
      let bodies = [
        "{}", #"{"localId":["nobody"]}"#, #"{"email":["no@example.com"]}"#, #"{"email":["no address"]}"#,
        #"{"localId":["an id with spaces"]}"#, #"{"phoneNumber":["+15550100"]}"#,
        #"{"federatedUserId":[{"providerId":"apple.com","rawId":"0.0.0"}]}"#, #"{"localId":[]}"#,
      ]
      for body in bodies {
        let answer = try await admin.post("accounts:lookup", body)
        #expect(answer.status == 200, "\(body): \(answer)")
        #expect(try answer.json.text("kind") == "identitytoolkit#GetAccountInfoResponse")
        #expect(try answer.json["users"] == nil, "\(body): \(answer)")
      }
    }
  }

  @Test func `a lookup names at most a hundred`() async throws {
    try await withAdministrator { _, admin in
      let names = { (count: Int) in (0..<count).map { #""u\#($0)""# }.joined(separator: ",") }
      #expect(try await admin.post("accounts:lookup", #"{"localId":[\#(names(100))]}"#).status == 200)
      let tooMany = Refusal(400, "LOCAL_ID_LIST_EXCEEDS_LIMIT")
      try expect(await admin.post("accounts:lookup", #"{"localId":[\#(names(101))]}"#), is: tooMany)
      try expect(
        await admin.post("accounts:lookup", #"{"localId":[\#(names(60))],"email":[\#(names(41))]}"#),
        is: tooMany)
    }
  }

  @Test func `trap 2 trap 7 an account is made with all of its fields`() async throws {
    try await withAdministrator { _, admin in
      let body = #"""
        {"localId":"ann-1","email":"ann@example.com","emailVerified":true,"displayName":"Ann & Bö 😀",
         "photoUrl":"https://example.com/a.png","disabled":true,"customAttributes":"{\"role\": \"admin\"}",
         "createdAt":"1600000000000","lastLoginAt":1600000001000,"validSince":"1600000002",
         "providerUserInfo":[{"providerId":"apple.com","rawId":"000999.ab.1","email":"ann@example.com",
           "displayName":"Ann"},{"providerId":"google.com","federatedId":"1234"}]}
        """#
      let answer = try await admin.post("accounts", body)
      #expect(answer.status == 200, "\(answer)")
      #expect(try answer.json.text("kind") == "identitytoolkit#SignupNewUserResponse")
      #expect(try answer.json.text("localId") == "ann-1")
      #expect(try answer.json["idToken"] == nil)
      let account = try #require(try await admin.account("ann-1"))
      #expect(account.text("email") == "ann@example.com")
      #expect(account.flag("emailVerified") == true)
      #expect(account.text("displayName") == "Ann & Bö 😀")
      #expect(account.text("photoUrl") == "https://example.com/a.png")
      #expect(account.flag("disabled") == true)
      #expect(account.text("customAttributes") == #"{"role": "admin"}"#)
      #expect(account.text("createdAt") == "1600000000000")
      #expect(account.text("lastLoginAt") == "1600000001000")
      #expect(account.text("validSince") == "1600000002")
      let providers = account.objects("providerUserInfo")
      #expect(providers.map { $0.text("providerId") } == ["apple.com", "google.com"])
      for (provider, subject) in zip(providers, ["000999.ab.1", "1234"]) {
        #expect(provider.text("rawId") == subject)
        #expect(provider.text("federatedId") == subject)
      }
    }
  }

  @Test func `an account is made of nothing, and shows nothing that it does not have`() async throws {
    try await withAdministrator { _, admin in
      let id = try await admin.create("{}")
      #expect(id.utf8.count == 28)
      let account = try #require(try await admin.account(id))
      #expect(Set(account.names) == ["localId", "createdAt", "validSince"])
      expectDigits(account["createdAt"])
      // `accounts:signUp` with an administrator's bearer is the same operation.
      let answer = try await admin.service.send(
        .post(
          "/identitytoolkit.googleapis.com/v1/accounts:signUp", json: #"{"localId":"by-sign-up"}"#,
          headers: [("Authorization", "Bearer \(Administrator.token)")]))
      #expect(try answer.json.text("localId") == "by-sign-up", "\(answer)")
      #expect(try answer.json["refreshToken"] == nil)
    }
  }

  @Test func `booleans and names come in every spelling that Google takes`() async throws {
    try await withAdministrator { _, admin in
      try await admin.create(
        #"{"password":"","phone_number":"","mfaInfo":null,"tenantId":"","local_id":"snake","#
          + #""display_name":"Ann","email":"a@example.com","email_verified":"true","disabled":"false","#
          + #""photoUrl":null,"phoneNumber":null}"#
      )
      let account = try #require(try await admin.account("snake"))
      #expect(account.text("displayName") == "Ann")
      #expect(account.flag("emailVerified") == true)
      #expect(account.flag("disabled") == nil)
    }
  }

  @Test func `what is taken cannot be taken again`() async throws {
    try await withAdministrator { service, admin in
      let subject = Mint.subject()
      _ = try await service.signIn(Mint.credential { $0.subject = subject })
      try await admin.create(#"{"localId":"first","email":"ann@example.com"}"#)
      try expect(
        await admin.post("accounts", #"{"localId":"first"}"#), is: Refusal(400, "DUPLICATE_LOCAL_ID"))
      try expect(
        await admin.post("accounts", #"{"email":"ann@example.com"}"#), is: Refusal(400, "EMAIL_EXISTS"))
      let identity = #"{"providerId":"apple.com","rawId":"\#(subject)"}"#
      try expect(
        await admin.post("accounts", #"{"localId":"second","providerUserInfo":[\#(identity)]}"#),
        is: Refusal(400, "DUPLICATE_RAW_ID"))
      #expect(try await admin.account("second") == nil)
    }
  }

  @Test func `wrong values are refused, each by its name`() async throws {
    let long = String(repeating: "x", count: 1000)
    let rows: [(body: String, refusal: Refusal, field: String?)] = [
      (#"{"email":"no address"}"#, Refusal(400, "INVALID_EMAIL"), "email"),
      (#"{"email":7}"#, .argument("field_type"), "email"),
      (#"{"localId":"two words"}"#, .argument("field_invalid"), "localId"),
      (#"{"localId":"\#(String(repeating: "x", count: 129))"}"#, .argument("field_invalid"), "localId"),
      (#"{"photoUrl":"javascript:alert(1)"}"#, .argument("field_invalid"), "photoUrl"),
      (#"{"photoUrl":"https://a b"}"#, .argument("field_invalid"), "photoUrl"),
      (#"{"emailVerified":"yes"}"#, .argument("field_type"), "emailVerified"),
      (#"{"disabled":1}"#, .argument("field_type"), "disabled"),
      (#"{"createdAt":-1}"#, .argument("field_invalid"), "createdAt"),
      (#"{"createdAt":"9223372036854775807"}"#, .argument("field_invalid"), "createdAt"),
      (#"{"validSince":-1}"#, .argument("field_invalid"), "validSince"),
      (#"{"customAttributes":"[]"}"#, Refusal(400, "INVALID_CLAIMS"), nil),
      (#"{"customAttributes":"{\"a\":1,\"a\":2}"}"#, Refusal(400, "INVALID_CLAIMS"), nil),
      (#"{"customAttributes":{"a":1}}"#, .argument("field_type"), "customAttributes"),
      (#"{"customAttributes":"{\"a\":\"\#(long)\"}"}"#, Refusal(400, "CLAIMS_TOO_LARGE"), nil),
      (
        #"{"providerUserInfo":[{"providerId":"apple.com"}]}"#, .argument("field_missing"), nil
      ),
      (
        #"{"providerUserInfo":[{"providerId":"a.com","rawId":"1"},{"providerId":"A.com","rawId":"2"}]}"#,
        Refusal(400, "DUPLICATE_RAW_ID"), nil
      ),
      (
        #"{"password":"hunter22"}"#, Refusal(400, "OPERATION_NOT_ALLOWED", "provider_not_enabled"), "password"
      ),
      (
        #"{"phoneNumber":"+15550100"}"#, Refusal(400, "OPERATION_NOT_ALLOWED", "provider_not_enabled"),
        "phoneNumber"
      ),
      (#"{"tenantId":"t"}"#, Refusal(400, "UNSUPPORTED_TENANT_OPERATION"), nil),
      (#"{"localId":"a","local_id":"b"}"#, .argument("duplicate_member"), nil),
      (#"[]"#, .argument("body_malformed"), nil),
    ]
    try await withAdministrator { _, admin in
      for row in rows {
        let answer = try await admin.post("accounts", row.body)
        try expect(answer, is: row.refusal, field: row.field)
      }
      #expect(try await admin.get("accounts:batchGet").json["users"] == nil)
    }
  }

  @Test(arguments: [
    "sub", "firebase", "nonce", "sid", "email", "email_verified", "name", "user_id", "auth_time", "exp",
    "provider_id", "c_hash", "\\u0073ub",
  ])
  func `trap 8 a claim of ours is refused by its name`(_ name: String) async throws {
    try await withAdministrator { _, admin in
      let attributes = #"{"a":1,"\#(name)":"x"}"#
      let answer = try await admin.post("accounts", json([("customAttributes", quoted(attributes))]))
      #expect(answer.status == 400)
      let claim = name.hasPrefix("\\") ? "sub" : name
      #expect(try answer.json.object("error")?.text("message") == "FORBIDDEN_CLAIM : \(claim)")
      #expect(answer.reason == "forbidden_claim")
    }
  }
}
