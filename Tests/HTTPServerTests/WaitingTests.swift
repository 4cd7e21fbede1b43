import Glibc
import HTTPServer
import Synchronization
import Testing

/// Responders that wait, and the one that does not.
@Suite(.timeLimit(.minutes(5))) struct WaitingTests {
  /// The name of the calling thread; the library names its own "MHD-…".
  @Sendable static func threadName() -> String {
    let file = open("/proc/thread-self/comm", O_RDONLY)
    defer { close(file) }
    var name = [UInt8](repeating: 0, count: 32)
    let count = read(file, &name, name.count)
    return String(decoding: name[..<max(0, count - 1)], as: UTF8.self)
  }

  @Test(arguments: [1, 2])
  func `a responder that never waits answers on the listener's own thread`(_ threads: Int) async throws {
    try await withListener(
      .test { $0.threads = threads },
      respond: { _ in
        let before = Self.threadName()
        return Response(status: 200, body: Array("\(before) \(Self.threadName())".utf8))
      }
    ) { listener in
      let port = listener.port
      let body = try await onThread {
        let client = try RawConnection(port)
        client.post("/", "abc")
        return try client.readAnswer().body
      }
      #expect(body.hasPrefix("MHD-"))
      #expect(body.split(separator: " ").allSatisfy { $0.hasPrefix("MHD-") })
    }
  }

  @Test func `a responder that waits goes on elsewhere`() async throws {
    try await withListener(respond: { _ in
      // By number: a thread has the name of the one that made it until it gives itself another.
      let before = pthread_self()
      var isElsewhere = false
      // A wait that is over before it has begun goes on right here.
      for _ in 0..<100 where !isElsewhere {
        await Task.yield()
        isElsewhere = pthread_equal(before, pthread_self()) == 0
      }
      return Response(status: 200, body: [isElsewhere ? 1 : 0])
    }) { listener in
      let port = listener.port
      let body = try await onThread {
        let client = try RawConnection(port)
        client.get("/")
        return try client.readAnswer().body
      }
      #expect(body == "\u{1}")
    }
  }

  @Test func `hundreds wait at a time, and each gets its own answer`() async throws {
    let gate = Gate()
    let count = 400
    try await withListener(respond: { request in
      await gate.pass()
      return await echo(request)
    }) { listener in
      let port = listener.port
      async let bodies = onThread {
        let clients = try (0..<count).map { _ in try RawConnection(port) }
        for (index, client) in clients.enumerated() { client.post("/", "\(index)") }
        return try clients.map { try $0.readAnswer().body }
      }
      try await eventually { gate.arrivals == count }
      #expect(listener.requestsInFlight == count)
      #expect(listener.openConnections == count)
      gate.open()
      #expect(try await bodies == (0..<count).map { "\($0)" })
    }
  }

  @Test func `answers race with falling asleep and none is lost`() async throws {
    try await withListener(respond: { request in
      await Task.yield()
      return await echo(request)
    }) { listener in
      let port = listener.port
      let counts = try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            try await onThread {
              let client = try RawConnection(port)
              return try (0..<500).count { index in
                client.post("/", "\(index)")
                return try client.readAnswer().body == "\(index)"
              }
            }
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(counts == 4000)
      try await eventually { listener.requestsInFlight == 0 }
    }
  }

  @Test func `the deadline answers for a responder, cancels it and drops what it says later`() async throws {
    let gate = Gate()
    let cancellations = Record<Bool>()
    try await withListener(
      .test { $0.deadline = .milliseconds(200) },
      respond: { request in
        if request.path == "/stuck" {
          await gate.pass()
          // The answer is there first, and the cancellation a moment later.
          for _ in 0..<1_000_000 where !Task.isCancelled { await Task.yield() }
        }
        cancellations.append(Task.isCancelled)
        return await echo(request)
      }
    ) { listener in
      let port = listener.port
      let (late, next) = try await onThread {
        let client = try RawConnection(port)
        client.get("/stuck")
        let late = try client.readAnswer()
        gate.open()
        client.get("/next")
        return (late, try client.readAnswer())
      }
      #expect(late.status == 504)
      #expect(late.headers["x-refused"] == "deadlineExceeded")
      #expect(next.headers["x-path"] == "/next")
      try await eventually { listener.requestsInFlight == 0 }
    }
    #expect(cancellations.values.sorted { $0 && !$1 } == [true, false])
  }

  @Test func `more requests than allowed are refused at once`() async throws {
    let gate = Gate()
    try await withListener(
      .test { $0.maxRequestsInFlight = 2 },
      respond: { request in
        await gate.pass()
        return await echo(request)
      }
    ) { listener in
      let port = listener.port
      async let statuses = onThread {
        let clients = try (0..<2).map { _ in try RawConnection(port) }
        for client in clients { client.get("/") }
        return try clients.map { try $0.readAnswer().status }
      }
      try await eventually { gate.arrivals == 2 }
      let refused = try await onThread {
        let client = try RawConnection(port)
        client.get("/")
        let without = try client.readAnswer()
        client.post("/", "abc")
        return [without, try client.readAnswer()]
      }
      gate.open()
      #expect(refused.map(\.status) == [503, 503])
      #expect(refused.allSatisfy { $0.headers["x-refused"] == "overloaded" })
      #expect(try await statuses == [200, 200])
    }
  }

  @Test func `a client that leaves while it is waited for harms nobody`() async throws {
    let gate = Gate()
    try await withListener(respond: { request in
      await gate.pass()
      return await echo(request)
    }) { listener in
      let port = listener.port
      try await onThread {
        let clients = try (0..<50).map { _ in try RawConnection(port) }
        for client in clients { client.get("/") }
      }
      try await eventually { gate.arrivals == 50 || listener.openConnections == 0 }
      gate.open()
      try await eventually { listener.openConnections == 0 && listener.requestsInFlight == 0 }
    }
  }
}
