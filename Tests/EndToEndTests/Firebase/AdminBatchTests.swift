import Foundation
import Testing
import Wire

/// What administrators do with many accounts at once.
@Suite(.timeLimit(.minutes(10)))
struct AdminBatchTests {
  @Test func `row 18 trap 17 three pages show every account once`() async throws {
    try await withAdministrator { _, admin in
      let ids = try await (0..<5).asyncMap { try await admin.create(#"{"localId":"u\#(4 - $0)"}"#) }
      var (seen, pages, token): ([String], Int, String?) = ([], 0, nil)
      repeat {
        let query = token.map { "&nextPageToken=\($0)" } ?? ""
        let page = try await admin.get("accounts:batchGet?maxResults=2" + query).json
        #expect(page.text("kind") == "identitytoolkit#DownloadAccountResponse")
        #expect((1...2).contains(page.localIDs.count))
        for user in page.objects("users") { expectDigits(user["createdAt"]) }
        seen += page.localIDs
        token = page.text("nextPageToken")
        pages += 1
      } while token != nil && pages < 9
      #expect(pages == 3)
      #expect(seen == ids, "in the order of their creation")
      // Exactly full pages end as well.
      let whole = try await admin.get("accounts:batchGet?maxResults=5").json
      #expect(whole.localIDs == ids)
      #expect(whole["nextPageToken"] == nil)
      #expect(try await admin.get("accounts:batchGet").json.localIDs == ids)
      for id in ids { try await admin.delete(id) }
      let none = try await admin.get("accounts:batchGet")
      #expect(none.status == 200)
      #expect(try none.json["users"] == nil)
    }
  }

  @Test func `an account that is made or deleted between two pages moves no other`() async throws {
    try await withAdministrator { _, admin in
      let ids = try await (0..<4).asyncMap { try await admin.create(#"{"localId":"u\#($0)"}"#) }
      let first = try await admin.get("accounts:batchGet?maxResults=2").json
      let token = try #require(first.text("nextPageToken"))
      try await admin.delete(ids[1])
      try await admin.create(#"{"localId":"late"}"#)
      let second = try await admin.get("accounts:batchGet?maxResults=9&nextPageToken=\(token)").json
      #expect(second.localIDs == ["u2", "u3", "late"])
    }
  }

  @Test func `a page that is none is refused`() async throws {
    try await withAdministrator { _, admin in
      for token in ["x", "-1", "01", "1.5", "99999999999999999999", "%20"] {
        try expect(
          await admin.get("accounts:batchGet?nextPageToken=\(token)"),
          is: Refusal(400, "INVALID_PAGE_SELECTION"))
      }
      for count in ["0", "-1", "1001", "many", "99999999999999999999"] {
        try expect(
          await admin.get("accounts:batchGet?maxResults=\(count)"), is: .argument("field_invalid"),
          field: "maxResults")
      }
      #expect(try await admin.get("accounts:batchGet?maxResults=1000").status == 200)
    }
  }

  @Test func `accounts in use are deleted together only when it is forced`() async throws {
    try await withAdministrator { service, admin in
      let person = try await service.signIn(Mint.credential())
      try await admin.create(#"{"localId":"off","disabled":true}"#)
      let ids = #"["off","nobody","\#(person.localID)"]"#
      let answer = try await admin.post("accounts:batchDelete", #"{"localIds":\#(ids)}"#)
      #expect(answer.status == 200)
      let errors = try answer.json.objects("errors")
      #expect(errors.map { $0.integer("index") } == [2])
      #expect(errors.map { $0.text("localId") } == [person.localID])
      #expect(errors.first?.text("message")?.hasPrefix("NOT_DISABLED : ") == true)
      #expect(try await admin.account("off") == nil)
      _ = try await service.refresh(person.refreshToken)
      let forced = try await admin.post("accounts:batchDelete", #"{"localIds":\#(ids),"force":true}"#)
      #expect(forced.status == 200)
      #expect(try forced.json["errors"] == nil)
      try expect(await service.tryRefresh(person.refreshToken), is: Refusal(400, "USER_NOT_FOUND"))
    }
  }

  @Test func `a batch of deletions has one to a thousand good ids`() async throws {
    try await withAdministrator { _, admin in
      let names = { (count: Int) in (0..<count).map { #""u\#($0)""# }.joined(separator: ",") }
      try expect(await admin.post("accounts:batchDelete", "{}"), is: Refusal(400, "MISSING_LOCAL_ID"))
      #expect(try await admin.post("accounts:batchDelete", #"{"localIds":[\#(names(1000))]}"#).status == 200)
      try expect(
        await admin.post("accounts:batchDelete", #"{"localIds":[\#(names(1001))]}"#),
        is: Refusal(400, "LOCAL_ID_LIST_EXCEEDS_LIMIT"))
      try expect(
        await admin.post("accounts:batchDelete", #"{"localIds":["a","b c"]}"#), is: .argument("field_invalid")
      )
    }
  }

  @Test func `accounts of another system come in, and each that cannot is named`() async throws {
    try await withAdministrator { service, admin in
      let (subject, held) = (Mint.subject(), Mint.subject())
      _ = try await service.signIn(Mint.credential { $0.subject = held })
      let body = #"""
        {"users":[
          {"localId":"old-1","email":"ann@example.com","emailVerified":true,"displayName":"Ann",
           "createdAt":1600000000000,"lastLoginAt":1600000001000,"customAttributes":"{\"plan\":\"pro\"}",
           "passwordHash":"AAAA","salt":"BBBB","phoneNumber":"+15550100",
           "providerUserInfo":[{"providerId":"apple.com","rawId":"\#(subject)","email":"ann@example.com"},
             {"providerId":"password","federatedId":"ann@example.com","email":"ann@example.com"},
             {"providerId":"phone","phoneNumber":"+15550100"}]},
          {"localId":"old-1"},
          {"email":"no-id@example.com"},
          {"localId":"old-3","email":"nonsense"},
          {"localId":"old-4","customAttributes":"{\"sub\":\"x\"}"},
          {"localId":"old-5","providerUserInfo":[{"providerId":"apple.com","rawId":"\#(held)"}]},
          {"localId":"old-6","email":"ann@example.com"}],
         "hashAlgorithm":"SCRYPT","sanityCheck":true}
        """#
      let answer = try await admin.post("accounts:batchCreate", body)
      #expect(answer.status == 200, "\(answer)")
      #expect(try answer.json.text("kind") == "identitytoolkit#UploadAccountResponse")
      let errors = try answer.json.objects("error")
      #expect(errors.map { $0.integer("index") } == [1, 2, 3, 4, 5])
      let messages = errors.compactMap { $0.text("message") }
      for (message, code) in zip(
        messages,
        ["DUPLICATE_LOCAL_ID", "MISSING_LOCAL_ID", "INVALID_EMAIL", "FORBIDDEN_CLAIM", "DUPLICATE_RAW_ID"])
      { #expect(message.hasPrefix(code + " : "), "\(message)") }
      let account = try #require(try await admin.account("old-1"))
      #expect(account.text("createdAt") == "1600000000000")
      #expect(account.text("lastLoginAt") == "1600000001000")
      #expect(account.objects("providerUserInfo").map { $0.text("providerId") } == ["apple.com"])
      #expect(account["passwordHash"] == nil && account["phoneNumber"] == nil)
      #expect(try await admin.account("old-6") != nil)

      // The person comes back with Apple and is who he was.
      let person = try await service.signIn(Mint.credential { $0.subject = subject })
      #expect(person.localID == "old-1")
      #expect(!person.isNewUser)
      #expect(try await service.read(person.idToken).claims.text("plan") == "pro")
      #expect(try await service.read(person.idToken).claims.text("name") == "Ann")
    }
  }

  @Test func `an import's verified address joins nobody, an administrator's does`() async throws {
    let linking = ["BRAMLEY_ACCOUNT_LINKING": "verified-email"]
    try await withAdministrator(linking) { service, admin in
      let imported = #"{"users":[{"localId":"old","email":"ann@example.com","emailVerified":true}]}"#
      #expect(try await admin.post("accounts:batchCreate", imported).json["error"] == nil)
      try await admin.create(#"{"localId":"made","email":"bo@example.com","emailVerified":true}"#)
      let ann = try await service.trySignIn(Mint.credential { $0.email = "ann@example.com" })
      #expect(ann.status == 400 || (try? ann.json["idToken"]) == nil, "\(ann)")
      #expect(try await admin.account("old")?["providerUserInfo"] == nil)
      let bo = try await service.signIn(Mint.credential { $0.email = "bo@example.com" })
      #expect(bo.localID == "made")
      // Where addresses are one's own, an import brings no second one either.
      let again = #"{"users":[{"localId":"old-2","email":"ann@example.com"}]}"#
      let errors = try await admin.post("accounts:batchCreate", again).json.objects("error")
      #expect(errors.first?.text("message")?.hasPrefix("EMAIL_EXISTS : ") == true)
    }
  }

  @Test func `an import has one to a thousand accounts`() async throws {
    try await withAdministrator { _, admin in
      for body in ["{}", #"{"users":[]}"#] {
        try expect(await admin.post("accounts:batchCreate", body), is: Refusal(400, "MISSING_USER_ACCOUNT"))
      }
      let users = { (count: Int) in (0..<count).map { #"{"localId":"u\#($0)"}"# }.joined(separator: ",") }
      try expect(
        await admin.post("accounts:batchCreate", #"{"users":[\#(users(1001))]}"#),
        is: Refusal(400, "LOCAL_ID_LIST_EXCEEDS_LIMIT"))
      #expect(try await admin.post("accounts:batchCreate", #"{"users":[\#(users(1000))]}"#).status == 200)
      #expect(try await admin.get("accounts:batchGet?maxResults=1000").json.localIDs.count == 1000)
    }
  }

  @Test func `a thousand accounts with all that they have fit, and more than two mebibytes do not`()
    async throws
  {
    try await withAdministrator { service, admin in
      let claims = quoted(#"{"a":"\#(String(repeating: "x", count: 900))"}"#)
      func users(_ count: Int, padding: Int = 0) -> String {
        let users = (0..<count).map { number in
          #"{"localId":"user-\#(number)","email":"user-\#(number)@example.com","emailVerified":true,"#
            + #""displayName":"User \#(number)","createdAt":1600000000000,"customAttributes":\#(claims),"#
            + #""providerUserInfo":[{"providerId":"apple.com","rawId":"001234.\#(number).5678"}]}"#
        }
        let padding = String(repeating: " ", count: padding)
        return #"{"users":[\#(users.joined(separator: ","))]\#(padding)}"#
      }
      let body = users(1000)
      #expect((1 << 20..<2 << 20).contains(body.utf8.count))
      let answer = try await admin.post("accounts:batchCreate", body)
      #expect(answer.status == 200, "\(answer.status)")
      #expect(try answer.json["error"] == nil)
      let person = try await service.signIn(Mint.credential { $0.subject = "001234.999.5678" })
      #expect(person.localID == "user-999")
      try expect(
        await admin.post("accounts:batchCreate", users(1, padding: 2 << 20)),
        is: .argument("body_too_large", 413))
      // What names no batch is no larger than what apps send.
      try expect(
        await admin.post("accounts:lookup", users(1, padding: 64 << 10)), is: .argument("body_too_large", 413)
      )
      let ids = (0..<1000).map { #""user-\#($0)\#(String(repeating: "x", count: 110))""# }.joined(
        separator: ",")
      #expect(
        try await admin.post("accounts:batchDelete", #"{"localIds":[\#(ids)],"force":true}"#).status == 200)
    }
  }

  @Test func `the older names import and list as well, for this project only`() async throws {
    try await withAdministrator { service, _ in
      func post(_ verb: String, _ body: String) async throws -> HTTPAnswer {
        try await service.send(
          .post(
            "/www.googleapis.com/identitytoolkit/v3/relyingparty/" + verb, json: body,
            headers: [("Authorization", "Bearer \(Administrator.token)")]))
      }
      let users = (0..<3).map { #"{"localId":"u\#($0)"}"# }.joined(separator: ",")
      let imported = try await post("uploadAccount", #"{"targetProjectId":"bramley","users":[\#(users)]}"#)
      #expect(imported.status == 200, "\(imported)")
      let first = try await post("downloadAccount", #"{"maxResults":2}"#).json
      #expect(first.localIDs == ["u0", "u1"])
      let token = try #require(first.text("nextPageToken"))
      let second = try await post("downloadAccount", #"{"maxResults":"2","nextPageToken":"\#(token)"}"#).json
      #expect(second.localIDs == ["u2"])
      #expect(second["nextPageToken"] == nil)
      for verb in ["uploadAccount", "downloadAccount"] {
        try expect(
          await post(verb, #"{"targetProjectId":"other"}"#), is: Refusal(400, "CONFIGURATION_NOT_FOUND"))
      }
      for count in ["0", "1001", "-1"] {
        try expect(
          await post("downloadAccount", #"{"maxResults":\#(count)}"#), is: .argument("field_invalid"))
      }
      try expect(
        await post("downloadAccount", #"{"nextPageToken":"x"}"#), is: Refusal(400, "INVALID_PAGE_SELECTION"))
    }
  }

  @Test func `trap 2 a query orders, cuts and counts`() async throws {
    try await withAdministrator { _, admin in
      let rows = [("b", "Cy", 3), ("c", "Al", 1), ("a", "Bo", 2)]
      for (id, name, time) in rows {
        try await admin.create(
          #"{"localId":"\#(id)","displayName":"\#(name)","#
            + #""email":"\#(name)@example.com","createdAt":"\#(time)000"}"#
        )
      }
      func ids(_ body: String) async throws -> [String?] {
        let answer = try await admin.post("accounts:query", body).json
        #expect(answer.text("recordsCount") == "3")
        return answer.objects("userInfo").map { $0.text("localId") }
      }
      #expect(try await ids("{}") == ["a", "b", "c"])
      #expect(try await ids(#"{"order":"DESC"}"#) == ["c", "b", "a"])
      #expect(try await ids(#"{"sortBy":"NAME"}"#) == ["c", "a", "b"])
      #expect(try await ids(#"{"sortBy":"CREATED_AT","order":2}"#) == ["b", "a", "c"])
      #expect(try await ids(#"{"sortBy":"USER_EMAIL","order":"ASC"}"#) == ["c", "a", "b"])
      #expect(try await ids(#"{"limit":"1","offset":"1"}"#) == ["b"])
      #expect(try await ids(#"{"offset":"3"}"#).isEmpty)
      #expect(try await ids(#"{"returnUserInfo":false}"#).isEmpty)
      let one = try await admin.post("accounts:query", #"{"expression":[{"email":"Al@example.com"}]}"#).json
      #expect(one.text("recordsCount") == "1")
      #expect(one.objects("userInfo").map { $0.text("localId") } == ["c"])
      let none = try await admin.post("accounts:query", #"{"expression":[{"userId":"nobody"}]}"#).json
      #expect(none.text("recordsCount") == "0")
      #expect(none["userInfo"] == nil)
      for body in [#"{"limit":501}"#, #"{"limit":0}"#, #"{"offset":-1}"#] {
        try expect(await admin.post("accounts:query", body), is: .argument("field_invalid"))
      }
      try expect(await admin.post("accounts:query", #"{"sortBy":"SHOE"}"#), is: .argument("field_type"))
    }
  }
}

extension Sequence where Element: Sendable {
  /// One after the other.
  fileprivate func asyncMap<R>(_ transform: (Element) async throws -> R) async throws -> [R] {
    var results: [R] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
