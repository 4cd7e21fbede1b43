import Foundation
import TestProcesses

/// Threads that meet before they go on together.
final class Gate: @unchecked Sendable {
  private let condition = NSCondition()
  private var missing: Int

  init(_ count: Int) { missing = count }

  /// Returns when as many as were announced have come.
  func meet() {
    condition.withLock {
      missing -= 1
      condition.broadcast()
      while missing > 0 { condition.wait() }
    }
  }
}

/// Sends requests at once, each over a connection of its own; no request goes out before all connections stand.
///
/// - Returns: The answers in the order of the requests.
func inParallel(
  _ count: Int, port: UInt16, _ request: (Int) throws -> HTTPRequest
) async throws -> [HTTPAnswer] {
  let requests = try (0..<count).map(request)
  let gate = Gate(count)
  return try await withThrowingTaskGroup(of: (Int, HTTPAnswer).self) { group in
    for (index, request) in requests.enumerated() {
      group.addTask {
        let answer = try await onThread {
          let connection = Result { try HTTPConnection(port: port) }
          gate.meet()
          return try connection.get().exchange(request)
        }
        return (index, answer)
      }
    }
    var answers: [Int: HTTPAnswer] = [:]
    for try await (index, answer) in group { answers[index] = answer }
    return (0..<count).compactMap { answers[$0] }
  }
}
