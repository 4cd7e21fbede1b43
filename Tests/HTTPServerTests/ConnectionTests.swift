import Glibc
import HTTPServer
import Testing

/// Connections over more than one request, bodies at their limit, and clients that stop half-way.
@Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
  @Test func `a connection is used again`() async throws {
    try await withListener { listener in
      let port = listener.port
      let bodies = try await onThread {
        let client = try RawConnection(port)
        return try (1...50).map { index in
          client.post("/", "\(index)")
          return try client.readAnswer().body
        }
      }
      #expect(bodies == (1...50).map { "\($0)" })
    }
  }

  @Test func `pipelined requests are answered in order, waiting or not`() async throws {
    try await withListener(respond: { request in
      if request.path.utf8.count % 2 == 0 { try? await Task.sleep(for: .milliseconds(5)) }
      return await echo(request)
    }) { listener in
      let port = listener.port
      let paths = try await onThread {
        let client = try RawConnection(port)
        client.send(
          (1...20).map { "GET /\(String(repeating: "a", count: $0)) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        return try (1...20).map { _ in try client.readAnswer().headers["x-path"] }
      }
      #expect(paths == (1...20).map { "/" + String(repeating: "a", count: $0) })
    }
  }

  @Test func `large bodies, split anywhere, leave the next head readable`() async throws {
    try await withListener(.test { $0.bodyLimit = 1 << 20 }) { listener in
      let port = listener.port
      let lengths = try await onThread {
        let client = try RawConnection(port)
        let sizes = [1, 40_000, 7, 300_000, 0, 33_000, 2, 70_001]
        var stream: [UInt8] = []
        for (index, size) in sizes.enumerated() {
          let field = String(repeating: "x", count: index * 997)
          stream += "POST /a HTTP/1.1\r\nHost: a\r\nX-Long:\(field)y\r\nContent-Length: \(size)\r\n\r\n".utf8
          stream += [UInt8](repeating: 0x62, count: size)
        }
        // Pieces of 1 to 4,999 bytes, so that heads and bodies break everywhere.
        var (start, step) = (0, 1)
        while start < stream.count {
          client.send(stream[start..<min(start + step, stream.count)])
          (start, step) = (start + step, step * 7 % 4999)
        }
        return try sizes.map { size in
          let answer = try client.readAnswer()
          return answer.status == 200 && answer.body.utf8.count == size
        }
      }
      #expect(lengths.allSatisfy { $0 })
    }
  }

  @Test func `an empty line before a request is passed over`() async throws {
    try await withListener { listener in
      let port = listener.port
      let statuses = try await onThread {
        let client = try RawConnection(port)
        client.send("\r\n")
        client.get("/")
        let first = try client.readAnswer().status
        client.send("\r\n")
        client.get("/")
        return [first, try client.readAnswer().status]
      }
      #expect(statuses == [200, 200])
    }
  }

  @Test func `a connection beyond the limit waits until another ends`() async throws {
    try await withListener(.test { ($0.connectionLimit, $0.threads) = (2, 2) }) { listener in
      let port = listener.port
      async let status = onThread {
        var clients = try (0..<2).map { _ in try RawConnection(port) }
        for client in clients {
          client.get("/")
          _ = try client.readAnswer()
        }
        let late = try RawConnection(port)
        late.get("/")
        clients = []
        return try late.readAnswer().status
      }
      let answered = try await status
      #expect(answered == 200)
    }
  }

  @Test func `a body of exactly the limit is taken`() async throws {
    let answer = try await answer { $0.post("/", String(repeating: "b", count: 1024)) }
    #expect(answer.status == 200)
    #expect(answer.body.utf8.count == 1024)
  }

  @Test func `attack 37 a longer body is refused before it comes`() async throws {
    let answer = try await answer {
      $0.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1025\r\n\r\n")
    }
    #expect(answer.status == 413)
    #expect(answer.headers["connection"] == "close")
  }

  @Test func `who may send a longer body is told from the head`() async throws {
    let listener = try HTTPListener(
      .test(), refusal: refusalInTests,
      bodyLimit: { request in request.headers.first("X-Large") == nil ? nil : 5000 }, respond: echo)
    let port = listener.port
    let statuses = try await onThread {
      try [("X-Large: 1\r\n", 5000), ("X-Large: 1\r\n", 5001), ("", 1024), ("", 1025)].map { field, count in
        let client = try RawConnection(port)
        client.send("POST /a HTTP/1.1\r\nHost: a\r\n\(field)Content-Length: \(count)\r\n\r\n")
        client.send(String(repeating: "b", count: count))
        return try client.readAnswer().status
      }
    }
    #expect(statuses == [200, 413, 200, 413])
    await listener.stop(within: .seconds(10))
  }

  @Test func `a body that is expected is asked for`() async throws {
    let text = try await withListener { listener in
      let port = listener.port
      return try await onThread {
        let client = try RawConnection(port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n")
        client.send("Connection: close\r\n\r\n")
        let goOn = try client.readAnswer()
        client.send("abc")
        return (goOn.status, client.readToEnd())
      }
    }
    #expect(text.0 == 100)
    #expect(text.1.hasSuffix("abc"))
  }

  @Test func `a chunked body of exactly the limit is taken and ends the connection`() async throws {
    let text = try await withListener { listener in
      let port = listener.port
      return try await onThread {
        let client = try RawConnection(port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send(String(repeating: "200;e=1\r\n\(String(repeating: "b", count: 512))\r\n", count: 2))
        client.send("0\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n")
        return client.readToEnd()
      }
    }
    #expect(text.hasPrefix("HTTP/1.1 200 "))
    #expect(answerCount(text) == 1)
    #expect(text.contains("Connection: close\r\n"))
  }

  @Test func `a longer chunked body is refused when it has come`() async throws {
    let answer = try await answer {
      $0.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      $0.send(String(repeating: "200\r\n\(String(repeating: "b", count: 512))\r\n", count: 3) + "0\r\n\r\n")
    }
    #expect(answer.status == 413)
    #expect(answer.headers["connection"] == "close")
  }

  @Test func `attack 37 a chunked body without end is cut off`() async throws {
    try await withListener { listener in
      let port = listener.port
      let wasCut = try await onThread {
        let client = try RawConnection(port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "4000\r\n\(String(repeating: "b", count: 0x4000))\r\n"
        for _ in 0..<4096 where !client.send(chunk) { return true }
        return false
      }
      #expect(wasCut)
    }
  }

  @Test func `attack 37 a client that says nothing more is hung up on`() async throws {
    let seen = Record<String>()
    try await withListener(
      .test { $0.idleSeconds = 1 },
      respond: { request in
        seen.append(request.path)
        return await echo(request)
      }
    ) { listener in
      let port = listener.port
      let texts = try await onThread {
        let head = try RawConnection(port)
        head.send("GET / HTTP/1.1\r\nHo")
        let body = try RawConnection(port)
        body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        return [head.readToEnd(), body.readToEnd()]
      }
      #expect(!texts.contains { $0.contains("200 OK") })
      try await eventually { listener.openConnections == 0 }
    }
    #expect(seen.values.isEmpty)
  }

  @Test func `attack 37 a body that trickles past the deadline is refused`() async throws {
    let answer = try await withListener(.test { $0.deadline = .milliseconds(300) }) { listener in
      let port = listener.port
      return try await onThread {
        let client = try RawConnection(port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
        // The passing of time is what is tested.
        usleep(400_000)
        client.send("b")
        return try client.readAnswer()
      }
    }
    #expect(answer.status == 408)
    #expect(answer.headers["connection"] == "close")
  }

  @Test func `a half-sent body is never answered`() async throws {
    let seen = Record<String>()
    // The library may notice a hang-up that came together with the last bytes only when the time is over.
    try await withListener(
      .test { $0.idleSeconds = 1 },
      respond: { request in
        seen.append(request.path)
        return await echo(request)
      }
    ) { listener in
      let port = listener.port
      try await onThread {
        for _ in 0..<50 {
          let client = try RawConnection(port)
          client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        }
      }
      try await eventually { listener.openConnections == 0 }
    }
    #expect(seen.values.isEmpty)
  }

  private func answer(_ send: @escaping @Sendable (RawConnection) -> Void) async throws -> Answer {
    try await withListener { listener in
      let port = listener.port
      return try await onThread {
        let client = try RawConnection(port)
        send(client)
        return try client.readAnswer()
      }
    }
  }
}
