import Foundation
import TestProcesses
import Testing
import Wire

/// The D rows, as far as they concern an embedded database.
@Suite(.timeLimit(.minutes(10)))
struct DatabaseTroubleTests {
  @Test func `D01 readiness tries a write, and notices when writes work again`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let token = try await service.signIn(Mint.credential()).refreshToken
      let holder = try await stage.lockDatabase()
      try expect(await service.get("/readyz"), is: .outage("storage_unavailable"))
      #expect(try await service.get("/livez").status == 200)
      #expect(try await service.get("/v1/certs").status == 200)
      holder.closeInput()
      try await holder.ended()
      var ready = try await service.get("/readyz")
      let patience = ContinuousClock.now + .seconds(20)
      while ready.status != 200, ContinuousClock.now < patience { ready = try await service.get("/readyz") }
      #expect(ready.status == 200)
      _ = try await service.refresh(token)
    }
  }

  @Test func `a database that others hold is told of once, and once it is free again`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let token = try await service.signIn(Mint.credential()).refreshToken
      let holder = try await stage.lockDatabase()
      for _ in 0..<3 { try expect(await service.tryRefresh(token), is: .outage("storage_unavailable")) }
      let lost = try await service.process.line { $0.contains(#""event":"database_lost""#) }
      #expect(lost.contains("others hold what is to be changed"))
      holder.closeInput()
      try await holder.ended()
      _ = try await service.refresh(token)
      try await service.process.line { $0.contains(#""event":"database_back""#) }
      try await service.stop()
      for event in ["database_lost", "database_back"] {
        #expect(service.process.outputLines.count { $0.contains(event) } == 1)
      }
    }
  }

  private func gauge(_ name: String, _ service: Service) async throws -> Double {
    let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return try #require(line?.split(separator: " ").last.flatMap { Double($0) })
  }

  @Test func `D04 a burst of sign-ins, a third of them given up, while Apple is slow, leaves nothing open`()
    async throws
  {
    try await withMisbehavingApple("slow", milliseconds: 1500) { apple, stage in
      let service = try await stage.start()
      let before = try await gauge("process_open_fds", service)
      let bodies = try await onThread { try (0..<600).map { _ in try Mint.credential().body() } }
      let statuses = try await onThread {
        var waiting: [HTTPConnection] = []
        for (number, body) in bodies.enumerated() {
          let connection = try HTTPConnection(port: service.port)
          connection.send(HTTPRequest.signIn(body).bytes)
          // The end of this turn closes the connections of those who give up.
          if !number.isMultiple(of: 3) { waiting.append(connection) }
        }
        return try waiting.map { try $0.receive().status }
      }
      #expect(statuses.allSatisfy { $0 == 200 || $0 == 503 })
      #expect(statuses.contains(200))
      #expect(try await apple.keyRequests() == 1)
      let patience = ContinuousClock.now + .seconds(20)
      while try await gauge("process_open_fds", service) > before + 5, ContinuousClock.now < patience {}
      #expect(try await gauge("process_open_fds", service) <= before + 5)
      #expect(try await gauge("bramley_requests_in_flight", service) == 1)
      #expect(try await gauge("bramley_storage_queue_depth", service) == 0)
      _ = try await service.signIn(Mint.credential())
    }
  }
}
