import Glibc
import HTTPServer
import Testing

/// Clients that never fall silent and never come to an end. The drip is what is tested, so these tests take
/// the seconds that the limits are set to.
@Suite(.timeLimit(.minutes(5))) struct SlowClientTests {
  static let limits = ListenerConfiguration.test {
    ($0.idleSeconds, $0.headSeconds, $0.deadline) = (2, 1, .milliseconds(500))
  }

  @Test(arguments: [
    // In a field's value, in the request line, in empty lines before one, in a field's name.
    ("GET / HTTP/1.1\r\nHost: a\r\nX: ", "y"), ("", "G"), ("", "\r\n"),
    ("GET / HTTP/1.1\r\n", "H"),
    // In a chunk's extension, in its size, in the trailer, in the data.
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;", "e"),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "0"),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: ", "y"),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", "a"),
  ]) func `a request that trickles is cut off`(_ start: String, _ drop: String) async throws {
    let seen = Record<String>()
    try await withListener(
      Self.limits,
      respond: { request in
        seen.append(request.path)
        return await echo(request)
      }
    ) { listener in
      let port = listener.port
      let wasCut = try await onThread {
        let client = try RawConnection(port)
        client.send(start)
        return client.drip(drop)
      }
      #expect(wasCut)
      try await eventually { listener.openConnections == 0 }
    }
    #expect(seen.values.isEmpty)
  }

  @Test func `a head that trickles on a connection that was used is cut off`() async throws {
    try await withListener(Self.limits) { listener in
      let port = listener.port
      let wasCut = try await onThread {
        let client = try RawConnection(port)
        client.get("/")
        _ = try client.readAnswer()
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX: ")
        return client.drip("y")
      }
      #expect(wasCut)
      try await eventually { listener.openConnections == 0 }
    }
  }

  @Test func `a slow head within its time is served`() async throws {
    try await withListener(.test { ($0.idleSeconds, $0.headSeconds) = (30, 10) }) { listener in
      let port = listener.port
      let status = try await onThread {
        let client = try RawConnection(port)
        for byte in "GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8 {
          client.send([byte])
          usleep(50_000)
        }
        return try client.readAnswer().status
      }
      #expect(status == 200)
    }
  }

  @Test func `a connection that was used may rest for longer than a head may take`() async throws {
    try await withListener(.test { ($0.idleSeconds, $0.headSeconds) = (30, 1) }) { listener in
      let port = listener.port
      let paths = try await onThread {
        let client = try RawConnection(port)
        client.get("/first")
        let first = try client.readAnswer()
        // The passing of time is what is tested.
        usleep(2_000_000)
        client.get("/second")
        return [first, try client.readAnswer()].map { $0.headers["x-path"] }
      }
      #expect(paths == ["/first", "/second"])
    }
  }

  @Test func `a responder may take longer than a head`() async throws {
    try await withListener(
      .test { $0.headSeconds = 1 },
      respond: { request in
        try? await Task.sleep(for: .seconds(2))
        return await echo(request)
      }
    ) { listener in
      let port = listener.port
      let status = try await onThread {
        let client = try RawConnection(port)
        client.get("/")
        return try client.readAnswer().status
      }
      #expect(status == 200)
    }
  }
}

extension RawConnection {
  /// Sends the same bytes ten times a second and tells whether the other side has hung up within a minute: far
  /// beyond the limits, since a busy machine stretches them, and never without them.
  func drip(_ drop: String) -> Bool {
    for _ in 0..<600 {
      if !send(drop) { return true }
      usleep(100_000)
    }
    return false
  }
}
