import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// More requests than can be served: each is told so, none is lost, and afterwards all is well.
///
/// One after the other, since each wants most of the descriptors that this process may have.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: OverloadLimits.raiseOpenFiles()))
struct OverloadTests {
  @Test func `D08 a flood while the database is held is refused in time and in order`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let token = try await service.signIn(Mint.credential()).refreshToken
      let holder = try await stage.lockDatabase()
      let reasons = try await onThread {
        let request = HTTPRequest.refresh(token).bytes
        let connections = try (0..<OverloadLimits.requests).map { _ in try HTTPConnection(port: service.port)
        }
        for connection in connections { connection.send(request) }
        return try connections.map { connection in
          let answer = try connection.receive()
          return answer.status == 503 && answer["Retry-After"] != nil ? answer.reason ?? "none" : "\(answer)"
        }
      }
      let counts = Dictionary(reasons.map { ($0, 1) }, uniquingKeysWith: +)
      // Which of them, and how many, depends on how fast the machine takes connections.
      #expect(
        Set(counts.keys).isSubset(of: ["overloaded", "storage_unavailable", "deadline_exceeded"]), "\(counts)"
      )
      holder.closeInput()
      try await holder.ended()
      _ = try await service.refresh(token)
      #expect(try await service.get("/livez").status == 200)
    }
  }

  @Test func `a stop while the database is held and many wait is in time`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let token = try await service.signIn(Mint.credential()).refreshToken
      _ = try await stage.lockDatabase()
      let (begun, answers) = try await onThread {
        let request = HTTPRequest.refresh(token).bytes
        let connections = try (0..<2000).map { _ in
          let connection = try HTTPConnection(port: service.port)
          connection.send(request)
          return connection
        }
        let begun = ContinuousClock.now
        service.process.send(signal: SIGTERM)
        return (begun, connections.map { try? $0.receive() })
      }
      let end = try await service.process.ended()
      #expect(end == .exit(0))
      #expect(ContinuousClock.now - begun < stopLimit)
      for answer in answers { #expect(answer == nil || answer?.status == 503) }
    }
  }
}

/// How many open connections the flood needs, and whether they may be had.
enum OverloadLimits {
  static let requests = 4300

  /// Raises the limit of this process; false when the machine does not let it.
  static func raiseOpenFiles() -> Bool {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    guard limit.rlim_max >= 16_384 else { return false }
    limit.rlim_cur = max(limit.rlim_cur, 16_384)
    return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
  }
}
