import API
import Testing
import Wire

private func body(_ json: String) throws -> FirebaseBody {
  FirebaseBody(try JSONObject(parsing: Array(json.utf8)))
}

@Suite struct FirebaseBodyTests {
  @Test func `a name is taken in camel case and in snake case`() throws {
    #expect(try body(#"{"photoUrl":"x"}"#).text("photoUrl") == "x")
    #expect(try body(#"{"photo_url":"x"}"#).text("photoUrl") == "x")
    #expect(try body(#"{"return_idp_credential":true}"#).flag("returnIdpCredential") == true)
    #expect(try body(#"{"local_id":["a"]}"#).texts("localId") == ["a"])
    #expect(try body(#"{"photourl":"x","PhotoUrl":"x"}"#).text("photoUrl") == nil)
  }

  @Test func `J02 both spellings at once are one field named twice`() throws {
    let twice = try body(#"{"idToken":"a","id_token":"b"}"#)
    #expect(throws: Failure(.duplicateMember, field: "id_token")) { try twice.text("idToken") }
    #expect(try body(#"{"idToken":null,"id_token":"b"}"#).text("idToken") == "b")
  }

  @Test func `what is absent or null is nil, and empty text too`() throws {
    for json in ["{}", #"{"x":null}"#, #"{"x":""}"#] {
      #expect(try body(json).text("x") == nil)
      #expect(try body(json).flag("x") == nil)
      #expect(try body(json).integer("x") == nil)
      #expect(try body(json).enumeration("x", of: RevocableTokenType.self) == nil)
    }
    for json in ["{}", #"{"x":null}"#, #"{"x":[]}"#] {
      #expect(try body(json).texts("x") == [])
      #expect(try body(json).objects("x").isEmpty)
      #expect(try body(json).enumerations("x", of: DeletableAttribute.self) == [])
    }
    #expect(try body(#"{"x":null}"#).object("x") == nil)
  }

  @Test func `numbers and booleans may be text`() throws {
    #expect(try body(#"{"x":"true"}"#).flag("x") == true)
    #expect(try body(#"{"x":"false"}"#).flag("x") == false)
    #expect(try body(#"{"x":false}"#).flag("x") == false)
    #expect(try body(#"{"x":1700000000}"#).integer("x") == 1_700_000_000)
    #expect(try body(#"{"x":"1700000000"}"#).integer("x") == 1_700_000_000)
    #expect(try body(#"{"x":-5}"#).integer("x") == -5)
    #expect(try body(#"{"x":300.0}"#).integer("x") == 300)
  }

  @Test func `a case is a word, a number or a number in text`() throws {
    for json in [#"{"tokenType":"CODE"}"#, #"{"tokenType":"3"}"#, #"{"token_type":3}"#] {
      #expect(try body(json).enumeration("tokenType", of: RevocableTokenType.self) == .code)
    }
    let attributes = try body(#"{"deleteAttribute":["DISPLAY_NAME",4,"1","PASSWORD",3]}"#)
      .enumerations("deleteAttribute", of: DeletableAttribute.self)
    #expect(attributes == [.displayName, .photoURL, .email, .password, .provider])
    for kind in RevocableTokenType.allCases {
      #expect(try body(#"{"x":\#(kind.number)}"#).enumeration("x", of: RevocableTokenType.self) == kind)
    }
    #expect(Set(DeletableAttribute.allCases.map(\.number)) == Set(1...5))
  }

  @Test func `objects are read in the same way`() throws {
    let users = try body(#"{"users":[{"local_id":"a"},{"localId":"b","emailVerified":"true"}]}"#)
      .objects("users")
    #expect(try users.map { user in try user.text("localId") } == ["a", "b"])
    #expect(try users[1].flag("emailVerified") == true)
    let inner = try #require(try body(#"{"sign_in":{"allow_duplicate_emails":true}}"#).object("signIn"))
    #expect(try inner.flag("allowDuplicateEmails") == true)
  }

  @Test(arguments: ["5", "true", "[]", "{}", "1.5"])
  func `other types are refused as text`(_ value: String) throws {
    let wrong = try body(#"{"photo_url":\#(value)}"#)
    #expect(throws: Failure(.fieldType, field: "photo_url")) { try wrong.text("photoUrl") }
  }

  @Test(arguments: ["1", "0", #""TRUE""#, #""yes""#, #""1""#, "[]", "{}"])
  func `other types are refused as a boolean`(_ value: String) throws {
    let wrong = try body(#"{"x":\#(value)}"#)
    #expect(throws: Failure(.fieldType, field: "x")) { try wrong.flag("x") }
  }

  @Test(arguments: [
    "true", "1.5", "1e30", #""+5""#, #""-5""#, #"" 5""#, #""5.0""#, #""0x5""#, #""9223372036854775808""#,
    #""٣""#,
    "[]", "{}",
  ])
  func `other types are refused as a number`(_ value: String) throws {
    let wrong = try body(#"{"x":\#(value)}"#)
    #expect(throws: Failure(.fieldType, field: "x")) { try wrong.integer("x") }
  }

  @Test(arguments: [
    #""code""#, #""TO\u212aEN""#, #""REFRESH_TO\u212aEN""#, "0", "4", #""4""#, "true", "[]", "3.5",
  ])
  func `an unknown case is refused`(_ value: String) throws {
    let wrong = try body(#"{"x":\#(value),"xs":[2,\#(value)]}"#)
    #expect(throws: Failure(.fieldType, field: "x")) {
      try wrong.enumeration("x", of: RevocableTokenType.self)
    }
    #expect(throws: Failure(.fieldType, field: "xs[1]")) {
      try wrong.enumerations("xs", of: RevocableTokenType.self)
    }
  }

  @Test func `a failure inside an object or array names the place`() throws {
    let users = try body(#"{"users":[{},{"providerUserInfo":[{"rawId":5}]}]}"#).objects("users")
    let info = try users[1].objects("providerUserInfo")
    #expect(throws: Failure(.fieldType, field: "users[1].providerUserInfo[0].rawId")) {
      try info[0].text("rawId")
    }
    let mixed = try body(#"{"localId":["a",null],"users":[{},[]],"email":"a@example.com","o":[]}"#)
    #expect(throws: Failure(.fieldType, field: "localId[1]")) { try mixed.texts("localId") }
    #expect(throws: Failure(.fieldType, field: "users[1]")) { _ = try mixed.objects("users") }
    #expect(throws: Failure(.fieldType, field: "email")) { try mixed.texts("email") }
    #expect(throws: Failure(.fieldType, field: "o")) { _ = try mixed.object("o") }
  }

  @Test func `text has a greatest length where one is given`() throws {
    let long = try body(#"{"displayName":"éé"}"#)
    #expect(try long.text("displayName", atMost: 4) == "éé")
    #expect(throws: Failure(.fieldTooLong, field: "displayName")) { try long.text("displayName", atMost: 3) }
  }
}
