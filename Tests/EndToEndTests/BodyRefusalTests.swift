import Foundation
import TestProcesses
import Testing
import Wire

/// Bodies that broke other servers: never a 5xx, and the service answers afterwards.
@Suite(.timeLimit(.minutes(2)))
struct BodyRefusalTests {
  @Test func `attack 16 J08 what is not the JSON that is accepted is refused`() async throws {
    try await withService { service in
      let bodies = [
        "", " ", "{", "}", "[]", "null", "42", #""text""#, "{}x", #"{"a":1,}"#, #"{'a':1}"#, #"{"a":01}"#,
        #"{"rawNonce":"\ud800"}"#, #"{"rawNonce":"\udc00\ud800"}"#, #"{"rawNonce":"a\u0000b"}"#,
        "{\"rawNonce\":\"a\u{0}b\"}",
        "\u{FEFF}{}", #"{"a":NaN}"#, #"{"a":"# + String(repeating: "[", count: 5000),
        String(repeating: #"{"a":"#, count: 33) + "1" + String(repeating: "}", count: 33),
        "{\"a\":\"tab\tin text\"}",
      ]
      for body in bodies {
        let answer = try await service.send(.signIn(body))
        try expect(answer, is: .argument("body_malformed"))
      }
      let notUTF8: [[UInt8]] = [
        [0x7B, 0xFF, 0x7D], Array("{\"rawNonce\":\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"}".utf8),
      ]
      for body in notUTF8 {
        let answer = try await service.send(.post("/v1/signInWithIdp", body, type: "application/json"))
        try expect(answer, is: .argument("body_malformed"))
      }
      let utf16 = Array("{}".utf16).flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
      try expect(
        await service.send(.post("/v1/signInWithIdp", utf16, type: "application/json")),
        is: .argument("body_malformed"))
      _ = try await service.signIn(Mint.credential())
    }
  }

  @Test func `J02 a member that is named twice is refused, at any depth and in any spelling`() async throws {
    try await withService { service in
      let bodies = [
        #"{"idToken":"a","idToken":"b","rawNonce":"n"}"#,
        #"{"idToken":"a","rawNonce":"n","raw\u004eonce":"m"}"#,
        #"{"fullName":{"givenName":"a","givenName":"b"}}"#, #"{"unknown":[{"x":1,"x":1}]}"#,
      ]
      for body in bodies {
        try expect(await service.send(.signIn(body)), is: .argument("duplicate_member"))
      }
    }
  }

  @Test(arguments: [
    nil, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16",
    "application/jsonx", "application/json; charset=latin1", "application/json, text/plain",
    "multipart/form-data",
  ])
  func `J10 a body of another media type is refused`(_ type: String?) async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let request = HTTPRequest.post("/v1/signInWithIdp", Array(credential.body().utf8), type: type)
      try expect(await service.send(request), is: .argument("media_type_not_supported", 415))
      _ = try await service.signIn(credential)
    }
  }

  @Test(arguments: [
    "application/json", "Application/JSON ; charset=\"UTF-8\"", "application/json;charset=utf-8",
  ])
  func `the media type is taken in every spelling`(_ type: String) async throws {
    try await withService { service in
      let request = HTTPRequest.post(
        "/v1/signInWithIdp", Array(try Mint.credential().body().utf8), type: type)
      #expect(try await service.send(request).status == 200)
    }
  }

  @Test func `fields of another type are refused by name`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let wrong = [
        "providerId": "1", "autoCreate": #""true""#, "fullName": #""Ada""#, "device": "[]",
        "authorizationCode": "{}", "redirectUri": "false",
      ]
      for (name, value) in wrong {
        try expect(
          await service.trySignIn(credential, [name: value]), is: .argument("field_type"), field: name)
      }
      let inner = ["fullName": #"{"givenName":7}"#, "device": #"{"os":[]}"#]
      for (name, value) in inner {
        try expect(await service.trySignIn(credential, [name: value]), is: .argument("field_type"))
      }
      try expect(
        await service.trySignIn(credential, ["providerId": #""google.com""#]),
        is: Refusal(400, "INVALID_PROVIDER_ID"))
      for value in ["1", "true", "[]", "{}"] {
        let answer = try await service.send(.signIn(#"{"rawNonce":"n","idToken":\#(value)}"#))
        try expect(answer, is: .argument("field_type"), field: "idToken")
      }
      let long = "\"" + String(repeating: "c", count: 2049) + "\""
      try expect(
        await service.trySignIn(credential, ["authorizationCode": long]), is: .argument("field_too_long"))
      let absent = ["providerId": "null", "autoCreate": "null", "fullName": "null", "device": "null"]
      #expect(try await service.signIn(credential, absent).isNewUser)
    }
  }

  @Test func `attack 14 a token that is too long for a token is refused as such`() async throws {
    try await withService { service in
      let dots = String(repeating: ".", count: 30_000)
      for text in [String(repeating: "A", count: 9000), dots] {
        let answer = try await service.trySignIn(Credential(idToken: text, rawNonce: "n"))
        try expect(answer, is: .token("token_too_large"))
      }
    }
  }

  @Test func `attack 14 J04 a body of megabytes is refused, announced or not`() async throws {
    try await withService { service in
      for text in [String(repeating: ".", count: 1_000_000), String(repeating: "A", count: 8 << 20)] {
        let body = #"{"idToken":"\#(text)","rawNonce":"n"}"#
        let announced = try await service.send(.signIn(body))
        try expect(announced, is: .argument("body_too_large", 413))
        let outcome = await onThreadResult {
          let connection = try HTTPConnection(port: service.port)
          connection.send(
            Array("POST /v1/signInWithIdp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n".utf8)
              + Array("Content-Type: application/json\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n".utf8)
              + Array(body.utf8) + Array("\r\n0\r\n\r\n".utf8))
          return try connection.receive()
        }
        switch outcome {
        case .success(let answer): #expect(answer.status == 413)
        // Beyond what is read for the sake of an answer, the connection breaks.
        case .failure: break
        }
        #expect(try await service.get("/livez").status == 200)
      }
    }
  }

  @Test func `a body in chunks is taken`() async throws {
    try await withService { service in
      let body = try Mint.credential().body()
      let answer = try await onThread {
        let connection = try HTTPConnection(port: service.port)
        var message = "POST /v1/signInWithIdp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
        message += "Content-Type: application/json\r\n\r\n"
        for byte in stride(from: 0, to: body.utf8.count, by: 100) {
          let piece = String(
            decoding: Array(body.utf8)[byte..<min(byte + 100, body.utf8.count)], as: UTF8.self)
          message += String(piece.utf8.count, radix: 16) + "\r\n" + piece + "\r\n"
        }
        connection.send(Array((message + "0\r\n\r\n").utf8))
        return try connection.receive()
      }
      #expect(answer.status == 200, "\(answer)")
    }
  }

  @Test func `attack 37 a body that is cut short gets no answer and harms nobody`() async throws {
    try await withService { service in
      let request = HTTPRequest.signIn(try Mint.credential().body()).bytes
      for length in [1, 20, request.count / 2, request.count - 1] {
        // The end of the thread's work closes the connection.
        try await onThread { try HTTPConnection(port: service.port).send(Array(request[..<length])) }
      }
      #expect(try await service.get("/livez").status == 200)
      _ = try await service.signIn(Mint.credential())
      try await service.stop()
      // Only the whole one was a request.
      #expect(service.process.outputLines.count { $0.contains(#""route":"sign_in""#) } == 1)
    }
  }

  @Test func `a thousand seeded mutations of good bodies are never a fault of the server`() async throws {
    try await withService { service in
      let body = Array(
        try Mint.credential().body(["fullName": #"{"givenName":"Ada 👩‍💻"}"#, "autoCreate": "true"]).utf8)
      let statuses = try await onThread {
        var random = SeededGenerator(seed: 13)
        let connection = try HTTPConnection(port: service.port)
        return try (0..<1000).map { _ in
          var mutated = body
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            mutated[Int.random(in: 0..<mutated.count, using: &random)] = UInt8.random(
              in: 0...255, using: &random)
          }
          let request = HTTPRequest.post("/v1/signInWithIdp", mutated, type: "application/json")
          return try connection.exchange(request).status
        }
      }
      #expect(statuses.allSatisfy { (200..<500).contains($0) })
    }
  }

  @Test(arguments: [
    (#"{"givenName":"\u200b\u200b"}"#, nil), (#"{"givenName":"\u3164"}"#, nil),
    (#"{"givenName":"a\nb"}"#, "ab"),
    (#"{"givenName":"<script>","familyName":"{{7*7}}"}"#, "<script> {{7*7}}"),
    (#"{"nickname":"Countess"}"#, "Countess"),
    (#"{"givenName":" Zoë ","familyName":"O\"Neil\\"}"#, "Zoë O\"Neil\\"),
  ])
  func `U04 U13 U14 names are cleaned, kept as text and given back`(_ name: String, _ shown: String?)
    async throws
  {
    try await withService { service in
      let answer = try await service.trySignIn(Mint.credential(), ["fullName": name])
      #expect(try answer.json.text("displayName") == shown)
      let (_, claims) = try await service.read(SignedIn(answer).idToken)
      #expect(claims.text("name") == shown)
    }
  }

  @Test func `U11 J05 a very long name is cut at a whole character, and the token stays small`() async throws
  {
    try await withService { service in
      let family = String(repeating: "👨‍👩‍👧‍👦", count: 300)
      let answer = try await service.trySignIn(
        Mint.credential { $0.email = String(repeating: "e", count: 300) + "@example.com" },
        ["fullName": #"{"givenName":"\#(family)","familyName":"\#(family)"}"#])
      let given = try #require(try answer.json.text("firstName"))
      #expect(given.allSatisfy { $0 == "👨‍👩‍👧‍👦" })
      #expect(given.utf8.count <= 400)
      let token = try SignedIn(answer).idToken
      #expect(token.utf8.count < 2048)
      let name = try #require(try await service.read(token).claims.text("name"))
      #expect(name.allSatisfy { $0 == "👨‍👩‍👧‍👦" } && name.utf8.count <= 128)
    }
  }
}
