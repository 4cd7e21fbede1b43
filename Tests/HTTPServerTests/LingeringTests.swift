import Glibc
import HTTPServer
import Testing

/// Clients that still send a body when it has been refused.
@Suite(.timeLimit(.minutes(5))) struct LingeringTests {
  private static let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"

  @Test func `who is still sending what is too much reads why`() async throws {
    try await withListener { listener in
      let port = listener.port
      // More than the sockets between them hold, at a pace at which a reset would come first.
      let outcomes = try await onThread {
        try (0..<20).map { _ in
          let client = try RawConnection(port)
          client.send(Self.head)
          let pieces = (0..<10).map { _ in
            _ = poll(nil, 0, 2)
            return client.send(String(repeating: "b", count: 50_000))
          }
          return (pieces.allSatisfy { $0 }, try client.readAnswer().status)
        }
      }
      #expect(outcomes.allSatisfy { $0 == (true, 413) }, "\(outcomes)")
      try await eventually { listener.openConnections == 0 && listener.lingeringConnections == 0 }
    }
  }

  @Test func `who goes on sending, or falls silent, is not waited for`() async throws {
    try await withListener { listener in
      let port = listener.port
      let (wasCut, count) = try await onThread {
        let silent = try RawConnection(port)
        let dripping = try RawConnection(port)
        for client in [silent, dripping] {
          client.send(Self.head)
          _ = try client.readAnswer()
        }
        let wasCut = dripping.drip("b")
        while listener.lingeringConnections > 0 { _ = poll(nil, 0, 20) }
        return (wasCut, listener.openConnections)
      }
      #expect(wasCut)
      #expect(count == 0)
    }
  }

  @Test func `more clients than are borne with are cut off at once`() async throws {
    try await withListener(.test { $0.connectionLimit = 200 }) { listener in
      let port = listener.port
      let (statuses, count) = try await onThread {
        let clients = try (0..<100).map { _ in
          let client = try RawConnection(port)
          client.send(Self.head)
          return client
        }
        let statuses = try clients.map { try $0.readAnswer().status }
        return (statuses, listener.lingeringConnections)
      }
      #expect(statuses.allSatisfy { $0 == 413 })
      #expect(count <= 32)
      try await eventually { listener.lingeringConnections == 0 }
    }
  }
}
