import HTTPServer
import Testing

/// Heads that two parsers could read in two ways, each followed by a request that must not be answered.
@Suite(.timeLimit(.minutes(5))) struct RefusalTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    init(_ name: String, _ text: String) { (testDescription, bytes) = (name, Array(text.utf8)) }
    init(_ name: String, _ bytes: [UInt8]) { (testDescription, self.bytes) = (name, bytes) }
  }

  static func post(_ name: String, _ fields: String, _ body: String = "abc") -> Case {
    Case(name, "POST /first HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)")
  }

  static func target(_ name: String, _ target: [UInt8]) -> Case {
    Case(name, Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
  }

  static let framing = [
    post("length and coding", "Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    post("coding and length", "Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n"),
    post("two lengths", "Content-Length: 3\r\nContent-Length: 0"),
    post("two equal lengths", "Content-Length: 3\r\nContent-Length: 3"),
    post("two lengths of different case", "Content-Length: 3\r\ncontent-length: 3"),
    post("space before the colon", "Content-Length : 3"),
    post("unknown coding", "Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
    post("identity coding", "Transfer-Encoding: identity", ""),
    post("coding with a space after it", "Transfer-Encoding: chunked ", "0\r\n\r\n"),
    post("coding of another case", "Transfer-Encoding: Chunked", "0\r\n\r\n"),
    post("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    Case("coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  ]

  /// Refused by the library before the listener sees them; it sends its head twice, and closes.
  static let lengthsThatAreNoNumber = [
    post("length with a plus", "Content-Length: +3"),
    post("length with a minus", "Content-Length: -3"),
    post("list of lengths", "Content-Length: 3, 3"),
    post("hexadecimal length", "Content-Length: 0x3"),
    post("length beyond 64 bits", "Content-Length: 18446744073709551619"),
  ]

  static let lines = [
    Case("no host", "GET / HTTP/1.1\r\n\r\n"),
    Case("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
    Case("bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n"),
    Case("bare LF after a field", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"),
    Case("bare LF after the last field", "GET / HTTP/1.1\r\nHost: a\r\nX: b\n\r\n"),
    Case("bare LF at the head's end", "GET / HTTP/1.1\r\nHost: a\r\n\n"),
    Case("bare CR after a field", "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"),
    Case("folded field", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n"),
    Case("folded last field", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n 0\r\n\r\na"),
    Case("folded first field", "GET / HTTP/1.1\r\nHost: a\r\n\tb\r\nX: c\r\n\r\n"),
    Case("space before the first field", "GET / HTTP/1.1\r\n Host: a\r\nHost: b\r\n\r\n"),
    Case("NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n"),
    Case("NUL in the last value", "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n"),
    Case("NUL in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\0Y: b\r\n\r\n"),
    Case("control byte in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\u{1}c\r\n\r\n"),
    Case("DEL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\u{7F}c\r\n\r\n"),
    Case("space in a name", "GET / HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n"),
    Case("brackets in a name", "GET / HTTP/1.1\r\nHost: a\r\nX(Y): b\r\n\r\n"),
    Case("name beyond ASCII", "GET / HTTP/1.1\r\nHost: a\r\nXé: b\r\n\r\n"),
    Case("empty name", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"),
    Case("no colon", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"),
  ]

  static let targets = [
    target("NUL", Array("/a\0b".utf8)),
    target("NUL at the end", Array("/a\0".utf8)),
    target("control byte", Array("/a\u{1}b".utf8)),
    target("tab", Array("/a\tb".utf8)),
    target("DEL", [0x2F, 0x7F]),
    target("byte beyond ASCII", [0x2F, 0x80]),
    target("absolute form", Array("http://a/b".utf8)),
    target("star", Array("*".utf8)),
    target("no slash", Array("a".utf8)),
    target("space", Array("/a b".utf8)),
    Case("two spaces before the target", "GET  /a HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case("two spaces after the target", "GET /a  HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case("a version that does not exist", "GET /a HTTP/1.2\r\nHost: a\r\n\r\n"),
    Case("a version that does not exist either", "GET /a HTTP/1.9\r\nHost: a\r\n\r\n"),
    Case("method that is no token", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"),
  ]

  @Test(arguments: framing + lines + targets)
  func `attack 37 an ambiguous request gets one refusal and no second answer`(_ refused: Case) async throws {
    let (text, seen) = try await answers(to: refused)
    #expect(answerCount(text) == 1)
    #expect(text.hasPrefix("HTTP/1.1 400 "))
    #expect(seen.isEmpty)
  }

  @Test(arguments: lengthsThatAreNoNumber)
  func `attack 37 a length that is no number gets a refusal and the next request none`(_ refused: Case)
    async throws
  {
    let (text, seen) = try await answers(to: refused)
    #expect(text.hasPrefix("HTTP/1.1 4"))
    #expect(!text.contains("HTTP/1.1 200 "))
    #expect(seen.isEmpty)
  }

  /// Everything that comes back until the connection closes, and the paths that the responder saw.
  private func answers(to refused: Case) async throws -> (text: String, seen: [String]) {
    let seen = Record<String>()
    let text = try await withListener(respond: { request in
      seen.append(request.path)
      return await echo(request)
    }) { listener in
      let port = listener.port
      return try await onThread {
        let client = try RawConnection(port)
        client.send(refused.bytes + Array("GET /second HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        return client.readToEnd()
      }
    }
    return (text, seen.values)
  }

  @Test func `what the listener itself refuses says what it was told to say`() async throws {
    try await withListener { listener in
      let port = listener.port
      let answer = try await onThread {
        let client = try RawConnection(port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na")
        return try client.readAnswer()
      }
      #expect(answer.headers["x-refused"] == "requestMalformed")
      #expect(answer.headers["connection"] == "close")
      #expect(answer.body == "refused")
    }
  }

  @Test func `attack 37 more than a hundred fields are refused`() async throws {
    try await withListener { listener in
      let port = listener.port
      let answer = try await onThread {
        let client = try RawConnection(port)
        let fields = (1...100).map { "X-\($0): y\r\n" }.joined()
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        return try client.readAnswer()
      }
      #expect(answer.status == 431)
    }
  }

  @Test(arguments: [15 * 1024, 16 * 1024, 20 * 1024, 28 * 1024])
  func `attack 37 a head of more than 16 KiB is refused in our words, and a smaller one is taken`(_ size: Int)
    async throws
  {
    try await withListener { listener in
      let port = listener.port
      let answer = try await onThread {
        let client = try RawConnection(port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "y", count: size))\r\n\r\n")
        return try client.readAnswer()
      }
      #expect(answer.status == (size < 16 * 1024 ? 200 : 431))
      #expect(size < 16 * 1024 || answer.headers["x-refused"] == "headerTooLarge")
    }
  }

  @Test func `attack 37 a head larger than the connection's memory is refused`() async throws {
    try await withListener { listener in
      let port = listener.port
      let text = try await onThread {
        let client = try RawConnection(port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "y", count: 64 * 1024))\r\n\r\n")
        return client.readToEnd()
      }
      #expect(answerCount(text) == 1)
      #expect(text.hasPrefix("HTTP/1.1 431 "))
    }
  }
}
