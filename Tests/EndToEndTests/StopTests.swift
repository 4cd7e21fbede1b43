import Foundation
import TestProcesses
import Testing
import Wire

/// What a stop may take: ten seconds, and three times that again for a machine that all other tests keep busy.
let stopLimit = Duration.seconds(40)

/// `SIGTERM`: readiness off, what has begun ends, exit 0 within ten seconds.
@Suite(.timeLimit(.minutes(2)))
struct StopTests {
  @Test(arguments: [50, 400])
  func `a stop under load leaves no request half answered`(_ stopPoint: Int) async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let callers = try await onThread {
        try (0..<200).map { _ in
          let subject = Mint.subject()
          return Caller(credential: try Mint.credential { $0.subject = subject }, subject: subject)
        }
      }
      let stopped = Watched<ContinuousClock.Instant?>(nil)
      let report = try await load(callers, connections: 32, steps: 200, port: service.port) { count in
        guard count == stopPoint else { return }
        stopped.update { $0 = .now }
        service.process.send(signal: SIGTERM)
      }
      #expect(try await service.process.ended() == .exit(0))
      let begun = try #require(stopped.read { $0 })
      #expect(ContinuousClock.now - begun < stopLimit)
      #expect(report.broken == 0)
      #expect(report.timedOut == 0)
      #expect(report.wrong.isEmpty, "\(report.wrong)")
      for answer in report.refused { try expect(answer, is: .outage("shutting_down")) }
      #expect(service.process.outputLines.last?.contains(#""event":"stopped""#) == true)

      // What was answered is there, and what was not can be sent again.
      let next = try await stage.start()
      let after = try await load(callers, connections: 8, steps: 1, port: next.port) { _ in }
      #expect(after.answers == callers.count, "\(after)")
    }
  }

  @Test func `readiness goes off at once, and a request that has begun is answered`() async throws {
    try await withService { service in
      let body = HTTPRequest.signIn(try Mint.credential().body()).bytes
      // Its keys are there, so that nothing else is waited for.
      _ = try await service.signIn(Mint.credential())
      let answers = try await onThread {
        let slow = try HTTPConnection(port: service.port)
        let probe = try HTTPConnection(port: service.port)
        _ = try probe.exchange(HTTPRequest(path: "/readyz"))
        _ = try slow.exchange(HTTPRequest(path: "/livez"))
        slow.send(Array(body.dropLast(10)))
        service.process.send(signal: SIGTERM)
        var ready = try probe.exchange(HTTPRequest(path: "/readyz"))
        while ready.status == 200, !ready.isLast { ready = try probe.exchange(HTTPRequest(path: "/readyz")) }
        slow.send(Array(body.suffix(10)))
        return [ready, try slow.receive()]
      }
      try expect(answers[0], is: .outage("shutting_down"))
      #expect(answers[1].status == 200, "\(answers[1])")
      #expect(answers[1].isLast)
      #expect(try await service.process.ended() == .exit(0))
    }
  }

  @Test func `a sender that never finishes does not hold the stop up`() async throws {
    try await withService { service in
      let begun = try await onThread {
        let slow = try HTTPConnection(port: service.port)
        _ = try slow.exchange(HTTPRequest(path: "/livez"))
        slow.send(Array("POST /v1/token HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc".utf8))
        let begun = ContinuousClock.now
        service.process.send(signal: SIGTERM)
        _ = try? slow.receive()
        return begun
      }
      #expect(try await service.process.ended() == .exit(0))
      #expect(ContinuousClock.now - begun < stopLimit)
    }
  }

  @Test func `an interrupt from the keyboard stops it as well`() async throws {
    try await withService { service in
      service.process.send(signal: SIGINT)
      let end = try await service.process.ended()
      #expect(end == .exit(0))
    }
  }

  @Test func `a stop right after the start is clean`() async throws {
    try await withStage { stage in
      for _ in 0..<5 { try await stage.start().stop() }
    }
  }
}
