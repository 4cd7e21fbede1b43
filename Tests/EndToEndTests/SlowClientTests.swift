import Foundation
import TestProcesses
import Testing
import Wire

/// Clients that hold connections and say nothing, or as little as possible.
extension OverloadTests {
  /// As many as are asked for, or as the machine's limit leaves beside the other tests.
  private static var idleConnections: Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return max(5000, min(10_000, Int(limit.rlim_cur) - 6000))
  }

  private func openConnections(_ service: Service) async throws -> Double {
    let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix("bramley_connections ") }
    return try #require(line?.split(separator: " ").last.flatMap { Double($0) })
  }

  @Test func `attack 37 ten thousand connections that say nothing or half a head hold nobody up`()
    async throws
  {
    try await withService { service in
      let count = Self.idleConnections
      let held = Watched<[HeldConnection]>([])
      try await onThread {
        let part = Array("POST /v1/signInWithIdp HTTP/1.1\r\nHost: a\r\nX-Slow: ".utf8)
        for number in 0..<count {
          let connection = HeldConnection(try HTTPConnection(port: service.port))
          if number.isMultiple(of: 2) { connection.send(part) }
          held.update { $0.append(connection) }
        }
      }
      // They are taken in by the service's own thread, which may be behind; the look itself is a request.
      var open = try await openConnections(service)
      let patience = ContinuousClock.now + .seconds(20)
      while open < Double(count) * 0.9, ContinuousClock.now < patience {
        open = try await openConnections(service)
      }
      #expect(open >= Double(count) * 0.9)
      let begun = ContinuousClock.now
      let session = try await service.signIn(Mint.credential())
      _ = try await service.refresh(session.refreshToken)
      #expect(try await service.get("/readyz").status == 200)
      #expect(ContinuousClock.now - begun < .seconds(5))
      held.update { $0 = [] }
      _ = try await service.signIn(Mint.credential())
      try await service.stop()
    }
  }
}

/// Clients that begin and do not go on.
@Suite(.timeLimit(.minutes(2)))
struct UnfinishedHeadTests {
  @Test func `attack 37 heads that never end are given up, while others are served`() async throws {
    try await withService { service in
      let ends = Watched(0)
      for _ in 0..<50 {
        Thread.detachNewThread {
          if let connection = try? HTTPConnection(port: service.port, timeoutSeconds: 60) {
            connection.send(Array("GET /livez HTTP/1.1\r\nHost: a\r\n".utf8))
            _ = try? connection.receive()
          }
          ends.update { $0 += 1 }
        }
      }
      for _ in 0..<100 { #expect(try await service.get("/livez").status == 200) }
      // The service hangs up on all of them by itself.
      _ = try await ends.first { $0 == 50 ? true : nil }
    }
  }
}

/// A connection that is handed from thread to thread and used by one at a time.
private final class HeldConnection: @unchecked Sendable {
  private let connection: HTTPConnection

  init(_ connection: HTTPConnection) { self.connection = connection }

  func send(_ bytes: [UInt8]) { connection.send(bytes) }
}
