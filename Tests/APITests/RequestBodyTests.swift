import API
import HTTPServer
import TestSupport
import Testing
import Wire

@Suite struct RequestBodyTests {
  @Test(arguments: [
    "application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8",
    "Application/JSON",
    "application/json ; charset=\"utf-8\"", "application/json; boundary=x", "application/json;",
  ])
  func `J10 JSON in UTF-8 is taken`(_ type: String) async throws {
    let bench = try await Bench()
    let response = try await bench.send(
      "POST", "/v1/signInWithIdp", headers: ["Content-Type": type], body: Array(bench.signInBody().utf8))
    #expect(response.status == 200)
  }

  @Test(arguments: [
    "text/plain", "", "application/json; charset=utf-16", "application/json; charset=latin1",
    "application/jsonp",
    "text/json", "application/x-www-form-urlencoded", "application/json, text/plain", "*/*",
    "multipart/form-data",
    "application/json; charset=utf-8; charset=utf-16", "application/json; charset = utf-16",
    "appli cation/json", "application/ json", ";application/json",
  ])
  func `J10 other media types are refused`(_ type: String) async throws {
    let bench = try await Bench()
    let response = try await bench.send(
      "POST", "/v1/signInWithIdp", headers: ["Content-Type": type], body: Array(bench.signInBody().utf8))
    #expect(response.status == 415)
    #expect(response.reason == "media_type_not_supported")
  }

  @Test func `J10 no media type and two are refused`() async throws {
    let bench = try await Bench()
    let body = Array(bench.signInBody().utf8)
    #expect(try await bench.send("POST", "/v1/signInWithIdp", body: body).status == 415)
    let twice: Headers = ["Content-Type": "application/json", "content-type": "application/json"]
    #expect(try await bench.send("POST", "/v1/signInWithIdp", headers: twice, body: body).status == 415)
  }

  @Test(arguments: [
    "", "[]", "null", "{", "{}x", #"{"idToken":"a",}"#, "\u{FEFF}{}", #"{"idToken":"\ud800"}"#,
    #"{"idToken":"a\u0000"}"#,
    "idToken=a",
  ])
  func `J08 what is not an object in strict JSON is malformed`(_ body: String) async throws {
    let bench = try await Bench()
    #expect(try await bench.post("/v1/signInWithIdp", body).reason == "body_malformed")
    #expect(try await bench.post("/v1/token", body).reason == "body_malformed")
  }

  @Test func `J08 UTF-16 and deep nesting are malformed`() async throws {
    let bench = try await Bench()
    let headers: Headers = ["Content-Type": "application/json"]
    let utf16 = Array("{}".utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    #expect(
      try await bench.send("POST", "/v1/token", headers: headers, body: utf16).reason == "body_malformed")
    let deep = #"{"a":"# + String(repeating: "[", count: 60_000)
    #expect(try await bench.post("/v1/token", deep).reason == "body_malformed")
  }

  @Test(arguments: [
    #"{"idToken":"a","idToken":"b"}"#, #"{"idToken":"a","\u0069dToken":"b"}"#, #"{"x":{"y":1,"y":1}}"#,
  ])
  func `J02 a member named twice is refused`(_ body: String) async throws {
    let bench = try await Bench()
    #expect(try await bench.post("/v1/signInWithIdp", body).reason == "duplicate_member")
  }
}

@Suite struct TokenRefreshTests {
  private func refreshToken(_ bench: Bench) async throws -> String {
    try #require(try await bench.signIn().object().text("refreshToken"))
  }

  private func form(_ bench: Bench, _ body: String) async throws -> Response {
    try await bench.send(
      "POST", "/v1/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Array(body.utf8))
  }

  @Test func `a refresh token is traded, as a form and as JSON in both spellings`() async throws {
    let bench = try await Bench()
    var token = try await refreshToken(bench)
    let bodies: [(String) -> String] = [
      { #"{"grant_type":"refresh_token","refresh_token":"\#($0)"}"# },
      { #"{"grantType":"refresh_token","refreshToken":"\#($0)"}"# },
      { #"{"grant_type":"refresh_token","refreshToken":"\#($0)","x":5}"# },
    ]
    for body in bodies {
      let answer = try await bench.post("/v1/token", body(token)).object()
      let next = try #require(answer.text("refresh_token"))
      #expect(next != token)
      token = next
    }
    let response = try await form(bench, "grant_type=refresh_token&refresh_token=\(token)&client=x")
    let answer = try response.object()
    #expect(
      answer.names == [
        "access_token", "id_token", "refresh_token", "expires_in", "token_type", "user_id", "project_id",
      ])
    #expect(answer.text("access_token") == answer.text("id_token"))
    #expect(answer.text("token_type") == "Bearer")
    #expect(answer.text("expires_in") == "3600")
    #expect(response.headers.all("Cache-Control") == ["no-store"])
    _ = try bench.issuer.verify(try #require(answer.text("id_token")))
  }

  @Test func `both spellings at once are one field named twice`() async throws {
    let bench = try await Bench()
    let json = #"{"grant_type":"refresh_token","grantType":"refresh_token","refresh_token":"x"}"#
    #expect(try await bench.post("/v1/token", json).reason == "duplicate_member")
    let tokens = #"{"grant_type":"refresh_token","refresh_token":"x","refreshToken":"x"}"#
    #expect(try await bench.post("/v1/token", tokens).reason == "duplicate_member")
    #expect(
      try await form(bench, "grant_type=refresh_token&refresh_token=x&refreshToken=x").reason
        == "duplicate_member")
    #expect(
      try await form(bench, "grant_type=refresh_token&grant_type=refresh_token").reason == "duplicate_member")
  }

  @Test(arguments: [
    ("", "invalid_grant_type"), ("grant_type=password", "invalid_grant_type"),
    ("grand_type=refresh_token", "invalid_grant_type"),
    ("grant_type=", "invalid_grant_type"), ("grant_type=refresh_token", "missing_refresh_token"),
    ("grant_type=refresh_token&refresh_token=", "missing_refresh_token"),
    ("grant_type=refresh_token&refresh_token=garbage", "invalid_refresh_token"),
    ("grant_type=%", "body_malformed"),
    ("grant_type=%FF", "body_malformed"), ("grant_type=refresh_token&refresh_token=a%00", "body_malformed"),
  ])
  func `what is wrong with a form is said`(_ body: String, _ reason: String) async throws {
    let bench = try await Bench()
    let response = try await form(bench, body)
    #expect(response.reason == reason)
    #expect(response.status == 400)
  }

  @Test func `fields of another type are refused`() async throws {
    let bench = try await Bench()
    #expect(try await bench.post("/v1/token", #"{"grant_type":5}"#).reason == "field_type")
    let list = try await bench.post("/v1/token", #"{"grant_type":"refresh_token","refresh_token":["x"]}"#)
    #expect(list.reason == "field_type")
    #expect(list.field == "refresh_token")
    #expect(try await bench.post("/v1/token", #"{"grant_type":null}"#).reason == "invalid_grant_type")
  }

  @Test func `an old token ends the session, and the log says so without it`() async throws {
    let bench = try await Bench()
    let first = try await refreshToken(bench)
    var token = first
    for _ in 0..<3 {
      token = try #require(
        try await form(bench, "grant_type=refresh_token&refresh_token=\(token)").object().text(
          "refresh_token"))
    }
    #expect(
      try await form(bench, "grant_type=refresh_token&refresh_token=\(first)").reason
        == "refresh_token_reused")
    #expect(
      try await form(bench, "grant_type=refresh_token&refresh_token=\(token)").reason == "session_revoked")
    await bench.log.stop()
    #expect(bench.lines.all.contains("refresh_token_reused"))
    #expect(!bench.lines.all.contains(first))
  }
}
