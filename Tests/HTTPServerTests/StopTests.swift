import Glibc
import HTTPServer
import Testing

/// Starting and stopping.
@Suite(.timeLimit(.minutes(5))) struct StopTests {
  @Test func `a stop answers what is in flight, with the connection closing`() async throws {
    let gate = Gate()
    let count = 64
    let listener = try HTTPListener(.test(), refusal: refusalInTests) { request in
      await gate.pass()
      return await echo(request)
    }
    let port = listener.port
    async let answers = onThread {
      let clients = try (0..<count).map { _ in try RawConnection(port) }
      for client in clients { client.post("/", "abc") }
      return try clients.map { try $0.readAnswer() }
    }
    try await eventually { gate.arrivals == count }
    async let stopped: Void = listener.stop(within: .seconds(60))
    // Newcomers are turned away while the others still wait.
    try await onThread { while (try? RawConnection(port)) != nil { usleep(1000) } }
    gate.open()
    let received = try await answers
    await stopped
    #expect(received.count { $0.status == 200 && $0.headers["connection"] == "close" } == count)
    #expect(listener.requestsInFlight == 0)
    #expect(listener.openConnections == 0)
  }

  @Test func `a connection that was open before the stop is served once more`() async throws {
    let gate = Gate()
    let listener = try HTTPListener(.test(), refusal: refusalInTests) { request in
      if request.path == "/wait" { await gate.pass() }
      return await echo(request)
    }
    let port = listener.port
    async let answers = onThread {
      let idle = try RawConnection(port)
      idle.get("/first")
      let first = try idle.readAnswer()
      let waiting = try RawConnection(port)
      waiting.get("/wait")
      while (try? RawConnection(port)) != nil { usleep(1000) }
      idle.get("/second")
      let second = idle.readToEnd()
      gate.open()
      return (first, second, try waiting.readAnswer())
    }
    try await eventually { gate.arrivals == 1 }
    await listener.stop(within: .seconds(60))
    let (first, second, waiting) = try await answers
    #expect(first.headers["connection"] != "close")
    #expect(second.hasPrefix("HTTP/1.1 200 "))
    #expect(second.contains("Connection: close\r\n"))
    #expect(waiting.status == 200)
  }

  @Test func `a stop out of patience refuses whoever still waits`() async throws {
    let gate = Gate()
    let listener = try HTTPListener(.test(), refusal: refusalInTests) { request in
      await gate.pass()
      return await echo(request)
    }
    let port = listener.port
    async let texts = onThread {
      let clients = try (0..<32).map { _ in try RawConnection(port) }
      for client in clients { client.get("/") }
      return clients.map { $0.readToEnd() }
    }
    try await eventually { gate.arrivals == 32 }
    await listener.stop(within: .milliseconds(50))
    #expect(
      try await texts.allSatisfy { $0.hasPrefix("HTTP/1.1 503 ") && $0.contains("X-Refused: shuttingDown") })
    gate.open()
    try await eventually { listener.requestsInFlight == 0 }
  }

  @Test func `a stop under load loses no answer that was begun`() async throws {
    let answered = Record<Int>()
    let listener = try HTTPListener(.test(), refusal: refusalInTests) { request in
      await Task.yield()
      answered.append(1)
      return await echo(request)
    }
    let port = listener.port
    let received = try await withThrowingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          try await onThread {
            let client = try RawConnection(port)
            var count = 0
            while true {
              client.post("/", "abc")
              guard let answer = try? client.readAnswer(), answer.status == 200 else { return count }
              count += 1
            }
          }
        }
      }
      try await eventually { answered.values.count > 200 }
      await listener.stop(within: .seconds(60))
      return try await group.reduce(0, +)
    }
    #expect(received == answered.values.count)
  }

  @Test func `stopping twice, or not at all, is harmless`() async throws {
    let listener = try HTTPListener(.test(), refusal: refusalInTests, respond: echo)
    async let one: Void = listener.stop(within: .seconds(1))
    async let two: Void = listener.stop(within: .seconds(1))
    _ = await (one, two)
    _ = try HTTPListener(.test(), refusal: refusalInTests, respond: echo)
  }

  @Test func `a listener that is dropped while a connection waits leaves none asleep`() async throws {
    let gate = Gate()
    var listener: HTTPListener? = try HTTPListener(.test(), refusal: refusalInTests) { request in
      await gate.pass()
      return await echo(request)
    }
    let port = try #require(listener?.port)
    async let text = onThread {
      let client = try RawConnection(port)
      client.get("/")
      return client.readToEnd()
    }
    try await eventually { gate.arrivals == 1 }
    listener = nil
    // The thread may end before the refusal is written: what matters is that the connection ended.
    #expect(try await !text.contains("200 OK"))
    gate.open()
  }

  @Test func `listeners come and go without leaving descriptors`() async {
    await #expect(processExitsWith: .success) {
      func descriptors() -> Int { (0..<1024).count { fcntl(Int32($0), F_GETFD) != -1 } }
      var before = 0
      for round in 0..<110 {
        // The first rounds open what the runtime keeps.
        if round == 10 { before = descriptors() }
        let listener = try HTTPListener(.test(), refusal: refusalInTests, respond: echo)
        let port = listener.port
        _ = try await onThread {
          let client = try RawConnection(port)
          client.get("/")
          return try client.readAnswer()
        }
        await listener.stop(within: .seconds(5))
      }
      // The runtime may open one or two more; a leak would be one a round.
      exit(descriptors() < before + 10 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test(arguments: ["127.0.0.1", "localhost", "::", "0.0.0.0"])
  func `a host is an address or a name of this machine`(_ host: String) async throws {
    try await withListener(.test { $0.host = host }) { listener in
      #expect(listener.port != 0)
      #expect(listener.address.hasSuffix(":\(listener.port)"))
    }
  }

  @Test func `an IPv6 socket takes IPv4 clients and names them so`() async throws {
    try await withListener(
      .test { $0.host = "::" },
      respond: { Response(status: 200, body: Array($0.peer.host.utf8)) }
    ) { listener in
      let port = listener.port
      let body = try await onThread {
        let client = try RawConnection(port)
        client.get("/")
        return try client.readAnswer().body
      }
      #expect(body == "127.0.0.1")
    }
  }

  @Test func `a taken port is reported`() async throws {
    try await withListener { listener in
      #expect(throws: HTTPListenerError.addressUnavailable(code: EADDRINUSE)) {
        _ = try HTTPListener(.test { $0.port = listener.port }, refusal: refusalInTests, respond: echo)
      }
    }
  }

  @Test func `an unknown host is reported`() {
    #expect(throws: HTTPListenerError.hostUnknown("no such host")) {
      _ = try HTTPListener(.test { $0.host = "no such host" }, refusal: refusalInTests, respond: echo)
    }
  }

  @Test func `a limit of nothing is reported`() {
    #expect(throws: HTTPListenerError.limitInvalid("threads")) {
      _ = try HTTPListener(.test { $0.threads = 0 }, refusal: refusalInTests, respond: echo)
    }
  }
}
