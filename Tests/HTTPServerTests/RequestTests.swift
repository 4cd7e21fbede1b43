import HTTPServer
import Testing

/// What a responder is given, and what comes back of its answer.
@Suite(.timeLimit(.minutes(5))) struct RequestTests {
  @Test func `a request arrives as it was sent`() async throws {
    let seen = Record<Request>()
    try await withListener(respond: { request in
      seen.append(request)
      return Response(status: 200)
    }) { listener in
      let port = listener.port
      try await onThread {
        let client = try RawConnection(port)
        client.send("POST /a%00/%73?b=%20&c HTTP/1.1\r\nHost: a\r\nx-Two:  1 \t\r\nX-two:2\r\n")
        client.send("Content-Length: 3\r\n\r\nabc")
        _ = try client.readAnswer()
      }
    }
    let request = try #require(seen.values.first)
    #expect(request.method == "POST")
    #expect(request.path == "/a%00/%73")
    #expect(request.query == "b=%20&c")
    #expect(request.headers.all("X-TWO") == ["1", "2"])
    #expect(request.headers.count(of: "x-two") == 2)
    #expect(request.headers.first("content-length") == "3")
    #expect(request.body == Array("abc".utf8))
    #expect(request.peer.host == "127.0.0.1")
  }

  @Test(arguments: [("/a", nil), ("/a?", ""), ("/a?b?c", "b?c"), ("//", nil)] as [(String, String?)])
  func `the query begins after the first question mark`(_ target: String, _ query: String?) async throws {
    let seen = Record<Request>()
    try await withListener(respond: { request in
      seen.append(request)
      return Response(status: 200)
    }) { listener in
      let port = listener.port
      try await onThread {
        let client = try RawConnection(port)
        client.get(target)
        _ = try client.readAnswer()
      }
    }
    #expect(seen.values.map(\.query) == [query])
  }

  @Test func `OPTIONS may ask about the whole server`() async throws {
    #expect(try await answer(to: "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").headers["x-path"] == "*")
  }

  @Test func `HTTP 1_0 needs no host`() async throws {
    #expect(try await answer(to: "GET /old HTTP/1.0\r\n\r\n").status == 200)
  }

  @Test func `a head that comes byte by byte is read`() async throws {
    let answer = try await withListener { listener in
      let port = listener.port
      return try await onThread {
        let client = try RawConnection(port)
        let fields = (1...40).map { "X-\($0): \(String(repeating: "y", count: 300))\r\n" }.joined()
        for byte in "POST /slow HTTP/1.1\r\nHost: a\r\n\(fields)Content-Length: 2\r\n\r\nab".utf8 {
          client.send([byte])
        }
        return try client.readAnswer()
      }
    }
    #expect(answer.status == 200)
    #expect(answer.body == "ab")
  }

  @Test func `an answer to HEAD has the fields of the body and no body`() async throws {
    try await withListener(respond: { request in
      Response(status: 200, headers: ["X-Method": request.method], body: Array("hello".utf8))
    }) { listener in
      let port = listener.port
      let (head, next) = try await onThread {
        let client = try RawConnection(port)
        client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try client.readAnswer(withoutBody: true)
        client.get("/")
        return (head, try client.readAnswer())
      }
      #expect(head.headers["x-method"] == "HEAD")
      #expect(head.headers["content-length"] == "5")
      #expect(next.body == "hello")
    }
  }

  @Test(arguments: [(204, "hello"), (204, ""), (304, "")])
  func `an answer without content says nothing of a length`(_ status: Int, _ body: String) async throws {
    let text = try await withListener(respond: { _ in Response(status: status, body: Array(body.utf8)) }) {
      let port = $0.port
      return try await onThread {
        let client = try RawConnection(port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return client.readToEnd().lowercased()
      }
    }
    #expect(text.hasPrefix("http/1.1 \(status) "))
    #expect(text.hasSuffix("\r\n\r\n"))
    #expect(answerCount(text.uppercased()) == 1)
    #expect(!text.contains("content-length"))
    #expect(!text.contains("transfer-encoding"))
  }

  @Test func `a 304 tells the length of what it does not send`() async throws {
    let text = try await withListener(respond: { _ in Response(status: 304, body: Array("hello".utf8)) }) {
      let port = $0.port
      return try await onThread {
        let client = try RawConnection(port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return client.readToEnd()
      }
    }
    #expect(text.contains("Content-Length: 5\r\n"))
    #expect(text.hasSuffix("\r\n\r\n"))
  }

  @Test(arguments: [204, 304])
  func `an answer without content has none, and the next is read right`(_ status: Int) async throws {
    try await withListener(respond: { request in
      Response(status: request.path == "/empty" ? status : 200, body: Array("hello".utf8))
    }) { listener in
      let port = listener.port
      let (empty, next) = try await onThread {
        let client = try RawConnection(port)
        client.get("/empty")
        let empty = try client.readAnswer(withoutBody: true)
        client.get("/")
        return (empty, try client.readAnswer())
      }
      #expect(empty.status == status)
      #expect(next.body == "hello")
    }
  }

  @Test(arguments: [
    Headers.Field(name: "X", value: "a\r\nSet-Cookie: b"), Headers.Field(name: "X", value: "a\0"),
    Headers.Field(name: "X Y", value: "a"), Headers.Field(name: "", value: "a"),
    Headers.Field(name: "X:", value: "a"), Headers.Field(name: "X", value: "a\u{7F}"),
  ])
  func `a field that could split the answer makes it an empty 500`(_ field: Headers.Field) async throws {
    let answer = try await answer(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n") { _ in
      Response(status: 200, headers: Headers([field]), body: Array("hello".utf8))
    }
    #expect(answer.status == 500)
    #expect(answer.body == "")
    #expect(answer.headers["set-cookie"] == nil)
  }

  @Test(arguments: [0, 99, 101, 600, -1])
  func `an impossible status becomes 500`(_ status: Int) async throws {
    #expect(
      try await answer(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n") { _ in Response(status: status) }.status
        == 500)
  }

  @Test func `fields of the framing are the listener's own`() async throws {
    let answer = try await answer(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n") { _ in
      Response(
        status: 200,
        headers: ["Content-Length": "99", "transfer-encoding": "chunked", "X-Tab": "a\tb", "X-Empty": ""],
        body: Array("hello".utf8))
    }
    #expect(answer.headers["content-length"] == "5")
    #expect(answer.headers["transfer-encoding"] == nil)
    #expect(answer.headers["x-tab"] == "a\tb")
    #expect(answer.body == "hello")
  }

  @Test func `a response may close its connection`() async throws {
    try await withListener(respond: { _ in Response(status: 200, closesConnection: true) }) { listener in
      let port = listener.port
      let text = try await onThread {
        let client = try RawConnection(port)
        client.get("/")
        client.get("/")
        return client.readToEnd()
      }
      #expect(answerCount(text) == 1)
      #expect(text.contains("Connection: close\r\n"))
    }
  }

  private func answer(
    to text: String, respond: @escaping @Sendable (Request) async -> Response = echo
  ) async throws -> Answer {
    try await withListener(respond: respond) { listener in
      let port = listener.port
      return try await onThread {
        let client = try RawConnection(port)
        client.send(text)
        return try client.readAnswer()
      }
    }
  }
}
