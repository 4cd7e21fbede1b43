import HTTPServer
import Testing

/// The bodies of all connections together.
@Suite(.timeLimit(.minutes(5))) struct BodyMemoryTests {
  static let limits = ListenerConfiguration.test { ($0.bodyLimit, $0.bodyMemoryLimit) = (1000, 2500) }

  /// Announces a thousand bytes and sends most of them.
  private static func begin(_ client: RawConnection) {
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
    client.send([UInt8](repeating: 0x61, count: 900))
  }

  private static func finish(_ client: RawConnection) {
    client.send([UInt8](repeating: 0x61, count: 100))
  }

  @Test func `a body for which there is no memory is refused, and the others go on`() async throws {
    try await withListener(Self.limits) { listener in
      let port = listener.port
      let first = try await onThread {
        let clients = try (0..<2).map { _ in try RawConnection(port) }
        for client in clients { Self.begin(client) }
        return clients.map(Handed.init)
      }
      try await eventually { listener.bodyBytesHeld == 1800 }
      let (refused, served) = try await onThread {
        let late = try RawConnection(port)
        Self.begin(late)
        Self.finish(late)
        let refused = try late.readAnswer()
        for client in first { Self.finish(client.connection) }
        return (refused, try first.map { try $0.connection.readAnswer() })
      }
      #expect(refused.status == 503)
      #expect(refused.headers["x-refused"] == "overloaded")
      #expect(refused.headers["connection"] == "close")
      #expect(served.map(\.status) == [200, 200])
      #expect(served.allSatisfy { $0.body.utf8.count == 1000 })
      try await eventually { listener.bodyBytesHeld == 0 }
    }
  }

  @Test func `what a head announces takes no memory, and what was cut off gives it back`() async throws {
    try await withListener(Self.limits) { listener in
      let port = listener.port
      let clients = try await onThread {
        let clients = try (0..<50).map { _ in try RawConnection(port) }
        for client in clients { client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\na") }
        return clients.map(Handed.init)
      }
      try await eventually { listener.bodyBytesHeld == clients.count }
      try await onThread { for client in clients { client.connection.finishSending() } }
      try await eventually { listener.bodyBytesHeld == 0 && listener.openConnections == 0 }
    }
  }

  @Test func `a body is held as long as its responder works`() async throws {
    let gate = Gate()
    try await withListener(
      Self.limits,
      respond: { request in
        await gate.pass()
        return await echo(request)
      }
    ) { listener in
      let port = listener.port
      async let status = onThread {
        let client = try RawConnection(port)
        Self.begin(client)
        Self.finish(client)
        return try client.readAnswer().status
      }
      try await eventually { gate.arrivals == 1 }
      #expect(listener.bodyBytesHeld == 1000)
      gate.open()
      #expect(try await status == 200)
      try await eventually { listener.bodyBytesHeld == 0 }
    }
  }
}

/// A connection on its way from one thread to the next, never used by two at a time.
private struct Handed: @unchecked Sendable {
  let connection: RawConnection
}
