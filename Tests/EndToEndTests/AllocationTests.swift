import TestProcesses
import Testing
import Wire

/// How often the service asks for memory for one request, everything in it: the library's connection, the answer, the
/// log line, the audit that is sealed behind it. The budgets are for the build that tests run, which is not optimised
/// (the release build asks for a seventh of it), a tenth above what was counted when they were written. Whoever
/// exceeds one has made a hot path longer.
@Suite(.serialized) struct AllocationTests {
  private static let rounds = 4
  private static let count = 100

  /// Counts over requests on one connection, after as many that fill what is filled once. Of several rounds the
  /// smallest counts: what the service does once a second is in the others.
  private func allocations(
    of service: Service, _ counter: AllocationCount,
    _ next: @escaping @Sendable (HTTPConnection) throws -> Void
  ) async throws -> Int {
    let port = service.port
    return try await onThread {
      let connection = try HTTPConnection(port: port)
      for _ in 0..<Self.count { try next(connection) }
      var smallest = Int.max
      for _ in 0..<Self.rounds {
        let before = try counter.value
        for _ in 0..<Self.count { try next(connection) }
        smallest = min(smallest, try counter.value - before)
      }
      return smallest / Self.count
    }
  }

  private func expect(
    _ request: HTTPRequest, on connection: HTTPConnection, status: Int = 200
  ) throws -> HTTPAnswer {
    let answer = try connection.exchange(request)
    guard answer.status == status else { throw Unexpected(answer: "\(answer)") }
    return answer
  }

  struct Unexpected: Error { let answer: String }

  private func withCounted(_ body: (Service, AllocationCount) async throws -> Void) async throws {
    try await withStage { stage in
      let counter = try AllocationCount(in: stage)
      try await body(try await stage.start(try counter.environment), counter)
    }
  }

  @Test func `a sign-in keeps to its budget of allocations`() async throws {
    try await withCounted { service, counter in
      let bodies = Watched(
        try (0..<(Self.rounds + 1) * Self.count).map { _ in try Mint.credential().body([:]) })
      let found = try await allocations(of: service, counter) { connection in
        _ = try expect(.signIn(bodies.update { $0.removeLast() }), on: connection)
      }
      #expect(found <= 3300)
    }
  }

  @Test func `a refresh keeps to its budget of allocations`() async throws {
    try await withCounted { service, counter in
      let token = Watched(try await service.signIn(try Mint.credential()).refreshToken)
      let found = try await allocations(of: service, counter) { connection in
        let answer = try expect(.refresh(token.read { $0 }), on: connection)
        let next = try answer.json.text("refresh_token") ?? ""
        token.update { $0 = next }
      }
      #expect(found <= 1700)
    }
  }

  @Test func `the verification of a token that was seen keeps to its budget of allocations`() async throws {
    try await withCounted { service, counter in
      let bearer = try await service.signIn(try Mint.credential()).idToken
      let found = try await allocations(of: service, counter) { connection in
        _ = try expect(
          HTTPRequest(path: "/v1/verify", headers: [("Authorization", "Bearer \(bearer)")]), on: connection)
      }
      #expect(found <= 1200)
    }
  }

  @Test func `the key set keeps to its budget of allocations`() async throws {
    try await withCounted { service, counter in
      let found = try await allocations(of: service, counter) { connection in
        _ = try expect(HTTPRequest(path: "/.well-known/jwks.json"), on: connection)
      }
      #expect(found <= 440)
    }
  }
}
